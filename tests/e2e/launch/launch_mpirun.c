/* SPDX-License-Identifier: MIT */
/* Eight ranks that Open MPI's mpirun starts: with cutrace around it, in each rank, and preloaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

#define MPIRUN "mpirun --allow-run-as-root --oversubscribe -np 8"
/* Rank 5 has five times the work. */
#define WORK "sh -c '$A small $((10 + 40 * (OMPI_COMM_WORLD_RANK == 5)))'"

static struct stage_run play(const char *script)
{
    static char actor[1100], launcher[1100], library[5200];
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    snprintf(actor, sizeof(actor), "A=%s", rig_actor());
    snprintf(launcher, sizeof(launcher), "C=%s", rig_launcher());
    snprintf(library, sizeof(library), "L=%s%s", runtime, stage_path_of(".libs/libcutrace.so"));
    struct stage_run r = LAUNCH(.program = "/bin/sh", .argv = {"-c", script},
                                .env = {actor, launcher, library, "CUTRACE_PRINT=on"});
    ck_assert_msg(!r.status, "%s", r.err);
    return r;
}

static unsigned count_text(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* The report names who has more, and by how much. */
static void check_ranks(const char *text)
{
    ck_assert_msg(strstr(text, "Imbalance of GPU time: rank 5 has ") != NULL, "%s", text);
    ck_assert_ptr_null(strstr(text, "are missing"));
}

static void check_files(void)
{
    for (unsigned rank = 0; rank < 8; rank++) {
        struct ct_summary s;
        char path[40];
        snprintf(path, sizeof(path), "summary.rank%u.bin", rank);
        stage_profile(&s, path);
        ck_assert_uint_eq(s.process->rank, rank + 1);
        ck_assert_uint_eq(s.process->ranks, 8);
        CHECK_TIMED(stage_kernel(&s, "alpha"), rank == 5 ? 50 : 10);
        ct_summary_free(&s);
    }
    ck_assert_uint_eq(stage_profiles(), 8);
    struct stage_run r =
        LAUNCH(.program = "/bin/sh", .argv = {"-c", "$CUTRACE_REPORT ranks summary.rank*.bin"});
    check_ranks(r.out);
    stage_drop(&r);
}

START_TEST(around)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    struct stage_run r = play("$C " MPIRUN " " WORK);
    ck_assert_uint_eq(count_text(r.out, "small: "), 8);
    ck_assert_uint_eq(count_text(r.err, "GPU activities:"), 1);
    check_ranks(r.err);
    ck_assert_int_eq(ct_summary_read(&s, "summary.bin", &error), 0);
    ck_assert_uint_eq(s.processes_count, 8);
    CHECK_TIMED(stage_kernel(&s, "alpha"), 7 * 10 + 50);
    ct_summary_free(&s);
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_drop(&r);
}
END_TEST

START_TEST(inside)
{
    struct stage_run r = play(MPIRUN " $C " WORK);
    ck_assert_uint_eq(count_text(r.out, "small: "), 8);
    ck_assert_uint_eq(count_text(r.err, "GPU activities:"), 1);
    ck_assert_uint_eq(count_text(r.err, "cutrace-report ranks summary.rank*.bin"), 1);
    check_files();
    stage_drop(&r);
}
END_TEST

START_TEST(preloaded)
{
    struct stage_run r = play(MPIRUN " env LD_PRELOAD=$L " WORK);
    ck_assert_uint_eq(count_text(r.out, "small: "), 8);
    ck_assert_uint_eq(count_text(r.err, "GPU activities:"), 1);
    ck_assert_uint_eq(count_text(r.err, "cutrace-report ranks "), 1);
    check_files();
    stage_drop(&r);
}
END_TEST

START_TEST(two_of_them)
{
    struct stage_run r = play(MPIRUN " $C --ranks 0,7 " WORK);
    ck_assert_uint_eq(count_text(r.out, "small: "), 8);
    ck_assert_uint_eq(count_text(r.err, "GPU activities:"), 1);
    ck_assert_uint_eq(stage_profiles(), 2);
    ck_assert(stage_exists("summary.rank0.bin") && stage_exists("summary.rank7.bin"));
    stage_drop(&r);
}
END_TEST

int main(void)
{
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    if (CT_CHECKS_THREADS || *runtime || system("mpirun --version >/dev/null 2>&1")) {
        puts("mpirun is not here, or would have to be checked itself");
        return 77;
    }
    TCase *t = tcase_create("launch_mpirun");
    tcase_add_test(t, around);
    tcase_add_test(t, inside);
    tcase_add_test(t, preloaded);
    tcase_add_test(t, two_of_them);
    return stage_main("launch_mpirun", t);
}
