/* SPDX-License-Identifier: MIT */
/* Kernels of other streams that leave no room, seen from the brackets of a round. */
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "case_main.h"
#include "time/full_device.h"
#include "time/occupancy.h"

#define MOST 64

static struct ct_measured round_[MOST];
static unsigned count;

static void begin(void)
{
    memset(round_, 0, sizeof(round_));
    count = 0;
    ct_process_forget();
    ck_assert(ct_full_device_init());
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

static void find(void)
{
    ct_full_device_find(round_, count, count);
}

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
    fills(bracket(1, 10000, 50000));
    struct ct_bracket_times *other = bracket(2, 20000, 60000), *same = bracket(3, 20000, 60000);
    round_[1].op.context = 1;
    find();
    ck_assert_uint_eq(other->filled_ns, 0);
    ck_assert_uint_eq(same->filled_ns, 50000 - 20000);
}
END_TEST

START_TEST(a_stream_does_not_wait_for_itself)
{
    begin();
    fills(bracket(1, 10000, 50000));
    struct ct_bracket_times *next = bracket(1, 40000, 60000);
    find();
    ck_assert_uint_eq(next->filled_ns, 0);
    ck_assert(!ct_full_device_is_open(round_, count));
    round_[1].op.stream = 2;
    ck_assert(ct_full_device_is_open(round_, count));
}
END_TEST

/* A kernel that was settled before counts, also after rounds in which everything waited. */
START_TEST(a_round_that_settles_nothing_forgets_nothing)
{
    begin();
    fills(bracket(2, 5000, 19000));
    find();
    for (int rounds = 0; rounds < 3; rounds++) {
        next_round();
        bracket(1, 10000, 20000);
        ct_full_device_find(round_, count, 0);
    }
    next_round();
    struct ct_bracket_times *late = bracket(1, 10000, 20000);
    find();
    ck_assert_uint_eq(late->filled_ns, 19000 - 10000);
}
END_TEST

/* One that comes again is there once, and those that were settled are there still. */
START_TEST(a_kernel_that_comes_again_is_not_remembered)
{
    begin();
    fills(bracket(2, 5000, 30000));
    fills(bracket(3, 6000, 40000));
    ct_full_device_find(round_, count, 1);
    next_round();
    struct ct_bracket_times *late = bracket(1, 10000, 50000);
    find();
    ck_assert_uint_eq(late->filled_ns, 30000 - 10000);
}
END_TEST

START_TEST(as_many_as_there_is_room_for)
{
    begin();
    struct ct_measured *many = calloc(CT_FULL_DEVICE_ROOM, sizeof(*many));
    ck_assert_ptr_nonnull(many);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < CT_FULL_DEVICE_ROOM; i++) {
            many[i].op.stream = i % 100;
            many[i].op.context = i % 7;
            many[i].start_ns = 1000 + i * 100 + round;
            many[i].stop_ns = many[i].start_ns + 5000;
            many[i].fills_device = true;
        }
        ct_full_device_find(many, CT_FULL_DEVICE_ROOM, CT_FULL_DEVICE_ROOM);
        for (unsigned i = 200; i < CT_FULL_DEVICE_ROOM; i++)
            ck_assert_uint_eq(many[i].times.filled_ns, 5000 - 700); /* the latest before it */
    }
    free(many);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("full_device");
    tcase_add_test(tests, blocks_wait_for_those_of_kernels_that_fill_the_device);
    tcase_add_test(tests, blocks_of_more_priority_do_not_wait);
    tcase_add_test(tests, how_many_blocks_there_is_room_for);
    tcase_add_test(tests, contexts_know_nothing_of_each_other);
    tcase_add_test(tests, a_stream_does_not_wait_for_itself);
    tcase_add_test(tests, a_round_that_settles_nothing_forgets_nothing);
    tcase_add_test(tests, a_kernel_that_comes_again_is_not_remembered);
    tcase_add_test(tests, as_many_as_there_is_room_for);
    return ct_case_main("full_device", tests);
}
