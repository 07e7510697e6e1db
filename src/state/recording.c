/* SPDX-License-Identifier: MIT */
#include "state/recording.h"

#include "base/config.h"
#include "base/count.h"
#include "state/renewal.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"

#define SWITCHES 64 /* remembered: more than happen while a bracket is on its way */

static CT_READ_MOSTLY atomic_bool recording;
/* Not before the library is armed. */
CT_PROCESS_READ atomic_bool ct_calls_are_off;
CT_PROCESS_READ atomic_bool ct_launches_are_off;

static CT_READ_MOSTLY atomic_bool any_off;     /* false: none of thousands of threads is asked */
static _Atomic uint64_t switched_on[SWITCHES]; /* ticks */
static _Atomic uint32_t switches;

void ct_recording_switch(bool on)
{
    uint64_t now = ct_ticks();
    atomic_store_explicit(&any_off, any_off || !on, memory_order_relaxed);
    atomic_store_explicit(&ct_calls_are_off, !on || ct_config.without_api, memory_order_relaxed);
    atomic_store_explicit(&ct_launches_are_off, !on && !ct_config.stacks, memory_order_relaxed);
    if (!atomic_exchange_explicit(&recording, on, memory_order_relaxed) && on) {
        uint32_t n = atomic_load_explicit(&switches, memory_order_relaxed);
        atomic_store_explicit(&switched_on[n % SWITCHES], now, memory_order_relaxed);
        atomic_store_explicit(&switches, n + 1, memory_order_release);
    }
}

void ct_recording_tell(void)
{
    ct_pass_renew();
    ct_streams_break();
}

void ct_recording_set(bool on)
{
    ct_recording_switch(on);
    ct_recording_tell();
}

bool ct_recording(void)
{
    return atomic_load_explicit(&recording, memory_order_relaxed);
}

uint32_t ct_recording_period(uint64_t ticks)
{
    uint32_t n = atomic_load_explicit(&switches, memory_order_acquire), later = 0;
    while (later < ct_min(n, SWITCHES) &&
           atomic_load_explicit(&switched_on[(n - 1 - later) % SWITCHES], memory_order_relaxed) >
               ticks)
        later++;
    return n - later;
}

void ct_recording_missed(struct ct_thread *t, uint64_t operations)
{
    ct_count_bump(&t->off_operations, operations);
}

uint64_t ct_recording_off_operations(void)
{
    uint64_t n = 0;
    bool any = atomic_load_explicit(&any_off, memory_order_relaxed);
    for (struct ct_thread *t = any ? ct_threads_first() : NULL; t; t = t->next)
        n += atomic_load_explicit(&t->off_operations, memory_order_relaxed);
    return n;
}
