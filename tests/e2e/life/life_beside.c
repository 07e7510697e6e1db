/* SPDX-License-Identifier: MIT */
/* Other libraries in the same process: what they change is no matter. */
#include <stdio.h>

#include "stage.h"

/* With another library before or behind cutrace. */
static struct stage_run play_beside(const char *library, bool before, const char *variable)
{
    char preload[4096], runtime[1024], ours[1024], other[1024];
    stage_sanitizer(runtime, sizeof(runtime));
    snprintf(ours, sizeof(ours), "%s", stage_path_of(".libs/libcutrace.so"));
    snprintf(other, sizeof(other), "%s", stage_path_of(library));
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s%s:%s", runtime, before ? other : ours,
             before ? ours : other);
    return PLAY(.argv = {"small"}, .env = {preload, variable});
}

static void check_small(const struct stage_run *r)
{
    struct ct_summary s;
    ck_assert_msg(r->status == 0, "%.900s", r->err);
    ck_assert_msg(stage_said(r) == 0, "%.900s", r->err);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 100);
    ck_assert_uint_gt(s.process->duration_ns, 0);
    ct_summary_free(&s);
}

/* The thread of cutrace has them, too, and its stack still. */
START_TEST(many_thread_local_variables)
{
    struct stage_run r = play_beside("tests/e2e/life/many_locals.so", _i, NULL);
    check_small(&r);
    stage_drop(&r);
}
END_TEST

START_TEST(a_clock_that_stands_still)
{
    struct stage_run r = play_beside("tests/e2e/life/frozen_clock.so", _i, NULL);
    check_small(&r);
    stage_drop(&r);
}
END_TEST

/* Between bind() and listen(): both processes may have bound their sockets to it. */
START_TEST(a_port_that_another_takes)
{
    struct stage_run r =
        play_beside("tests/e2e/life/rival_port.so", _i, "CUTRACE_METRICS=openmetrics:23456");
    check_small(&r);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("beside others");
    tcase_add_loop_test(t, many_thread_local_variables, 0, 2);
    tcase_add_loop_test(t, a_clock_that_stands_still, 0, 2);
    tcase_add_loop_test(t, a_port_that_another_takes, 0, 2);
    return stage_main("life_beside", t);
}
