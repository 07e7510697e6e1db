/* SPDX-License-Identifier: MIT */
/* Brackets of several threads in one stream are held until each has its place, and no longer. */
#include "base/config.h"
#include "base/process.h"
#include "case_main.h"
#include "counts/row.h"
#include "drain/settle.h"
#include "drain/shared_stream.h"
#include "fake_driver.h"
#include "state/stream.h"
#include "system/clock.h"

#define US(n) ((uint64_t)1000 * (n))

static const struct ct_calibration figures = {.record_ns = 1000};
static uint64_t context;
static struct ct_context *c;
static struct ct_stream *s;
static struct ct_measured *first; /* that is settled */
static uint32_t row;
static uint64_t base_ticks;

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)&context;
    return CUDA_SUCCESS;
}

/* Enough is known of the row for nothing to wait for more. */
static void set_up(void)
{
    fake_context(fake_current);
    ct_config.events = 64;
    ct_clock_start();
    ck_assert(ct_rows_init() && ct_contexts_init() && ct_streams_init() && ct_settle_init());
    c = ct_context_current();
    ck_assert_ptr_nonnull(c);
    ct_device_calibrated(c->device, &figures);
    s = ct_stream(0);
    row = ct_row_get(CT_ROW_KERNEL, 0, c->device, "kernel");
    ct_row(row)->prior.count = CT_PRIOR_LEAST;
    first = ct_settle_next();
    base_ticks = ct_ticks();
}

static void tear_down(void)
{
    ct_process_forget();
}

static unsigned settled(void)
{
    return (unsigned)(ct_settle_next() - first);
}

/* A kernel between two stamps, and what its thread did to submit it; in us. */
static struct ct_measured bracket(uint64_t opened, uint64_t start, uint64_t stop, uint64_t told)
{
    uint64_t ticks = base_ticks + ct_ns_to_ticks(US(told)), one = ct_ns_to_ticks(100);
    return (struct ct_measured){
        .op = {.row = row,
               .stream = ct_stream_index(s),
               .context = ct_context_index(c),
               .flags = CT_OP_OVERLAPPED,
               .sequence = opened,
               .opened = opened,
               .operations = 1,
               .open_ticks = ticks,
               .call_ticks = ticks + one,
               .done_ticks = ticks + 2 * one,
               .closed_ticks = ticks + 3 * one},
        .times = {.raw_ns = US(stop - start)},
        .start_ns = US(start),
        .stop_ns = US(stop),
        .device = c->device,
        .stream_id = 1,
    };
}

static void hold(struct ct_measured m)
{
    ck_assert(ct_shared_stream_hold(s, &m));
}

START_TEST(one_by_itself_is_overlapped_by_nobody)
{
    hold(bracket(1, 100, 200, 0));
    hold(bracket(2, 300, 400, 10));
    ck_assert_uint_eq(settled(), 0);
    ct_shared_streams_step();
    ck_assert_uint_eq(settled(), 2);
    ck_assert_ptr_null(s->line);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(first[i].is_placed && !first[i].times.is_torn);
        ck_assert(!(first[i].op.flags & CT_OP_OVERLAPPED));
        ck_assert_uint_eq(first[i].times.raw_ns, US(100));
        ck_assert_uint_eq(first[i].bracket_ns, US(100));
    }
}
END_TEST

/* A bracket with a break in it is torn, and may still have been overlapped. */
START_TEST(a_torn_one_is_not_known_to_be_alone)
{
    struct ct_measured m = bracket(1, 100, 200, 0);
    m.op.flags |= CT_OP_BROKEN;
    hold(m);
    ct_shared_streams_step();
    ck_assert_uint_eq(settled(), 1);
    ck_assert(first->times.is_torn);
    ck_assert(first->op.flags & CT_OP_OVERLAPPED);
}
END_TEST

/* Each is as long as if a record were behind it, though there is one behind all. */
START_TEST(two_in_one_segment)
{
    struct ct_measured a = bracket(1, 100, 301, 0), b = bracket(2, 101, 300, 1);
    a.op.call_ticks = b.op.call_ticks;
    a.op.done_ticks = b.op.done_ticks;
    a.op.closed_ticks = b.op.closed_ticks;
    hold(a);
    hold(b);
    ct_shared_streams_step();
    ck_assert_uint_eq(settled(), 2);
    const struct ct_measured *early = first[0].place.is_last ? &first[1] : &first[0];
    const struct ct_measured *late = first[0].place.is_last ? &first[0] : &first[1];
    ck_assert_uint_eq(early->place.with, 1);
    ck_assert(!early->place.is_last && late->place.is_last);
    ck_assert_uint_eq(early->place.to_ns, late->place.from_ns);
    ck_assert_uint_eq(early->stop_ns, early->place.to_ns + figures.record_ns);
    ck_assert_uint_eq(late->stop_ns, late->place.to_ns);
    ck_assert_uint_eq(early->times.raw_ns, early->stop_ns - early->start_ns);
}
END_TEST

/* Those that were opened in between and not read are waited for, while any can come. */
START_TEST(missing_ones_are_waited_for)
{
    hold(bracket(1, 100, 200, 0));
    hold(bracket(5, 300, 400, 10));
    atomic_store(&s->sequence, s->dealt + 1);
    ct_shared_streams_step();
    ck_assert_ptr_nonnull(s->line);
    atomic_store(&s->sequence, s->dealt);
    ct_shared_streams_step();
    ck_assert_ptr_null(s->line);
    ck_assert_uint_eq(settled(), 2);
}
END_TEST

/* An entry may be another stream's soon: what is held of the one before has no part in it. */
START_TEST(another_stream_in_its_place)
{
    struct ct_measured m = bracket(2, 300, 400, 10);
    m.stream_id = 2;
    hold(bracket(1, 100, 200, 0));
    hold(m);
    ck_assert_uint_eq(settled(), 1);
    ck_assert_uint_eq(first->stream_id, 1);
    ct_shared_streams_end();
    ck_assert_uint_eq(settled(), 2);
    ck_assert_uint_eq(first[1].stream_id, 2);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("line");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, one_by_itself_is_overlapped_by_nobody);
    tcase_add_test(t, a_torn_one_is_not_known_to_be_alone);
    tcase_add_test(t, two_in_one_segment);
    tcase_add_test(t, missing_ones_are_waited_for);
    tcase_add_test(t, another_stream_in_its_place);
    return ct_case_main("line", t);
}
