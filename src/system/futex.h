/* SPDX-License-Identifier: MIT */
/* Waiting for a word of memory to change. */
#ifndef CT_FUTEX_H
#define CT_FUTEX_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

/* Waits `ns` at most, or until *word is not `expected`, or a signal comes. */
static inline void ct_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &t, NULL, 0);
}

static inline void ct_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#endif
