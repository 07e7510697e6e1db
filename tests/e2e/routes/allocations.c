/* SPDX-License-Identifier: MIT */
/* What programs of either runtime allocate is counted, once, and what they leave is listed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life/stage.h"

static const char *const programs[] = {"allocate_shared", "allocate_static"};

static void play(struct ct_summary *s, const char *program, const char *argument,
                 const char *activities)
{
    char path[128];
    snprintf(path, sizeof(path), "tests/e2e/routes/%s", program);
    struct stage_run r = PLAY(.program = stage_path_of(path), .argv = {argument},
                              .env = {"CUTRACE_PRINT=off", activities});
    ck_assert_msg(!r.status, "%s", r.err);
    stage_drop(&r);
    *s = (struct ct_summary){0};
    stage_profile(s, "summary.bin");
    unlink("summary.bin");
}

static struct ct_file_memory of_kind(const struct ct_summary *s, uint32_t kind)
{
    for (size_t i = 0; i < s->memory_count; i++)
        if (s->memory[i].kind == kind)
            return s->memory[i];
    return (struct ct_file_memory){0};
}

#define EXPECT(s, KIND, ALLOCATIONS, BYTES, FAILED, FREES, HELD, HELD_BYTES, PEAK)                 \
    do {                                                                                           \
        struct ct_file_memory m = of_kind(s, CT_ALLOCATION_##KIND);                                \
        ck_assert_uint_eq(m.allocations, ALLOCATIONS);                                             \
        ck_assert_uint_eq(m.bytes, BYTES);                                                         \
        ck_assert_uint_eq(m.failed, FAILED);                                                       \
        ck_assert_uint_eq(m.frees, FREES);                                                         \
        ck_assert_uint_eq(m.held, HELD);                                                           \
        ck_assert_uint_eq(m.held_bytes, HELD_BYTES);                                               \
        ck_assert_uint_eq(m.peak_bytes, PEAK);                                                     \
        ck_assert_uint_eq(m.unseen_frees + m.unknown_frees + m.unfollowed, 0);                     \
    } while (0)

/* The simulated device makes rows of 100 bytes 512 long. */
START_TEST(each_kind_is_counted_once)
{
    struct ct_summary s;
    play(&s, programs[_i], NULL, NULL);
    EXPECT(&s, DEVICE, 5, 3 * 1000 + 50000 + 5120, 2, 1, 4, 2000 + 50000 + 5120, 57120);
    EXPECT(&s, POOL, 2, 1000, 0, 1, 1, 700, 700);
    EXPECT(&s, ON_DEVICE, 7, 59120, 2, 2, 5, 57820, 57820);
    EXPECT(&s, MANAGED, 1, 4096, 0, 0, 1, 4096, 4096);
    EXPECT(&s, PINNED, 1, 2048, 0, 1, 0, 0, 2048);
    EXPECT(&s, REGISTERED, 1, 8192, 0, 0, 1, 8192, 8192);
    ck_assert_uint_eq(of_kind(&s, CT_ALLOCATION_DEVICE).failed_most_bytes, (uint64_t)1 << 51);
    ct_summary_free(&s);
}
END_TEST

START_TEST(what_is_left_is_listed)
{
    static const struct ct_file_block expected[] = {
        {0, CT_ALLOCATION_DEVICE, 50000, 1}, {0, CT_ALLOCATION_REGISTERED, 8192, 1},
        {0, CT_ALLOCATION_DEVICE, 5120, 1},  {0, CT_ALLOCATION_MANAGED, 4096, 1},
        {0, CT_ALLOCATION_DEVICE, 1000, 2},  {0, CT_ALLOCATION_POOL, 700, 1},
    };
    struct ct_summary s;
    play(&s, programs[_i], NULL, NULL);
    ck_assert_uint_eq(s.blocks_count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < s.blocks_count; i++)
        ck_assert_mem_eq(&s.blocks[i], &expected[i], sizeof(expected[i]));
    ct_summary_free(&s);
}
END_TEST

START_TEST(a_context_takes_its_memory_along)
{
    struct ct_summary s;
    play(&s, programs[_i], "reset", NULL);
    ck_assert_uint_eq(s.blocks_count, 0);
    ck_assert_uint_eq(of_kind(&s, CT_ALLOCATION_ON_DEVICE).held, 0);
    ck_assert_uint_eq(of_kind(&s, CT_ALLOCATION_ON_DEVICE).ended, 5);
    ck_assert_uint_eq(of_kind(&s, CT_ALLOCATION_ON_DEVICE).peak_bytes, 57820);
    ck_assert_uint_eq(of_kind(&s, CT_ALLOCATION_REGISTERED).ended, 1);
    ck_assert_uint_eq(of_kind(&s, CT_ALLOCATION_DEVICE).unknown_frees, 0);
    ct_summary_free(&s);
}
END_TEST

START_TEST(calls_are_rows_of_one_api)
{
    struct ct_summary s;
    play(&s, programs[_i], NULL, NULL);
    ck_assert_uint_eq(stage_calls(&s, "cudaMalloc"), _i ? 0 : 6);
    ck_assert_uint_eq(stage_calls(&s, "cuMemAlloc_v2"), _i ? 6 : 0);
    ct_summary_free(&s);
}
END_TEST

static struct ct_file_memory on_device(const struct ct_summary *s, uint32_t kind, uint32_t ordinal)
{
    for (size_t i = 0; i < s->memory_count; i++)
        if (s->memory[i].kind == kind && s->devices[s->memory[i].device].ordinal == ordinal)
            return s->memory[i];
    return (struct ct_file_memory){0};
}

START_TEST(physical_memory_is_where_the_call_says)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"physical"}, .env = {"CUTRACE_PRINT=off", "CUDASIM_DEVICES=2"});
    ck_assert_msg(!r.status, "%s", r.err);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(on_device(&s, CT_ALLOCATION_PHYSICAL, 0).held_bytes, 1 << 21);
    ck_assert_uint_eq(on_device(&s, CT_ALLOCATION_PHYSICAL, 1).held_bytes, 2 << 21);
    ck_assert_uint_eq(on_device(&s, CT_ALLOCATION_ON_DEVICE, 0).bytes, 1 << 21);
    EXPECT(&s, PINNED, 2, 7 << 21, 0, 1, 1, 3 << 21, 7 << 21);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(it_can_be_off)
{
    struct ct_summary s;
    play(&s, programs[_i], NULL, "CUTRACE_ACTIVITIES=gpu,api");
    ck_assert_uint_eq(s.memory_count + s.blocks_count, 0);
    ck_assert_uint_eq(stage_calls(&s, "cuMemAlloc_v2"), 0);
    ct_summary_free(&s);
}
END_TEST

START_TEST(dlsym_gives_the_drivers_own)
{
    struct ct_summary s;
    play(&s, programs[_i], "dlsym", NULL);
    ct_summary_free(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("allocations");
    tcase_add_loop_test(t, each_kind_is_counted_once, 0, 2);
    tcase_add_loop_test(t, what_is_left_is_listed, 0, 2);
    tcase_add_loop_test(t, a_context_takes_its_memory_along, 0, 2);
    tcase_add_loop_test(t, calls_are_rows_of_one_api, 0, 2);
    tcase_add_test(t, physical_memory_is_where_the_call_says);
    tcase_add_loop_test(t, it_can_be_off, 0, 2);
    tcase_add_loop_test(t, dlsym_gives_the_drivers_own, 0, 2);
    return stage_main("allocations", t);
}
