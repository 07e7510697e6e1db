/* SPDX-License-Identifier: MIT */
/* cutrace/cutrace.h beside launches; api.sh has it in programs built in all ways. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"

START_TEST(threads_ask_beside_launches)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"ask", "1000"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "wrong 0, flush 0, kernel 0, child 0\n1000 calls, 1000 timed\n");
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "asked"), 1000);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Where the file cannot be written, that is said of the flush; the figures are there. */
START_TEST(flush_without_a_file)
{
    char expected[100];
    struct stage_run r =
        PLAY(.argv = {"ask", "10"}, .env = {"CUTRACE_OUTPUT=/nowhere/summary.bin"});
    snprintf(expected, sizeof(expected), ", flush %d, kernel 0, child 0\n10 calls, 10 timed\n",
             EIO);
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.out, expected));
    stage_drop(&r);
}
END_TEST

START_TEST(nothing_to_ask_where_nothing_is_recorded)
{
    char expected[100];
    struct stage_run r = PLAY(.argv = {"ask", "10"}, .env = {"CUTRACE_START=off"});
    snprintf(expected, sizeof(expected), "wrong 0, flush 0, kernel %d, child 0\n", ENOENT);
    ck_assert_int_eq(r.status, 0);
    ck_assert_int_eq(strncmp(r.out, expected, strlen(expected)), 0);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ask");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, threads_ask_beside_launches);
    tcase_add_test(t, flush_without_a_file);
    tcase_add_test(t, nothing_to_ask_where_nothing_is_recorded);
    return stage_main("ask", t);
}
