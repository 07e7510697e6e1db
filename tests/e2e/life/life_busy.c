/* SPDX-License-Identifier: MIT */
/* When devices and streams were busy, by the simulator's own word, and what advice that gives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#define SPANS 4096

/* A copy waits for one before it in another stream, which its bracket cannot tell. */
#define ENGINES "CUDASIM_COPY_ENGINES=1"

/* ---- the truth ---- */

struct edge {
    int64_t ns;
    int computes, copies; /* +1: begins, -1: ends */
};

struct truth {
    int64_t first_ns, last_ns;
    int64_t busy_ns, compute_ns, copy_ns, both_ns, beside_ns;
    size_t count;
};

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* All beginnings and ends in order: between two of them nothing changes. */
static void count_up(struct truth *t, struct edge *edges, size_t n)
{
    int computes = 0, copies = 0;
    qsort(edges, n, sizeof(*edges), by_time);
    t->first_ns = edges[0].ns;
    t->last_ns = edges[n - 1].ns;
    for (size_t i = 0; i + 1 < n; i++) {
        int64_t ns = edges[i + 1].ns - edges[i].ns;
        computes += edges[i].computes;
        copies += edges[i].copies;
        t->busy_ns += computes || copies ? ns : 0;
        t->compute_ns += computes ? ns : 0;
        t->copy_ns += copies ? ns : 0;
        t->both_ns += computes && copies ? ns : 0;
        t->beside_ns += computes + copies > 1 ? ns : 0;
    }
}

static struct truth read_truth(void)
{
    static struct edge edges[2 * SPANS];
    char *text = stage_read("spans"), *rest = NULL;
    struct truth t = {0};
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool is_copy = !strncmp(line, "copy", 4);
        long long start_ns, end_ns;
        ck_assert_uint_lt(t.count, SPANS);
        ck_assert_int_eq(sscanf(line, "%*s\t%*s\t%*s\t%lld\t%lld", &start_ns, &end_ns), 2);
        edges[2 * t.count] = (struct edge){start_ns, !is_copy, is_copy};
        edges[2 * t.count + 1] = (struct edge){end_ns, -!is_copy, -is_copy};
        t.count++;
    }
    ck_assert_uint_gt(t.count, 0);
    count_up(&t, edges, 2 * t.count);
    free(text);
    return t;
}

/* Stamps are told in milliseconds as a float: a few nanoseconds for each operation. */
static void expect_near(uint64_t got, int64_t want, size_t operations, const char *what)
{
    int64_t off = (int64_t)got - want;
    ck_assert_msg(llabs(off) <= 20 + 8 * (int64_t)operations, "%s: %llu instead of %lld", what,
                  (unsigned long long)got, (long long)want);
}

static void expect_sums(const struct ct_summary *s, const struct ct_file_activity *a)
{
    uint64_t idle_ns = 0, gaps = 0, gap_ns = 0;
    for (unsigned i = 0; i < CT_FILE_IDLES; i++)
        idle_ns += a->idle_ns[i];
    for (size_t i = 0; i < s->gaps_count; i++) {
        gaps += s->gaps[i].count;
        for (unsigned k = 0; k < CT_FILE_IDLES; k++)
            gap_ns += s->gaps[i].idle_ns[k];
    }
    ck_assert_uint_eq(a->busy_ns + idle_ns, a->last_ns - a->first_ns);
    ck_assert_uint_eq(a->compute_ns + a->copy_ns - a->both_ns, a->busy_ns);
    ck_assert_uint_eq(gaps, a->gaps);
    ck_assert_uint_eq(gap_ns, idle_ns);
    ck_assert_uint_eq(a->misplaced_ns, 0);
}

/* ---- programs ---- */

static const struct {
    const char *program;
    const char *argv[4];
    const char *kernels;
} programs[] = {
    {"examples/mmm", {"plain", "512"}, "CUDASIM_KERNELS=mmm_naive=300000"},
    {"examples/mmm", {"resident", "512"}, "CUDASIM_KERNELS=mmm_naive=300000,fill_matrix=20000"},
    {"examples/mmm", {"streamed", "512"}, "CUDASIM_KERNELS=mmm_naive=75000"},
    {"examples/mmm", {"pinned", "2048"}, "CUDASIM_KERNELS=mmm_naive=1200000"},
    {"examples/mmm", {"mapped", "512"}, "CUDASIM_KERNELS=mmm_naive=5000000"},
    {"examples/vector_add", {NULL}, "CUDASIM_KERNELS="},
    {"examples/gemm", {"256"}, "CUDASIM_KERNELS="},
    {"tests/e2e/actor/actor", {"pace", "beside", "40", "7000"}, "CUDASIM_KERNELS="},
    {"tests/e2e/actor/actor", {"small", "300"}, "CUDASIM_KERNELS="},
};

static struct stage_run play(int i, const char *more, const char *engines)
{
    const char *const *argv = programs[i].argv;
    return PLAY(.program = stage_path_of(programs[i].program),
                .argv = {argv[0], argv[1], argv[2], argv[3]},
                .env = {programs[i].kernels, "CUDASIM_SPANS=spans", more, engines});
}

START_TEST(figures_are_the_simulators)
{
    struct ct_summary s;
    struct stage_run r = play(_i, "CUTRACE_SAMPLE=1", "CUDASIM_COPY_ENGINES=0");
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    struct truth t = read_truth();
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.activities_count, 1);
    const struct ct_file_activity *a = &s.activities[0];
    expect_sums(&s, a);
    ck_assert_uint_eq(a->operations, t.count);
    expect_near(a->last_ns - a->first_ns, t.last_ns - t.first_ns, 1, "span");
    expect_near(a->busy_ns, t.busy_ns, t.count, "busy");
    expect_near(a->compute_ns, t.compute_ns, t.count, "compute");
    expect_near(a->copy_ns, t.copy_ns, t.count, "copy");
    expect_near(a->both_ns, t.both_ns, t.count, "both");
    expect_near(a->beside_ns, t.beside_ns, t.count, "beside");
    uint64_t timed = 0;
    for (size_t i = 0; i < s.streams_count; i++)
        timed += s.streams[i].timed;
    ck_assert_uint_eq(timed, t.count);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- kinds of memory ---- */

/* By octave: what the actor's copies of 1, 2, 4, ... bytes are between. */
static const struct {
    uint32_t from, to;
} ways[] = {
    {CT_MEMORY_PAGEABLE, CT_MEMORY_DEVICE}, {CT_MEMORY_DEVICE, CT_MEMORY_PAGEABLE},
    {CT_MEMORY_PINNED, CT_MEMORY_DEVICE},   {CT_MEMORY_DEVICE, CT_MEMORY_PINNED},
    {CT_MEMORY_DEVICE, CT_MEMORY_MANAGED},  {CT_MEMORY_MANAGED, CT_MEMORY_PAGEABLE},
    {CT_MEMORY_PAGEABLE, CT_MEMORY_ARRAY},  {CT_MEMORY_ARRAY, CT_MEMORY_PINNED},
    {CT_MEMORY_DEVICE, CT_MEMORY_ARRAY},    {CT_MEMORY_DEVICE, CT_MEMORY_DEVICE},
    {CT_MEMORY_PINNED, CT_MEMORY_PAGEABLE}, {CT_MEMORY_PINNED, CT_MEMORY_ARRAY},
    {CT_MEMORY_PINNED, CT_MEMORY_DEVICE},
};

START_TEST(copies_by_kinds_of_memory)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"memories"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.transfers_count, 13);
    for (size_t i = 0; i < s.transfers_count; i++) {
        const struct ct_file_transfer *t = &s.transfers[i];
        ck_assert_uint_lt(t->octave, sizeof(ways) / sizeof(ways[0]));
        ck_assert_msg(t->from == ways[t->octave].from && t->to == ways[t->octave].to,
                      "2^%u bytes: from %u to %u", t->octave, t->from, t->to);
        ck_assert_uint_eq(t->timed, 1);
        ck_assert_uint_eq(t->bytes, (uint64_t)1 << t->octave);
        ck_assert_uint_gt(t->total_ns, 0);
    }
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- advice ---- */

/* What the report tells, by its keys, each with a blank behind it. */
static void expect_advice(const char *want)
{
    char keys[512] = "", *rest = NULL;
    struct stage_run r = PLAY(.program = stage_path_of("cutrace-report"),
                              .argv = {"advice", "--format", "tsv", "summary.bin"}, .bare = true);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    char *text = strdup(r.out);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "\t")] = '\0';
        if (strcmp(line, "about"))
            strcat(strcat(keys, line), " ");
    }
    ck_assert_msg(!strcmp(keys, want), "\"%s\" instead of \"%s\":\n%.2000s", keys, want, r.out);
    free(text);
    stage_drop(&r);
}

/* What a lecture says of the five variants of mmm: doc/tutorial.md. */
static const struct {
    const char *more; /* environment */
    const char *keys;
} lessons[] = {
    {"CUDASIM_STRICT=1", "pageable_copies no_overlap "},
    {"CUDASIM_STRICT=1", "pageable_copies "},
    {"CUDASIM_STRICT=1", "pageable_copies no_overlap "},
    {"CUDASIM_SLOW=cuMemHostAlloc:20000", "pinning "},
    {"CUDASIM_STRICT=1", "mapped_memory "},
};

START_TEST(variants_of_mmm)
{
    struct stage_run r = play(_i, lessons[_i].more, ENGINES);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    expect_advice(lessons[_i].keys);
    stage_drop(&r);
}
END_TEST

/*
 * Streams that overlap, pinned memory, and pinning at no cost to speak of. The matrices are large,
 * so that three calls need not be quick on a busy machine to take less than the copies.
 */
START_TEST(a_good_program_gets_none)
{
    struct stage_run r = play(3, "CUTRACE_PRINT=on", ENGINES);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_msg(strstr(r.err, "13 operations: 13 timed"), "%.2000s", r.err);
    ck_assert_msg(!strstr(r.err, "Advice"), "%.2000s", r.err);
    expect_advice("");
    stage_drop(&r);
}
END_TEST

START_TEST(advice_is_below_the_table)
{
    struct stage_run r = play(0, "CUTRACE_PRINT=on", ENGINES);
    char line[64];
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    snprintf(line, sizeof(line), "==%d== Advice: copies from or to pageable memory", (int)r.pid);
    ck_assert_msg(strstr(r.err, line), "%.2000s", r.err);
    stage_drop(&r);
    r = PLAY(.program = stage_path_of("cutrace-report"), .argv = {"--csv", "summary.bin"},
             .bare = true);
    ck_assert_msg(r.status == 0 && !strstr(r.out, "Advice"), "%.2000s", r.out);
    stage_drop(&r);
}
END_TEST

/* Of a sample too little is known. */
START_TEST(silence_about_a_sample)
{
    struct stage_run r = play(0, "CUTRACE_KERNELS=!*", ENGINES);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    expect_advice("");
    stage_drop(&r);
}
END_TEST

/* ---- why a device was idle ---- */

/* Launches with nothing between them would leave no gap but those that timing them makes. */
static const struct {
    const char *argv[5];
    enum ct_idle reason;
} paces[] = {
    {{"pace", "launches", "2000", "200", "20"}, CT_IDLE_HOST},
    {{"pace", "launches", "20", "200", "1000"}, CT_IDLE_HOST},
    {{"pace", "waits", "500", "30000"}, CT_IDLE_SYNC},
};

static uint64_t idle_of(const struct ct_file_activity *a)
{
    uint64_t idle_ns = 0;
    for (unsigned i = 0; i < CT_FILE_IDLES; i++)
        idle_ns += i == CT_IDLE_MEASURING ? 0 : a->idle_ns[i];
    return idle_ns;
}

/* Of what the device was idle, most is for that reason. */
static bool is_reason(struct stage_run *r, enum ct_idle reason)
{
    struct ct_summary s;
    ck_assert_msg(r->status == 0, "%.400s%.900s", r->out, r->err);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.activities_count, 1);
    expect_sums(&s, &s.activities[0]);
    bool is = s.activities[0].idle_ns[reason] > idle_of(&s.activities[0]) / 2;
    ct_summary_free(&s);
    return is;
}

/* By the machine's clock, which tells the reasons; how long they were is the machine's matter. */
START_TEST(idle_time_has_its_reason)
{
    struct stage_run r;
    STAGE_UNTIL(is_reason(&r, paces[_i].reason), r,
                PLAY(.argv = {paces[_i].argv[0], paces[_i].argv[1], paces[_i].argv[2],
                              paces[_i].argv[3], paces[_i].argv[4]},
                     .env = {"CUDASIM_HOST_CLOCK=1", "CUDASIM_NAME=NVIDIA H200"}));
    ck_assert(is_reason(&r, paces[_i].reason));
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("busy");
    tcase_add_loop_test(t, figures_are_the_simulators, 0,
                        (int)(sizeof(programs) / sizeof(programs[0])));
    tcase_add_test(t, copies_by_kinds_of_memory);
    tcase_add_loop_test(t, variants_of_mmm, 0, 5);
    tcase_add_test(t, a_good_program_gets_none);
    tcase_add_test(t, advice_is_below_the_table);
    tcase_add_test(t, silence_about_a_sample);
    if (!CT_CHECKS_THREADS) /* its launches take longer than the device is idle */
        tcase_add_loop_test(t, idle_time_has_its_reason, 0, 3);
    return stage_main("life_busy", t);
}
