/* SPDX-License-Identifier: MIT */
/* Small things that every file needs. */
#ifndef CT_BASE_H
#define CT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_EXPORT __attribute__((visibility("default")))
#define CT_INLINE static inline __attribute__((always_inline))
#define CT_NOINLINE __attribute__((noinline))
#define CT_COLD __attribute__((cold, noinline))
/* A function that sanitizers leave as it is. */
#define CT_BARE __attribute__((no_sanitize("address", "thread", "undefined")))
#define CT_TLS __thread __attribute__((tls_model("initial-exec")))
#define CT_CACHE_LINE 64
/* A variable that each launch reads: kept away from those that other threads often write. */
#define CT_READ_MOSTLY __attribute__((section("ct_read_mostly")))

/*
 * State that begins as zero in each process, the child of a fork included (process.h); the latter
 * is read by each launch and hardly ever written.
 */
#define CT_PROCESS __attribute__((section("ct_process")))
#define CT_PROCESS_READ __attribute__((section("ct_process_read")))

#define ct_likely(x) __builtin_expect(!!(x), 1)
#define ct_unlikely(x) __builtin_expect(!!(x), 0)
#define ct_countof(a) (sizeof(a) / sizeof((a)[0]))

static inline uint64_t ct_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t ct_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Exponent of the largest power of two that is not above n; 0 for 0. */
static inline unsigned ct_octave(uint64_t n)
{
    return 63 - (unsigned)__builtin_clzll(n | 1);
}

#endif
