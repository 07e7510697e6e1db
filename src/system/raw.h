/* SPDX-License-Identifier: MIT */
/*
 * System calls without the C library, for a process that has the thread pointer of a thread that
 * runs beside it: not even errno may be written there. Functions that use these calls are CT_BARE,
 * and so is everything that they call.
 */
#ifndef CT_RAW_H
#define CT_RAW_H

#include <sys/syscall.h>

#include "base/base.h"

#if defined(__x86_64__)

CT_BARE static inline long ct_raw_call(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

CT_BARE static inline long ct_raw_call(long number, long a, long b, long c, long d, long e)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}

#else
#error "no system calls for this architecture"
#endif

/* The kernel's own result: -errno where it fails. */
#define CT_RAW(name, a, b, c, d, e)                                                                \
    ct_raw_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

#endif
