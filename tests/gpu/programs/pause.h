/* SPDX-License-Identifier: MIT */
/* Pauses of the host shorter than a sleep, and the same random numbers in every run. */
#ifndef PAUSE_H
#define PAUSE_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline void pause_ns(uint64_t ns)
{
    uint64_t end = now_ns() + ns;

    while (now_ns() < end)
        ;
}

static inline uint32_t random_below(uint32_t limit)
{
    static uint64_t state = 88172645463325252ull;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % limit);
}

#endif
