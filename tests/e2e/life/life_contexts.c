/* SPDX-License-Identifier: MIT */
/* Contexts, devices, streams and modules that come and go: nothing is lost without being counted.
 */
#include <stdio.h>
#include <string.h>

#include "stage.h"

#define TWO "CUDASIM_DEVICES=2"

/* As without cutrace, and no word of ours; the profile is left in *s. */
static void play(struct ct_summary *s, const char *part, const char *a, const char *b)
{
    struct stage_scene scene = {.argv = {part, a, b}, .env = {TWO}, .timeout_s = 60};
    stage_compare(scene);
    struct stage_run r = stage_play(&scene);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_msg(stage_said(&r) == 0, "%.900s", r.err);
    ck_assert_ptr_null(strstr(r.out, "same context: 0"));
    ck_assert_ptr_null(strstr(r.out, "same kernel: 0"));
    stage_profile(s, "summary.bin");
    stage_drop(&r);
}

static void check_devices(const struct ct_summary *s, const char *zero, uint64_t on_zero,
                          const char *one, uint64_t on_one)
{
    CHECK_SUM(stage_rows_on(s, CT_ROW_KERNEL, zero, 0), on_zero);
    CHECK_SUM(stage_rows_on(s, CT_ROW_KERNEL, one, 1), on_one);
    CHECK_SUM(stage_rows(s, CT_ROW_KERNEL, NULL), on_zero + on_one);
}

/* There are 256 entries: as many contexts at once are timed, six launches in each. */
START_TEST(many_contexts)
{
    struct ct_summary s;
    play(&s, "many-contexts", "200", "2");
    check_devices(&s, "on_zero", 600, "on_one", 600);
    CHECK_TIMED(stage_rows(&s, CT_ROW_KERNEL, NULL), 1200);
    ct_summary_free(&s);
}
END_TEST

START_TEST(more_contexts_than_there_is_room_for)
{
    struct ct_summary s;
    play(&s, "many-contexts", "500", "2");
    check_devices(&s, "on_zero", 1500, "on_one", 1500);
    struct stage_sum sum = stage_rows(&s, CT_ROW_KERNEL, NULL);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_UNSAFE]);
    ck_assert_uint_eq(sum.timed, 256 * 6);
    ct_summary_free(&s);
}
END_TEST

static uint64_t turns_on(const struct ct_summary *s, uint32_t ordinal)
{
    for (size_t i = 0; i < s->activities_count; i++)
        if (s->devices[s->activities[i].device].ordinal == ordinal)
            return s->activities[i].turns;
    return 0;
}

/* The second device's context gets the entry of the first one's. */
START_TEST(turns_are_of_their_device)
{
    struct ct_summary s;
    play(&s, "turns", "50", NULL);
    check_devices(&s, "on_zero", 100, "on_one", 2);
    ck_assert_uint_ge(turns_on(&s, 0), 99);
    ck_assert_uint_le(turns_on(&s, 1), 1);
    ct_summary_free(&s);
}
END_TEST

START_TEST(kernels_of_contexts_that_found_no_room)
{
    struct ct_summary s;
    play(&s, "beyond-room", "256", "20");
    CHECK_SUM(stage_kernel(&s, "even"), 10);
    CHECK_SUM(stage_kernel(&s, "odd"), 10);
    ct_summary_free(&s);
}
END_TEST

START_TEST(contexts_destroyed_by_threads)
{
    struct ct_summary s;
    play(&s, "churn", "4", "60");
    CHECK_SUM(stage_kernel(&s, "own"), 4800);
    CHECK_SUM(stage_kernel(&s, "gate"), 80);
    struct stage_sum sum = stage_rows(&s, CT_ROW_KERNEL, NULL);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_CONTEXT_GONE]);
    ck_assert_uint_ge(sum.timed, 1600); /* that were complete before */
    ct_summary_free(&s);
}
END_TEST

START_TEST(reset_beside_another_device)
{
    struct ct_summary s;
    play(&s, "reset-beside", "40", "5000");
    check_devices(&s, "again", 2000, "beside", 5000);
    struct stage_sum sum = stage_kernel(&s, "beside");
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_RING_FULL]);
    ct_summary_free(&s);
}
END_TEST

/* An end that the driver refuses costs the times of what was under way, and not its count. */
START_TEST(refused_ends)
{
    struct ct_summary s;
    play(&s, "refused", NULL, NULL);
    struct stage_sum sum = stage_kernel(&s, "kept");
    CHECK_SUM(sum, 400);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_CONTEXT_GONE]);
    ck_assert_uint_ge(sum.timed, 200);
    ct_summary_free(&s);
}
END_TEST

/* Whether the primary context is active is part of the output that is compared. */
START_TEST(primary_context_is_not_held)
{
    struct ct_summary s;
    play(&s, "retained", NULL, NULL);
    CHECK_TIMED(stage_kernel(&s, "held"), 1000);
    ct_summary_free(&s);
}
END_TEST

START_TEST(kernels_of_a_primary_context_that_was_released)
{
    struct ct_summary s;
    play(&s, "released", NULL, NULL);
    CHECK_TIMED(stage_kernel(&s, "even"), 100);
    CHECK_TIMED(stage_kernel(&s, "odd"), 100);
    ct_summary_free(&s);
}
END_TEST

/* Their results are not there yet; where the driver is asked for one too late, the device ends us.
 */
static void play_late(struct ct_summary *s, const char *part, const char *slow, const char *late)
{
    char slow_env[200], late_env[200];
    snprintf(slow_env, sizeof(slow_env), "CUDASIM_SLOW=%s", slow);
    snprintf(late_env, sizeof(late_env), "CUDASIM_LATE=%s", late);
    struct stage_run r =
        PLAY(.argv = {part}, .env = {"CUDASIM_LATENCY_US=400000", slow_env, late_env});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(s, "summary.bin");
    stage_drop(&r);
}

#define RELEASE "program/cuDevicePrimaryCtxRelease_v2:"

/* The first one comes back while the context lives; the second one ends it, and comes back later.
 */
START_TEST(primary_context_released_by_two_threads)
{
    struct ct_summary s;
    play_late(&s, "released-together", RELEASE "30000:1," RELEASE "160000:2", RELEASE "30000:2");
    struct stage_sum sum = stage_kernel(&s, "held");
    CHECK_SUM(sum, 25);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_CONTEXT_GONE]);
    ct_summary_free(&s);
}
END_TEST

START_TEST(primary_context_ends_with_a_green_one)
{
    struct ct_summary s;
    play_late(&s, "green-last", "program/cuGreenCtxDestroy:100000", "");
    struct stage_sum sum = stage_kernel(&s, "greens");
    CHECK_SUM(sum, 20);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_CONTEXT_GONE]);
    ct_summary_free(&s);
}
END_TEST

START_TEST(green_contexts)
{
    struct ct_summary s;
    play(&s, "greens", NULL, NULL);
    CHECK_SUM(stage_kernel(&s, "greens"), 600);
    CHECK_TIMED(stage_kernel(&s, "plain"), 400);
    ct_summary_free(&s);
}
END_TEST

START_TEST(library_handles_that_come_back)
{
    struct ct_summary s;
    play(&s, "libraries", NULL, NULL);
    for (unsigned d = 0; d < 2; d++) {
        CHECK_SUM(stage_rows_on(&s, CT_ROW_KERNEL, "even", d), 100);
        CHECK_SUM(stage_rows_on(&s, CT_ROW_KERNEL, "odd", d), 100);
    }
    CHECK_SUM(stage_rows(&s, CT_ROW_KERNEL, NULL), 400);
    ct_summary_free(&s);
}
END_TEST

START_TEST(stream_handles_that_change_hands)
{
    struct ct_summary s;
    play(&s, "streams-change", "4", "300");
    CHECK_SUM(stage_kernel(&s, "streamed"), 6000);
    ct_summary_free(&s);
}
END_TEST

/* Five copies each way and round; a copy belongs to the device of its stream. */
START_TEST(copies_between_devices)
{
    struct ct_summary s;
    play(&s, "peers", "50", NULL);
    struct stage_sum on[2], all = stage_rows(&s, CT_ROW_COPY, NULL);
    for (unsigned d = 0; d < 2; d++)
        on[d] = stage_rows_on(&s, CT_ROW_COPY, NULL, d);
    CHECK_TIMED(all, 600);
    ck_assert_uint_eq(on[0].timed + on[1].timed, 600);
    ck_assert_uint_ge(on[0].timed, 200);
    ck_assert_uint_ge(on[1].timed, 200);
    ck_assert_uint_eq(stage_calls(&s, "cuMemcpyPeerAsync"), 200);
    ct_summary_free(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("contexts, devices, what goes away");
    tcase_add_test(t, many_contexts);
    tcase_add_test(t, more_contexts_than_there_is_room_for);
    tcase_add_test(t, turns_are_of_their_device);
    tcase_add_test(t, kernels_of_contexts_that_found_no_room);
    tcase_add_test(t, contexts_destroyed_by_threads);
    tcase_add_test(t, reset_beside_another_device);
    tcase_add_test(t, refused_ends);
    tcase_add_test(t, primary_context_is_not_held);
    tcase_add_test(t, kernels_of_a_primary_context_that_was_released);
    tcase_add_test(t, primary_context_released_by_two_threads);
    tcase_add_test(t, primary_context_ends_with_a_green_one);
    tcase_add_test(t, green_contexts);
    tcase_add_test(t, library_handles_that_come_back);
    tcase_add_test(t, stream_handles_that_change_hands);
    tcase_add_test(t, copies_between_devices);
    return stage_main("life_contexts", t);
}
