/* SPDX-License-Identifier: MIT */
/* The ranks of a parallel job, as any launcher's variables tell them: files, who speaks, who is
 * left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

/* One rank of eight, with the library preloaded. */
#define RANK(n, ...)                                                                               \
    PLAY(.argv = {"small", "10"}, .env = {"PMI_RANK=" n, "PMI_SIZE=8", __VA_ARGS__})

static void check_rank(const char *path, uint32_t rank)
{
    struct ct_summary s;
    stage_profile(&s, path);
    ck_assert_uint_eq(s.process->rank, rank + 1);
    ck_assert_uint_eq(s.process->ranks, 8);
    CHECK_TIMED(stage_kernel(&s, "alpha"), 10);
    ck_assert_uint_eq(stage_profiles(), 1);
    ck_assert_int_eq(unlink(path), 0);
    ct_summary_free(&s);
}

/* A name that ranks do not share otherwise has the rank in it. */
START_TEST(names)
{
    char host[200], path[300];
    gethostname(host, sizeof(host));
    struct stage_run r = RANK("3");
    check_rank("summary.rank3.bin", 3);
    stage_drop(&r);
    r = RANK("5", "CUTRACE_OUTPUT=%r.bin");
    check_rank("5.bin", 5);
    stage_drop(&r);
    r = RANK("7", "CUTRACE_OUTPUT=%h-%%.bin");
    snprintf(path, sizeof(path), "%s-%%.rank7.bin", host);
    check_rank(path, 7);
    stage_drop(&r);
    r = RANK("2", "CUTRACE_OUTPUT=%q{PMI_SIZE}.bin");
    check_rank("8.bin", 2);
    stage_drop(&r);
    r = RANK("1", "CUTRACE_OUTPUT=%p.bin");
    snprintf(path, sizeof(path), "%d.bin", (int)r.pid);
    check_rank(path, 1);
    stage_drop(&r);
}
END_TEST

START_TEST(names_of_traces)
{
    struct stage_run r = RANK("3", "CUTRACE_TRACE=1");
    ck_assert(stage_exists("summary.rank3.trace"));
    stage_drop(&r);
    r = RANK("4", "CUTRACE_TRACE=time.line");
    ck_assert(stage_exists("time.rank4.line"));
    stage_drop(&r);
}
END_TEST

/* One alone is no job, whatever has started it. */
START_TEST(alone)
{
    struct stage_run r = PLAY(.argv = {"small", "10"},
                              .env = {"SLURM_PROCID=0", "SLURM_NTASKS=1", "CUTRACE_PRINT=on"});
    ck_assert(stage_exists("summary.bin"));
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    ck_assert_ptr_null(strstr(r.err, "rank 0"));
    stage_drop(&r);
    r = PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_OUTPUT=%r.bin"});
    ck_assert(stage_exists("0.bin"));
    stage_drop(&r);
}
END_TEST

START_TEST(rank_0_speaks)
{
    struct stage_run r = RANK("0", "CUTRACE_PRINT=on", "CUTRACE_SAMPLE=none");
    ck_assert_ptr_nonnull(strstr(r.err, "rank 0: CUTRACE_SAMPLE='none' is not possible"));
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace-report ranks /"));
    ck_assert_ptr_nonnull(strstr(r.err, "/summary.rank*.bin\n"));
    stage_drop(&r);
    r = RANK("1", "CUTRACE_PRINT=on", "CUTRACE_SAMPLE=none");
    ck_assert_str_eq(r.err, "");
    ck_assert(stage_exists("summary.rank1.bin"));
    stage_drop(&r);
}
END_TEST

/* What went wrong in a rank is no other's to tell. */
START_TEST(losses_are_said)
{
    struct stage_run r =
        RANK("6", "CUTRACE_PRINT=on", "CUDASIM_FAIL=cutrace/cuEventRecord:1-1000000:999");
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace: rank 6: 35 operations have no time: "
                                        "cutrace-report losses /"));
    ck_assert_ptr_null(strstr(r.err, "GPU activities:"));
    stage_drop(&r);
    r = RANK("6", "CUTRACE_PRINT=on", "CUTRACE_OUTPUT=/nonexistent/x.bin");
    ck_assert_ptr_nonnull(
        strstr(r.err, "cutrace: rank 6: cannot write /nonexistent/x.rank6.bin: no such directory"));
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:")); /* it is nowhere else */
    stage_drop(&r);
}
END_TEST

/* ---- CUTRACE_RANKS ---- */

/* With a driver that says who calls it: a rank that is left out has the program's calls alone. */
static bool calls_of_ours(const char *log)
{
    char *text = stage_read(log);
    bool ours = strstr(text, "cuEventRecord") != NULL;
    free(text);
    return ours;
}

START_TEST(left_out)
{
    struct stage_run r =
        RANK("3", "CUTRACE_RANKS=0,7", "CUTRACE_LOG=2", "CUTRACE_TRACE=1", "CUDASIM_LOG=out.log");
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "small: 10 launches, last byte 9\n");
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 0);
    ck_assert(!stage_exists("summary.rank3.trace"));
    ck_assert(!calls_of_ours("out.log"));
    stage_drop(&r);
    r = RANK("7", "CUTRACE_RANKS=0,7", "CUDASIM_LOG=in.log");
    ck_assert(calls_of_ours("in.log"));
    check_rank("summary.rank7.bin", 7);
    stage_drop(&r);
}
END_TEST

/* No thread that the program has not made. */
START_TEST(left_out_threads)
{
    struct stage_run bare = PLAY(.argv = {"tasks"}, .bare = true); /* a sanitizer has its own */
    struct stage_run r = PLAY(.argv = {"tasks"}, .env = {"PMI_RANK=3", "CUTRACE_RANKS=0"});
    ck_assert_str_eq(r.out, bare.out);
    stage_drop(&r);
    r = PLAY(.argv = {"tasks"}, .env = {"PMI_RANK=0", "CUTRACE_RANKS=0"});
    ck_assert_str_ne(r.out, bare.out);
    stage_drop(&r);
    stage_drop(&bare);
}
END_TEST

/* The lowest of those that are asked for, in any order; what is no rank is always recorded. */
START_TEST(lowest_speaks)
{
    struct stage_run r = RANK("5", "CUTRACE_PRINT=on", "CUTRACE_RANKS=7,5");
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    stage_drop(&r);
    r = RANK("7", "CUTRACE_PRINT=on", "CUTRACE_RANKS=7,5");
    ck_assert_str_eq(r.err, "");
    stage_drop(&r);
    r = PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_PRINT=on", "CUTRACE_RANKS=7,5"});
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    stage_drop(&r);
}
END_TEST

START_TEST(wrong_lists)
{
    static const char *const wrong[] = {"CUTRACE_RANKS=first", "CUTRACE_RANKS=", "CUTRACE_RANKS=0,",
                                        "CUTRACE_RANKS=0-7", "CUTRACE_RANKS=-1"};
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct stage_run r = RANK("0", wrong[i]);
        ck_assert_ptr_nonnull(strstr(r.err, "' is not possible, using all"));
        ck_assert_uint_eq(stage_said(&r), 1);
        check_rank("summary.rank0.bin", 0);
        stage_drop(&r);
    }
    struct stage_run r = LAUNCH(.argv = {"--ranks", "first", "true"});
    ck_assert_int_eq(stage_exit(&r), 125);
    stage_drop(&r);
}
END_TEST

/* ---- one launcher in each rank ---- */

#define LAUNCH_RANK(n, ...) LAUNCH(.argv = {__VA_ARGS__}, .env = {"PMI_RANK=" n, "PMI_SIZE=8"})

START_TEST(launchers)
{
    struct stage_run r = LAUNCH_RANK("0", "-o", "x.bin", rig_actor(), "small", "10");
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace-report ranks x.rank*.bin\n"));
    check_rank("x.rank0.bin", 0);
    stage_drop(&r);
    r = LAUNCH_RANK("1", "-o", "x.bin", rig_actor(), "small", "10");
    ck_assert_str_eq(r.err, "");
    stage_drop(&r);
    r = LAUNCH_RANK("1", "-o", "x.bin", rig_actor(), "small", "10");
    ck_assert_str_eq(r.err, "cutrace: x.rank1.bin: is there already; -f overwrites it\n");
    stage_drop(&r);
    check_rank("x.rank1.bin", 1);
    r = LAUNCH_RANK("2", "--ranks", "0,1", rig_actor(), "small", "10");
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 0);
    stage_drop(&r);
}
END_TEST

/* Its processes are merged under the name of the rank: that of all is not this launcher's. */
START_TEST(families)
{
    static char script[3000];
    snprintf(script, sizeof(script), "%s small 10; %s small 20", rig_actor(), rig_actor());
    struct stage_run r = LAUNCH_RANK("4", "sh", "-c", script);
    ck_assert_str_eq(r.err, "");
    ck_assert(stage_exists("summary.rank4.bin"));
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_drop(&r);
}
END_TEST

START_TEST(one_log)
{
    struct stage_run r = LAUNCH_RANK("0", "--log-file", "log", rig_actor(), "small", "10");
    stage_drop(&r);
    r = LAUNCH_RANK("1", "--log-file", "log", rig_actor(), "small", "10");
    char *log = stage_read("log");
    ck_assert_ptr_nonnull(strstr(log, "GPU activities:"));
    free(log);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("launch_ranks");
    tcase_add_test(t, names);
    tcase_add_test(t, names_of_traces);
    tcase_add_test(t, alone);
    tcase_add_test(t, rank_0_speaks);
    tcase_add_test(t, losses_are_said);
    tcase_add_test(t, left_out);
    tcase_add_test(t, left_out_threads);
    tcase_add_test(t, lowest_speaks);
    tcase_add_test(t, wrong_lists);
    tcase_add_test(t, launchers);
    tcase_add_test(t, families);
    tcase_add_test(t, one_log);
    return stage_main("launch_ranks", t);
}
