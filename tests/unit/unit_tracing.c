/* SPDX-License-Identifier: MIT */
/* Where the trace of the process puts operations on the host's clock, which is the test's. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "case_main.h"
#include "counts/api_call.h"
#include "counts/api_count.h"
#include "counts/call_log.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "drain/anchor.h"
#include "drain/tracing.h"
#include "fake_driver.h"
#include "format/trace_read.h"
#include "launch/bracket.h"
#include "launch/thread_life.h"
#include "state/context.h"
#include "state/stream.h"
#include "state/thread.h"
#include "time/lead.h"

#define MS 1000000u
#define SECOND 1000000000u

#define RECORD_NS 1280 /* from the moment at which the GPU is told of a record to its stamp */
#define DRIFT 50e-6    /* the GPU's clock is fast */
#define KERNEL_NS 7000

static char handle[1];
static struct ct_context *context;
static uint32_t row;
static uint64_t gpu_begin_ns; /* what its clock showed when the host's showed 0 */
static uint64_t sequence;
static int file;

static const struct ct_calibration figures = {
    .source = CT_CALIBRATION_TABLE,
    .bias_busy_ns = 2900,
    .submit_ns = 1000,
};

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)handle;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    ct_config.events = 1024;
    ck_assert(ct_contexts_init() && ct_streams_init() && ct_rows_init());
    context = ct_context_get((CUcontext)handle);
    ck_assert_ptr_nonnull(context);
    ct_device_calibrated(context->device, &figures);
    row = ct_row_get(CT_ROW_KERNEL, 0, context->device, "kernel");
    ck_assert(ct_tracing_start(&(struct ct_process_info){.command = "", .host = ""}, 0));
    gpu_begin_ns = (uint64_t)1 << 40;
    struct ct_trace_header h = ct_tracing_header();
    file = memfd_create("unit_tracing", 0);
    ck_assert_int_eq(pwrite(file, &h, sizeof(h), 0), sizeof(h));
}

static void tear_down(void)
{
    ct_tracing_forget();
    close(file);
}

static uint64_t on_gpu(uint64_t host_ns)
{
    return gpu_begin_ns + host_ns + (uint64_t)((double)host_ns * DRIFT);
}

/*
 * A kernel on a stream that was idle: the record before it took the host `record_ns`, and the
 * kernel began right then. The clock that was not started makes a tick a nanosecond.
 */
static struct ct_measured kernel(uint64_t host_ns, uint64_t record_ns)
{
    struct ct_measured m = {
        .op =
            {
                .row = row,
                .context = ct_context_index(context),
                .sequence = ++sequence,
                .open_ticks = host_ns - record_ns,
                .call_ticks = host_ns,
                .done_ticks = host_ns + 2000,
                .closed_ticks = host_ns + 3000,
                .operations = 1,
            },
        .stream_id = 1,
        .device = context->device,
    };
    m.times = ct_lead_host_times(&m.op);
    m.start_ns = on_gpu(ct_told_ticks(m.op.open_ticks, m.op.call_ticks) + RECORD_NS);
    m.stop_ns = on_gpu(host_ns + KERNEL_NS + RECORD_NS);
    m.times.raw_ns = m.stop_ns - m.start_ns;
    return m;
}

static void add(struct ct_measured *m)
{
    ct_lead_guess(&context->clock, m);
    ct_lead_find(&context->clock, m);
    ct_tracing_add(m, KERNEL_NS);
}

/* One that ties the clocks together. */
static void add_pins(uint64_t from_ns, unsigned ms)
{
    for (unsigned i = 1; i <= 5 * ms; i++) {
        struct ct_measured m = kernel(from_ns + i * MS / 5, 1000);
        add(&m);
    }
}

/* Of the GPU's clock: as when a stream has been asked, or was harvested. */
static void read_event(uint64_t host_ns)
{
    static uint32_t events;
    ct_anchor_give(context, events++, on_gpu(host_ns));
}

/* The kernel that came last, as the trace has it. */
static struct ct_trace_op newest_of_any_length(void)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct ct_read_error error;
    struct ct_trace_op op = {0};
    int rc;
    ct_tracing_seal(true);
    const struct ct_trace_out *out = ct_tracing_ready();
    for (unsigned i = 0; i < out->count; i++)
        ck_assert_int_eq(
            pwrite(file, out->piece[i].data, out->piece[i].bytes, (off_t)out->piece[i].offset),
            (ssize_t)out->piece[i].bytes);
    ck_assert_int_eq(ct_trace_open_at(&t, file, &error), 0);
    while ((rc = ct_trace_next(t, &r, &error)) > 0)
        op = *r.op;
    ck_assert_int_eq(rc, 0);
    ct_trace_close(t);
    return op;
}

static struct ct_trace_op newest(void)
{
    struct ct_trace_op op = newest_of_any_length();
    ck_assert_uint_eq(op.end_ns - op.start_ns, KERNEL_NS);
    return op;
}

static void check_start(const struct ct_trace_op *op, uint64_t host_ns, uint64_t within_ns)
{
    ck_assert_uint_ge(op->start_ns, host_ns - within_ns);
    ck_assert_uint_le(op->start_ns, host_ns + within_ns);
}

START_TEST(pins_tell_where)
{
    add_pins(SECOND, 100);
    struct ct_measured m = kernel(SECOND + 102 * MS, 1000);
    m.stop_ns = on_gpu(SECOND + 103 * MS + RECORD_NS); /* it had to wait for another stream */
    m.times.raw_ns = m.stop_ns - m.start_ns;
    add(&m);
    struct ct_trace_op op = newest();
    check_start(&op, SECOND + 103 * MS - KERNEL_NS, 100);
    ck_assert(!(op.flags & CT_TRACE_OP_UNTIED));
}
END_TEST

/* The host was late with the stop record: the kernel was over long before that was stamped. */
START_TEST(a_late_stop_record)
{
    add_pins(SECOND, 100);
    struct ct_measured m = kernel(SECOND + 102 * MS, 1000);
    m.op.closed_ticks += 50000;
    m.stop_ns = on_gpu(ct_told_ticks(m.op.done_ticks, m.op.closed_ticks) + RECORD_NS);
    m.times.raw_ns = m.stop_ns - m.start_ns;
    add(&m);
    ck_assert_int_lt(m.times.slack_ns, CT_LATE_NS);
    struct ct_trace_op op = newest();
    check_start(&op, m.op.done_ticks, 2000);
}
END_TEST

/* A kernel starts neither before it was submitted nor before the one before it has ended. */
START_TEST(in_order)
{
    add_pins(SECOND, 100);
    struct ct_measured m = kernel(SECOND + 102 * MS, 1000);
    m.start_ns -= 3000;
    m.stop_ns -= 3000;
    add(&m);
    struct ct_trace_op op = newest();
    ck_assert_uint_eq(op.start_ns, m.op.call_ticks);
    uint64_t end_ns = op.end_ns;
    m.op.open_ticks = m.op.call_ticks += 100;
    add(&m);
    op = newest();
    ck_assert_uint_eq(op.start_ns, end_ns);
}
END_TEST

/* A thread that shares the stream loses its processor before its call: the bracket is that long. */
START_TEST(a_duration_that_is_too_long)
{
    add_pins(SECOND, 100);
    struct ct_measured m = kernel(SECOND + 102 * MS, 1000);
    m.op.call_ticks += 80000;
    m.op.done_ticks = m.op.closed_ticks = m.op.call_ticks + 1000;
    m.stop_ns += 80000;
    m.times.raw_ns = m.stop_ns - m.start_ns;
    m.times.lead_ns = CT_LEAD_UNKNOWN;
    ct_stream(m.op.stream)->was_shared = true;
    ct_tracing_add(&m, m.times.raw_ns);
    ct_stream(m.op.stream)->was_shared = false;
    struct ct_trace_op op = newest_of_any_length();
    ck_assert_uint_ge(op.start_ns, m.op.call_ticks);
    ck_assert_uint_le(op.end_ns, SECOND + 102 * MS + 80000 + KERNEL_NS + 5000);
}
END_TEST

/* Nobody knows yet where the clocks are, but for the first kernel that was found. */
START_TEST(before_the_first_pin)
{
    struct ct_measured m = kernel(SECOND, 100000);
    add(&m);
    struct ct_trace_op op = newest();
    check_start(&op, SECOND, 100);
    ck_assert(op.flags & CT_TRACE_OP_UNTIED);
    m = kernel(SECOND + MS, 100000);
    add(&m);
    op = newest();
    check_start(&op, SECOND + MS, 100);
}
END_TEST

/*
 * For so long the clocks have not been compared that they are not tied any more. What was known of
 * them is better than what was guessed a minute ago.
 */
START_TEST(after_an_idle_phase)
{
    struct ct_measured m = kernel(SECOND, 100000);
    add(&m);
    add_pins(60ull * SECOND, 100);
    read_event(60ull * SECOND + 100 * MS);
    read_event(70ull * SECOND);
    for (unsigned i = 0; i < 3; i++) {
        m = kernel(70ull * SECOND + i * 10 * MS, 100000); /* cold: no pin */
        add(&m);
        struct ct_trace_op op = newest();
        check_start(&op, 70ull * SECOND + i * 10 * MS, 20000);
        ck_assert(op.flags & CT_TRACE_OP_UNTIED);
    }
    add_pins(71ull * SECOND, 1);
    struct ct_trace_op op = newest();
    ck_assert(!(op.flags & CT_TRACE_OP_UNTIED));
}
END_TEST

/* A stream that was asked and found idle says more than what was known before. */
START_TEST(found_idle_after_an_idle_phase)
{
    add_pins(SECOND, 100);
    read_event(SECOND + 100 * MS);
    read_event(70ull * SECOND);
    gpu_begin_ns += 5 * MS; /* the machine was asleep */
    struct ct_measured m = kernel(70ull * SECOND, 100000);
    m.op.flags |= CT_OP_AFTER_BREAK | CT_OP_FOUND_IDLE;
    add(&m);
    struct ct_trace_op op = newest();
    check_start(&op, 70ull * SECOND, 100);
    m = kernel(70ull * SECOND + MS, 100000);
    add(&m);
    op = newest();
    check_start(&op, 70ull * SECOND + MS, 100);
}
END_TEST

/* The place of a context that has gone becomes another's, whose time line begins anew. */
START_TEST(another_context)
{
    struct ct_measured m = kernel(SECOND, 100000);
    add(&m);
    ct_gpu_clock_reset(&context->clock);
    gpu_begin_ns -= 60ull * SECOND;
    m = kernel(60ull * SECOND, 100000);
    add(&m);
    struct ct_trace_op op = newest();
    check_start(&op, 60ull * SECOND, 100);
    gpu_begin_ns += 1000ull * SECOND;
    ct_gpu_clock_reset(&context->clock);
    m = kernel(61ull * SECOND, 100000);
    add(&m);
    op = newest();
    check_start(&op, 61ull * SECOND, 100);
}
END_TEST

/* After the trace is given up calls cost what they do without one, and the budget holds again. */
START_TEST(given_up)
{
    const struct ct_sample_policy policy = {.every = 1, .budget_ppm = 100, .sure = CT_SURE};
    ck_assert(ct_threads_init() && ct_sample_init(&policy));
    ct_api_count_init(true, 0);
    ct_recording_set(true);
    ct_call_log_is_on = true;
    struct ct_thread *t = ct_thread_self();
    t->sampler->random = 1; /* by one seed in 256 the very next call is drawn in the end */
    ct_thread_count(t, 1, true, 1000, 2000, false, 0);
    ct_thread_count(t, 1, true, 3000, 4000, true, -7);
    ck_assert_uint_eq(t->correlation, 3);
    ck_assert_uint_eq(t->api[1].errors, 1);
    ck_assert(ct_tracing_collect(t));
    ct_tracing_forget();
    for (unsigned i = 0; i < 2 * CT_LOGGED_CALLS; i++)
        ct_thread_count(t, 1, true, 5000, 6000, false, 0);
    ck_assert_uint_eq(t->correlation, 0);
    ck_assert_uint_eq(t->log->dropped, 0);
    ck_assert_uint_gt(ct_api_interval_ticks, 0);
    ck_assert_uint_gt(t->api[1].left, 0);
    ct_thread_count(t, 1, false, 0, 0, true, -7);
    ck_assert_uint_eq(t->api[1].untimed, 1);
    ck_assert_uint_eq(t->api[1].errors, 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("tracing");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, pins_tell_where);
    tcase_add_test(tests, a_late_stop_record);
    tcase_add_test(tests, in_order);
    tcase_add_test(tests, a_duration_that_is_too_long);
    tcase_add_test(tests, before_the_first_pin);
    tcase_add_test(tests, after_an_idle_phase);
    tcase_add_test(tests, found_idle_after_an_idle_phase);
    tcase_add_test(tests, another_context);
    tcase_add_test(tests, given_up);
    return ct_case_main("tracing", tests);
}
