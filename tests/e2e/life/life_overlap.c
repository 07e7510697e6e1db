/* SPDX-License-Identifier: MIT */
/*
 * Streams run side by side as they do without cutrace, however many there are and however few
 * connections carry them, and the kernels in them are counted and have times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#define ROUNDS 10
#define KERNEL_NS 4000000
#define KERNEL "4000000"

static const struct case_ {
    const char *pattern, *streams, *connections, *setting;
} cases[] = {
    {"turns", "4", "8", "CUTRACE_PRINT=off"},     {"turns", "9", "8", "CUTRACE_PRINT=off"},
    {"turns", "16", "8", "CUTRACE_PRINT=off"},    {"turns", "64", "8", "CUTRACE_PRINT=off"},
    {"turns", "16", "8", "CUTRACE_SAMPLE=1"},     {"turns", "16", "8", "CUTRACE_SAMPLE=8"},
    {"turns", "16", "8", "CUTRACE_BUDGET=2%"},    {"turns", "16", "8", "CUTRACE_TRACE=1"},
    {"turns", "2", "1", "CUTRACE_PRINT=off"},     {"turns", "16", "4", "CUTRACE_PRINT=off"},
    {"turns", "64", "32", "CUTRACE_PRINT=off"},   {"fork-join", "16", "8", "CUTRACE_PRINT=off"},
    {"fork-join", "2", "1", "CUTRACE_PRINT=off"}, {"pipeline", "16", "8", "CUTRACE_PRINT=off"},
    {"pipeline", "2", "1", "CUTRACE_PRINT=off"},  {"pipeline", "16", "8", "CUTRACE_BUDGET=2%"},
};

static double took_us(const struct case_ *c, bool bare, struct stage_run *r)
{
    char connections[64];
    snprintf(connections, sizeof(connections), "CUDA_DEVICE_MAX_CONNECTIONS=%s", c->connections);
    *r = PLAY(.argv = {"overlap", c->pattern, c->streams, "10", KERNEL},
              .env = {connections, "CUDASIM_HOST_CLOCK=1", c->setting}, .bare = bare);
    ck_assert_int_eq(r->status, 0);
    return atof(r->out);
}

static double plain_us(const struct case_ *c)
{
    struct stage_run r;
    double us = took_us(c, true, &r);
    stage_drop(&r);
    return us;
}

static const struct ct_file_row *spin(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->rows_count; i++)
        if (s->rows[i].kind == CT_ROW_KERNEL)
            return &s->rows[i];
    ck_abort_msg("no row of a kernel");
}

static uint64_t calls_of(const struct ct_file_row *row)
{
    uint64_t n = row->timed;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++)
        n += row->lost[i];
    return n;
}

/* The machine may be busy with others: the fastest of a few runs is what the library does. */
START_TEST(streams_stay_side_by_side)
{
    const struct case_ *c = &cases[_i];
    uint64_t kernels = ROUNDS * (uint64_t)atoi(c->streams) + 1;
    double plain = plain_us(c), ours = 0;
    struct stage_run r;
    struct ct_summary s;
    STAGE_UNTIL(stage_is_slow() || ours < 1.15 * plain, r, (ours = took_us(c, false, &r), r));
    ck_assert(stage_is_slow() || ours < 1.15 * plain);
    stage_profile(&s, "summary.bin");
    const struct ct_file_row *row = spin(&s);
    ck_assert_uint_eq(calls_of(row), kernels);
    ck_assert_uint_ge(row->timed, 4);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static bool is_near(const struct ct_file_row *row, double truth_ns)
{
    double off_ns = (double)row->total_ns - truth_ns, doubt_ns = (double)row->doubt_ns;
    return off_ns < 0.05 * truth_ns && -off_ns < 0.05 * truth_ns && off_ns <= doubt_ns &&
           -off_ns <= doubt_ns;
}

static bool are_times_known(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    const struct ct_file_row *row = spin(&s);
    bool known = row->timed == 161 && is_near(row, 160.0 * KERNEL_NS) && s.notes_count;
    ct_summary_free(&s);
    return known;
}

/*
 * Their ends are looked for: each is known to a nap of the drain thread, and the mean far better,
 * unless that has no processor.
 */
START_TEST(their_times_are_known)
{
    const struct case_ c = {"turns", "16", "8", "CUTRACE_PRINT=off"};
    struct stage_run r;
    STAGE_UNTIL(stage_is_slow() || are_times_known(), r, (took_us(&c, false, &r), r));
    ck_assert(stage_is_slow() || are_times_known());
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("overlap");
    tcase_add_loop_test(t, streams_stay_side_by_side, 0, sizeof(cases) / sizeof(*cases));
    tcase_add_test(t, their_times_are_known);
    return stage_main("life_overlap", t);
}
