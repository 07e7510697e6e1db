/* SPDX-License-Identifier: MIT */
/* nsys's command lines: profile, stats and export, as people and scripts type them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

#define SMALL rig_actor(), "small", "10"

static void expect(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}

START_TEST(profile)
{
    struct stage_run r =
        LAUNCH(.argv = {"profile", "-ox", "--trace=cuda,nvtx,osrt", "--stats=true", "-f", "true",
                        "--sample=none", "--wait=all", "-cnone", SMALL});
    ck_assert_int_eq(stage_exit(&r), 0);
    expect(r.err, "alpha");
    ck_assert(stage_exists("x") && stage_exists("x.trace"));
    ck_assert_ptr_null(strstr(r.err, "cutrace:"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"profile", "--output=x", "--force-overwrite=true", "--stats", "false",
                        SMALL});
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_str_eq(r.err, "");
    stage_drop(&r);
}
END_TEST

/* Options behind the program's name are its own. */
START_TEST(program_keeps_its_options)
{
    struct stage_run r = LAUNCH(.argv = {"profile", "-e", "FROM_NSYS=1,ALSO=2", "sh", "-c",
                                         "echo $FROM_NSYS$ALSO; exit 7"});
    ck_assert_int_eq(stage_exit(&r), 7);
    expect(r.out, "12\n");
    stage_drop(&r);
}
END_TEST

START_TEST(recorded_from_the_program)
{
    struct stage_run r = LAUNCH(.argv = {"profile", "-c", "cudaProfilerApi", "-o", "x", SMALL});
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_ptr_null(strstr(r.err, "alpha"));
    stage_drop(&r);
}
END_TEST

static const struct {
    const char *option, *says;
    int status;
} others[] = {
    {"--duration=5", "there is no --duration here: cutrace ctl PID stop", 125},
    {"--capture-range=hotkey", "'hotkey' is no value of --capture-range", 125},
    {"--nonsense=1", "'--nonsense=1' is no option of nsys profile", 125},
    {"--sample=cpu", "--sample has no counterpart and is ignored: perf record", 0},
    {"--gpu-metrics-device=0", "--gpu-metrics-device has no counterpart", 0},
    {"--trace=osrt", "--trace=osrt: of what the program calls, CUDA", 0},
};

/* Loop: the options. Never is another program run than the one that was meant. */
START_TEST(other_options)
{
    struct stage_run r = LAUNCH(.argv = {"profile", others[_i].option, "-o", "x", SMALL});
    ck_assert_int_eq(stage_exit(&r), others[_i].status);
    expect(r.err, others[_i].says);
    ck_assert_int_eq(stage_exists("x"), others[_i].status == 0);
    stage_drop(&r);
}
END_TEST

static void record(void)
{
    struct stage_run r = LAUNCH(.argv = {"profile", "-o", "x", "--stats=false", SMALL});
    ck_assert_int_eq(stage_exit(&r), 0);
    stage_drop(&r);
}

START_TEST(stats)
{
    record();
    struct stage_run r = LAUNCH(.argv = {"stats", "-r", "cuda_gpu_kern_sum,cuda_api_sum", "-f",
                                         "csv", "--timeunit=nsec", "x.nsys-rep"});
    ck_assert_int_eq(stage_exit(&r), 0);
    expect(r.out, "Time (%),Total Time (ns),Instances");
    expect(r.out, "\"alpha\"");
    expect(r.out, "Num Calls");
    stage_drop(&r);
    r = LAUNCH(.argv = {"stats", "--report", "cuda_gpu_kern_sum", "--output", "base", "x"});
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_str_eq(r.out, "");
    ck_assert(stage_exists("base_cuda_gpu_kern_sum.txt"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"stats", "x"});
    expect(r.out, "cuda_gpu_kern_sum");
    stage_drop(&r);
    r = LAUNCH(.argv = {"stats", "-r", "nonsense", "x"});
    ck_assert_int_eq(stage_exit(&r), 2);
    stage_drop(&r);
    r = LAUNCH(.argv = {"stats", "nothere.nsys-rep"});
    ck_assert_int_eq(stage_exit(&r), 1);
    expect(r.err, "nothere.nsys-rep: cannot be opened");
    stage_drop(&r);
}
END_TEST

/* Reports of single operations read the trace that lies beside the profile. */
START_TEST(stats_of_the_trace)
{
    record();
    struct stage_run r =
        LAUNCH(.argv = {"stats", "-r", "cuda_api_trace,cuda_kern_exec_trace,nvtx_pushpop_trace",
                        "-f", "csv", "x"});
    ck_assert_int_eq(stage_exit(&r), 0);
    expect(r.out, "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n");
    expect(r.out, "\"cuLaunchKernel\"");
    expect(r.out, "\"alpha\"");
    expect(r.out, "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,");
    stage_drop(&r);
}
END_TEST

START_TEST(export_to_sqlite)
{
    record();
    struct stage_run r = LAUNCH(.argv = {"export", "-t", "json", "x"});
    ck_assert_int_eq(stage_exit(&r), 125);
    expect(r.err, "there is no --type json here");
    stage_drop(&r);
    r = LAUNCH(.argv = {"export", "--type", "sqlite", "x.nsys-rep"});
    if (strstr(r.err, "sqlite")) { /* configured without */
        stage_drop(&r);
        return;
    }
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert(stage_exists("x.sqlite"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"export", "-f", "true", "-o", "x.sqlite", "x"});
    ck_assert_int_eq(stage_exit(&r), 0);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("nsys");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, profile);
    tcase_add_test(t, program_keeps_its_options);
    tcase_add_test(t, recorded_from_the_program);
    tcase_add_loop_test(t, other_options, 0, sizeof(others) / sizeof(others[0]));
    tcase_add_test(t, stats);
    tcase_add_test(t, stats_of_the_trace);
    tcase_add_test(t, export_to_sqlite);
    return stage_main("nsys", t);
}
