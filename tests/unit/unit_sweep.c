/* SPDX-License-Identifier: MIT */
/* The sweep over operations, against a count of each nanosecond. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "case_main.h"
#include "drain/sweep.h"

#define LINE 4096
#define STREAMS 4

static struct ct_sweep *sweep;
static struct ct_stream_activity streams[STREAMS];

static void set_up(void)
{
    sweep = calloc(1, sizeof(*sweep));
    memset(streams, 0, sizeof(streams));
    for (unsigned i = 0; i < STREAMS; i++)
        streams[i].stream_id = i + 1;
    sweep->streams = streams;
}

static void tear_down(void)
{
    free(sweep);
}

static struct ct_sweep_op op_of(unsigned stream, uint64_t start_ns, uint64_t end_ns)
{
    return (struct ct_sweep_op){.start_ns = start_ns,
                                .end_ns = end_ns,
                                .told_ns = CT_SWEEP_UNKNOWN,
                                .stream = stream,
                                .stream_id = stream + 1,
                                .operations = 1};
}

static void add(const struct ct_sweep_op *op)
{
    ct_sweep_add(sweep, op);
}

static void add_simple(unsigned stream, uint64_t start_ns, uint64_t end_ns)
{
    struct ct_sweep_op op = op_of(stream, start_ns, end_ns);
    add(&op);
}

static const struct ct_file_activity *finish(void)
{
    const struct ct_file_activity *a = &sweep->figures.sum;
    uint64_t idle_ns = 0, gap_ns = 0, gaps = 0;
    ct_sweep_finish(sweep);
    for (unsigned i = 0; i < CT_FILE_IDLES; i++)
        idle_ns += a->idle_ns[i];
    for (unsigned octave = 0; octave < CT_SWEEP_OCTAVES; octave++) {
        gaps += sweep->figures.gap[octave].count;
        for (unsigned i = 0; i < CT_FILE_IDLES; i++)
            gap_ns += sweep->figures.gap[octave].idle_ns[i];
    }
    ck_assert_uint_eq(a->busy_ns + idle_ns, a->last_ns - a->first_ns);
    ck_assert_uint_eq(a->compute_ns + a->copy_ns - a->both_ns, a->busy_ns);
    ck_assert_uint_eq(gap_ns, idle_ns);
    ck_assert_uint_eq(gaps, a->gaps);
    return a;
}

static void expect_idle(enum ct_idle reason, uint64_t ns)
{
    ck_assert_msg(sweep->figures.sum.idle_ns[reason] == ns, "reason %u: %llu", reason,
                  (unsigned long long)sweep->figures.sum.idle_ns[reason]);
}

START_TEST(one_after_the_other)
{
    add_simple(0, 1000, 1400);
    add_simple(0, 1500, 1600);
    add_simple(0, 1600, 1900);
    const struct ct_file_activity *a = finish();
    ck_assert_uint_eq(a->operations, 3);
    ck_assert_uint_eq(a->first_ns, 1000);
    ck_assert_uint_eq(a->last_ns, 1900);
    ck_assert_uint_eq(a->busy_ns, 800);
    ck_assert_uint_eq(a->gaps, 1);
    ck_assert_uint_eq(a->longest_gap_ns, 100);
    ck_assert_uint_eq(a->beside_ns, 0);
    ck_assert_uint_eq(streams[0].timed, 3);
    ck_assert_uint_eq(streams[0].busy_ns, 800);
    ck_assert_uint_eq(streams[0].gaps, 1);
}
END_TEST

/* Idle time by reason: what the next operation's times tell. */
static const struct {
    uint64_t told_ns, waited_ns;
    uint32_t host_cost_ns, gpu_cost_ns;
    uint64_t idle_ns[CT_IDLE_COUNT]; /* HOST SYNC QUEUED MEASURING OFF UNKNOWN */
} reasons[] = {
    {CT_SWEEP_UNKNOWN, 0, 0, 0, {0, 0, 0, 0, 0, 1000}},
    {CT_SWEEP_UNKNOWN, 0, 70, 300, {0, 0, 0, 300, 0, 700}},
    {CT_SWEEP_UNKNOWN, 0, 70, 3000, {0, 0, 0, 1000, 0, 0}},
    {4000, 0, 70, 30, {0, 0, 970, 30, 0, 0}},      /* told long before */
    {5600, 0, 0, 0, {600, 0, 400, 0, 0, 0}},       /* in between */
    {5600, 0, 50, 30, {550, 0, 370, 80, 0, 0}},    /* less what it cost */
    {9000, 0, 0, 0, {1000, 0, 0, 0, 0, 0}},        /* as it began, by a clock that is off */
    {5600, 4999, 0, 0, {600, 0, 400, 0, 0, 0}},    /* the host had come back in time */
    {5600, 5100, 50, 30, {0, 550, 370, 80, 0, 0}}, /* and when the device was idle */
    {5600, 0, 9999, 9999, {0, 0, 0, 1000, 0, 0}},
};

START_TEST(idle_time_has_reasons)
{
    struct ct_sweep_op op = op_of(0, 6000, 6100);
    op.told_ns = reasons[_i].told_ns;
    op.waited_ns = reasons[_i].waited_ns;
    op.host_cost_ns = reasons[_i].host_cost_ns;
    op.gpu_cost_ns = reasons[_i].gpu_cost_ns;
    add_simple(1, 4500, 5000);
    add(&op);
    finish();
    for (unsigned i = 0; i < CT_IDLE_COUNT; i++)
        expect_idle((enum ct_idle)i, reasons[_i].idle_ns[i]);
    ck_assert_uint_eq(sweep->figures.gap[9].count, 1); /* 512 to 1023 */
}
END_TEST

START_TEST(recording_was_off)
{
    struct ct_sweep_op op = op_of(0, 1900, 2000);
    add_simple(0, 1000, 1100);
    add_simple(0, 1200, 1300);
    op.period = 1;
    add(&op);
    op = op_of(1, 2100, 2200); /* of the period before, but later */
    add(&op);
    op = op_of(0, 3000, 3100);
    op.period = 3;
    add(&op);
    finish();
    expect_idle(CT_IDLE_UNKNOWN, 100 + 100);
    expect_idle(CT_IDLE_OFF, 600 + 800);
}
END_TEST

START_TEST(copies_beside_kernels)
{
    struct ct_sweep_op copy = op_of(1, 1200, 1700);
    copy.is_copy = true;
    add_simple(0, 1000, 1500);
    add(&copy);
    add_simple(2, 1600, 1650);
    const struct ct_file_activity *a = finish();
    ck_assert_uint_eq(a->busy_ns, 700);
    ck_assert_uint_eq(a->compute_ns, 550);
    ck_assert_uint_eq(a->copy_ns, 500);
    ck_assert_uint_eq(a->both_ns, 350);
    ck_assert_uint_eq(a->beside_ns, 350);
    ck_assert_uint_eq(streams[0].beside_ns, 300);
    ck_assert_uint_eq(streams[1].beside_ns, 350);
    ck_assert_uint_eq(streams[2].beside_ns, 50);
}
END_TEST

/* Each nanosecond by itself, which takes no order and no heap. */
static struct {
    uint8_t computes, copies, runs[STREAMS];
} line[LINE];

static void expect_line(uint64_t first, uint64_t last)
{
    struct ct_file_activity want = {0};
    uint64_t busy[STREAMS] = {0}, beside[STREAMS] = {0};
    for (uint64_t t = first; t < last; t++) {
        unsigned n = line[t].computes + line[t].copies;
        want.busy_ns += n > 0;
        want.compute_ns += line[t].computes > 0;
        want.copy_ns += line[t].copies > 0;
        want.both_ns += line[t].computes && line[t].copies;
        want.beside_ns += n > 1;
        for (unsigned i = 0; i < STREAMS; i++) {
            busy[i] += line[t].runs[i];
            beside[i] += line[t].runs[i] && n > 1;
        }
    }
    const struct ct_file_activity *a = finish();
    ck_assert_uint_eq(a->first_ns, first);
    ck_assert_uint_eq(a->last_ns, last);
    ck_assert_uint_eq(a->busy_ns, want.busy_ns);
    ck_assert_uint_eq(a->compute_ns, want.compute_ns);
    ck_assert_uint_eq(a->copy_ns, want.copy_ns);
    ck_assert_uint_eq(a->both_ns, want.both_ns);
    ck_assert_uint_eq(a->beside_ns, want.beside_ns);
    ck_assert_uint_eq(a->misplaced_ns, 0);
    for (unsigned i = 0; i < STREAMS; i++) {
        ck_assert_uint_eq(streams[i].busy_ns, busy[i]);
        ck_assert_uint_eq(streams[i].beside_ns, beside[i]);
    }
}

/* One stream after the other: nothing comes in its order. */
START_TEST(any_operations_in_any_order)
{
    uint64_t random = (uint64_t)_i + 1, first = LINE, last = 0;
    memset(line, 0, sizeof(line));
    for (unsigned i = 0; i < STREAMS; i++) {
        for (uint64_t at = 1 + ct_random(&random) % 200; at < LINE - 100;) {
            struct ct_sweep_op op = op_of(i, at, at + ct_random(&random) % 90);
            op.is_copy = ct_random(&random) % 3 == 0;
            for (uint64_t t = op.start_ns; t < op.end_ns; t++) {
                line[t].runs[i] = 1;
                (op.is_copy ? &line[t].copies : &line[t].computes)[0]++;
            }
            first = ct_min(first, op.start_ns);
            last = ct_max(last, op.end_ns);
            add(&op);
            at = op.end_ns + ct_random(&random) % 150;
        }
    }
    expect_line(first, last);
}
END_TEST

/* More than can wait, in the order they ended: the room is no limit then. */
START_TEST(more_than_the_room)
{
    for (uint64_t i = 0; i < 3 * CT_SWEEP_WAITING; i++) {
        add_simple(1, 1000 + i * 100, 1030 + i * 100);
        add_simple(0, 1000 + i * 100, 1060 + i * 100);
    }
    const struct ct_file_activity *a = finish();
    ck_assert_uint_eq(a->misplaced_ns, 0);
    ck_assert_uint_eq(a->operations, (uint64_t)6 * CT_SWEEP_WAITING);
    ck_assert_uint_eq(a->busy_ns, (uint64_t)180 * CT_SWEEP_WAITING);
    ck_assert_uint_eq(a->beside_ns, (uint64_t)90 * CT_SWEEP_WAITING);
}
END_TEST

/* One that ran all the while comes when the others have had to go on: that is said. */
START_TEST(one_that_comes_too_late)
{
    for (uint64_t i = 0; i < 2 * CT_SWEEP_WAITING; i++)
        add_simple(0, 1000 + i * 100, 1050 + i * 100);
    add_simple(1, 1000, 1000 + (uint64_t)200 * CT_SWEEP_WAITING);
    const struct ct_file_activity *a = finish();
    ck_assert_uint_ge(a->misplaced_ns, (uint64_t)99 * CT_SWEEP_WAITING);
    ck_assert_uint_le(a->misplaced_ns, (uint64_t)101 * CT_SWEEP_WAITING);
}
END_TEST

/* Estimates of one stream's operations may overlap by a little. */
START_TEST(a_stream_runs_one_at_a_time)
{
    add_simple(0, 1000, 1500);
    add_simple(0, 1490, 2000);
    const struct ct_file_activity *a = finish();
    ck_assert_uint_eq(a->busy_ns, 1000);
    ck_assert_uint_eq(a->beside_ns, 0);
    ck_assert_uint_eq(streams[0].busy_ns, 1000);
    ck_assert_uint_eq(streams[0].gaps, 0);
}
END_TEST

START_TEST(more_at_once_than_there_is_room_for)
{
    for (unsigned i = 0; i < CT_SWEEP_RUNNING + 2; i++) {
        struct ct_sweep_op op = op_of(0, 1000 + i, 5000);
        op.stream = CT_SWEEP_NO_STREAM;
        op.stream_id = i + 1;
        add(&op);
    }
    const struct ct_file_activity *a = finish();
    ck_assert_uint_eq(a->busy_ns, 4000);
    ck_assert_uint_eq(a->misplaced_ns, 5000 - 1256 + 5000 - 1257);
}
END_TEST

/* The entry of a stream has become another's while its operations waited. */
START_TEST(a_stream_that_went)
{
    add_simple(0, 1000, 1500);
    streams[0] = (struct ct_stream_activity){.stream_id = 77};
    finish();
    ck_assert_uint_eq(streams[0].timed, 0);
    ck_assert_uint_eq(streams[0].busy_ns, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sweep");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, one_after_the_other);
    tcase_add_loop_test(t, idle_time_has_reasons, 0, sizeof(reasons) / sizeof(reasons[0]));
    tcase_add_test(t, recording_was_off);
    tcase_add_test(t, copies_beside_kernels);
    tcase_add_loop_test(t, any_operations_in_any_order, 0, 100);
    tcase_add_test(t, more_than_the_room);
    tcase_add_test(t, one_that_comes_too_late);
    tcase_add_test(t, a_stream_runs_one_at_a_time);
    tcase_add_test(t, more_at_once_than_there_is_room_for);
    tcase_add_test(t, a_stream_that_went);
    return ct_case_main("unit_sweep", t);
}
