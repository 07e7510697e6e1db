/* SPDX-License-Identifier: MIT */
/* Return codes, errno and output are the program's own, whatever fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stage.h"

START_TEST(every_error)
{
    struct stage_run r = PLAY(.argv = {"errors"});
    static const char *const provoked[] = {"= 1,",   "= 2,",   "= 3,",   "= 101,", "= 201,",
                                           "= 400,", "= 500,", "= 600,", "= 900,", "= 901,"};
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    for (unsigned i = 0; i < sizeof(provoked) / sizeof(provoked[0]); i++)
        ck_assert_msg(strstr(r.out, provoked[i]) != NULL, "%s was not provoked", provoked[i]);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"errors"}});
}
END_TEST

/* A sticky error from the n-th call on, of several kinds and at several places. */
static const char *const failures[] = {
    "CUDASIM_FAIL=cuLaunchKernel:1:700:sticky",
    "CUDASIM_FAIL=cuLaunchKernel:2:700:sticky",
    "CUDASIM_FAIL=cuLaunchKernel:300:700:sticky",
    "CUDASIM_FAIL=cuLaunchKernel:301:719:sticky",
    "CUDASIM_FAIL=cuMemcpyHtoDAsync_v2:150:700:sticky",
    "CUDASIM_FAIL=cuMemsetD8Async:150:700:sticky",
    "CUDASIM_FAIL=cuEventSynchronize:100:716:sticky",
    "CUDASIM_FAIL=cuStreamSynchronize:100:719:sticky",
    "CUDASIM_FAIL=cuLaunchKernel:1:719",
    "CUDASIM_FAIL=cuLaunchKernel:300:2",
    "CUDASIM_FAIL=cuLaunchKernel:3:999,cuLaunchKernel:4:701,cuMemsetD8Async:5:2",
};

START_TEST(failing_calls)
{
    struct ct_summary s;
    /* Which call is the nth must be the same with and without cutrace. */
    struct stage_scene scene = {.argv = {"sticky", "400"},
                                .env = {failures[_i], "CUTRACE_CALIBRATE=off"}};
    stage_compare(scene);
    struct stage_run r = stage_play(&scene);
    ck_assert(r.seconds < 20); /* at exit nobody waits for what a driver with an error never says */
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 800);
    struct stage_sum sum = stage_kernel(&s, NULL);
    ck_assert_uint_le(sum.timed + sum.lost + sum.errors, 800);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* What cutrace itself asks the driver may fail: the program does not notice, the count says it. */
static const char *const own_failures[] = {
    "CUDASIM_FAIL=cuEventCreate:1:2",
    "CUDASIM_FAIL=cuEventCreate:20:2",
    "CUDASIM_FAIL=cuStreamIsCapturing:50:999",
    "CUDASIM_FAIL=cuThreadExchangeStreamCaptureMode:1:1",
    "CUDASIM_FAIL=cuEventElapsedTime:5:400,cuEventElapsedTime_v2:5:400",
    "CUDASIM_FAIL=cuFuncGetName:1:400",
    "CUDASIM_FAIL=cuStreamGetCtx:1:400",
};

START_TEST(failing_calls_of_ours)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"small", "100"}, .env = {own_failures[_i]}};
    stage_compare(scene);
    struct stage_run r = stage_play(&scene);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_rows(&s, CT_ROW_KERNEL, NULL), 150);
    CHECK_SUM(stage_rows(&s, CT_ROW_COPY, NULL), 10);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- the examples ---- */

static const char *const examples[] = {"demo",     "event_timing", "gemm",      "mmm",
                                       "pipeline", "timers",       "vector_add"};

/* The times that these programs measure and tell on stderr differ from run to run. */
static void mask_numbers(char *text)
{
    char *to = text;
    for (char *p = text; *p; p++) {
        bool digit = strchr("0123456789. ", *p) != NULL;
        if (digit && to > text && to[-1] == '#')
            continue;
        *to++ = digit ? '#' : *p;
    }
    *to = '\0';
}

START_TEST(example_is_as_without)
{
    char path[100];
    snprintf(path, sizeof(path), "examples/%s", examples[_i]);
    struct stage_scene scene = {.program = stage_path_of(path), .bare = true, .timeout_s = 60};
    struct stage_run bare = stage_play(&scene);
    scene.bare = false;
    struct stage_run with = stage_play(&scene);
    ck_assert_msg(bare.status == 0, "%.400s%.900s", bare.out, bare.err);
    ck_assert_int_eq(with.status, bare.status);
    ck_assert_str_eq(with.out, bare.out);
    mask_numbers(with.err);
    mask_numbers(bare.err);
    ck_assert_str_eq(with.err, bare.err);
    stage_drop(&bare);
    stage_drop(&with);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("errors, transparency");
    tcase_add_test(t, every_error);
    tcase_add_loop_test(t, failing_calls, 0, sizeof(failures) / sizeof(failures[0]));
    tcase_add_loop_test(t, failing_calls_of_ours, 0,
                        sizeof(own_failures) / sizeof(own_failures[0]));
    tcase_add_loop_test(t, example_is_as_without, 0, sizeof(examples) / sizeof(examples[0]));
    return stage_main("life_errors", t);
}
