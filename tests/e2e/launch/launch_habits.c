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

/* What is no profile of ours keeps its name. */
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
    const char *said = strstr(r.err, "cutrace: CUTRACE_SAMPEL is no variable of cutrace: did you "
                                     "mean CUTRACE_SAMPLE\n");
    ck_assert_msg(said && !strstr(said + 12, "CUTRACE_SAMPEL"), "%s", r.err);
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
    return stage_main("habits", t);
}
