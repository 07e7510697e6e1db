/* SPDX-License-Identifier: MIT */
/*
 * The ways in: the same work by each way of linking with CUDA or of looking its functions up. The
 * table must be what the simulated device ran, to the byte, and each call an API row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "life/stage.h"
#include "routes/truth.h"

#define KERNELS "CUDASIM_KERNELS=alpha=1234,beta=56789"

struct route {
    const char *program, *argument;
    const char *driver; /* directory of the driver; NULL: the whole simulated device */
    const char *launches; /* API row of the launches and how many */
    uint64_t count;
};

static const struct route routes[] = {
    {"client_shared13", NULL, NULL, "cudaLaunchKernel", 82},
    {"client_shared12", NULL, NULL, "cudaLaunchKernel", 82},
    {"client_shared11", NULL, NULL, "cudaLaunchKernel", 82},
    {"client_shared13_ptds", NULL, NULL, "cudaLaunchKernel_ptsz", 82},
    {"client_static", NULL, NULL, "cuLaunchKernel", 82},
    {"client_static_ptds", NULL, NULL, "cuLaunchKernel_ptsz", 82},
    {"client_shared11", NULL, "v1", "cudaLaunchKernel", 82},
    {"client_linked", NULL, NULL, "cuLaunchKernel", 60},
    {"client_linked", NULL, "v1", "cuLaunchKernel", 60},
    {"client_linked", NULL, "noproc", "cuLaunchKernel", 60},
    {"client_found", "dlsym", NULL, "cuLaunchKernel", 60},
    {"client_found", "dlsym", "v1", "cuLaunchKernel", 60},
    {"client_found", "dlsym", "noproc", "cuLaunchKernel", 60},
    {"client_found", "dlsym-local", NULL, "cuLaunchKernel", 60},
    {"client_found", "dlsym-default", NULL, "cuLaunchKernel", 60},
    {"client_found", "dlsym-ptds", NULL, "cuLaunchKernel_ptsz", 60},
    {"client_found", "first", NULL, "cuLaunchKernel", 60},
    {"client_found", "first", "v1", "cuLaunchKernel", 60},
    {"client_found", "first-ptds", NULL, "cuLaunchKernel_ptsz", 60},
    {"client_found", "second", NULL, "cuLaunchKernel", 60},
    {"client_found", "second-ptds", NULL, "cuLaunchKernel_ptsz", 60},
    {"client_found", "second-own", NULL, "cuLaunchKernel", 60},
    {"client_found", "entry", NULL, "cuLaunchKernel", 60},
    {"client_found", "entry-by-version", NULL, "cuLaunchKernel", 60},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))

static char *library_path(const char *driver)
{
    static char text[1024];
    int n = sprintf(text, "LD_LIBRARY_PATH=");
    if (driver)
        n += sprintf(text + n, "%s/%s:", stage_path_of("tests/sim"), driver);
    sprintf(text + n, "%s", stage_path_of("tests/sim/lib"));
    return text;
}

static struct stage_scene scene_of(const struct route *r)
{
    static char program[128];
    sprintf(program, "tests/e2e/routes/%s", r->program);
    return (struct stage_scene){
        .program = stage_path_of(program),
        .argv = {r->argument},
        .env = {library_path(r->driver), KERNELS, "CUDASIM_TRUTH=truth", "CUTRACE_PRINT=off"},
    };
}

static char *report_of(const char *path)
{
    char command[1024];
    sprintf(command, "%s %s >report 2>&1", stage_path_of("cutrace-report"), path);
    ck_assert_int_eq(system(command), 0);
    return stage_read("report");
}

START_TEST(table_is_the_truth)
{
    const struct route *r = &routes[_i];
    struct stage_scene scene = scene_of(r);
    struct stage_run run = stage_play(&scene);
    ck_assert_msg(stage_exit(&run) == 0, "%s %s: exit status %d: %s", r->program,
                  r->argument ? r->argument : "", stage_exit(&run), run.err);
    ck_assert_str_eq(run.out, "done\n");
    char *report = report_of("summary.bin"), *ours = truth_activities(report);
    char *expected = truth_table("truth", "[CUDA graph 3 nodes]");
    ck_assert_str_eq(ours, expected);
    free(expected);
    free(ours);
    free(report);
    stage_drop(&run);
}
END_TEST

START_TEST(calls_are_counted)
{
    const struct route *r = &routes[_i];
    struct stage_scene scene = scene_of(r);
    struct stage_run run = stage_play(&scene);
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_calls(&s, r->launches), r->count);
    struct stage_sum kernels = stage_rows(&s, CT_ROW_KERNEL, NULL);
    ck_assert_uint_eq(kernels.lost, 0);
    ck_assert_uint_eq(kernels.errors, 0);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

START_TEST(is_as_without)
{
    struct stage_scene scene = scene_of(&routes[_i]);
    stage_compare(scene);
}
END_TEST

/* ---- the arguments of each function, bit by bit ---- */

static const struct {
    const char *program, *argument;
    bool is_driver;
} echoes[] = {
    {"echo_driver", "linked", true},     {"echo_driver", "dlsym", true},
    {"echo_driver", "first", true},      {"echo_driver", "second", true},
    {"echo_runtime11", "linked", false}, {"echo_runtime11", "dlsym", false},
    {"echo_runtime12", "linked", false}, {"echo_runtime12", "dlsym", false},
    {"echo_runtime13", "linked", false}, {"echo_runtime13", "dlsym", false},
};
#define ECHOES (sizeof(echoes) / sizeof(echoes[0]))

static void check_arguments(int i, bool bare)
{
    char program[128], path[1024];
    sprintf(program, "tests/e2e/routes/%s", echoes[i].program);
    sprintf(path, "LD_LIBRARY_PATH=%s", stage_path_of("tests/sim/echo"));
    struct stage_run run = PLAY(.program = stage_path_of(program), .argv = {echoes[i].argument},
                                .env = {path, "CUTRACE_PRINT=off"}, .bare = bare);
    ck_assert_msg(stage_exit(&run) == 0, "%s %s: %s%s", echoes[i].program, echoes[i].argument,
                  run.out, run.err);
    unsigned calls = (unsigned)strtoul(run.out, NULL, 10);
    ck_assert_uint_gt(calls, echoes[i].is_driver ? 600 : 300);
    stage_drop(&run);
}

START_TEST(arguments_arrive)
{
    check_arguments(_i, false);
}
END_TEST

/* That the test itself is right. */
START_TEST(arguments_arrive_without)
{
    check_arguments(_i, true);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("routes");
    tcase_add_loop_test(tests, table_is_the_truth, 0, ROUTES);
    tcase_add_loop_test(tests, calls_are_counted, 0, ROUTES);
    tcase_add_loop_test(tests, is_as_without, 0, ROUTES);
    tcase_add_loop_test(tests, arguments_arrive, 0, ECHOES);
    tcase_add_loop_test(tests, arguments_arrive_without, 0, ECHOES);
    return stage_main("routes", tests);
}
