/* SPDX-License-Identifier: MIT */
/* Operations of NCCL and their kernels: bounds, what comes in another order, and what has no time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "case_main.h"
#include "launch/bracket.h"
#include "state/thread.h"
#include "work/collective.h"

#define STREAM ((CUstream)0x1000)
#define FLOAT 7

static struct ct_thread *t;

static void set_up(void)
{
    ck_assert(ct_collectives_init());
    ct_recording_set(true);
    t = calloc(1, sizeof(*t));
    t->batches = calloc(1, sizeof(*t->batches));
}

static void tear_down(void)
{
    free(t->batches);
    free(t);
    ct_process_forget();
}

static struct ct_collective_call call_of(uint32_t kind, uint64_t bytes, uint32_t ranks)
{
    return (struct ct_collective_call){.kind = kind,
                                       .datatype = FLOAT,
                                       .ranks = ranks,
                                       .bytes = bytes,
                                       .communicator = t,
                                       .stream = STREAM};
}

/* Makes a call with a kernel, and returns the kernel's batch. */
static uint32_t make(const struct ct_collective_call *c)
{
    ct_collective_begin(t, c);
    uint32_t batch = ct_collective_launched(t, STREAM);
    ct_collective_end(t, c, false);
    return batch;
}

START_TEST(kernels_end_before_or_after_the_call)
{
    struct ct_collective_call c = call_of(CT_COLLECTIVE_ALL_REDUCE, 4096, 8);
    ct_collective_timed(make(&c), 70);
    ct_collective_begin(t, &c);
    uint32_t first = ct_collective_launched(t, STREAM), second = ct_collective_launched(t, STREAM);
    ct_collective_timed(first, 10);
    ct_collective_timed(second, 20);
    ct_collective_end(t, &c, false);
    ck_assert_uint_eq(ct_collective_rows(), 1);
    struct ct_file_collective r = ct_collective_row(0);
    ck_assert_uint_eq(r.datatype, FLOAT + 1);
    ck_assert_uint_eq(r.octave, 12);
    ck_assert_uint_eq(r.calls, 2);
    ck_assert_uint_eq(r.timed, 2);
    ck_assert_uint_eq(r.total_ns, 100);
    ck_assert_uint_eq(r.min_ns, 30);
    ck_assert_uint_eq(r.max_ns, 70);
}
END_TEST

/* One of its kernels is lost, goes without a time, or there is none: then the call has no time. */
START_TEST(a_call_is_timed_whole_or_not)
{
    struct ct_collective_call c = call_of(CT_COLLECTIVE_ALL_REDUCE, 4096, 8);
    ct_collective_lost(make(&c));
    ct_collective_begin(t, &c);
    uint32_t batch = ct_collective_launched(t, STREAM);
    ct_collective_untimed(t, STREAM, false);
    ct_collective_end(t, &c, false);
    ct_collective_timed(batch, 10);
    ct_collective_begin(t, &c);
    ck_assert_uint_eq(ct_collective_launched(t, (CUstream)0x2000), 0);
    ct_collective_end(t, &c, false);
    struct ct_file_collective r = ct_collective_row(0);
    ck_assert_uint_eq(r.calls, 3);
    ck_assert_uint_eq(r.timed + r.total_ns + r.captured, 0);
}
END_TEST

START_TEST(failed_calls_leave_nothing_behind)
{
    struct ct_collective_call c = call_of(CT_COLLECTIVE_ALL_REDUCE, 4096, 8);
    for (int i = 0; i < 2 * CT_BATCHES; i++) {
        ct_collective_begin(t, &c);
        ct_collective_end(t, &c, true);
    }
    ct_collective_group_starts(t);
    ct_collective_end(t, &c, false);
    ct_collective_group_ends(t, true);
    ct_collective_timed(make(&c), 10);
    ck_assert_uint_eq(ct_collective_rows(), 2);
    ck_assert_uint_eq(ct_collective_row(0).failed, 2 * CT_BATCHES);
    ck_assert_uint_eq(ct_collective_row(1).failed, 1);
    ck_assert_uint_eq(ct_collective_row(1).calls, 1);
    ck_assert_uint_eq(ct_collective_row(1).timed, 1);
}
END_TEST

START_TEST(more_on_their_way_than_there_is_room_for)
{
    static uint32_t batches[CT_BATCHES];
    struct ct_collective_call c = call_of(CT_COLLECTIVE_REDUCE, 64, 2);
    for (int i = 0; i < CT_BATCHES; i++)
        ck_assert_uint_ne(batches[i] = make(&c), 0);
    ck_assert_uint_eq(make(&c), 0);
    for (int i = 0; i < CT_BATCHES; i++)
        ct_collective_timed(batches[i], 5);
    ct_collective_timed(make(&c), 5);
    struct ct_file_collective r = ct_collective_row(0);
    ck_assert_uint_eq(r.calls, CT_BATCHES + 2);
    ck_assert_uint_eq(r.timed, CT_BATCHES + 1);
}
END_TEST

/* Of more kinds than a batch can have, and more communicators: counted, and not timed. */
START_TEST(large_groups)
{
    uint64_t calls = 0, timed = 0;
    ct_collective_group_starts(t);
    for (uint32_t i = 0; i <= CT_BATCH_PARTS; i++) {
        struct ct_collective_call c = call_of(CT_COLLECTIVE_ALL_REDUCE, (uint64_t)1 << i, 2);
        ct_collective_end(t, &c, false);
    }
    for (uintptr_t i = 0; i < CT_BATCHES_OPEN; i++) {
        struct ct_collective_call c = call_of(CT_COLLECTIVE_REDUCE, 1, 2);
        c.communicator = (void *)(i + 1);
        c.stream = (CUstream)(0x2000 + i);
        ct_collective_end(t, &c, false);
    }
    uint32_t batch = ct_collective_launched(t, STREAM);
    uint32_t other = ct_collective_launched(t, (CUstream)0x2000);
    ct_collective_group_ends(t, false);
    ct_collective_timed(batch, 100);
    ct_collective_timed(other, 100);
    for (uint32_t i = 0; i < ct_collective_rows(); i++) {
        calls += ct_collective_row(i).calls;
        timed += ct_collective_row(i).timed;
    }
    ck_assert_uint_eq(calls, CT_BATCH_PARTS + 1 + CT_BATCHES_OPEN);
    ck_assert_uint_eq(timed, 1);
}
END_TEST

START_TEST(rows_have_an_end)
{
    for (uint32_t i = 0; i < CT_COLLECTIVE_ROWS + 7; i++) {
        struct ct_collective_call c = call_of(CT_COLLECTIVE_BROADCAST, 1, i + 1);
        ct_collective_timed(make(&c), 1);
    }
    ck_assert_uint_eq(ct_collective_rows(), CT_COLLECTIVE_ROWS);
    ck_assert_uint_eq(ct_collectives_uncounted(), 7);
    for (uint32_t i = 0; i < CT_COLLECTIVE_ROWS; i++)
        ck_assert_uint_eq(ct_collective_row(i).calls, 1);
}
END_TEST

/* All to all: as much to each rank in turn, and as much from each. */
START_TEST(exchanges)
{
    static const struct {
        uint32_t expected, first, ranks;
        uint64_t last_bytes;
    } cases[] = {
        {CT_COLLECTIVE_ALL_TO_ALL, 0, 4, 256},
        {CT_COLLECTIVE_SEND_RECV, 1, 4, 256}, /* to 1, 2, 3, 4 */
        {CT_COLLECTIVE_SEND_RECV, 0, 8, 256}, /* there are more ranks */
        {CT_COLLECTIVE_SEND_RECV, 0, 4, 128}, /* less to the last */
        {CT_COLLECTIVE_SEND_RECV, 0, 0, 256}, /* nobody knows */
    };
    ct_collective_group_starts(t);
    for (uint32_t i = 0; i < 4; i++) {
        struct ct_collective_call c =
            call_of(CT_COLLECTIVE_SEND, i == 3 ? cases[_i].last_bytes : 256, cases[_i].ranks);
        c.peer = cases[_i].first + i;
        ct_collective_end(t, &c, false);
        c.kind = CT_COLLECTIVE_RECV;
        ct_collective_end(t, &c, false);
    }
    ct_collective_group_ends(t, false);
    ck_assert_uint_eq(ct_collective_rows(), 1);
    struct ct_file_collective r = ct_collective_row(0);
    ck_assert_uint_eq(r.collective, cases[_i].expected);
    ck_assert_uint_eq(r.calls, 1);
    ck_assert_uint_eq(r.bytes, 768 + cases[_i].last_bytes);
}
END_TEST

START_TEST(a_thread_that_ends_in_a_group)
{
    struct ct_collective_call c = call_of(CT_COLLECTIVE_ALL_GATHER, 64, 2);
    for (int i = 0; i < 2 * CT_BATCHES; i++) {
        ct_collective_group_starts(t);
        ct_collective_end(t, &c, false);
        ct_collectives_leave(t);
    }
    ct_collective_timed(make(&c), 9);
    struct ct_file_collective r = ct_collective_row(0);
    ck_assert_uint_eq(r.calls, 1);
    ck_assert_uint_eq(r.timed, 1);
    ck_assert_uint_eq(r.bytes, 128);
}
END_TEST

START_TEST(nothing_while_recording_is_off)
{
    struct ct_collective_call c = call_of(CT_COLLECTIVE_ALL_GATHER, 64, 2);
    ct_recording_set(false);
    ck_assert_uint_eq(make(&c), 0);
    ct_collective_group_starts(t);
    ct_collective_end(t, &c, false);
    ct_recording_set(true);
    ct_collective_group_ends(t, false);
    ck_assert_uint_eq(ct_collective_rows(), 0);
    ck_assert_uint_ne(make(&c), 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("collective");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, kernels_end_before_or_after_the_call);
    tcase_add_test(cases, a_call_is_timed_whole_or_not);
    tcase_add_test(cases, failed_calls_leave_nothing_behind);
    tcase_add_test(cases, more_on_their_way_than_there_is_room_for);
    tcase_add_test(cases, large_groups);
    tcase_add_test(cases, rows_have_an_end);
    tcase_add_loop_test(cases, exchanges, 0, 5);
    tcase_add_test(cases, a_thread_that_ends_in_a_group);
    tcase_add_test(cases, nothing_while_recording_is_off);
    return ct_case_main("collective", cases);
}
