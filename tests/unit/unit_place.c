/* SPDX-License-Identifier: MIT */
/* Where operations of threads that share a stream ran, seen from everybody's stamps. */
#include <stdlib.h>
#include <string.h>

#include "case_main.h"
#include "time/place.h"

#define RECORD_NS 1280
#define FRONT_NS 1630
#define LEAST_NS 2320
#define MOST 512
#define THREADS 16

static struct ct_place_bracket brackets[MOST];
static struct ct_place places[MOST];
static uint64_t true_end_ns[MOST];
static uint64_t took_ns[MOST];
static unsigned count;
static uint64_t now_ns,
    ticks; /* of the stream, and the host; a call takes a tick, unless it waits */
static struct ct_gpu_clock clock_of_none;

static void begin(void)
{
    memset(brackets, 0, sizeof(brackets));
    count = 0;
    now_ns = ticks = 1000000;
}

/* ---- a stream that always has work ahead ---- */

static unsigned start(uint64_t usual_ns)
{
    struct ct_place_bracket *b = &brackets[count];
    *b = (struct ct_place_bracket){.open_ticks = ticks++, .has_start = true, .usual_ns = usual_ns};
    b->least_ns = LEAST_NS;
    b->front_ns = FRONT_NS;
    b->call_ticks = ticks++;
    b->start_ns = now_ns += RECORD_NS;
    return count++;
}

static void kernel(unsigned i, uint64_t ns)
{
    brackets[i].call_ticks = brackets[i].call_ticks ? brackets[i].call_ticks : ticks;
    brackets[i].done_ticks = ++ticks;
    true_end_ns[i] = now_ns += FRONT_NS + ns;
    took_ns[i] = ns;
}

static void stop(unsigned i)
{
    brackets[i].stop_ns = now_ns += RECORD_NS;
    brackets[i].closed_ticks = ++ticks;
}

static void find(void)
{
    ct_place_all(brackets, count, 0, RECORD_NS, &clock_of_none, places);
}

static void check_alone(unsigned i)
{
    ck_assert_uint_eq(places[i].with, 0);
    ck_assert(places[i].is_last);
    ck_assert_uint_eq(places[i].to_ns - RECORD_NS, true_end_ns[i]);
    ck_assert_uint_eq(places[i].to_ns - places[i].from_ns, FRONT_NS + took_ns[i] + RECORD_NS);
}

/* ---- one segment each ---- */

START_TEST(a_stamp_of_another_thread_parts_two)
{
    begin();
    unsigned a = start(0);
    kernel(a, 20000);
    unsigned b = start(0);
    stop(a);
    kernel(b, 5000);
    stop(b);
    find();
    check_alone(a);
    check_alone(b);
    ck_assert_uint_eq(places[a].idle_ns, brackets[a].start_ns);
    ck_assert_uint_eq(places[b].idle_ns, 0); /* the other one was there */
}
END_TEST

START_TEST(a_late_one_is_behind_all_that_its_thread_slept_through)
{
    begin();
    unsigned a = start(0);
    for (int i = 0; i < 20; i++) {
        unsigned b = start(0);
        kernel(b, 20000);
        stop(b);
    }
    kernel(a, 7000);
    stop(a);
    find();
    for (unsigned i = 0; i < count; i++)
        check_alone(i);
    ck_assert_uint_eq(places[a].early_ticks, brackets[count - 1].done_ticks);
    ck_assert_uint_eq(places[a].late_ticks, brackets[a].done_ticks);
}
END_TEST

/* Its call returned long after it had taken effect: another segment would be left without any. */
START_TEST(a_call_that_returned_late_was_where_there_must_have_been_one)
{
    begin();
    unsigned a = start(0);
    kernel(a, 20000);
    for (int i = 0; i < 10; i++) {
        unsigned b = start(0);
        kernel(b, 20000);
        stop(b);
    }
    brackets[a].done_ticks = ++ticks;
    stop(a);
    find();
    for (unsigned i = 0; i < count; i++)
        check_alone(i);
}
END_TEST

START_TEST(usual_lengths_tell_which_is_which)
{
    begin();
    unsigned a = start(50000), b = start(5000);
    kernel(b, 5000);
    unsigned c = start(20000);
    kernel(c, 20000);
    stop(c);
    kernel(a, 50000);
    stop(b);
    stop(a);
    brackets[a].done_ticks = brackets[b].done_ticks = brackets[c].closed_ticks;
    brackets[a].call_ticks = brackets[b].call_ticks = brackets[c].open_ticks;
    find();
    ck_assert_uint_eq(places[a].to_ns - places[a].from_ns, FRONT_NS + 50000 + RECORD_NS);
    check_alone(b);
}
END_TEST

/* ---- several in one ---- */

START_TEST(a_segment_is_shared_by_what_is_usual)
{
    begin();
    unsigned a = start(10000), b = start(30000);
    kernel(a, 11000);
    kernel(b, 33000);
    stop(b);
    stop(a);
    find();
    ck_assert_uint_eq(places[a].with, 1);
    ck_assert_uint_eq(places[b].with, 1);
    ck_assert(!places[a].is_last && places[b].is_last);
    ck_assert_uint_eq(places[a].to_ns, places[b].from_ns);
    ck_assert_uint_eq(places[b].to_ns, brackets[b].stop_ns);
    ck_assert_uint_eq(places[a].cut_ns, places[b].cut_ns);
    double part = (double)(places[a].to_ns - places[a].from_ns);
    ck_assert_double_eq_tol(part / (2 * FRONT_NS + 44000), 11630.0 / 43260, 0.001);
}
END_TEST

/* For one of which nothing is known the mean of the others stands. */
START_TEST(one_of_them_is_not_known)
{
    begin();
    unsigned a = start(10000), b = start(30000), c = start(0);
    kernel(a, 10000);
    kernel(b, 30000);
    kernel(c, 20000);
    stop(c);
    stop(a);
    stop(b);
    find();
    ck_assert_uint_eq(places[a].to_ns - places[a].from_ns, FRONT_NS + 10000);
    ck_assert_uint_eq(places[b].to_ns - places[b].from_ns, FRONT_NS + 30000);
    ck_assert_uint_eq(places[c].to_ns - places[c].from_ns, FRONT_NS + 20000 + RECORD_NS);
}
END_TEST

START_TEST(nothing_is_known_of_them_and_they_are_alike)
{
    begin();
    unsigned a = start(0), b = start(0);
    kernel(a, 11000);
    kernel(b, 33000);
    stop(b);
    stop(a);
    find();
    ck_assert_uint_eq(places[a].to_ns - places[a].from_ns,
                      places[b].to_ns - RECORD_NS - places[b].from_ns);
}
END_TEST

/*
 * A segment that the host ended late has room that says nothing: the two that are a bit longer than
 * theirs is do not part for it.
 */
START_TEST(room_that_the_host_made)
{
    const struct ct_gpu_clock tied = {.is_tied = true, .tie = {1, 1}, .ns_per_tick = 1};
    begin();
    unsigned a = start(20000), b = start(20000);
    brackets[a].start_ns = 1000;
    brackets[b].start_ns = 101000;
    brackets[a].stop_ns = 101000 + 2 * (FRONT_NS + 20000) - 2000 + RECORD_NS;
    brackets[b].stop_ns = brackets[a].stop_ns + RECORD_NS;
    brackets[a].open_ticks = 10;
    brackets[a].call_ticks = 20;
    brackets[b].open_ticks = 100900;
    brackets[b].call_ticks = 101000; /* its start record is in time */
    brackets[a].done_ticks = 101200;
    brackets[b].done_ticks = 101300;
    brackets[a].closed_ticks = 101500; /* and these wait for work */
    brackets[b].closed_ticks = 101600;
    ct_place_all(brackets, count, 0, RECORD_NS, &tied, places);
    ck_assert_uint_eq(places[a].with, 1);
    ck_assert_uint_eq(places[b].with, 1);
    ck_assert_uint_eq(places[a].from_ns, 101000);
}
END_TEST

/* ---- what is not there any more, or not there at all ---- */

START_TEST(a_settled_one_still_parts_the_others)
{
    begin();
    unsigned gone = start(0), a = start(0);
    kernel(a, 20000);
    stop(gone);
    unsigned b = start(0);
    kernel(b, 9000);
    stop(b);
    stop(a);
    brackets[gone].is_settled = true;
    places[gone].with = 77;
    find();
    ck_assert_uint_eq(places[a].to_ns, brackets[gone].stop_ns);
    ck_assert_uint_eq(places[gone].with, 77);
    check_alone(b);
}
END_TEST

START_TEST(without_a_start_record_it_begins_where_the_host_says)
{
    begin();
    unsigned a = start(0);
    kernel(a, 20000);
    unsigned b = start(0);
    kernel(b, 9000);
    stop(b);
    stop(a);
    brackets[a].has_start = false;
    brackets[a].start_ns -= RECORD_NS;
    find();
    ck_assert_uint_eq(places[a].from_ns, brackets[a].start_ns);
    ck_assert_uint_eq(places[a].to_ns, brackets[b].start_ns);
    check_alone(b);
}
END_TEST

START_TEST(stamps_at_one_place)
{
    begin();
    for (int i = 0; i < 20; i++)
        start(0);
    for (unsigned i = 0; i < count; i++) {
        brackets[i].start_ns = brackets[i].stop_ns = 500;
        brackets[i].done_ticks = brackets[i].closed_ticks = ticks;
    }
    ct_place_all(brackets, count, 500, RECORD_NS, &clock_of_none, places);
    for (unsigned i = 0; i < count; i++)
        ck_assert_uint_eq(places[i].to_ns, 500);
}
END_TEST

/* ---- any order ---- */

/* Each thread's calls come in their order; whose is next, and how long it had waited, is random. */
static void random_stream(unsigned threads, const uint64_t *lengths_ns)
{
    unsigned step[THREADS] = {0}, mine[THREADS] = {0};
    uint64_t since[THREADS] = {0};
    begin();
    while (count < MOST - THREADS) {
        unsigned t = (unsigned)rand() % threads;
        uint64_t usual_ns = lengths_ns[t % 2];
        if (step[t] == 0)
            mine[t] = start(usual_ns);
        else if (step[t] == 1)
            kernel(mine[t], usual_ns + (uint64_t)rand() % (usual_ns / 10));
        else
            stop(mine[t]);
        if (step[t] == 1 && rand() % 4 == 0) /* it had waited since its call before */
            brackets[mine[t]].call_ticks = ct_max(since[t], brackets[mine[t]].open_ticks + 1);
        since[t] = ticks;
        step[t] = (step[t] + 1) % 3;
    }
    for (unsigned t = 0; t < threads; t++) {
        if (step[t] == 1)
            kernel(mine[t], lengths_ns[t % 2]);
        if (step[t])
            stop(mine[t]);
    }
}

static int by_from(const void *a, const void *b)
{
    const struct ct_place *x = a, *y = b;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void check_sums(const uint64_t *lengths_ns)
{
    double ours_ns[2] = {0}, truth_ns[2] = {0};
    for (unsigned i = 0; i < count; i++) {
        bool is_long = brackets[i].usual_ns != lengths_ns[0];
        ck_assert_uint_ge(places[i].from_ns, brackets[i].start_ns);
        ck_assert_uint_le(places[i].cut_ns, brackets[i].stop_ns);
        truth_ns[is_long] += (double)took_ns[i];
        ours_ns[is_long] += (double)(places[i].to_ns - places[i].from_ns) - FRONT_NS -
                            (places[i].is_last ? RECORD_NS : 0);
    }
    for (unsigned k = 0; k < 2; k++)
        if (truth_ns[k] > 0)
            ck_assert_double_eq_tol(ours_ns[k] / truth_ns[k], 1, 0.02);
    qsort(places, count, sizeof(*places), by_from);
    for (unsigned i = 1; i < count; i++)
        ck_assert_uint_le(places[i - 1].to_ns, places[i].from_ns);
}

START_TEST(places_never_overlap_and_rows_add_up)
{
    static const uint64_t alike[] = {20000, 20000}, mixed[] = {5000, 50000};
    static const unsigned threads[] = {1, 2, 3, 4, 8, 16};
    const uint64_t *lengths_ns = _i % 2 ? mixed : alike;
    srand((unsigned)_i);
    random_stream(threads[_i / 2 % 6], lengths_ns);
    find();
    check_sums(lengths_ns);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("place");
    tcase_add_test(t, a_stamp_of_another_thread_parts_two);
    tcase_add_test(t, a_late_one_is_behind_all_that_its_thread_slept_through);
    tcase_add_test(t, a_call_that_returned_late_was_where_there_must_have_been_one);
    tcase_add_test(t, usual_lengths_tell_which_is_which);
    tcase_add_test(t, a_segment_is_shared_by_what_is_usual);
    tcase_add_test(t, one_of_them_is_not_known);
    tcase_add_test(t, room_that_the_host_made);
    tcase_add_test(t, nothing_is_known_of_them_and_they_are_alike);
    tcase_add_test(t, a_settled_one_still_parts_the_others);
    tcase_add_test(t, without_a_start_record_it_begins_where_the_host_says);
    tcase_add_test(t, stamps_at_one_place);
    tcase_add_loop_test(t, places_never_overlap_and_rows_add_up, 0, 120);
    return ct_case_main("place", t);
}
