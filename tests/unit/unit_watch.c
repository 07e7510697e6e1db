/* SPDX-License-Identifier: MIT */
/* Limits of the watchdog, its setting, and ranks that have not come. */
#include <string.h>

#include "base/config.h"
#include "case_main.h"
#include "options/setting.h"
#include "report/watch/arrivals.h"
#include "watch/limit.h"

#define MS 1000000ull
#define S (1000 * MS)

static const struct {
    struct ct_watch_rule rule;
    struct ct_usual usual;
    uint64_t limit_ns;
} limits[] = {
    /* ten times its p99, but a second */
    {{10, 0}, {1000, MS, 300 * MS, 900 * MS}, 3 * S},
    {{10, 0}, {1000, MS, 2 * MS, 5 * MS}, S},
    {{3, 0}, {20, MS, S, S}, 3 * S},
    /* without history thirty seconds, unless it took long before */
    {{10, 0}, {0, 0, 0, 0}, 30 * S},
    {{10, 0}, {19, MS, MS, MS}, 30 * S},
    {{10, 0}, {3, 4 * S, 5 * S, 5 * S}, 50 * S},
    /* a time of the user's, or twice its own */
    {{0, 2 * S}, {0, 0, 0, 0}, 2 * S},
    {{0, 2 * S}, {1000, MS, 3 * S, 9 * S}, 6 * S},
    {{0, 2 * S}, {2, MS, MS, 3 * S}, 6 * S},
    /* the sooner of both */
    {{10, 30 * S}, {1000, MS, 2 * MS, 5 * MS}, S},
    {{10, 30 * S}, {1000, MS, 4 * S, 5 * S}, 30 * S},
    {{10, 5 * S}, {0, 0, 0, 0}, 5 * S},
    {{10, 0}, {1000, MS, UINT64_MAX / 2, UINT64_MAX / 2}, UINT64_MAX},
};

START_TEST(limits_of_operations)
{
    ck_assert_uint_eq(ct_watch_limit_ns(&limits[_i].rule, &limits[_i].usual), limits[_i].limit_ns);
}
END_TEST

START_TEST(limits_of_gates)
{
    struct ct_watch_rule factor = {10, 0}, time = {0, 2 * S}, both = {10, 60 * S};
    ck_assert_uint_eq(ct_watch_gate_limit_ns(&factor, 0), 30 * S);
    ck_assert_uint_eq(ct_watch_gate_limit_ns(&factor, 20 * S), 40 * S);
    ck_assert_uint_eq(ct_watch_gate_limit_ns(&time, 0), 2 * S);
    ck_assert_uint_eq(ct_watch_gate_limit_ns(&time, 5 * S), 10 * S);
    ck_assert_uint_eq(ct_watch_gate_limit_ns(&both, 0), 30 * S);
}
END_TEST

/* A process that was stopped for an hour was looked on for two looks at most. */
START_TEST(time_without_a_look_does_not_count)
{
    ck_assert_uint_eq(ct_watch_counted_ns(S, 250 * MS, 500 * MS), S + 250 * MS);
    ck_assert_uint_eq(ct_watch_counted_ns(S, 3600 * S, 500 * MS), S + 500 * MS);
    ck_assert_uint_eq(ct_watch_counted_ns(S, 0, 500 * MS), S);
}
END_TEST

static const struct {
    const char *value;
    bool good;
    uint32_t factor;
    uint64_t ns;
} settings[] = {
    {"off", true, 0, 0},           {"10x", true, 10, 0},      {"30s", true, 0, 30 * S},
    {"10x,30s", true, 10, 30 * S}, {"5s,3x", true, 3, 5 * S}, {"", false, 0, 0},
    {"10", false, 0, 0},           {"0x", false, 0, 0},       {"x", false, 0, 0},
    {"10x,", false, 0, 0},         {"10x30s", false, 0, 0},   {"-3s", false, 0, 0},
    {"99999999999s", false, 0, 0},
};

START_TEST(setting)
{
    int i = 0;
    while (strcmp(ct_settings[i].name, "CUTRACE_WATCHDOG"))
        i++;
    ck_assert_int_eq(ct_settings[i].set(settings[_i].value), settings[_i].good);
    if (!settings[_i].good)
        return;
    ck_assert_uint_eq(ct_config.watchdog_factor, settings[_i].factor);
    ck_assert_uint_eq(ct_config.watchdog_ns, settings[_i].ns);
}
END_TEST

/* ---- ranks ---- */

static char noted[1024];

static void note(struct ct_sink *sink, const char *text)
{
    (void)sink;
    strncat(noted, text, sizeof(noted) - strlen(noted) - 2);
    strcat(noted, "\n");
}

/* A process that has called so many, and waits in the last one if that is in flight. */
static void add(struct ct_arrivals *a, uint32_t pid, uint32_t rank, uint32_t ranks, uint64_t called,
                bool waits)
{
    struct ct_file_process process = {.pid = pid};
    struct ct_file_stuck entries[2] = {
        {.kind = CT_STUCK_COMMUNICATOR,
         .communicator = 1,
         .ranks = ranks,
         .rank = rank + 1,
         .collective = CT_COLLECTIVE_ALL_REDUCE + 1,
         .sequence = called},
        {.kind = CT_STUCK_OPERATION,
         .communicator = 1,
         .ranks = ranks,
         .rank = rank + 1,
         .collective = CT_COLLECTIVE_ALL_REDUCE + 1,
         .sequence = called},
    };
    struct ct_summary s = {
        .process = &process, .process_count = 1, .stuck = entries, .stuck_count = waits ? 2 : 1};
    ct_arrivals_add(a, &s);
}

static const char *notes_of(struct ct_arrivals *a)
{
    struct ct_sink sink = {.note = note};
    *noted = '\0';
    ct_arrivals_note(a, &sink);
    ct_arrivals_free(a);
    return noted;
}

START_TEST(ranks_that_have_not_come)
{
    struct ct_arrivals a = {0};
    add(&a, 100, 0, 3, 7, true);
    add(&a, 101, 1, 3, 6, false);
    add(&a, 102, 2, 3, 7, true);
    ck_assert_str_eq(notes_of(&a), "NCCL AllReduce, number 7 of communicator 1 of 3 ranks: has not "
                                   "come: rank 1 (pid 101) is at number 6\n");
}
END_TEST

START_TEST(nothing_is_said_of_ranks_that_have_come)
{
    struct ct_arrivals a = {0};
    add(&a, 100, 0, 2, 7, true);
    add(&a, 101, 1, 2, 7, true);
    ck_assert_str_eq(notes_of(&a), "");
    add(&a, 100, 0, 2, 7, false);
    add(&a, 101, 1, 2, 6, false);
    ck_assert_str_eq(notes_of(&a), "");
}
END_TEST

/* Two communicators of two ranks each are not one. */
START_TEST(nothing_is_said_where_a_rank_is_there_twice)
{
    struct ct_arrivals a = {0};
    add(&a, 100, 0, 2, 7, true);
    add(&a, 101, 1, 2, 7, true);
    add(&a, 102, 0, 2, 3, false);
    add(&a, 103, 1, 2, 3, false);
    ck_assert_str_eq(notes_of(&a), "");
}
END_TEST

START_TEST(ranks_that_were_not_asked)
{
    struct ct_arrivals a = {0};
    add(&a, 100, 0, 8, 7, true);
    ck_assert_str_eq(notes_of(&a), "NCCL AllReduce, number 7 of communicator 1 of 8 ranks: 7 of 8 "
                                   "ranks were not asked, or have not used it yet\n");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("watch");
    tcase_add_loop_test(t, limits_of_operations, 0, (int)ct_countof(limits));
    tcase_add_test(t, limits_of_gates);
    tcase_add_test(t, time_without_a_look_does_not_count);
    tcase_add_loop_test(t, setting, 0, (int)ct_countof(settings));
    tcase_add_test(t, ranks_that_have_not_come);
    tcase_add_test(t, nothing_is_said_of_ranks_that_have_come);
    tcase_add_test(t, nothing_is_said_where_a_rank_is_there_twice);
    tcase_add_test(t, ranks_that_were_not_asked);
    return ct_case_main("watch", t);
}
