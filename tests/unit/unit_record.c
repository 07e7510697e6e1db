/* SPDX-License-Identifier: MIT */
/* Rows, event pools, kernels and brackets on a driver of a few functions: events complete when the
 * test says so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/process.h"
#include "case_main.h"
#include "counts/api_call.h"
#include "counts/api_count.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "counts/tally.h"
#include "drain/api_stats.h"
#include "drain/collect.h"
#include "drain/drain.h"
#include "drain/harvest.h"
#include "drain/row_sums.h"
#include "drain/settle.h"
#include "fake_driver.h"
#include "launch/bracket.h"
#include "launch/thread_life.h"
#include "state/active_threads.h"
#include "state/capture.h"
#include "state/note.h"
#include "system/clock.h"
#include "work/graph.h"
#include "work/kernel.h"

/* ---- the driver ---- */

static char context[1], other_contexts[20];
static char *current = context;
static char handles[1 << 16];
static _Atomic uint32_t made, records, complete; /* events by number, from 1 */
static CUresult record_answer, create_answer;
static bool capturing;
static unsigned asked;
static const char *function_name = "kernel";

static void (*_Atomic meanwhile)(void); /* while the driver is asked for the first time */

static CUresult fake_current(CUcontext *out)
{
    void (*f)(void) = atomic_exchange(&meanwhile, NULL);
    if (f)
        f();
    *out = (CUcontext)current;
    return CUDA_SUCCESS;
}

static CUresult fake_create(CUevent *out, unsigned flags)
{
    (void)flags;
    if (create_answer != CUDA_SUCCESS)
        return create_answer;
    *out = (CUevent)&handles[++made];
    return CUDA_SUCCESS;
}

static CUresult fake_record(CUevent e, CUstream s)
{
    (void)e, (void)s;
    records++;
    return record_answer;
}

static CUresult fake_query(CUevent e)
{
    return (uint32_t)((char *)e - handles) <= complete ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult fake_elapsed(float *ms, CUevent from, CUevent to)
{
    *ms = from == to ? 0 : 0.012910f; /* 10 us in a bracket on a busy H200 */
    return CUDA_SUCCESS;
}

static CUresult fake_capturing(CUstream s, CUstreamCaptureStatus *out)
{
    (void)s;
    asked++;
    *out = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult fake_name(const char **out, CUfunction f)
{
    (void)f;
    *out = function_name;
    return CUDA_SUCCESS;
}

/* A GPU with a clock: a record is stamped 0.5 us after it, or when the kernel before it is over. */
static uint64_t stamps_ns[1 << 16], busy_until_ns;

static CUresult fake_record_in_time(CUevent e, CUstream s)
{
    uint64_t now_ns = ct_clock_monotonic_ns() + 500;
    stamps_ns[(char *)e - handles] = ct_max(now_ns, busy_until_ns);
    return fake_record(e, s);
}

static CUresult fake_elapsed_in_time(float *ms, CUevent from, CUevent to)
{
    int64_t ns = (int64_t)(stamps_ns[(char *)to - handles] - stamps_ns[(char *)from - handles]);
    *ms = (float)ns * 1e-6f;
    return CUDA_SUCCESS;
}

static CUresult fake_device_name(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "NVIDIA H200");
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    FAKE(cuEventCreate, fake_create);
    FAKE(cuEventRecord, fake_record);
    FAKE(cuEventQuery, fake_query);
    FAKE(cuEventElapsedTime, fake_elapsed);
    FAKE(cuStreamIsCapturing, fake_capturing);
    FAKE(cuFuncGetName, fake_name);
    ct_config.sample = 1;
    ct_config.events = 256;
    complete = UINT32_MAX / 2;
    ct_clock_start();
    ck_assert(ct_rows_init() && ct_contexts_init() && ct_streams_init() && ct_kernels_init() &&
              ct_graphs_init() && ct_settle_init() && ct_api_stats_init() && ct_threads_init());
    ct_recording_set(true);
}

static struct ct_work launch_of(int function)
{
    return (struct ct_work){.kind = CT_ROW_KERNEL,
                            .stream = (CUstream)&handles[60000],
                            .function = (CUfunction)&handles[50000 + function],
                            .operations = 1};
}

/* One launch: opened, called, closed with the result. */
static void launch_by(struct ct_thread *t, int function, CUresult result)
{
    struct ct_bracket b;
    const struct ct_work w = launch_of(function);
    ct_bracket_open(&b, &w, t);
    uint64_t now = ct_ticks();
    ct_bracket_close(&b, &w, result, now, now);
}

static void launch(int function, CUresult result)
{
    launch_by(ct_thread_self(), function, result);
}

/* As the profile has them for that stream, those that got no duration included. */
static uint64_t operations_of_stream(void)
{
    const struct ct_stream *s = ct_stream_find(launch_of(0).stream);
    ck_assert_ptr_nonnull(s);
    return s->untimed + s->settled;
}

static uint64_t lost(const struct ct_row *r)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++)
        n += r->lost[i];
    return n;
}

static void drain(void)
{
    while (ct_drain_once())
        ;
}

/* ---- rows ---- */

START_TEST(a_row_for_each_thing)
{
    uint32_t a = ct_row_get(CT_ROW_KERNEL, 0, 0, "a"), b = ct_row_get(CT_ROW_KERNEL, 0, 0, "b");
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(ct_row_get(CT_ROW_KERNEL, 0, 0, "a"), a);
    ck_assert_uint_ne(ct_row_get(CT_ROW_KERNEL, 0, 1, "a"), a);
    ck_assert_uint_ne(ct_row_get(CT_ROW_COPY, CT_HTOD, 0, NULL),
                      ct_row_get(CT_ROW_COPY, CT_DTOH, 0, NULL));
}
END_TEST

/* Beyond the limit things share a row: counted, if not told apart. */
START_TEST(rows_are_bounded)
{
    char name[32];
    uint32_t last = 0;
    for (unsigned i = 0; i < 40000; i++) {
        snprintf(name, sizeof(name), "kernel_%u", i);
        last = ct_row_get(CT_ROW_KERNEL, 0, 0, name);
        ck_assert_uint_lt(last, ct_rows_count());
    }
    ck_assert_uint_lt(ct_rows_count(), 40000);
    ck_assert_uint_eq(ct_row_get(CT_ROW_KERNEL, 0, 0, "one more"), last);
}
END_TEST

/* ---- events ---- */

#define THREADS 4

static _Atomic uint32_t holder[512];

static void *take_and_give(void *c)
{
    struct ct_event_cache cache = {0}, other = {0};
    for (unsigned i = 0; i < 50000; i++) {
        uint32_t e = ct_cache_take(c, &cache);
        if (e == CT_EVENT_NONE)
            continue;
        if (atomic_fetch_add(&holder[e], 1)) /* two have the same */
            abort();
        atomic_fetch_sub(&holder[e], 1);
        ct_cache_give(c, i % 3 ? &cache : &other, e);
        if (i % 7 == 0)
            ct_cache_flush(c, &other);
    }
    ct_cache_flush(c, &cache);
    ct_cache_flush(c, &other);
    return NULL;
}

/* One event a pack, and packs as large as they come. */
static const uint32_t pool_sizes[] = {256, 16384};

START_TEST(an_event_has_one_holder)
{
    ct_config.events = pool_sizes[_i];
    pthread_t thread[THREADS];
    struct ct_context *c = ct_context_get((CUcontext)context);
    ck_assert_ptr_nonnull(c);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, take_and_give, c);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_le(made, 512);
}
END_TEST

START_TEST(pools_are_bounded)
{
    struct ct_context *c = ct_context_get((CUcontext)context);
    unsigned taken = 0;
    while (ct_event_take(c) != CT_EVENT_NONE)
        taken++;
    ck_assert_uint_eq(taken, 256);
    ct_event_give(c, 7);
    ck_assert_uint_eq(ct_event_take(c), 7);
}
END_TEST

static void *launch_and_end(void *unused)
{
    launch(0, CUDA_SUCCESS);
    return unused;
}

/* What a thread kept for itself is everybody's when it has ended. */
START_TEST(an_ended_thread_leaves_its_events)
{
    pthread_t thread;
    struct ct_event_cache cache = {0};
    unsigned taken = 0;
    ct_config.events = 8192;
    struct ct_context *c = ct_context_get((CUcontext)context);
    pthread_create(&thread, NULL, launch_and_end, NULL);
    pthread_join(thread, NULL);
    drain();
    while (ct_cache_take(c, &cache) != CT_EVENT_NONE)
        taken++;
    ck_assert_uint_ge(taken, 8192 - 1); /* one may be kept for the clock */
}
END_TEST

#define IDLE 40

static pthread_barrier_t idle_barrier;

/* The driver that is made up here is for one thread at a time. */
static void launch_alone(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    launch(0, CUDA_SUCCESS);
    pthread_mutex_unlock(&mutex);
}

static void *launch_and_idle(void *unused)
{
    launch_alone();
    pthread_barrier_wait(&idle_barrier);
    pthread_barrier_wait(&idle_barrier);
    launch_alone();
    return unused;
}

static unsigned awake(void)
{
    unsigned n = 0;
    for (struct ct_thread *t = *ct_active_threads(); t; t = t->next_awake)
        n++;
    return n;
}

/* Threads that launched once cost nothing and keep nothing, and are seen again at their next call.
 */
START_TEST(idle_threads_are_left_alone)
{
    pthread_t thread[IDLE];
    struct ct_event_cache cache = {0};
    unsigned taken = 0;
    ct_config.events = 1024;
    struct ct_context *c = ct_context_get((CUcontext)context);
    pthread_barrier_init(&idle_barrier, NULL, IDLE + 1);
    for (unsigned i = 0; i < IDLE; i++)
        pthread_create(&thread[i], NULL, launch_and_idle, NULL);
    pthread_barrier_wait(&idle_barrier);
    ct_drain_once();
    ck_assert_uint_eq(awake(), IDLE);
    ct_drain_once();
    uint64_t now_ns = ct_clock_monotonic_ns();
    ct_collect(now_ns + 1000000000, true);
    ck_assert_uint_eq(awake(), 0);
    while (ct_cache_take(c, &cache) != CT_EVENT_NONE)
        taken++;
    ck_assert_uint_ge(taken, 1024 - 1); /* one may be kept for the clock */
    uint64_t timed = ct_row(0)->timed;
    pthread_barrier_wait(&idle_barrier);
    for (unsigned i = 0; i < IDLE; i++)
        pthread_join(thread[i], NULL);
    ct_collect(now_ns, true); /* they have ended: all of them are looked at */
    ck_assert_uint_eq(ct_row(0)->lost[CT_LOSS_NO_EVENT], IDLE);
    ck_assert_uint_eq(timed, ct_row(0)->timed);
    for (struct ct_thread *t = ct_threads_first(); t; t = t->next)
        ck_assert_uint_eq(t->state, CT_THREAD_FREE);
}
END_TEST

/* Where a launch finds none, even threads that may be about to launch give back what they keep. */
START_TEST(events_are_not_kept_in_need)
{
    pthread_t thread;
    struct ct_event_cache cache = {0};
    struct ct_context *c = ct_context_get((CUcontext)context);
    pthread_barrier_init(&idle_barrier, NULL, 2);
    ct_config.events = 256;
    while (ct_cache_take(c, &cache) != CT_EVENT_NONE)
        ;
    for (uint32_t i = 0; i < 8; i++)
        ct_event_give(c, i);
    ct_events_flush(c);
    pthread_create(&thread, NULL, launch_and_idle, NULL);
    pthread_barrier_wait(&idle_barrier);
    while (ct_cache_take(c, &cache) != CT_EVENT_NONE)
        ;
    ct_drain_once();
    ck_assert(!*ct_active_threads() ||
              !(*ct_active_threads())->events[ct_context_index(c)].pack[CT_EVENT_TIMED]);
    pthread_barrier_wait(&idle_barrier);
    pthread_join(thread, NULL);
}
END_TEST

/* Whether the thread begins as one that has waited; it ends as one. */
static void *wait_and_end(void *unused)
{
    (void)unused;
    struct ct_thread *t = ct_thread_self();
    bool had_waited = t->waited_ticks;
    t->waited_ticks = ct_ticks();
    return had_waited ? t : NULL;
}

/* Nobody's waiting is that of the next one with its state. */
START_TEST(a_thread_begins_without_having_waited)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *had_waited;
        pthread_create(&thread, NULL, wait_and_end, NULL);
        pthread_join(thread, &had_waited);
        ck_assert_ptr_null(had_waited);
        drain();
    }
}
END_TEST

/* ---- rows ---- */

/* In the thread as long as there is room, in the row from then on; the sum is always whole. */
/* What was done on our own account inside of a call is none of its time, nor of another one's. */
START_TEST(a_call_s_time_is_the_program_s)
{
    struct ct_thread *t = ct_thread_make();
    ck_assert_ptr_nonnull(t);
    t->ours_ticks = 700;
    t->ours_end = 2900;
    ct_thread_count_timed(t, 1, 1000, 3000);
    ck_assert_uint_eq(t->api[1].max_ticks, 1300);
    ct_thread_count_timed(t, 2, 4000, 6000);
    ck_assert_uint_eq(t->api[2].max_ticks, 2000);
    t->ours_ticks = 700;
    t->ours_end = 6500; /* that call was counted without its time */
    ct_thread_count_timed(t, 3, 7000, 9000);
    ck_assert_uint_eq(t->api[3].max_ticks, 2000);
    ck_assert_uint_eq(t->ours_ticks, 0);
}
END_TEST

static bool has_bytes(unsigned i)
{
    return i / CT_LOSS_COUNT % 2 == 0;
}

START_TEST(tallies_lose_nothing)
{
    char name[32];
    struct ct_tallies *t = ct_thread_self()->tallies;
    uint32_t row[3 * CT_TALLIES];
    for (unsigned i = 0; i < 3 * CT_TALLIES; i++) {
        snprintf(name, sizeof(name), "kernel_%u", i);
        row[i] = ct_row_get(CT_ROW_KERNEL, 0, 0, name);
    }
    for (unsigned round = 1; round <= 3; round++) {
        for (unsigned i = 0; i < 3 * CT_TALLIES; i++)
            ct_tally_lose(t, row[i], i % CT_LOSS_COUNT, 2, has_bytes(i) ? 8 : 0);
        ck_assert(ct_tallies_collect(t));
        ck_assert(!ct_tallies_collect(t));
        for (unsigned i = 0; i < 3 * CT_TALLIES; i++) {
            const struct ct_row *r = ct_row(row[i]);
            bool ran = i % CT_LOSS_COUNT != CT_LOSS_CAPTURED;
            ck_assert_uint_eq(r->lost[i % CT_LOSS_COUNT], 2 * round);
            ck_assert_uint_eq(r->bytes, has_bytes(i) && ran ? 8 * round : 0);
        }
    }
}
END_TEST

START_TEST(rows_add_up)
{
    struct ct_row *r = ct_row(ct_row_get(CT_ROW_COPY, CT_HTOD, 0, NULL));
    static const uint32_t flags[] = {0, CT_OP_OVERLAPPED, CT_OP_LEGACY_WAIT, CT_OP_BOUND,
                                     CT_OP_MARKS};
    for (unsigned i = 0; i < ct_countof(flags); i++) {
        struct ct_op op = {.flags = flags[i] | CT_OP_SHARED_START, .operations = 2, .bytes = 8};
        ct_row_add(r, &op, 2000, 200, 20);
    }
    ck_assert_uint_eq(r->timed, 10);
    ck_assert_uint_eq(r->time.total_ns, 1000);
    ck_assert_uint_eq(r->raw.total_ns, 10000);
    ck_assert_uint_eq(r->time.min_ns, 100); /* one of the batch */
    ck_assert_uint_eq(r->time.max_ns, 100);
    ck_assert_uint_eq(r->raw.min_ns, 1000);
    ck_assert_uint_eq(r->raw.max_ns, 1000);
    ck_assert_uint_eq(r->doubt_ns, 100);
    ck_assert(r->time.square_ns2 == 10 * 1e4 && r->raw.square_ns2 == 10 * 1e6);
    ck_assert_uint_eq(ct_buckets_count(r->time.buckets, ct_hist_bucket(100)), 10);
    ck_assert_uint_eq(ct_buckets_count(r->raw.buckets, ct_hist_bucket(1000)), 10);
    ck_assert_uint_eq(r->overlapped, 4);
    ck_assert_uint_eq(r->legacy_waits, 2);
    ck_assert_uint_eq(r->marked, 8);
}
END_TEST

/* ---- histograms ---- */

START_TEST(durations_are_counted_in_their_buckets)
{
    static const uint64_t some_ns[] = {0, 127, 128, 1000, 1000000000, UINT64_MAX};
    struct ct_buckets *b = NULL, *other = NULL;
    uint64_t all = 0;
    for (unsigned i = 0; i < ct_countof(some_ns); i++)
        ck_assert(ct_buckets_add(&b, some_ns[i], i + 1));
    ck_assert(ct_buckets_add(&b, 1000, UINT32_MAX)); /* five days of kernels of 100 us */
    ck_assert(ct_buckets_add(&other, 1000, 1));
    for (uint32_t i = 0; i < CT_HIST_BUCKETS; i++)
        all += ct_buckets_count(b, i);
    ck_assert_uint_eq(ct_buckets_count(b, ct_hist_bucket(128)), 3);
    ck_assert_uint_eq(ct_buckets_count(b, CT_HIST_BUCKETS - 1), 6);
    ck_assert_uint_eq(ct_buckets_count(b, ct_hist_bucket(1000)), UINT32_MAX + 4ul);
    ck_assert_uint_eq(all, 1 + 2 + 3 + 4 + 5 + 6 + (uint64_t)UINT32_MAX);
    ck_assert_uint_eq(ct_buckets_count(other, ct_hist_bucket(1000)), 1);
}
END_TEST

START_TEST(a_histogram_that_is_dropped_stays_empty)
{
    struct ct_buckets *b = NULL;
    ck_assert(ct_buckets_add(&b, 1000, 1));
    ct_buckets_drop(&b);
    ck_assert(!ct_buckets_add(&b, 1000, 1));
    ck_assert_uint_eq(ct_buckets_count(b, ct_hist_bucket(1000)), 0);
}
END_TEST

/* ---- kernels ---- */

START_TEST(handles_are_forgotten)
{
    CUfunction f = (CUfunction)&handles[50000];
    ck_assert_uint_eq(ct_kernel_find(f, 0), CT_ROW_NONE);
    uint32_t before = ct_kernel_resolve(f, 0, false);
    ck_assert_uint_eq(ct_kernel_find(f, 0), before);
    ct_kernels_unloaded();
    function_name = "another";
    ck_assert_uint_eq(ct_kernel_find(f, 0), CT_ROW_NONE);
    ck_assert_uint_ne(ct_kernel_resolve(f, 0, false), before);
    ck_assert_str_eq(ct_row(ct_kernel_find(f, 0))->name, "another");
}
END_TEST

/* ---- brackets ---- */

START_TEST(launches_are_timed)
{
    for (int i = 0; i < 100; i++) {
        launch(0, CUDA_SUCCESS);
        drain();
    }
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->timed, 100);
    ck_assert_uint_eq(lost(r), 0);
    ck_assert_uint_eq(r->raw.total_ns, 1291000);
    ck_assert_uint_eq(r->raw.min_ns, 12910);
    ck_assert_uint_eq(records, 200);
}
END_TEST

static void wait_ns(uint64_t ns)
{
    uint64_t from_ns = ct_clock_monotonic_ns();
    while (ct_clock_monotonic_ns() - from_ns < ns)
        ;
}

/* A kernel of 10 us, and 1.04 us until the stop is stamped: what is left of bias and submission. */
static void launch_in_time(void)
{
    struct ct_bracket b;
    const struct ct_work w = launch_of(0);
    ct_bracket_open(&b, &w, ct_thread_self());
    uint64_t call = ct_ticks();
    wait_ns(3000);
    busy_until_ns = ct_clock_monotonic_ns() + 500 + 10000 + 1040;
    ct_bracket_close(&b, &w, CUDA_SUCCESS, call, ct_ticks());
}

/* More than the 20 ms after which the clocks' rate is known. */
#define MANY 2000

/* Once the clocks are tied together most brackets of a stream that is idle go without a start. */
START_TEST(the_clock_serves_as_start)
{
    FAKE(cuEventRecord, fake_record_in_time);
    FAKE(cuEventElapsedTime, fake_elapsed_in_time);
    FAKE(cuDeviceGetName, fake_device_name);
    for (int i = 0; i < MANY; i++) {
        launch_in_time();
        wait_ns(30000);
        drain();
    }
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->timed, MANY);
    ck_assert_uint_eq(lost(r), 0);
    if (getenv("CUTRACE_TEST_SLOW")) /* under valgrind the clocks are not tied in time */
        return;
    ck_assert_uint_gt(records, MANY);
    ck_assert_uint_lt(records, 2 * MANY - 200);
    ck_assert_uint_gt(r->time.total_ns / MANY, 9000);
    ck_assert_uint_lt(r->time.total_ns / MANY, 11000);
    ck_assert_uint_gt(r->raw.min_ns, 10000);
    ck_assert_uint_lt(r->raw.min_ns, 18000);
}
END_TEST

START_TEST(what_is_not_timed_has_a_reason)
{
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    launch(0, CUDA_ERROR_INVALID_VALUE);
    launch(0, CUDA_SUCCESS);
    capturing = true;
    launch(0, CUDA_SUCCESS);
    capturing = false;
    ck_assert_uint_eq(records, 3); /* nothing touched the capture */
    record_answer = CUDA_ERROR_UNKNOWN;
    launch(0, CUDA_SUCCESS);
    record_answer = CUDA_SUCCESS;
    ck_assert(ct_sample_init(&(struct ct_sample_policy){.every = 1000000, .sure = 1}));
    launch(0, CUDA_SUCCESS); /* the first is taken */
    launch(0, CUDA_SUCCESS);
    launch(0, CUDA_ERROR_INVALID_VALUE);
    drain();
    ck_assert_uint_eq(r->lost[CT_LOSS_CAPTURED], 1);
    ck_assert_uint_eq(r->lost[CT_LOSS_EVENT_ERROR], 1);
    ck_assert_uint_eq(r->lost[CT_LOSS_SAMPLED], 1);
    ck_assert_uint_eq(r->timed + lost(r), 5);
    ck_assert_uint_eq(operations_of_stream(), 4); /* without the captured one, which did not run */
    ck_assert_uint_le(r->errors, 2);
}
END_TEST

/* While a launch is under way another thread draws its stream into a capture. */
static CUresult fake_drawn_in(CUevent e, CUstream s)
{
    ct_capture_begins();
    capturing = true;
    ct_capture_begun(CUDA_SUCCESS);
    return fake_record(e, s);
}

START_TEST(a_stream_that_is_drawn_into_a_capture)
{
    FAKE(cuEventRecord, fake_drawn_in);
    launch(0, CUDA_SUCCESS);
    FAKE(cuEventRecord, fake_record);
    capturing = false;
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    drain();
    ck_assert_uint_eq(r->lost[CT_LOSS_UNSAFE], 1);
    ck_assert_uint_eq(r->timed, 0);
}
END_TEST

static CUevent captured_event, late_event;

static CUresult fake_query_of_captured(CUevent e)
{
    return e == captured_event ? CUDA_ERROR_CAPTURED_EVENT
           : e == late_event   ? CUDA_ERROR_NOT_READY
                               : fake_query(e);
}

static CUresult fake_elapsed_of_captured(float *ms, CUevent from, CUevent to)
{
    CUresult r = fake_query_of_captured(from);
    return r == CUDA_SUCCESS && (r = fake_query_of_captured(to)) == CUDA_SUCCESS
               ? fake_elapsed(ms, from, to)
               : r;
}

/* The others of its stream are timed, but for one that begins with it: they are in no capture. */
START_TEST(a_captured_event_is_lost_alone)
{
    const struct ct_work w = launch_of(0);
    struct ct_bracket b;
    complete = 0;
    for (unsigned i = 0; i < 5; i++) {
        ct_bracket_open(&b, &w, ct_thread_self());
        ct_bracket_close(&b, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
        late_event = ct_event(ct_context(b.stream->context), b.stop_event);
        if (i == 2 * (unsigned)_i)
            captured_event = late_event;
    }
    FAKE(cuEventQuery, fake_query_of_captured);
    FAKE(cuEventElapsedTime, fake_elapsed_of_captured);
    complete = UINT32_MAX / 2;
    for (unsigned i = 0; i < 5; i++)
        drain();
    late_event = NULL;
    drain();
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->lost[CT_LOSS_UNSAFE], 1);
    ck_assert_uint_eq(lost(r), 1 + r->lost[CT_LOSS_NO_START]);
    ck_assert_uint_le(lost(r), 2);
    ck_assert_uint_eq(r->timed + lost(r), 5);
    ck_assert_uint_eq(operations_of_stream(), 5);
}
END_TEST

static unsigned asked_in_ten_launches(void)
{
    asked = 0;
    for (int i = 0; i < 10; i++)
        launch(0, CUDA_SUCCESS);
    return asked;
}

/* Of what is sampled out; one that has ended without success, or was not seen, may be open. */
START_TEST(streams_are_asked_while_a_capture_is_open)
{
    ck_assert(ct_sample_init(&(struct ct_sample_policy){.every = 1000000, .sure = 1}));
    asked_in_ten_launches(); /* the first one is timed */
    ck_assert_uint_eq(asked_in_ten_launches(), 0);
    ct_capture_begins();
    ck_assert_uint_eq(asked_in_ten_launches(), 10);
    ct_capture_begun(CUDA_ERROR_ILLEGAL_STATE);
    ck_assert_uint_eq(asked_in_ten_launches(), 0);
    ct_capture_begins();
    ct_capture_begun(CUDA_SUCCESS);
    ct_capture_begins();
    ct_capture_begun(CUDA_SUCCESS);
    ct_capture_ended(CUDA_SUCCESS);
    ck_assert_uint_eq(asked_in_ten_launches(), 10);
    ct_capture_ended(CUDA_SUCCESS);
    ct_capture_ended(CUDA_SUCCESS); /* of one that was not seen to begin */
    ck_assert_uint_eq(asked_in_ten_launches(), 0);
    if (_i)
        ct_captures_unseen();
    ct_capture_begins();
    ct_capture_begun(CUDA_SUCCESS);
    ct_capture_ended(_i ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_assert_uint_eq(asked_in_ten_launches(), 10);
}
END_TEST

/* More than are remembered: each moment is asked about soon after it. */
START_TEST(periods_of_recording)
{
    uint32_t first = ct_recording_period(ct_ticks());
    for (uint32_t i = 1; i <= 200; i++) {
        ct_recording_set(false);
        uint64_t before = ct_ticks();
        while (ct_ticks() == before) /* some processors' clocks have long ticks */
            ;
        ct_recording_set(true);
        ct_recording_set(true);
        ck_assert_uint_eq(ct_recording_period(ct_ticks()), first + i);
        ck_assert_uint_eq(ct_recording_period(before), first + i - 1);
    }
}
END_TEST

/* A queue that stands still keeps room for the program; everything is counted. */
START_TEST(a_standing_queue_is_left_room)
{
    complete = 0;
    for (int i = 0; i < 900; i++)
        launch(0, CUDA_SUCCESS);
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_le(records, 1021 - 900);
    drain();
    ck_assert_uint_gt(r->lost[CT_LOSS_DEEP_QUEUE], 700);
    complete = UINT32_MAX / 2;
    drain();
    ck_assert_uint_eq(r->timed + lost(r), 900);
    launch(0, CUDA_SUCCESS);
    drain();
    ck_assert_uint_eq(r->timed + lost(r), 901);
    ck_assert_uint_eq(operations_of_stream(), 901);
}
END_TEST

/* With all entries in use those of a context that went serve other streams. */
START_TEST(default_streams_are_not_taken_for_others)
{
    struct ct_thread *t = ct_thread_self();
    static const CUstream defaults[] = {CU_STREAM_PER_THREAD, CU_STREAM_LEGACY};
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(ct_stream_get(t, defaults[i]));
    struct ct_context *c = ct_context_get((CUcontext)context);
    uint32_t index = ct_context_index(c);
    ct_drain_context_gone(c);
    ct_streams_of_context_gone(index);
    for (uintptr_t i = 0; i < CT_STREAMS; i++)
        ct_stream_created((CUstream)(0x10000 + 16 * i), 0, 0);
    ck_assert_uint_eq(ct_context_index(ct_context_get((CUcontext)context)), index);
    ct_stream_destroyed((CUstream)0x10000);
    ct_stream_destroyed((CUstream)0x10010);
    for (int i = 0; i < 2; i++) {
        struct ct_stream *s = ct_stream_get(t, defaults[i]);
        ck_assert_ptr_nonnull(s);
        ck_assert_ptr_eq(s->handle, defaults[i]);
    }
}
END_TEST

/* Not for ever: the driver had no memory for a while. */
START_TEST(events_that_could_not_be_made)
{
    create_answer = CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < 1000; i++)
        launch(0, CUDA_SUCCESS);
    create_answer = CUDA_SUCCESS;
    launch(0, CUDA_SUCCESS);
    drain();
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->timed, 1);
    ck_assert_uint_eq(lost(r), 1000);
    ck_assert_uint_eq(operations_of_stream(), 1001);
}
END_TEST

static struct ct_stream *met_by_another;
static CUstream to_meet;

static void *meet(void *unused)
{
    (void)unused;
    met_by_another = ct_stream_get(ct_thread_self(), to_meet);
    return NULL;
}

static void meet_in_another_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, meet, NULL);
    pthread_join(thread, NULL);
}

/* Both must come by one entry: else neither sees that the other one's brackets interleave. */
START_TEST(a_stream_met_by_two_threads_is_one)
{
    static const CUstream met[] = {(CUstream)&handles[50000], CU_STREAM_LEGACY};
    for (int i = 0; i < 2; i++) {
        to_meet = met[i];
        meanwhile = meet_in_another_thread;
        struct ct_stream *s = ct_stream_get(ct_thread_self(), to_meet);
        ck_assert_ptr_nonnull(s);
        ck_assert_ptr_eq(s, met_by_another);
        ck_assert_uint_eq(ct_streams_count(), (unsigned)i + 1);
    }
}
END_TEST

/* Each is met once, however many contexts take turns in a thread. */
START_TEST(default_streams_of_many_contexts)
{
    struct ct_thread *t = ct_thread_self();
    struct ct_stream *first[20];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++) {
            current = &other_contexts[i];
            struct ct_stream *s = ct_stream_get(t, CU_STREAM_PER_THREAD);
            ck_assert_ptr_nonnull(s);
            first[i] = round ? first[i] : s;
            ck_assert_ptr_eq(s, first[i]);
            ck_assert_ptr_eq(ct_stream_known(t, CU_STREAM_PER_THREAD), s);
            ck_assert_uint_eq(s->context, ct_context_index(ct_context_find((CUcontext)current)));
        }
    }
    ck_assert_uint_eq(ct_streams_count(), 20);
    current = context;
    ck_assert_ptr_null(ct_stream_known(t, CU_STREAM_PER_THREAD));
}
END_TEST

static struct ct_measured *measured(uint32_t stream, uint64_t start_ns, uint64_t stop_ns)
{
    struct ct_measured *m = ct_settle_next();
    *m = (struct ct_measured){
        .op = {.stream = stream, .operations = 1}, .start_ns = start_ns, .stop_ns = stop_ns};
    ct_settle_keep();
    return m;
}

/* However much stops before the long one does. */
START_TEST(kernels_that_fill_the_device_are_found)
{
    struct ct_measured *in[300], *alone, *last;
    ct_context_get((CUcontext)context);
    ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel");
    struct ct_measured *spanning = measured(1, 1000, 10000000);
    spanning->fills_device = true;
    alone = measured(0, 10, 20);
    for (unsigned i = 0; i < ct_countof(in); i++)
        in[i] = measured(0, 1000 + 100 * i, 1090 + 100 * i);
    last = measured(0, 10000000, 10000100);
    ct_settle(true);
    ck_assert(!alone->times.filled_past && !spanning->times.filled_past);
    for (unsigned i = 0; i < ct_countof(in); i++)
        ck_assert(in[i]->times.filled_past && !in[i]->times.filled_ns);
    ck_assert(!last->times.filled_past);
}
END_TEST

static void begin_round(void)
{
    const struct timespec longer_than_others_wait = {.tv_nsec = 1000000};
    nanosleep(&longer_than_others_wait, NULL);
    ct_settle_begin();
}

/* What a long round has read last belongs to what was read first. */
START_TEST(streams_are_settled_up_to_one_time)
{
    ct_context_get((CUcontext)context);
    ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel");
    begin_round();
    measured(0, 1000, 2000);
    ck_assert_uint_eq(ct_settle(false), 1); /* no other stream */
    measured(0, 3000, 4000);
    measured(1, 3100, 3900);
    ck_assert_uint_eq(ct_settle(false), 0);
    begin_round();
    measured(0, 4100, 5000);
    measured(1, 3950, 3990);
    measured(1, 4000, 4900);
    ck_assert_uint_eq(ct_settle(false), 3);
    begin_round();
    ck_assert_uint_eq(ct_settle(false), 2);
}
END_TEST

static void *make_state(void *unused)
{
    (void)unused;
    struct ct_thread *t = ct_thread_make();
    ct_thread_current = NULL;
    return t;
}

/* The later one of two threads' brackets on a stream comes to the drain thread first. */
START_TEST(brackets_come_in_any_order)
{
    pthread_t thread;
    void *other;
    pthread_create(&thread, NULL, make_state, NULL);
    pthread_join(thread, &other);
    launch_by(ct_thread_self(), 0, CUDA_SUCCESS);
    drain();
    launch_by(ct_thread_self(), 0, CUDA_SUCCESS);
    launch_by(other, 0, CUDA_SUCCESS);
    struct ct_stream *s = ct_stream_get(ct_thread_self(), (CUstream)&handles[60000]);
    ct_harvest_collect(other);
    ck_assert_uint_eq(ct_harvest(true), 0);
    ck_assert(!ct_streams_of_context_idle(s->context)); /* one is still in its thread's queue */
    drain();
    ck_assert(ct_streams_of_context_idle(s->context));
    ck_assert(!s->active);
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->timed, 3);
    /* Each that shares its start comes right behind the one whose stop it is, or is lost. */
    complete = 0;
    for (int i = 0; i < 20; i++)
        launch_by(i % 3 == 1 ? ct_thread_self() : other, 0, CUDA_SUCCESS);
    ck_assert_uint_gt(s->shared, 0);
    complete = UINT32_MAX / 2;
    ct_harvest_collect(ct_thread_self());
    ct_harvest_collect(other);
    drain();
    ck_assert(ct_streams_of_context_idle(s->context));
    ck_assert_uint_eq(r->timed, 23);
    ck_assert_uint_eq(lost(r), 0);
}
END_TEST

static CUresult fake_elapsed_of_complete(float *ms, CUevent from, CUevent to)
{
    CUresult r = fake_query(from);
    return r == CUDA_SUCCESS && (r = fake_query(to)) == CUDA_SUCCESS ? fake_elapsed(ms, from, to)
                                                                     : r;
}

/* Of two that were open at once the second one's stop was recorded first, and is complete. */
START_TEST(stops_come_in_any_order)
{
    pthread_t thread;
    void *other;
    struct ct_bracket first, second;
    const struct ct_work w = launch_of(0);
    FAKE(cuEventElapsedTime, fake_elapsed_of_complete);
    pthread_create(&thread, NULL, make_state, NULL);
    pthread_join(thread, &other);
    launch(0, CUDA_SUCCESS);
    drain();
    ct_bracket_open(&second, &w, ct_thread_self());
    ct_bracket_open(&first, &w, other);
    ct_bracket_close(&first, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
    ct_bracket_close(&second, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
    struct ct_context *c = ct_context(first.stream->context);
    CUevent *stop = &c->events.event[first.stop_event];
    *stop = (CUevent)&handles[40000];
    complete = 30000;
    ct_harvest_collect(other);
    drain();
    complete = UINT32_MAX / 2;
    drain();
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->timed, 3);
    ck_assert_uint_eq(lost(r), 0);
}
END_TEST

static struct ct_bracket quick;

static CUresult fake_record_before_another(CUevent e, CUstream s)
{
    const struct ct_work w = launch_of(0);
    CUresult r = fake_record(e, s);
    FAKE(cuEventRecord, fake_record);
    ct_bracket_close(&quick, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
    return r;
}

/* Behind the last stop by number there is another thread's kernel, which is no part of the next. */
START_TEST(a_stop_with_something_behind_is_no_start)
{
    pthread_t thread;
    void *other;
    struct ct_bracket slow, next;
    const struct ct_work w = launch_of(0);
    pthread_create(&thread, NULL, make_state, NULL);
    pthread_join(thread, &other);
    complete = 0;
    for (int i = 0; i < 5; i++)
        launch(0, CUDA_SUCCESS);
    ct_bracket_open(&slow, &w, ct_thread_self());
    ct_bracket_open(&quick, &w, other);
    FAKE(cuEventRecord, fake_record_before_another);
    ct_bracket_close(&slow, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
    ct_bracket_open(&next, &w, ct_thread_self());
    ck_assert_uint_eq(next.state, CT_BRACKET_OPEN);
    ck_assert_uint_eq(next.flags & (CT_OP_SHARED_START | CT_OP_TOLD_START), 0);
    ct_bracket_close(&next, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
    ct_bracket_open(&next, &w, ct_thread_self());
    ck_assert_uint_ne(next.flags & CT_OP_SHARED_START, 0);
}
END_TEST

/* A bracket began with the stop of one of its thread's, and ended after another thread's. */
START_TEST(a_start_is_waited_for)
{
    pthread_t thread;
    void *other;
    struct ct_bracket b;
    const struct ct_work w = launch_of(0);
    pthread_create(&thread, NULL, make_state, NULL);
    pthread_join(thread, &other);
    complete = 0;
    for (int i = 0; i < 5; i++)
        launch(0, CUDA_SUCCESS);
    ct_bracket_open(&b, &w, ct_thread_self());
    ck_assert_uint_ne(b.flags & CT_OP_SHARED_START, 0);
    launch_by(other, 0, CUDA_SUCCESS);
    ct_bracket_close(&b, &w, CUDA_SUCCESS, ct_ticks(), ct_ticks());
    complete = UINT32_MAX / 2;
    ct_harvest_collect(ct_thread_self());
    ck_assert_uint_eq(ct_harvest(true), 5);
    drain();
    const struct ct_row *r = ct_row(ct_row_get(CT_ROW_KERNEL, 0, 0, "kernel"));
    ck_assert_uint_eq(r->timed, 7);
    ck_assert_uint_eq(lost(r), 0);
}
END_TEST

/* ---- functions that nobody here knows ---- */

static const char *const works[] = {"cuLaunchKernelEx_v3",
                                    "cuMemcpyWithHintsAsync",
                                    "cuFabricCpyBatchAsync_v2",
                                    "cuMemsetAnything",
                                    "cuMemBatchDecompressAsync_v2",
                                    "cuStreamBeginCaptureToMoon",
                                    "cuStreamEndCaptureToMoon",
                                    "cuGraphLaunch_v2",
                                    "cuGraphExecNextNodeSetParams",
                                    "cudaLaunchKernelNext",
                                    "cuMemPrefetchNow",
                                    "cuStreamWriteValue128"};
static const char *const questions[] = {"cuGetProcAddress_v3",
                                        "cuFuncGetLaunchLimits",
                                        "cuStreamGetCaptureInfo_v4",
                                        "cuGraphAddMemcpyNode_v2",
                                        "cuDeviceRegisterAsyncNotification_v2",
                                        "cuStreamCopyAttributes_v2",
                                        "cuGLMapBufferObjectAsync_v2_ptsz",
                                        "cudaGLUnmapBufferObjectAsync",
                                        "cuMemAlloc_v3",
                                        "cudaMallocNext",
                                        "cuThreadExchangeStreamCaptureMode_v2"};

START_TEST(names_that_say_work)
{
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
        ck_assert_msg(ct_api_looks_like_work(works[i]), "%s", works[i]);
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        ck_assert_msg(!ct_api_looks_like_work(questions[i]), "%s", questions[i]);
}
END_TEST

START_TEST(notes_have_a_bound)
{
    char name[32];
    for (unsigned i = 0; i < 2 * CT_NOTES; i++) {
        snprintf(name, sizeof(name), "cuNext%u", i);
        ct_note(CT_NOTE_NOT_WRAPPED, name);
    }
    uint64_t sum = 0;
    ck_assert_uint_eq(ct_notes_count(), CT_NOTES);
    for (uint32_t i = 0; i < CT_NOTES; i++)
        sum += ct_note_at(i)->count;
    ck_assert_uint_eq(sum, 2 * CT_NOTES);
    ct_process_forget();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("record");
    tcase_add_test(tests, names_that_say_work);
    tcase_add_test(tests, notes_have_a_bound);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_row_for_each_thing);
    tcase_add_test(tests, rows_are_bounded);
    tcase_add_test(tests, rows_add_up);
    tcase_add_test(tests, a_call_s_time_is_the_program_s);
    tcase_add_test(tests, tallies_lose_nothing);
    tcase_add_loop_test(tests, an_event_has_one_holder, 0, ct_countof(pool_sizes));
    tcase_add_test(tests, an_ended_thread_leaves_its_events);
    tcase_add_test(tests, idle_threads_are_left_alone);
    tcase_add_test(tests, events_are_not_kept_in_need);
    tcase_add_test(tests, a_thread_begins_without_having_waited);
    tcase_add_test(tests, pools_are_bounded);
    tcase_add_test(tests, durations_are_counted_in_their_buckets);
    tcase_add_test(tests, a_histogram_that_is_dropped_stays_empty);
    tcase_add_test(tests, handles_are_forgotten);
    tcase_add_test(tests, launches_are_timed);
    tcase_add_test(tests, brackets_come_in_any_order);
    tcase_add_test(tests, stops_come_in_any_order);
    tcase_add_test(tests, a_stop_with_something_behind_is_no_start);
    tcase_add_test(tests, default_streams_are_not_taken_for_others);
    tcase_add_test(tests, events_that_could_not_be_made);
    tcase_add_test(tests, a_stream_met_by_two_threads_is_one);
    tcase_add_test(tests, default_streams_of_many_contexts);
    tcase_add_test(tests, kernels_that_fill_the_device_are_found);
    tcase_add_test(tests, streams_are_settled_up_to_one_time);
    tcase_add_test(tests, the_clock_serves_as_start);
    tcase_add_test(tests, a_start_is_waited_for);
    tcase_add_test(tests, what_is_not_timed_has_a_reason);
    tcase_add_test(tests, a_stream_that_is_drawn_into_a_capture);
    tcase_add_loop_test(tests, a_captured_event_is_lost_alone, 0, 3);
    tcase_add_loop_test(tests, streams_are_asked_while_a_capture_is_open, 0, 2);
    tcase_add_test(tests, periods_of_recording);
    tcase_add_test(tests, a_standing_queue_is_left_room);
    return ct_case_main("record", tests);
}
