/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

#include "base/elf.h"

#define READINGS 8
#define REFINE_PARTS 8

/* Nanoseconds per tick in 2^-32 units. */
static CT_READ_MOSTLY _Atomic uint64_t rate = (uint64_t)1 << 32;
static uint64_t start_ticks;
static uint64_t start_ns;
static uint64_t measured_ticks; /* from the start: what the rate was measured over */

static __typeof__(clock_gettime) *get_time = clock_gettime;

/* Not of a library beside us that has the program see another time, or none that passes. */
static void find_clock(void)
{
    void *own = ct_libc_symbol("clock_gettime");
    if (own)
        get_time = (__typeof__(clock_gettime) *)(uintptr_t)own;
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    get_time(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t ct_clock_monotonic_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t ct_clock_unix_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

/* Both clocks at one moment: a reading that was interrupted in between is taken again. */
static void read_both(uint64_t *ns, uint64_t *ticks)
{
    uint64_t narrowest = UINT64_MAX;
    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t before = ct_ticks(), at_ns = ct_clock_monotonic_ns(), width = ct_ticks() - before;
        if (width >= narrowest)
            continue;
        narrowest = width;
        *ns = at_ns;
        *ticks = before + width / 2;
    }
}

void ct_clock_start(void)
{
    find_clock();
    read_both(&start_ns, &start_ticks);
    while (ct_clock_monotonic_ns() - start_ns < 1000000)
        ;
    ct_clock_update();
}

void ct_clock_update(void)
{
    uint64_t ns = 0, ticks = 0;
    read_both(&ns, &ticks);
    ns -= start_ns;
    ticks -= start_ticks;
    if (!ticks)
        return;
    measured_ticks = ticks;
    uint64_t r = (uint64_t)(((unsigned __int128)ns << 32) / ticks);
    atomic_store_explicit(&rate, r, memory_order_relaxed);
}

void ct_clock_refine(void)
{
    uint64_t ticks = ct_ticks_between(start_ticks, ct_ticks());
    if (ticks > measured_ticks + measured_ticks / REFINE_PARTS)
        ct_clock_update();
}

uint64_t ct_ticks_to_ns(uint64_t ticks)
{
    uint64_t r = atomic_load_explicit(&rate, memory_order_relaxed);
    return (uint64_t)(((unsigned __int128)ticks * r + ((uint64_t)1 << 31)) >> 32);
}

uint64_t ct_clock_at_ns(uint64_t ticks)
{
    return start_ns + ct_ticks_to_ns(ct_ticks_between(start_ticks, ticks));
}

uint64_t ct_ns_to_ticks(uint64_t ns)
{
    uint64_t r = atomic_load_explicit(&rate, memory_order_relaxed);
    if (ct_unlikely(!r))
        return 0;
    if (ct_likely(ns <= UINT32_MAX)) /* a launch asks: no call of a division of 128 bits */
        return (ns << 32) / r;
    return (uint64_t)(((unsigned __int128)ns << 32) / r);
}
