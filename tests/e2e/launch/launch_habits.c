/* SPDX-License-Identifier: MIT */
/* Habits of users: runs one after the other in one directory, names that are misspelt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

static uint64_t launches_in(const char *path)
{
    struct ct_summary s;
    stage_profile(&s, path);
    uint64_t launches = stage_kernel(&s, "alpha").timed;
    ct_summary_free(&s);
    return launches;
}

static void play(const char *times)
{
    struct stage_run r = LAUNCH(.argv = {rig_actor(), "small", times});
    ck_assert_int_eq(stage_exit(&r), 0);
    stage_drop(&r);
}

/* The two last runs can be compared; no third file is left. */
START_TEST(run_before_is_kept)
{
    play("10");
    ck_assert(!stage_exists("summary.old.bin"));
    play("20");
    ck_assert_uint_eq(launches_in("summary.old.bin"), 10);
    play("30");
    ck_assert_uint_eq(launches_in("summary.bin"), 30);
    ck_assert_uint_eq(launches_in("summary.old.bin"), 20);
    ck_assert(!stage_exists("summary.old.bin-"));
}
END_TEST

/* A run without a profile, and one that has a name for it, take nothing away. */
START_TEST(nothing_is_moved_in_vain)
{
    play("10");
    play("20");
    struct stage_run r = LAUNCH(.argv = {"true"});
    stage_drop(&r);
    r = LAUNCH(.argv = {"-o", "x.bin", rig_actor(), "small", "30"});
    stage_drop(&r);
    r = LAUNCH(.argv = {rig_actor(), "small", "30"}, .env = {"CUTRACE_OUTPUT=y.bin"});
    stage_drop(&r);
    ck_assert_uint_eq(launches_in("summary.bin"), 20);
    ck_assert_uint_eq(launches_in("summary.old.bin"), 10);
    ck_assert(!stage_exists("summary.old.bin-"));
}
END_TEST

/* A file that is no profile keeps its name. */
START_TEST(other_files_stay)
{
    FILE *f = fopen("summary.old.bin", "w");
    fputs("mine", f);
    fclose(f);
    play("10");
    play("20");
    struct stat st;
    ck_assert(!stat("summary.old.bin", &st) && st.st_size == 4);
    ck_assert_uint_eq(launches_in("summary.bin"), 20);
}
END_TEST

/* Said once for the run, whatever its processes. */
START_TEST(unknown_variable)
{
    struct stage_run r =
        LAUNCH(.argv = {rig_actor(), "small", "10"}, .env = {"CUTRACE_SAMPEL=10", "CUTRACE_LOG=1"});
    ck_assert_int_eq(stage_exit(&r), 0);
    const char *said = strstr(r.err, "cutrace: CUTRACE_SAMPEL is no variable of cutrace (did you "
                                     "mean CUTRACE_SAMPLE?)\n");
    ck_assert_msg(said && !strstr(said + 12, "CUTRACE_SAMPEL"), "%s", r.err);
    stage_drop(&r);
}
END_TEST

/* Lines of nvprof's that scripts have, and what its help lists. */
static const struct {
    const char *argv[6];
    const char *says; /* NULL: nothing is refused */
} nvprofs[] = {
    {{"--concurrent-kernels", "on"}, NULL},
    {{"--concurrent-kernels=off"}, "there is no --concurrent-kernels=off here: kernels run side"},
    {{"--profile-api-trace", "all"}, NULL},
    {{"--profile-api-trace", "driver"}, "there is no --profile-api-trace=driver here"},
    {{"--device-buffer-size", "128", "--profiling-semaphore-pool-size", "10"}, NULL},
    {{"--continuous-sampling-interval", "1", "--event-collection-mode", "continuous"}, NULL},
    {{"--system-profiling", "off", "--cpu-profiling", "off"}, NULL},
    {{"--system-profiling", "on"}, "there is no --system-profiling=on here: nvidia-smi dmon"},
    {{"--kernel-latency-timestamps", "on"}, "there is no --kernel-latency-timestamps=on here"},
    {{"--openacc-profiling", "off", "--openmp-profiling", "off"}, NULL},
    {{"--annotate-mpi", "openmpi"}, "there is no --annotate-mpi=openmpi here: nsys profile"},
    {{"--track-memory-allocations", "on", "--cpu-thread-tracing", "off"}, NULL},
    {{"--cpu-profiling-mode", "flat", "--openacc-summary-mode", "exclusive"}, NULL},
    {{"--aggregate-mode", "off", "--disable-pci-counters"}, NULL},
    {{"--print-openacc-summary"}, "there is no --print-openacc-summary here: nsys profile"},
    {{"--print-nvlink-topology"}, "there is no --print-nvlink-topology here: nvidia-smi"},
    {{"--metrics", "ipc"}, "there is no --metrics here: ncu --metrics"},
    {{"--print-gpu-summary", "-u", "ms", "--demangling", "off"}, NULL},
    {{"--print-api-summary", "--quiet"}, NULL},
    {{"--print-gpu-trace", "--print-gpu-summary"}, "use either the print summary options"},
    {{"--kernels", "::alpha:"}, NULL},
    {{"--kernels", "*:*:alpha"}, NULL},
    {{"--kernels", "::alpha:2"}, "--kernels chooses by name alone here"},
    {{"--kernels", "1:7:alpha:"}, "--kernels chooses by name alone here"},
    {{"--kernels", "ns::alpha"}, NULL},
    {{"--unified-memory-profiling", "off", "--trace", "gpu"}, NULL},
    {{"--continuous-sampling-interval"}, "option '--continuous-sampling-interval' requires"},
};

/* Loop: the options. What asks for nothing is taken, the rest is done or refused. */
START_TEST(nvprof_options)
{
    const char *const *w = nvprofs[_i].argv;
    struct stage_run r = {0};
    if (nvprofs[_i].says && strstr(nvprofs[_i].says, "requires"))
        r = LAUNCH(.argv = {w[0]});
    else if (w[3])
        r = LAUNCH(.argv = {w[0], w[1], w[2], w[3], w[4] ? w[4] : rig_actor(),
                            w[4] ? rig_actor() : "small", w[4] ? "small" : "10",
                            w[4] ? "10" : NULL});
    else
        r = LAUNCH(.argv = {w[0], w[1] ? w[1] : rig_actor(),
                            w[1] ? w[2] ? w[2] : rig_actor() : "small",
                            w[1] ? w[2] ? rig_actor() : "small" : "10",
                            w[1] ? w[2] ? "small" : "10" : NULL, w[2] ? "10" : NULL});
    ck_assert_msg(stage_exit(&r) == (nvprofs[_i].says ? 125 : 0), "%s: %s", w[0], r.err);
    if (nvprofs[_i].says)
        ck_assert_msg(strstr(r.err, nvprofs[_i].says) != NULL, "%s", r.err);
    else
        ck_assert_msg(strstr(r.err, "cutrace: ") == NULL ||
                          strstr(r.err, "CUTRACE_KERNELS: 'ns::alpha' is in the name"),
                      "%s", r.err);
    ck_assert_int_eq(stage_exists("summary.bin"), !nvprofs[_i].says);
    stage_drop(&r);
}
END_TEST

/* nvprof's names of the standard streams; lines beside the rows of a CSV stand before them. */
START_TEST(log_to_a_stream)
{
    struct stage_run r = LAUNCH(.argv = {"--log-file", "%1", "--csv", rig_actor(), "small", "10"});
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_ptr_nonnull(strstr(r.out, "\"alpha\"\n"));
    ck_assert(!stage_exists("%1"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"--csv", rig_actor(), "small", "10"});
    const char *said = strstr(r.err, "Look at it again"), *rows = strstr(r.err, "\"Type\"");
    ck_assert_msg(said && rows && said < rows, "%s", r.err);
    ck_assert_msg(r.err[strlen(r.err) - 2] == '"', "%s", r.err);
    stage_drop(&r);
}
END_TEST

START_TEST(no_calls)
{
    struct stage_run r =
        LAUNCH(.argv = {"--profile-api-trace", "none", rig_actor(), "small", "10"});
    ck_assert_ptr_nonnull(strstr(r.err, "alpha"));
    ck_assert_ptr_null(strstr(r.err, "cuLaunchKernel"));
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("habits");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, run_before_is_kept);
    tcase_add_test(t, nothing_is_moved_in_vain);
    tcase_add_test(t, other_files_stay);
    tcase_add_test(t, unknown_variable);
    tcase_add_loop_test(t, nvprof_options, 0, sizeof(nvprofs) / sizeof(nvprofs[0]));
    tcase_add_test(t, log_to_a_stream);
    tcase_add_test(t, no_calls);
    return stage_main("habits", t);
}
