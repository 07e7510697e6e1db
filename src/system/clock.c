/* SPDX-License-Identifier: MIT */
#include "system/clock.h"

#include <stdatomic.h>
#include <time.h>

#include "system/elf.h"

#define READINGS 8
#define REFINE_PARTS 8
#define REFINE_LONGEST_NS 1000000000u
#define LINES 128 /* two minutes of them and more */

/* Nanoseconds per tick in units of 2^-32, over the whole time since the start. */
static CT_READ_MOSTLY _Atomic uint64_t rate = (uint64_t)1 << 32;
static uint64_t start_ticks;
static uint64_t start_ns;
static uint64_t refine_ticks; /* the rate is measured again from then on */

/* Host time from a moment on. The next line begins where this one has come to by then. */
struct line {
    uint64_t ticks;
    uint64_t ns;
    uint64_t rate;
};

static struct line line[LINES] = {{.rate = (uint64_t)1 << 32}};
static _Atomic uint64_t newest;

static __typeof__(clock_gettime) *get_time = clock_gettime;

/* Takes glibc's own: a preloaded library's may be another time, or stand still. */
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

/* Both clocks at one moment: the narrowest of READINGS pairs, where nothing interrupted. */
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

static uint64_t at_rate(uint64_t r, uint64_t ticks)
{
    return (uint64_t)(((unsigned __int128)ticks * r + ((uint64_t)1 << 31)) >> 32);
}

static const struct line *line_at(uint64_t ticks)
{
    uint64_t i = atomic_load_explicit(&newest, memory_order_acquire);
    uint64_t oldest = i < LINES ? 0 : i - LINES + 1;
    while (i > oldest && ticks < line[i % LINES].ticks)
        i--;
    return &line[i % LINES];
}

static void begin_line(uint64_t i, uint64_t ticks, uint64_t ns, uint64_t r)
{
    line[i % LINES] = (struct line){ticks, ns, r};
    atomic_store_explicit(&newest, i, memory_order_release);
}

/* The rate by which a line meets the clock when the next line begins: within 1/1024 of r, as time
 * neither stands still nor leaps. */
static uint64_t catch_up(uint64_t r, int64_t behind_ns, uint64_t ticks)
{
    int64_t most = (int64_t)(r >> 10);
    __int128 more = behind_ns * ((__int128)1 << 32) / (int64_t)ticks;
    return r + (uint64_t)(more > most ? most : more < -most ? -most : (int64_t)more);
}

static uint64_t measure(uint64_t *ns, uint64_t *ticks)
{
    read_both(ns, ticks);
    uint64_t passed = ct_max(ct_ticks_between(start_ticks, *ticks), 1);
    uint64_t r = (uint64_t)(((unsigned __int128)(*ns - start_ns) << 32) / passed);
    atomic_store_explicit(&rate, r, memory_order_relaxed);
    refine_ticks = *ticks + ct_min(passed / REFINE_PARTS, ct_ns_to_ticks(REFINE_LONGEST_NS)) + 1;
    return r;
}

void ct_clock_start(void)
{
    uint64_t ns = 0, ticks = 0;
    find_clock();
    read_both(&start_ns, &start_ticks);
    while (ct_clock_monotonic_ns() - start_ns < 1000000)
        ;
    begin_line(0, start_ticks, start_ns, measure(&ns, &ticks));
}

void ct_clock_refine(void)
{
    uint64_t ns = 0, ticks = 0;
    if (ct_ticks() < refine_ticks)
        return;
    uint64_t r = measure(&ns, &ticks), reached_ns = ct_clock_at_ns(ticks);
    begin_line(atomic_load_explicit(&newest, memory_order_relaxed) + 1, ticks, reached_ns,
               catch_up(r, (int64_t)(ns - reached_ns), refine_ticks - ticks));
}

uint64_t ct_ticks_to_ns(uint64_t ticks)
{
    return at_rate(atomic_load_explicit(&rate, memory_order_relaxed), ticks);
}

uint64_t ct_clock_at_ns(uint64_t ticks)
{
    ticks = ct_max(ticks, start_ticks);
    const struct line *l = line_at(ticks);
    return ticks < l->ticks ? l->ns - at_rate(l->rate, l->ticks - ticks)
                            : l->ns + at_rate(l->rate, ticks - l->ticks);
}

uint64_t ct_ns_to_ticks(uint64_t ns)
{
    uint64_t r = atomic_load_explicit(&rate, memory_order_relaxed);
    if (ct_unlikely(!r))
        return 0;
    if (ct_likely(ns <= UINT32_MAX)) /* launches come here: no call of a division of 128 bits */
        return (ns << 32) / r;
    return (uint64_t)(((unsigned __int128)ns << 32) / r);
}
