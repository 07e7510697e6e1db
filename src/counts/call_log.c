/* SPDX-License-Identifier: MIT */
#include "counts/call_log.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/config.h"
#include "base/count.h"
#include "counts/api_count.h"
#include "counts/sample.h"
#include "state/nap.h"
#include "state/note.h"
#include "state/recording.h"
#include "state/thread.h"
#include "system/mem.h"
#include "system/spare.h"

/* Numbers that a thread takes at a time: threads that call at once write nothing in common. */
#define NUMBERS 1024

CT_READ_MOSTLY atomic_bool ct_call_log_is_on;

static const char no_memory[] = "A thread had no memory for a trace of its calls";

static CT_PROCESS _Atomic uint64_t numbers; /* given to threads so far */
static CT_PROCESS _Atomic uint32_t threads;

static void take_numbers(struct ct_thread *t, struct ct_call_log *log)
{
    t->correlation = atomic_fetch_add_explicit(&numbers, NUMBERS, memory_order_relaxed) + 1;
    log->correlation_end = t->correlation + NUMBERS;
}

/* The drain thread knows the thread already, and looks whether it has a log. */
CT_COLD void ct_call_log_start(struct ct_thread *t)
{
    struct ct_call_log *log = atomic_load_explicit(&t->log, memory_order_relaxed);
    if (!log && !(log = ct_map(sizeof(*log)))) {
        ct_note(CT_NOTE_WARNING, no_memory);
        return;
    }
    log->id = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    log->tid = (uint32_t)syscall(SYS_gettid);
    log->name[0] = '\0';
    log->defined_in = log->namings = 0;
    log->given_name = NULL;
    if (!ct_spare())
        prctl(PR_GET_NAME, log->name);
    take_numbers(t, log);
    atomic_store_explicit(&t->log, log, memory_order_release);
}

void ct_call_log_stop(void)
{
    atomic_store_explicit(&ct_call_log_is_on, false, memory_order_relaxed);
    ct_api_count_init(false, ct_sample_policy()->budget_ppm);
}

static bool reserve(struct ct_call_log *log, uint32_t *slot)
{
    if (ct_unlikely(!ct_ring_reserve(&log->ring, CT_LOGGED_CALLS, slot)))
        return false;
    if (ct_unlikely(*slot % (CT_LOGGED_CALLS / 4) == 0))
        ct_drain_wake(); /* the drain thread may nap for longer than the room lasts */
    return true;
}

CT_COLD void ct_call_log_add(struct ct_thread *t, uint32_t api, uint64_t call_ticks,
                             uint64_t done_ticks, int32_t result)
{
    struct ct_call_log *log = atomic_load_explicit(&t->log, memory_order_relaxed);
    uint32_t slot;
    if (!atomic_load_explicit(&ct_call_log_is_on, memory_order_relaxed)) {
        t->correlation = 0;
        return;
    }
    if (ct_recording() && !ct_config.without_api) {
        if (reserve(log, &slot)) {
            log->call[slot] =
                (struct ct_logged_call){call_ticks, done_ticks, t->correlation, api, result};
            ct_ring_publish(&log->ring);
        } else {
            ct_count_bump(&log->dropped, 1);
        }
    }
    if (++t->correlation == log->correlation_end)
        take_numbers(t, log);
}
