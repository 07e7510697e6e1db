/* SPDX-License-Identifier: MIT */
/* What becomes of contexts while the drain thread is held up, and of brackets it cannot read. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/config.h"
#include "case_main.h"
#include "counts/row.h"
#include "drain/api_stats.h"
#include "drain/drain.h"
#include "drain/settle.h"
#include "fake_driver.h"
#include "launch/thread_life.h"
#include "state/nap.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"

/* ---- the driver ---- */

static char contexts[3], stream[1], event[1];
static atomic_bool is_stuck, may_go = true;
static _Thread_local bool hangs;

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)&contexts[0];
    return CUDA_SUCCESS;
}

static CUresult fake_exchange(CUstreamCaptureMode *mode)
{
    (void)mode;
    errno = EINVAL;
    atomic_store(&is_stuck, hangs);
    while (hangs && !atomic_load(&may_go))
        usleep(100);
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUevent e)
{
    (void)e;
    errno = EAGAIN; /* as a driver may that asks its kernel module */
    return CUDA_SUCCESS;
}

static CUresult fake_elapsed(float *ms, CUevent from, CUevent to)
{
    (void)from, (void)to;
    *ms = 0.01f;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    FAKE(cuThreadExchangeStreamCaptureMode, fake_exchange);
    FAKE(cuEventQuery, fake_query);
    FAKE(cuEventElapsedTime, fake_elapsed);
    ct_config.events = 256;
    ct_clock_start();
    ck_assert(ct_rows_init() && ct_contexts_init() && ct_streams_init() && ct_settle_init() &&
              ct_api_stats_init() && ct_threads_init());
}

/* ---- a round that does not end ---- */

/* Has the lock of the round, in a call of the driver's that does not return. */
static void *hang(void *c)
{
    hangs = true;
    ct_drain_context_gone(c);
    return NULL;
}

/* Begins a round that does not end before stop_hanging(). */
static pthread_t begin_hanging(struct ct_context *c)
{
    pthread_t thread;
    atomic_store(&may_go, false);
    pthread_create(&thread, NULL, hang, c);
    while (!atomic_load(&is_stuck))
        usleep(100);
    return thread;
}

static void stop_hanging(pthread_t thread)
{
    atomic_store(&may_go, true);
    pthread_join(thread, NULL);
}

/* A release of the primary context that was not the last one, or was. */
START_TEST(no_context_stays_paused)
{
    struct ct_context *c = ct_context_get((CUcontext)&contexts[0]);
    pthread_t round = begin_hanging(ct_context_get((CUcontext)&contexts[1]));
    atomic_store(&c->state, CT_CONTEXT_PAUSED);
    ct_drain_context_resume(c, _i);
    ck_assert_uint_eq(atomic_load(&c->state), _i ? CT_CONTEXT_NEW : CT_CONTEXT_GONE);
    stop_hanging(round);
}
END_TEST

static void take_nothing(bool finished)
{
    (void)finished;
}

static void write_nothing(void)
{
}

/* The drain thread waits for the round that does not end; when it has ended all is flushed. */
START_TEST(a_flush_that_times_out_says_so)
{
    ck_assert_int_eq(ct_drain_flush(0), ENODATA);
    pthread_t round = begin_hanging(ct_context_get((CUcontext)&contexts[1]));
    ck_assert(ct_drain_start(take_nothing, write_nothing, write_nothing));
    ck_assert_int_eq(ct_drain_flush(0), ETIMEDOUT);
    ck_assert_int_eq(ct_drain_flush(20000000), ETIMEDOUT);
    stop_hanging(round);
    ck_assert_int_eq(ct_drain_flush(60000000000), 0);
}
END_TEST

/* The program sees the errno that it had before its call, whatever the driver is asked meanwhile.
 */
START_TEST(a_context_goes_without_touching_errno)
{
    struct ct_context *c = ct_context_get((CUcontext)&contexts[0]);
    errno = ENOTTY;
    if (_i)
        ct_drain_context_pause(c);
    else
        ct_drain_context_gone(c);
    ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

/* Until the round is over the drain thread may use what it has found in the entry. */
START_TEST(an_entry_is_used_again_when_it_is_forgotten)
{
    struct ct_context *c = ct_context_get((CUcontext)&contexts[0]);
    pthread_t round = begin_hanging(ct_context_get((CUcontext)&contexts[1]));
    ct_drain_context_gone(c);
    ck_assert_ptr_ne(ct_context_get((CUcontext)&contexts[0]), c);
    stop_hanging(round);
    ct_drain_once();
    atomic_fetch_add(&c->users, 1); /* a calibration in it goes on */
    ck_assert_ptr_ne(ct_context_get((CUcontext)&contexts[1]), c);
    atomic_fetch_sub(&c->users, 1);
    ck_assert_ptr_eq(ct_context_get((CUcontext)&contexts[2]), c);
}
END_TEST

/* ---- brackets without a start record ---- */

static void hand_over(struct ct_stream *s, uint32_t row, uint32_t flags)
{
    uint32_t slot;
    struct ct_thread *t = ct_thread_self();
    ck_assert(ct_ring_reserve(&t->op_ring, CT_THREAD_OPS, &slot));
    atomic_fetch_add(&s->opened, 1);
    t->ops[slot] = (struct ct_op){
        .row = row,
        .stream = ct_stream_index(s),
        .context = s->context,
        .flags = flags,
        .start_event = CT_EVENT_NONE,
        .sequence = ct_stream_recorded(s, t, 0, true, false),
        .operations = 1,
    };
    ct_ring_publish(&t->op_ring);
}

/* The clocks were tied together, or there was a bracket before, when it was begun. */
START_TEST(a_start_that_was_lost_has_its_reason)
{
    static const uint32_t flags[] = {CT_OP_TOLD_START, CT_OP_SHARED_START};
    struct ct_context *c = ct_context_get((CUcontext)&contexts[0]);
    c->events.event[0] = (CUevent)event;
    atomic_store(&c->state, CT_CONTEXT_LIVE);
    ct_stream_created((CUstream)stream, 0, 0);
    uint32_t row = ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel");
    hand_over(ct_stream_find((CUstream)stream), row, flags[_i]);
    ct_drain_once();
    ck_assert_uint_eq(ct_row(row)->lost[CT_LOSS_NO_START], 1);
    ck_assert_uint_eq(ct_row(row)->lost[CT_LOSS_EVENT_ERROR], 0);
}
END_TEST

/* ---- naps ---- */

struct naps {
    uint64_t rounds;
    uint64_t most_harvested;
};

/* A second of brackets that come one after the other, after one to get used to them. */
static struct naps nap_at(uint64_t rate)
{
    struct naps n = {0};
    uint64_t nap_ns = CT_NAP_SHORTEST_NS, taken = 0;
    for (uint64_t now_ns = 0; now_ns < 2000000000u; now_ns += nap_ns) {
        uint64_t all = now_ns * rate / 1000000000u, harvested = all - taken;
        taken = all;
        if (now_ns >= 1000000000u) {
            n.rounds++;
            n.most_harvested = ct_max(n.most_harvested, harvested);
        }
        nap_ns = ct_nap_next_ns(nap_ns, harvested, 0);
    }
    return n;
}

/* Rounds cost by themselves; but no thread comes to have so many unseen that it looks for itself.
 */
START_TEST(naps_are_as_long_as_some_brackets_take)
{
    static const uint64_t rates[] = {10000, 30000, 100000, 300000};
    for (unsigned i = 0; i < ct_countof(rates); i++) {
        struct naps n = nap_at(rates[i]);
        ck_assert_uint_le(n.rounds, ct_max(1100, rates[i] / 7));
        ck_assert_uint_lt(n.most_harvested, 45);
    }
    ck_assert_uint_le(nap_at(100).rounds, 1100);
}
END_TEST

START_TEST(naps_are_long_where_nothing_comes)
{
    uint64_t nap_ns = CT_NAP_SHORTEST_NS;
    for (int i = 0; i < 20; i++)
        nap_ns = ct_nap_next_ns(nap_ns, 0, 500000000);
    ck_assert_uint_eq(nap_ns, 10000000);
    for (int i = 0; i < 20; i++)
        nap_ns = ct_nap_next_ns(nap_ns, 0, 2000000000);
    ck_assert_uint_eq(nap_ns, 40000000);
    ck_assert_uint_le(ct_nap_next_ns(nap_ns, 1, 2000000000), 1000000);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("drain");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, no_context_stays_paused, 0, 2);
    tcase_add_test(t, a_flush_that_times_out_says_so);
    tcase_add_loop_test(t, a_context_goes_without_touching_errno, 0, 2);
    tcase_add_test(t, an_entry_is_used_again_when_it_is_forgotten);
    tcase_add_loop_test(t, a_start_that_was_lost_has_its_reason, 0, 2);
    tcase_add_test(t, naps_are_as_long_as_some_brackets_take);
    tcase_add_test(t, naps_are_long_where_nothing_comes);
    return ct_case_main("unit_drain", t);
}
