/* SPDX-License-Identifier: MIT */
/* Captures with cutrace's thread looking at events, contexts that are not current. */
#include <stdlib.h>
#include <string.h>

#include "stage.h"

static const char *const modes[] = {"global", "thread", "relaxed"};

/* A call that invalidates a capture would show in the transcript, a misuse end the program. */
START_TEST(capture_with_traffic_beside)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"capture-beside", modes[_i]});
    ck_assert_int_eq(r.status, 0);
    for (char *p = r.out; *p; p = strchr(p, '\n') + 1)
        ck_assert(strstr(p, "end = 0\n") == p || strstr(p, "beside: 50 nodes, 49 edges:") == p);
    ck_assert_ptr_nonnull(strstr(r.out, "breaches 0\n"));
    stage_profile(&s, "summary.bin");
    struct stage_sum captured = stage_kernel(&s, "captured");
    ck_assert_uint_eq(captured.captured, 150);
    ck_assert_uint_eq(captured.timed, 0);
    CHECK_TIMED(stage_kernel(&s, "beside"), strtoul(strstr(r.err, "beside ") + 7, NULL, 10));
    CHECK_TIMED(stage_rows(&s, CT_ROW_GRAPH, NULL), 9);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(capture_beside_is_as_without)
{
    struct stage_run bare = PLAY(.argv = {"capture-beside", modes[_i]}, .bare = true);
    struct stage_run with = PLAY(.argv = {"capture-beside", modes[_i]});
    ck_assert_str_eq(with.out, bare.out);
    stage_drop(&bare);
    stage_drop(&with);
}
END_TEST

START_TEST(legacy_stream_beside_a_capture)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"capture-legacy", modes[_i]});
    ck_assert_ptr_nonnull(strstr(r.out, "legacy: 2 nodes, 1 edges:"));
    stage_profile(&s, "summary.bin");
    /* the non-blocking stream's two; of the blocking one only what came before the legacy launch */
    struct stage_sum sum = stage_kernel(&s, "kernel");
    ck_assert_uint_eq(sum.captured, 3);
    ck_assert_uint_eq(sum.timed + sum.lost, 1);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"capture-legacy", modes[_i]}});
}
END_TEST

START_TEST(fork_and_join_in_a_capture)
{
    struct ct_summary s;
    stage_compare((struct stage_scene){.argv = {"capture-fork", modes[_i]}});
    struct stage_run r = PLAY(.argv = {"capture-fork", modes[_i]});
    ck_assert_ptr_nonnull(strstr(r.out, "fork: 13 nodes"));
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_kernel(&s, "first").captured, 7);
    ck_assert_uint_eq(stage_kernel(&s, "second").captured, 5);
    ck_assert_uint_eq(stage_rows(&s, CT_ROW_SET, NULL).captured, 1);
    CHECK_TIMED(stage_kernel(&s, "second"), 2);
    CHECK_TIMED(stage_rows(&s, CT_ROW_GRAPH, NULL), 3);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- contexts ---- */

START_TEST(two_devices)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"devices", "200"}, .env = {"CUDASIM_DEVICES=2"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices_count, 2);
    CHECK_TIMED(stage_rows_on(&s, CT_ROW_KERNEL, "on_zero", 0), 200);
    CHECK_TIMED(stage_rows_on(&s, CT_ROW_KERNEL, "on_one", 1), 200);
    CHECK_TIMED(stage_rows_on(&s, CT_ROW_KERNEL, "shared", 1), 200);
    CHECK_TIMED(stage_rows(&s, CT_ROW_KERNEL, NULL), 600);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"devices", "200"}, .env = {"CUDASIM_DEVICES=2"}});
}
END_TEST

START_TEST(green_context)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"green", "100"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "greens"), 201);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"green", "100"}});
}
END_TEST

static const struct {
    const char *part;
    uint64_t launches;
    const char *kernel;
} going[] = {
    {"reset", 1500, "again"}, {"recreate", 1500, "again"},    {"unload", 200, "even"},
    {"unload", 200, "odd"},   {"stream-gone", 200, "kernel"}, {"events-gone", 250, "kernel"},
};

/* What is not timed is lost with a reason; nothing is counted twice or under another's name. */
START_TEST(things_that_go_away)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {going[_i].part});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_ptr_null(strstr(r.out, "same context: 0"));
    ck_assert_ptr_null(strstr(r.out, "same function: 0"));
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_kernel(&s, going[_i].kernel), going[_i].launches);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {going[_i].part}});
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("capture, contexts");
    tcase_add_loop_test(t, capture_with_traffic_beside, 0, 3);
    tcase_add_loop_test(t, capture_beside_is_as_without, 0, 3);
    tcase_add_loop_test(t, legacy_stream_beside_a_capture, 0, 3);
    tcase_add_loop_test(t, fork_and_join_in_a_capture, 0, 3);
    tcase_add_test(t, two_devices);
    tcase_add_test(t, green_context);
    tcase_add_loop_test(t, things_that_go_away, 0, 6);
    return stage_main("life_capture", t);
}
