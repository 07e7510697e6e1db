/* SPDX-License-Identifier: MIT */
/*
 * Kernels of our own in the program's stream: where they are launched and where they are not, that
 * nobody sees them but who asks, and that whatever goes wrong with them leaves the program as it
 * was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts/row.h"
#include "drain/journal.h"
#include "stage.h"

/*
 * An H200 on which the GPU waits for each launch, as it does for those of a framework. Launches are
 * further apart than a SHORT kernel is long.
 */
#define LATE                                                                                       \
    "CUDASIM_NAME=NVIDIA H200", "CUDASIM_HOST_CLOCK=1",                                            \
        stage_is_slow() ? "CUDASIM_LATE=cuLaunchKernel:20" : "CUDASIM_LATE=cuLaunchKernel:4"
#define LOG "CUDASIM_LOG=calls"
#define JOURNAL "CUTRACE_BRACKETS=brackets"
/* With a sanitizer the log makes stop records so slow that no kernel tells anything. */
#define LAUNCHES (stage_is_slow() ? JOURNAL : LOG)
#define STEPS "100"
/* A sanitizer makes stop records so slow that those of shorter kernels tell nothing. */
#define SHORT (stage_is_slow() ? "15000" : "2000")
#define KERNELS 2000

static unsigned calls(const char *name)
{
    char pattern[100], *text = stage_read("calls");
    unsigned n = 0;
    snprintf(pattern, sizeof(pattern), " %s = ", name);
    for (const char *p = text; (p = strstr(p, pattern)); p++)
        n++;
    free(text);
    return n;
}

static struct stage_run play(const char *what, const char *kernel_ns, const char *a, const char *b)
{
    remove("calls"); /* of the play before */
    struct stage_run r =
        PLAY(.argv = {"waits", what, STEPS, kernel_ns}, .env = {LATE, LAUNCHES, a, b});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    return r;
}

/* None of ours is among the rows, nor in the table, whose counts are the program's. */
static void check_rows(const struct ct_summary *s, const struct stage_run *r)
{
    CHECK_SUM(stage_kernel(s, "spin"), KERNELS);
    for (size_t i = 0; i < s->rows_count; i++)
        ck_assert_ptr_null(strstr(ct_summary_text(s, s->rows[i].name), "cutrace"));
    for (size_t i = 0; i < s->streams_count; i++)
        ck_assert_uint_le(s->streams[i].operations, KERNELS);
    ck_assert_ptr_null(strstr(r->err, "cutrace_selftimed"));
}

struct journal {
    unsigned ours, told, taken_off;
};

static FILE *open_brackets(const struct stage_run *r)
{
    char path[64];
    snprintf(path, sizeof(path), "brackets.%d", (int)r->pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* Most of what a witness takes is between its stamps. */
static bool is_its_own(const struct ct_journal_entry *e)
{
    return e->witness_ns < (int64_t)e->raw_ns && 2 * e->witness_ns > (int64_t)e->time_ns;
}

static struct journal journal_of(const struct stage_run *r)
{
    struct ct_journal_entry e;
    struct journal j = {0};
    FILE *file = open_brackets(r);
    while (fread(&e, sizeof(e), 1, file) == 1) {
        j.ours += e.row == CT_ROW_WITNESS;
        j.told += e.row == CT_ROW_WITNESS && is_its_own(&e);
        j.taken_off += e.row != CT_ROW_WITNESS && e.witness_ns;
    }
    fclose(file);
    return j;
}

static void check_journal(const struct stage_run *r)
{
    struct journal j = journal_of(r);
    ck_assert_uint_ge(j.ours, 24);
    ck_assert_uint_ge(j.told, 16);
    ck_assert_uint_gt(j.taken_off, 0);
}

#define MOST_GROUPS 1000

/* Where groups began and ended: the first of each stands behind a launch without a bracket. */
static unsigned groups_of(const struct stage_run *r, double begin_ms[], double end_ms[])
{
    struct ct_journal_entry e;
    uint64_t first = 0;
    unsigned n = 0;
    FILE *file = open_brackets(r);
    while (fread(&e, sizeof(e), 1, file) == 1) {
        if (e.row != CT_ROW_WITNESS)
            continue;
        first = first ? first : e.open_ticks;
        if (e.flags & CT_OP_AFTER_BREAK && n < MOST_GROUPS)
            begin_ms[n++] = (double)(e.open_ticks - first) * e.ns_per_tick / 1e6;
        if (n)
            end_ms[n - 1] = (double)(e.closed_ticks - first) * e.ns_per_tick / 1e6;
    }
    fclose(file);
    return n;
}

/* Launches of ours; by the journal those without a bracket are not among them. */
static unsigned launched(const struct stage_run *r)
{
    return stage_is_slow() ? journal_of(r).ours : calls("cuLaunchKernel") - KERNELS;
}

/* How many told something. */
static uint32_t witnesses(const struct stage_run *r)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    check_rows(&s, r);
    uint32_t n = s.devices[0].witnesses;
    ck_assert(!n == !s.devices[0].witness_ns);
    ck_assert(!n || stage_is_slow() || launched(r) > n);
    ct_summary_free(&s);
    return n;
}

static bool has_some(const struct stage_run *r)
{
    return stage_is_slow() ? launched(r) : witnesses(r);
}

static const char *const waiting[] = {"context", "stream", "unused", "created"};

START_TEST(where_the_program_has_waited)
{
    struct stage_run r;
    STAGE_UNTIL(has_some(&r), r, play(waiting[_i], SHORT, "CUTRACE_PRINT=on", JOURNAL));
    ck_assert_msg(has_some(&r), "%.900s", r.err);
    if (!stage_is_slow())
        check_journal(&r);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"waits", waiting[_i], STEPS}, .env = {LATE}});
}
END_TEST

/* Half a second and more. */
#define LONG_STEPS "2000"
#define LONG_MS 200

static struct stage_run play_long(void)
{
    struct stage_run r =
        PLAY(.argv = {"waits", "context", LONG_STEPS, SHORT}, .env = {LATE, JOURNAL});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    return r;
}

static bool has_them_to_the_end(const struct stage_run *r)
{
    static double begin_ms[MOST_GROUPS], end_ms[MOST_GROUPS];
    unsigned n = groups_of(r, begin_ms, end_ms), late = 0;
    for (unsigned i = 1; i < n; i++) {
        double time_ms = end_ms[i - 1] - begin_ms[0], pause_ms = begin_ms[i] - end_ms[i - 1];
        double least_ms = time_ms < 32 ? 1 : time_ms > 3200 ? 100 : time_ms / 32;
        ck_assert_double_ge(pause_ms, 0.99 * least_ms);
        late += time_ms > LONG_MS;
    }
    return late >= 4;
}

/* As long as the program lives, ever more rarely. */
START_TEST(they_go_on)
{
    struct stage_run r;
    STAGE_UNTIL(has_them_to_the_end(&r), r, play_long());
    ck_assert(has_them_to_the_end(&r));
    stage_drop(&r);
}
END_TEST

/*
 * A group takes 25 ms here, and most often there is one when the stream is destroyed: it would go
 * on in what is no more.
 */
START_TEST(a_stream_ends_after_a_group)
{
    struct stage_run r;
    const char *slow = "CUDASIM_SLOW=cutrace/cuLaunchKernel:5000";
    STAGE_UNTIL(launched(&r), r, play("destroyed", SHORT, slow, NULL));
    ck_assert_uint_gt(launched(&r), 0);
    stage_drop(&r);
}
END_TEST

#define AWAY "CUDASIM_SLICE_US=6000", "CUDASIM_SLOW=cutrace/cuLaunchKernel:600"
#define GATED_STEPS "50"

static struct stage_run play_gated(void)
{
    struct stage_run r =
        PLAY(.argv = {"waits", "gated", GATED_STEPS, SHORT}, .env = {LATE, JOURNAL, AWAY});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    return r;
}

/*
 * One that the GPU has not come to, as it is another process's for 6 ms, is left behind, and ends
 * while the program queues. The driver takes no more than 121 records with what that queues.
 */
START_TEST(one_left_behind_fills_no_queue)
{
    struct stage_run r;
    STAGE_UNTIL(journal_of(&r).ours, r, play_gated());
    ck_assert_uint_gt(journal_of(&r).ours, 0);
    stage_drop(&r);
}
END_TEST

static const struct {
    const char *what, *kernel_ns, *env;
    unsigned launches; /* of the program's beside those that count */
} without[] = {
    {"shared", "2000", NULL, 0}, /* another thread may destroy it meanwhile */
    {"new", "2000", NULL, 0},    /* all takes longer in such streams */
    {"beside", "2000", NULL, 1},
    {"capture", "2000", NULL, 0},
    {"blocking", "2000", NULL,
     1},                          /* the default stream keeps such streams waiting for each other */
    {"threads", "2000", NULL, 0}, /* nor where another thread may be about to use one */
    {"unseen", "2000", NULL, 1},
    {"context", "50000", NULL, 0},
    {"context", "2000", "CUTRACE_CALIBRATE=off", 0},
    {"context", "2000", "CUDASIM_NAME=Simulated H200", 0},
    {"context", "2000", "CUTRACE_KERNELS=!*", 0},
};

START_TEST(not_elsewhere)
{
    struct stage_run r = play(without[_i].what, without[_i].kernel_ns, LOG, without[_i].env);
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices[0].witnesses, 0);
    ck_assert_uint_eq(calls("cuModuleLoadData"), 1); /* the program's */
    ck_assert_uint_eq(calls("cuLaunchKernel"), KERNELS + without[_i].launches);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* A group of five launches takes 75 us: an eighth of 5 % in 12 ms. */
#define BUDGET "CUTRACE_BUDGET=5%"

static unsigned within_budget(double seconds)
{
    return 5 * (unsigned)(seconds / 0.012 + 2);
}

static bool has_more(const struct stage_run *r)
{
    return has_some(r) && (stage_is_slow() || launched(r) > within_budget(r->seconds));
}

/* Not in the first second: what is timed in it is to be right as well. */
START_TEST(a_budget_leaves_out_the_first_second)
{
    struct stage_run r;
    STAGE_UNTIL(has_more(&r), r, play("context", SHORT, BUDGET, NULL));
    ck_assert(has_more(&r));
    stage_drop(&r);
}
END_TEST

static bool has_a_few(const struct stage_run *r)
{
    unsigned ours = launched(r);
    ck_assert_uint_le(ours, within_budget(r->seconds - 1.1));
    witnesses(r);
    return ours > 1;
}

START_TEST(with_a_budget)
{
    struct stage_run r;
    STAGE_UNTIL(has_a_few(&r), r, play("late", SHORT, BUDGET, NULL));
    ck_assert(has_a_few(&r));
    stage_drop(&r);
}
END_TEST

static const char *const failing[] = {
    "CUDASIM_FAIL=cutrace/cuModuleLoadData:1-9:218",
    "CUDASIM_FAIL=cutrace/cuModuleGetFunction:2:500",
    "CUDASIM_FAIL=cutrace/cuMemHostAlloc:1:2",
    "CUDASIM_FAIL=cutrace/cuLaunchKernel:1-99:701",
    "CUDASIM_FAIL=cutrace/cuLaunchKernel:3-99:701",
};

static bool is_said(const struct stage_run *r)
{
    struct ct_summary s;
    uint64_t n = 0;
    stage_profile(&s, "summary.bin");
    check_rows(&s, r);
    for (size_t i = 0; i < s.notes_count; i++)
        if (!strncmp(ct_summary_text(&s, s.notes[i].text), "No kernel of known duration", 27))
            n += s.notes[i].count;
    ck_assert_uint_le(n, 1);
    ct_summary_free(&s);
    return n;
}

START_TEST(it_fails)
{
    struct stage_run r;
    STAGE_UNTIL(is_said(&r), r, play("context", SHORT, failing[_i], NULL));
    ck_assert_msg(is_said(&r), "%.900s", r.err);
    stage_drop(&r);
    stage_compare(
        (struct stage_scene){.argv = {"waits", "context", STEPS}, .env = {LATE, failing[_i]}});
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("witness");
    tcase_add_loop_test(t, where_the_program_has_waited, 0, 4);
    tcase_add_test(t, they_go_on);
    tcase_add_loop_test(t, a_stream_ends_after_a_group, 0, 4);
    tcase_add_loop_test(t, one_left_behind_fills_no_queue, 0, 4);
    tcase_add_loop_test(t, not_elsewhere, 0, (int)(sizeof(without) / sizeof(without[0])));
    tcase_add_test(t, a_budget_leaves_out_the_first_second);
    tcase_add_test(t, with_a_budget);
    tcase_add_loop_test(t, it_fails, 0, (int)(sizeof(failing) / sizeof(failing[0])));
    return stage_main("life_witness", t);
}
