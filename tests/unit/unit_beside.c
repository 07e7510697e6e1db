/* SPDX-License-Identifier: MIT */
/* What other streams did beside a bracket, seen from the stamps of a round. */
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "case_main.h"
#include "time/beside.h"
#include "time/occupancy.h"

#define MOST 64

static struct ct_measured round_[MOST];
static unsigned count;

static void begin(void)
{
    memset(round_, 0, sizeof(round_));
    count = 0;
    ct_process_forget();
    ck_assert(ct_beside_init());
}

/* The next round has nothing of the one before but what is remembered. */
static void next_round(void)
{
    memset(round_, 0, sizeof(round_));
    count = 0;
}

static struct ct_bracket_times *bracket(uint32_t stream, uint64_t start_ns, uint64_t stop_ns)
{
    struct ct_measured *m = &round_[count++];
    m->op.stream = stream;
    m->start_ns = start_ns;
    m->stop_ns = stop_ns;
    m->times.raw_ns = stop_ns - start_ns;
    m->times.lead_ns = CT_LEAD_UNKNOWN;
    return &m->times;
}

static struct ct_bracket_times *shared(uint32_t stream, uint64_t start_ns, uint64_t stop_ns)
{
    round_[count].op.flags = CT_OP_SHARED_START;
    return bracket(stream, start_ns, stop_ns);
}

static void find(void)
{
    ct_beside_find(round_, count, count);
    for (unsigned i = 0; i < count; i++)
        round_[i].times.taken_ns = ct_beside_taken_ns(&round_[i]);
}

START_TEST(a_lone_stream_has_nothing_beside_it)
{
    begin();
    struct ct_bracket_times *a = bracket(1, 10000, 15000), *b = bracket(1, 16000, 20000);
    a->lead_ns = b->lead_ns = 3000;
    find();
    ck_assert_uint_eq(a->beside + a->beside_start + b->beside + b->beside_start, 0);
    ck_assert(!a->after_other_ns && !b->after_other_ns);
    ck_assert_uint_eq(a->held_ns + b->held_ns + a->taken_ns + b->taken_ns, 0);
}
END_TEST

START_TEST(those_in_flight_are_counted_at_both_ends)
{
    begin();
    struct ct_bracket_times *whole = bracket(1, 10000, 90000);
    struct ct_bracket_times *first = bracket(2, 20000, 40000), *second = shared(2, 40000, 60000);
    find();
    ck_assert_uint_eq(whole->beside_start, 0);
    ck_assert_uint_eq(first->beside_start, 1);
    ck_assert_uint_eq(first->beside, 1); /* and not its own stream's next one */
    ck_assert_uint_eq(second->beside, 1);
    ck_assert_uint_eq(whole->beside, 0);
}
END_TEST

/* Also when that is in another round, or not over yet. */
START_TEST(rounds_overlap)
{
    begin();
    bracket(1, 10000, 50000);
    ct_beside_running(2, 0, 20000);
    find();
    ck_assert_uint_eq(round_[0].times.beside, 1);
    next_round();
    struct ct_bracket_times *late = bracket(2, 20000, 52000);
    find();
    ck_assert_uint_eq(late->beside_start, 1);
    ck_assert_uint_eq(late->beside, 0);
    ck_assert_uint_gt(late->held_ns, 0);
}
END_TEST

/* A running one begins behind what its stream has done, whenever it was submitted. */
START_TEST(what_runs_is_one_bracket_of_its_stream)
{
    begin();
    struct ct_bracket_times *before = bracket(2, 10000, 30000), *m = bracket(1, 15000, 25000);
    struct ct_bracket_times *after = bracket(1, 26000, 40000);
    ct_beside_running(2, 0, 12000);
    find();
    ck_assert_uint_eq(m->beside, 1);
    ck_assert_uint_eq(after->beside, 1);
    ck_assert_uint_eq(before->beside, 1);
}
END_TEST

static void fills(const struct ct_bracket_times *t)
{
    for (unsigned i = 0; i < count; i++)
        if (&round_[i].times == t)
            round_[i].fills_device = true;
}

START_TEST(blocks_wait_for_those_of_kernels_that_fill_the_device)
{
    begin();
    struct ct_bracket_times *first = bracket(1, 10000, 50000), *second = bracket(2, 12000, 90000);
    struct ct_bracket_times *small = bracket(3, 20000, 60000), *after = bracket(4, 55000, 95000);
    struct ct_bracket_times *early = bracket(5, 5000, 99000), *next = bracket(1, 90000, 99000);
    fills(first);
    fills(second);
    find();
    ck_assert_uint_eq(first->filled_ns, 0);
    ck_assert_uint_eq(second->filled_ns, 50000 - 12000);
    ck_assert(!second->filled_past);
    ck_assert_uint_eq(small->filled_ns, 50000 - 20000);
    ck_assert(small->filled_past);
    ck_assert_uint_eq(after->filled_ns, 90000 - 55000);
    ck_assert_uint_eq(early->filled_ns, 0); /* its blocks were there before */
    ck_assert(!early->filled_past);
    ck_assert_uint_eq(next->filled_ns, 0);
    find(); /* as what is not settled comes again */
    ck_assert_uint_eq(second->filled_ns, 50000 - 12000);
}
END_TEST

/* Also for those of the round before. */
START_TEST(blocks_of_more_priority_do_not_wait)
{
    begin();
    fills(bracket(1, 10000, 50000));
    round_[0].priority = -2;
    find();
    next_round();
    struct ct_bracket_times *t = bracket(2, 20000, 60000), *other = bracket(3, 20000, 60000);
    round_[0].priority = -2;
    round_[1].priority = -5;
    find();
    ck_assert_uint_eq(t->filled_ns, 50000 - 20000);
    ck_assert_uint_eq(other->filled_ns, 0);
}
END_TEST

START_TEST(how_many_blocks_there_is_room_for)
{
    struct ct_shape shape = {{132 * 8, 1, 1}, {256, 1, 1}, 0};
    ck_assert_uint_eq(ct_sm_blocks(&shape, 0, 0), 8);
    ck_assert_uint_eq(ct_sm_blocks(&shape, 64 * 256, 0), 4);
    ck_assert_uint_eq(ct_sm_blocks(&shape, 0, 100 * 1024), 2);
    ck_assert(ct_fills_device(132, &shape, 0, 0));
    shape.grid[0]--;
    ck_assert(!ct_fills_device(132, &shape, 0, 0));
    ck_assert(ct_fills_device(132, &shape, 64 * 256, 0));
    ck_assert(!ct_fills_device(0, &shape, 0, 0)); /* it is not known of what */
    shape.dynamic_shared_bytes = 1 << 20;
    ck_assert_uint_eq(ct_sm_blocks(&shape, 0, 0), 1);
    shape = (struct ct_shape){{INT32_MAX, 65535, 65535}, {32, 1, 1}, 0};
    ck_assert_uint_eq(ct_sm_blocks(&shape, 0, 0), 32);
    ck_assert(ct_fills_device(132, &shape, 0, 0));
}
END_TEST

START_TEST(contexts_know_nothing_of_each_other)
{
    begin();
    struct ct_bracket_times *m = bracket(1, 10000, 20000);
    bracket(2, 5000, 19000);
    round_[1].op.context = 1;
    m->lead_ns = 9000;
    find();
    ck_assert_uint_eq(m->beside + m->beside_start, 0);
    ck_assert_uint_eq(m->held_ns + m->taken_ns, 0);
    ck_assert(!m->after_other_ns);
}
END_TEST

/* As long as stamps follow each other closely the front end may have been with the others. */
START_TEST(a_stop_waits_for_the_records_of_others)
{
    begin();
    struct ct_bracket_times *m = bracket(1, 100000, 130000);
    bracket(2, 50000, 121000);
    bracket(3, 124000, 200000);
    bracket(4, 40000, 127500);
    find();
    ck_assert_uint_eq(m->held_ns, 9000);
    begin();
    m = bracket(1, 100000, 130000);
    bracket(2, 50000, 126000); /* a stop is dealt with by then, */
    find();
    ck_assert_uint_eq(m->held_ns, 0);
    begin();
    m = bracket(1, 100000, 130000);
    bracket(2, 126000, 226000); /* but perhaps not what is behind a start */
    find();
    ck_assert_uint_eq(m->held_ns, 4000);
    begin();
    m = bracket(1, 100000, 130000);
    shared(2, 126000, 226000); /* which has no record here */
    find();
    ck_assert_uint_eq(m->held_ns, 0);
}
END_TEST

START_TEST(a_stop_does_not_wait_since_before_its_start)
{
    begin();
    for (unsigned i = 0; i < 20; i++)
        bracket(2 + i, 10000, 100000 + 2000 * i);
    struct ct_bracket_times *m = bracket(1, 130000, 139000);
    find();
    ck_assert_uint_eq(m->held_ns, 9000);
}
END_TEST

/* Two streams: the other one is served once, however long it goes on so. */
START_TEST(each_of_the_others_has_a_turn_at_most)
{
    begin();
    for (unsigned i = 0; i < 20; i++)
        bracket(2, 100000 + 4000 * i, 102000 + 4000 * i);
    struct ct_bracket_times *m = bracket(1, 90000, 180000);
    find();
    ck_assert_uint_eq(m->held_ns, 2 * 6000);
}
END_TEST

/* An idle stream's start record, asked for at 110000, is stamped after the long kernel's end. */
START_TEST(while_the_front_end_stands_still_nothing_is_served)
{
    begin();
    struct ct_bracket_times *m = bracket(1, 100000, 606000);
    struct ct_bracket_times *whole = bracket(2, 90000, 595000);
    struct ct_bracket_times *behind = bracket(3, 602000, 640000);
    round_[2].asked_ns = 110000;
    find();
    ck_assert(m->stalled);
    ck_assert_uint_eq(m->held_ns, 606000 - 110000);
    ck_assert(!whole->stalled && !behind->stalled);
    ck_assert_uint_eq(whole->held_ns + behind->held_ns, 0);
    round_[2].asked_ns = 601000;
    find();
    ck_assert(!m->stalled);
    ck_assert_uint_eq(m->held_ns, 4000);
}
END_TEST

/* The operation was told of at 3000: a stop at 2500 was before it, one at 6000 was not. */
START_TEST(a_stop_in_between_takes_the_front_end)
{
    static const struct {
        uint64_t stop_ns, taken_ns;
    } cases[] = {{2500, 2500}, {3600, 3600}, {6000, 0}, {1000, 0}};
    for (unsigned i = 0; i < ct_countof(cases); i++) {
        begin();
        struct ct_bracket_times *m = bracket(1, 100000, 120000);
        bracket(2, 50000, 100000 + cases[i].stop_ns);
        m->lead_ns = 3000;
        find();
        ck_assert_uint_eq(m->taken_ns, cases[i].taken_ns);
        m->lead_ns = -3000;
        find();
        ck_assert_uint_eq(m->taken_ns, 0);
    }
}
END_TEST

/* Told of just before the start was stamped, an operation is not ready yet. */
START_TEST(a_stop_may_have_taken_it_from_what_was_told_in_time)
{
    begin();
    struct ct_bracket_times *m = bracket(1, 100000, 120000);
    bracket(2, 50000, 100500);
    m->lead_ns = -100;
    find();
    ck_assert_uint_eq(m->taken_ns, 500);
}
END_TEST

START_TEST(the_front_end_turns_from_one_stream_to_another)
{
    begin();
    bracket(2, 50000, 98500);
    struct ct_bracket_times *soon = bracket(1, 100000, 110000), *later = bracket(3, 115000, 120000);
    find();
    ck_assert_uint_eq(soon->after_other_ns, 1500);
    ck_assert_uint_eq(later->after_other_ns, 5000);
}
END_TEST

/* What was settled before counts, also after rounds in which everything waited. */
START_TEST(a_round_that_settles_nothing_forgets_nothing)
{
    begin();
    bracket(2, 5000, 19000);
    find();
    for (int rounds = 0; rounds < 3; rounds++) {
        next_round();
        bracket(1, 10000, 20000);
        ct_beside_find(round_, count, 0);
    }
    next_round();
    struct ct_bracket_times *late = bracket(1, 10000, 20000);
    find();
    ck_assert_uint_eq(late->beside_start, 1);
    ck_assert_uint_gt(late->held_ns, 0);
}
END_TEST

START_TEST(as_many_as_there_is_room_for)
{
    begin();
    struct ct_measured *many = calloc(CT_BESIDE_ROOM, sizeof(*many));
    ck_assert_ptr_nonnull(many);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < CT_BESIDE_ROOM; i++) {
            many[i].op.stream = i % 100;
            many[i].op.context = i % 7;
            many[i].start_ns = 1000 + i * 100 + round;
            many[i].stop_ns = many[i].start_ns + 5000;
            many[i].times.lead_ns = 100000000;
        }
        for (unsigned i = 0; i < 100; i++)
            ct_beside_running(i, i % 7, 1000);
        ct_beside_find(many, CT_BESIDE_ROOM, CT_BESIDE_ROOM);
        for (unsigned i = 200; i < CT_BESIDE_ROOM - 200; i++) {
            ck_assert_uint_ge(many[i].times.beside, 7);
            ck_assert_uint_lt(ct_beside_taken_ns(&many[i]), 200000);
        }
    }
    free(many);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("beside");
    tcase_add_test(tests, blocks_wait_for_those_of_kernels_that_fill_the_device);
    tcase_add_test(tests, blocks_of_more_priority_do_not_wait);
    tcase_add_test(tests, how_many_blocks_there_is_room_for);
    tcase_add_test(tests, a_lone_stream_has_nothing_beside_it);
    tcase_add_test(tests, those_in_flight_are_counted_at_both_ends);
    tcase_add_test(tests, rounds_overlap);
    tcase_add_test(tests, what_runs_is_one_bracket_of_its_stream);
    tcase_add_test(tests, contexts_know_nothing_of_each_other);
    tcase_add_test(tests, a_stop_waits_for_the_records_of_others);
    tcase_add_test(tests, a_stop_does_not_wait_since_before_its_start);
    tcase_add_test(tests, each_of_the_others_has_a_turn_at_most);
    tcase_add_test(tests, while_the_front_end_stands_still_nothing_is_served);
    tcase_add_test(tests, a_stop_in_between_takes_the_front_end);
    tcase_add_test(tests, a_stop_may_have_taken_it_from_what_was_told_in_time);
    tcase_add_test(tests, the_front_end_turns_from_one_stream_to_another);
    tcase_add_test(tests, a_round_that_settles_nothing_forgets_nothing);
    tcase_add_test(tests, as_many_as_there_is_room_for);
    return ct_case_main("beside", tests);
}
