/* SPDX-License-Identifier: MIT */
/* Operations whose end is not stamped: where that is so, and what tells when they were over. */
#include "base/config.h"
#include "case_main.h"
#include "counts/row.h"
#include "drain/end_poll.h"
#include "fake_driver.h"
#include "state/connections.h"
#include "state/host_wait.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"

#define US(n) ((uint64_t)1000 * (n))
#define START_NS US(1000)

static const struct ct_calibration figures;
static uint64_t context;
static struct ct_thread thread;
static struct ct_context *c;
static uint64_t begun_ticks; /* at START_NS on the time line */

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)&context;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    ct_config.events = 64;
    ck_assert(ct_contexts_init() && ct_streams_init() && ct_rows_init());
    c = ct_context_current();
    ck_assert_ptr_nonnull(c);
    ct_device_calibrated(c->device, &figures);
    ct_clock_start();
    begun_ticks = ct_ticks();
    c->clock.tie = (struct ct_pin){begun_ticks, START_NS};
}

static uint64_t after(uint64_t ns)
{
    return begun_ticks + ct_ns_to_ticks(ns);
}

static void check_near(uint64_t ns, uint64_t wanted_ns)
{
    ck_assert_uint_ge(ns + 100, wanted_ns);
    ck_assert_uint_le(ns, wanted_ns + 100);
}

/* ---- streams that share connections ---- */

static const struct {
    const char *setting;
    uint32_t count;
} settings[] = {{NULL, 8},  {"", 8},    {"0", 8},   {"1", 1},    {"8", 8},
                {"32", 32}, {"33", 32}, {"64", 32}, {"1000", 32}};

START_TEST(there_are_so_many_connections)
{
    ct_connections_init(settings[_i].setting);
    ck_assert_uint_eq(ct_connections_count, settings[_i].count);
}
END_TEST

START_TEST(more_than_half_as_many_streams_may_meet)
{
    ct_connections_init("8");
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_int_eq(ct_connections_are_short(c, ct_stream(i)), i >= 4);
    ck_assert_int_eq(ct_connections_are_short(c, ct_stream(0)), true);
}
END_TEST

START_TEST(with_very_many_at_work_fewer_are_timed)
{
    static const uint32_t at_work[] = {0, 31, 32, 63, 64};
    for (uint32_t i = 0; i < 5; i++) {
        atomic_store(&c->connections.at_work, at_work[i]);
        ck_assert_uint_eq(ct_connections_every(c), 1 + at_work[i] / 32);
    }
}
END_TEST

/* Behind operations that are not timed nothing shows that a stream is through: half a second tells.
 */
START_TEST(a_stream_that_goes_on_is_at_work)
{
    struct ct_stream *s = ct_stream(0);
    ct_connections_are_short(c, s);
    for (int i = 0; i < 2; i++) {
        s->work.quiet_since_ticks = ct_ticks() - ct_ns_to_ticks(600000000);
        if (!i)
            ct_stream_untimed(s, 1);
        ct_connections_step();
        ck_assert_uint_eq(atomic_load(&c->connections.at_work), !i);
    }
    ck_assert(!atomic_load(&s->work.is_known));
}
END_TEST

/* ---- waits of the program ---- */

START_TEST(a_wait_tells_of_what_was_before_it)
{
    CUcontext named = _i ? (CUcontext)&context : NULL;
    struct ct_op op = {.context = ct_context_index(c), .stream = 7, .closed_ticks = ct_ticks()};
    ct_host_wait_context(&thread, named);
    ck_assert_uint_eq(ct_host_wait_ticks(&thread, &op), UINT64_MAX); /* all ends are stamped */
    atomic_store(&ct_connections_were_short, true);
    ct_host_wait_context(&thread, named);
    uint64_t waited = ct_host_wait_ticks(&thread, &op);
    ck_assert_uint_gt(waited, op.closed_ticks);
    ck_assert_uint_le(waited, ct_ticks());
    op.closed_ticks = waited + 1;
    ck_assert_uint_eq(ct_host_wait_ticks(&thread, &op), UINT64_MAX);
    op.closed_ticks = 1;
    op.context++;
    ck_assert_uint_eq(ct_host_wait_ticks(&thread, &op), UINT64_MAX);
}
END_TEST

/* ---- where it began and ended ---- */

static struct ct_measured behind(struct ct_stream *s)
{
    s->polled_sequence = 4;
    s->polled_stop_ns = START_NS + US(10);
    s->polled_doubt_ns = 777;
    return (struct ct_measured){.op = {.flags = CT_OP_SHARED_START,
                                       .context = ct_context_index(c),
                                       .sequence = 5,
                                       .call_ticks = after(US(5))}};
}

START_TEST(it_begins_where_the_one_before_ended)
{
    struct ct_stream *s = ct_stream(0);
    struct ct_measured m = behind(s);
    uint64_t doubt_ns;
    ck_assert_int_eq(ct_end_poll_start(s, &m, &doubt_ns), CT_LOSS_COUNT);
    ck_assert_uint_eq(m.start_ns, START_NS + US(10));
    ck_assert_uint_eq(doubt_ns, 777);
    m.op.sequence++;
    ck_assert_int_eq(ct_end_poll_start(s, &m, &doubt_ns), CT_LOSS_NO_START);
}
END_TEST

START_TEST(it_begins_with_its_call_at_the_earliest)
{
    struct ct_stream *s = ct_stream(0);
    struct ct_measured m = behind(s);
    uint64_t doubt_ns;
    m.op.call_ticks = after(US(50));
    ck_assert_int_eq(ct_end_poll_start(s, &m, &doubt_ns), CT_LOSS_COUNT);
    check_near(m.start_ns, START_NS + US(50));
}
END_TEST

static struct ct_estimate end_of(struct ct_pending *p)
{
    struct ct_estimate e;
    struct ct_measured m = {.op = p->op, .device = c->device, .start_ns = START_NS};
    m.times.shared_start = true;
    p->thread = &thread;
    p->asked_ticks = after(US(500));
    ck_assert_int_eq(ct_end_poll_duration(&m, p, after(US(2000)), &e), CT_LOSS_COUNT);
    ck_assert_uint_le(e.low_ns, e.time_ns);
    ck_assert_uint_le(e.time_ns, e.high_ns);
    return e;
}

START_TEST(it_ends_between_two_questions)
{
    struct ct_pending p = {.op = {.context = ct_context_index(c)}};
    struct ct_estimate e = end_of(&p);
    check_near(e.high_ns - e.low_ns, US(1500));
}
END_TEST

START_TEST(its_own_call_may_have_waited_for_it)
{
    struct ct_pending p = {.op = {.context = ct_context_index(c),
                                  .flags = CT_OP_WAITED_FOR,
                                  .done_ticks = after(US(600))}};
    struct ct_estimate e = end_of(&p);
    check_near(e.high_ns - e.low_ns, US(100));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ends");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, there_are_so_many_connections, 0,
                        sizeof(settings) / sizeof(settings[0]));
    tcase_add_test(t, more_than_half_as_many_streams_may_meet);
    tcase_add_test(t, with_very_many_at_work_fewer_are_timed);
    tcase_add_test(t, a_stream_that_goes_on_is_at_work);
    tcase_add_loop_test(t, a_wait_tells_of_what_was_before_it, 0, 2);
    tcase_add_test(t, it_begins_where_the_one_before_ended);
    tcase_add_test(t, it_begins_with_its_call_at_the_earliest);
    tcase_add_test(t, it_ends_between_two_questions);
    tcase_add_test(t, its_own_call_may_have_waited_for_it);
    return ct_case_main("ends", t);
}
