/* SPDX-License-Identifier: MIT */
/* Load: counts that must add up, pools that run dry, memory, and doing nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

/* "KEY NAME NUMBER" in what the program printed */
static uint64_t told(const char *out, const char *key, const char *name)
{
    char start[100];
    snprintf(start, sizeof(start), "%s %s ", key, name);
    const char *p = strstr(out, start);
    ck_assert_msg(p != NULL, "%s%s", start, out);
    return strtoull(p + strlen(start), NULL, 10);
}

static const char *const apis[] = {
    "cuLaunchKernel",  "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async", "cuGraphLaunch",        "cuStreamSynchronize"};

/* Every count of the profile is what the program counted. */
static void check_hammer(const struct stage_run *r, const struct ct_summary *s)
{
    char name[32];
    for (unsigned i = 0; i < sizeof(apis) / sizeof(apis[0]); i++)
        ck_assert_uint_eq(stage_calls(s, apis[i]), told(r->out, "api", apis[i]));
    for (int i = 0; i < 24; i++) {
        snprintf(name, sizeof(name), "hammer_%d", i);
        CHECK_SUM(stage_kernel(s, name), told(r->out, "kernel", name));
    }
    CHECK_SUM(stage_kernel(s, "own"), told(r->out, "kernel", "own"));
    ck_assert_uint_eq(stage_kernel(s, "in_graph").captured, 3);
    CHECK_SUM(stage_rows(s, CT_ROW_SET, NULL), told(r->out, "api", "cuMemsetD8Async"));
    CHECK_SUM(stage_rows(s, CT_ROW_GRAPH, NULL), told(r->out, "api", "cuGraphLaunch"));
    CHECK_SUM(stage_rows(s, CT_ROW_COPY, NULL), told(r->out, "api", "cuMemcpyHtoDAsync_v2") +
                                                    told(r->out, "api", "cuMemcpyDtoHAsync_v2") +
                                                    told(r->out, "api", "cuMemcpyDtoDAsync_v2"));
    for (size_t i = 0; i < s->rows_count; i++)
        ck_assert_uint_eq(s->rows[i].errors, 0);
}

static struct stage_run hammer_with(const struct stage_scene *scene, struct ct_summary *s)
{
    struct stage_run r = stage_play(scene);
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_str_eq(r.err, "");
    stage_profile(s, "summary.bin");
    ck_assert_uint_ne(s->process->flags & CT_PROCESS_FINISHED, 0);
    check_hammer(&r, s);
    return r;
}

static void hammer(const char *operations, const char *events, const char *sample)
{
    struct ct_summary s;
    char pool[64], every[64];
    snprintf(pool, sizeof(pool), "CUTRACE_EVENTS=%s", events);
    snprintf(every, sizeof(every), "CUTRACE_SAMPLE=%s", sample);
    struct stage_scene scene = {.argv = {"hammer", "8", "16", operations, "contexts"},
                                .env = {pool, every},
                                .timeout_s = 200};
    struct stage_run r = hammer_with(&scene, &s);
    ct_summary_free(&s);
    stage_drop(&r);
}

START_TEST(hammer_counts_add_up)
{
    char operations[32];
    snprintf(operations, sizeof(operations), "%ld",
             stage_number("CUTRACE_TEST_OPERATIONS", 1000000));
    hammer(operations, "16384", "1");
}
END_TEST

START_TEST(hammer_with_sampling)
{
    hammer("100000", "16384", "16");
}
END_TEST

START_TEST(hammer_with_few_events)
{
    hammer("100000", "64", "1");
}
END_TEST

/* Brackets of a stream come from eight threads, in any order: none is lost for it. */
static const char *const streams[] = {"1", "3"};

START_TEST(hammer_on_the_same_streams)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"hammer", "8", streams[_i], "100000", "together"},
                                .timeout_s = 200};
    struct stage_run r = hammer_with(&scene, &s);
    struct stage_sum sum = stage_rows(&s, CT_ROW_KERNEL, NULL);
    ck_assert_uint_gt(sum.timed, 0);
    ck_assert_uint_eq(sum.by_loss[CT_LOSS_EVENT_ERROR], 0);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static bool is_one_timed(const struct stage_run *r)
{
    struct ct_summary s;
    ck_assert_msg(r->status == 0, "%.900s", r->err);
    stage_profile(&s, "summary.bin");
    struct stage_sum often = stage_kernel(&s, "often"), once = stage_kernel(&s, "once");
    ck_assert_uint_eq(often.timed + often.lost, 100000);
    ck_assert_uint_eq(once.timed + once.lost, 2 * 3000);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 106000);
    bool is_timed = !often.by_loss[CT_LOSS_NO_EVENT] && often.lost < 5000;
    ct_summary_free(&s);
    return is_timed;
}

/* Threads that once launched take neither events nor the drain thread's time from one that does. */
START_TEST(one_beside_thousands_of_idle_threads)
{
    struct stage_run r;
    STAGE_UNTIL(is_one_timed(&r), r, PLAY(.argv = {"many-idle", "3000", "100000"}));
    ck_assert(is_one_timed(&r));
    stage_drop(&r);
}
END_TEST

/* A pool that is dry: what is not timed says why. 200 launches in four streams are under way. */
START_TEST(pool_exhaustion)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"ahead", "5000", "1500", "4"},
             .env = {"CUTRACE_EVENTS=64", "CUDASIM_LATENCY_US=1000", "CUDASIM_HOST_NS=5000"});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "spin");
    ck_assert_uint_eq(sum.timed + sum.lost, 5000);
    ck_assert_uint_gt(sum.timed, 0);
    ck_assert_uint_gt(sum.by_loss[CT_LOSS_NO_EVENT], 0);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_NO_EVENT] + sum.by_loss[CT_LOSS_DEEP_QUEUE] +
                                    sum.by_loss[CT_LOSS_RING_FULL]);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static long anonymous_kib(const char *part, const char *number, const char *kernels, bool bare)
{
    struct stage_run r = PLAY(.argv = {part, number, kernels}, .bare = bare, .timeout_s = 120);
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    const char *p = strstr(r.err, "RssAnon ");
    ck_assert_ptr_nonnull(p);
    long kib = atol(p + 8);
    stage_drop(&r);
    return kib;
}

/*
 * Anonymous memory in use at the end of a run, less that of the same run without cutrace. Most of
 * the 1000 kernels' histograms and all rings have been touched long before the millionth launch:
 * from there to the end nothing may grow.
 */
START_TEST(memory_is_bounded)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return; /* the sanitizers' own memory is what would be measured */
#endif
    char launches[32];
    long most = stage_number("CUTRACE_TEST_LAUNCHES", 4000000);
    long bare_kib = anonymous_kib("many", "1000000", "1000", true);
    long early_kib = anonymous_kib("many", "1000000", "1000", false) - bare_kib;
    snprintf(launches, sizeof(launches), "%ld", most);
    long late_kib = anonymous_kib("many", launches, "1000", false) - bare_kib;
    ck_assert_int_le(late_kib, 32 * 1024);
    ck_assert_int_le(late_kib - early_kib, 2048);
}
END_TEST

/* The states of short threads serve others sooner than new ones are needed. */
START_TEST(one_thread_after_the_other)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return; /* as above */
#endif
    long bare_kib = anonymous_kib("one-by-one", "5000", NULL, true);
    ck_assert_int_le(anonymous_kib("one-by-one", "5000", NULL, false) - bare_kib, 48 * 1024);
}
END_TEST

/* Nothing to do: at most 1 % of a core, and no more than one look in 9 ms. */
START_TEST(idle_process)
{
    struct stage_run r = PLAY(.argv = {"idle", "2000"});
    unsigned long long cpu_ns = 0, wakeups = 0;
    ck_assert_int_eq(r.status, 0);
    ck_assert_int_eq(sscanf(r.err, "idle: cpu_ns %llu wakeups %llu", &cpu_ns, &wakeups), 2);
    ck_assert_msg(wakeups > 0, "cutrace's thread was not found");
    ck_assert_uint_le(wakeups, 2000 / 9);
#ifndef __SANITIZE_THREAD__ /* with which everything takes longer */
    ck_assert_uint_le(cpu_ns, 20000000);
#endif
    stage_drop(&r);
}
END_TEST

static bool are_bursts_timed(const struct stage_run *r)
{
    struct ct_summary s;
    ck_assert_msg(r->status == 0, "%.900s", r->err);
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "burst");
    ck_assert_uint_eq(sum.timed + sum.lost, 80000);
    ct_summary_free(&s);
    return sum.lost < 8000;
}

/*
 * The drain thread, whose naps become long while there is nothing, is woken before the queue is
 * full. Without that a quarter is lost; what is lost with it is the machine's matter.
 */
START_TEST(bursts_after_a_while_are_timed)
{
    struct stage_run r;
    STAGE_UNTIL(are_bursts_timed(&r), r, PLAY(.argv = {"bursts", "4000", "20", "2000"}));
    ck_assert(are_bursts_timed(&r));
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("load");
    tcase_add_test(t, hammer_counts_add_up);
    tcase_add_test(t, hammer_with_sampling);
    tcase_add_test(t, hammer_with_few_events);
    tcase_add_loop_test(t, hammer_on_the_same_streams, 0, 2);
    tcase_add_test(t, bursts_after_a_while_are_timed);
    tcase_add_test(t, pool_exhaustion);
    tcase_add_test(t, one_beside_thousands_of_idle_threads);
    tcase_add_test(t, memory_is_bounded);
    tcase_add_test(t, one_thread_after_the_other);
    tcase_add_test(t, idle_process);
    return stage_main("life_load", t);
}
