/* SPDX-License-Identifier: MIT */
/*
 * Reports of profiles, made of the trace of the same run: they say the same, the streams add up to
 * it, and a window has what overlaps it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stage.h"

#define THREADS 4
#define STREAMS 3 /* of each */
#define COLUMNS 40
#define LINES 4000

/* ---- tables ---- */

/* A report as tsv, whose first line is the keys. */
struct table {
    char *text;
    char *cells[LINES][COLUMNS];
    unsigned lines, columns;
};

static struct table tables[2];

static void split(struct table *t)
{
    char *rest = t->text;
    t->lines = t->columns = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line; t->lines++) {
        unsigned column = 0;
        ct_assert_uint(t->lines, <, LINES);
        for (char *cell; (cell = strsep(&line, "\t")); column++) {
            ct_assert_uint(column, <, COLUMNS);
            t->cells[t->lines][column] = cell;
        }
        t->columns = t->lines ? t->columns : column;
        ck_assert_uint_eq(column, t->columns);
    }
}

static struct stage_run report(const char *const *arguments, const char *file)
{
    struct stage_scene scene = {
        .program = stage_path_of("cutrace-report"), .argv = {"--format", "tsv"}, .bare = true};
    unsigned count = 2;
    for (; *arguments; arguments++)
        scene.argv[count++] = *arguments;
    scene.argv[count] = file;
    return stage_play(&scene);
}
#define ARGUMENTS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const struct table *read_table(unsigned which, const char *const *arguments,
                                      const char *file)
{
    struct table *t = &tables[which];
    struct stage_run r = report(arguments, file);
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    free(t->text);
    t->text = strdup(r.out);
    stage_drop(&r);
    split(t);
    return t;
}

static unsigned column_of(const struct table *t, const char *key)
{
    unsigned column = 0;
    while (column < t->columns && strcmp(t->cells[0][column], key))
        column++;
    ct_assert_msg(column < t->columns, "there is no column %s", key);
    return column;
}

static uint64_t number(const struct table *t, unsigned line, const char *key)
{
    return strtoull(t->cells[line][column_of(t, key)], NULL, 10);
}

static const char *name_of(const struct table *t, unsigned line)
{
    return t->cells[line][column_of(t, "name")];
}

/* ---- the run ---- */

static bool is_all_timed(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    struct stage_sum kernels = stage_rows(&s, CT_ROW_KERNEL, NULL);
    struct stage_sum copies = stage_rows(&s, CT_ROW_COPY, NULL);
    struct stage_sum sets = stage_rows(&s, CT_ROW_SET, NULL);
    ct_summary_free(&s);
    return kernels.timed && copies.timed && !kernels.lost && !copies.lost && !sets.lost;
}

/* Durations differ where the machine's own clock is that of the simulated device. */
static void record(void)
{
    struct stage_run r;
    STAGE_UNTIL(is_all_timed(), r,
                PLAY(.argv = {"hammer", "4", "3", "2000"},
                     .env = {"CUTRACE_TRACE=1", "CUDASIM_REAL_TIME=1", "CUDASIM_HOST_CLOCK=1"}));
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert(is_all_timed());
    stage_drop(&r);
}

/* ---- what they say ---- */

/* What a trace does not have. */
static bool is_unknown(const char *key)
{
    return !strcmp(key, "failed") || !strcmp(key, "uncertainty_ns") ||
           !strcmp(key, "bracket_avg_ns");
}

/* Of a profile sizes are only known in sum: each copy of this run has 256 bytes. */
static const char *expected(const char *key, const char *of_profile)
{
    bool is_size = strstr(key, " (MB)") && !*of_profile;
    if (is_unknown(key))
        return "";
    return is_size ? "0.000" : of_profile;
}

static const char *const same[] = {"kernels",
                                   "copies",
                                   "shapes",
                                   "cuda_gpu_kern_sum",
                                   "cuda_gpu_kern_gb_sum",
                                   "cuda_gpu_mem_time_sum",
                                   "cuda_gpu_mem_size_sum",
                                   "cuda_gpu_sum"};

START_TEST(the_same_as_of_the_profile)
{
    record();
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        const struct table *profile = read_table(0, ARGUMENTS(same[i]), "summary.bin");
        const struct table *trace = read_table(1, ARGUMENTS(same[i]), "summary.trace");
        ck_assert_uint_ge(profile->lines, 4);
        ck_assert_uint_eq(profile->lines, trace->lines);
        ck_assert_uint_eq(profile->columns, trace->columns);
        for (unsigned line = 0; line < profile->lines; line++)
            for (unsigned c = 0; c < profile->columns; c++) {
                const char *key = profile->cells[0][c], *of_profile = profile->cells[line][c];
                ck_assert_str_eq(trace->cells[line][c], line ? expected(key, of_profile) : key);
            }
    }
}
END_TEST

/* All lines of a name. */
struct sum {
    uint64_t calls, total_ns, min_ns, max_ns;
};

static struct sum sum_of(const struct table *t, const char *name)
{
    struct sum s = {.min_ns = UINT64_MAX};
    for (unsigned line = 1; line < t->lines; line++) {
        if (strcmp(name_of(t, line), name))
            continue;
        uint64_t min_ns = number(t, line, "min_ns"), max_ns = number(t, line, "max_ns");
        s.calls += number(t, line, "calls");
        s.total_ns += number(t, line, "total_ns");
        s.min_ns = min_ns < s.min_ns ? min_ns : s.min_ns;
        s.max_ns = max_ns > s.max_ns ? max_ns : s.max_ns;
    }
    return s;
}

static unsigned count_streams(const struct table *t)
{
    uint64_t before = 0;
    unsigned count = 0;
    for (unsigned line = 1; line < t->lines; line++) {
        uint64_t stream = number(t, line, "stream");
        ck_assert_uint_ge(stream, before);
        count += stream != before;
        before = stream;
        ck_assert_str_eq(t->cells[line][column_of(t, "device")], "Simulated H200 (0)");
    }
    return count;
}

START_TEST(streams_add_up)
{
    record();
    for (size_t i = 0; i < 2; i++) {
        const struct table *all = read_table(0, ARGUMENTS(same[i]), "summary.bin");
        const struct table *each =
            read_table(1, ARGUMENTS(same[i], "--per", "stream"), "summary.trace");
        ck_assert_uint_eq(count_streams(each), THREADS * STREAMS);
        ck_assert_uint_gt(each->lines, all->lines);
        for (unsigned line = 1; line < all->lines; line++) {
            struct sum of_all = sum_of(all, name_of(all, line));
            struct sum of_each = sum_of(each, name_of(all, line));
            ck_assert_uint_eq(of_all.calls, of_each.calls);
            ck_assert_uint_eq(of_all.total_ns, of_each.total_ns);
            ck_assert_uint_eq(of_all.min_ns, of_each.min_ns);
            ck_assert_uint_eq(of_all.max_ns, of_each.max_ns);
        }
    }
}
END_TEST

/* ---- windows ---- */

/* Kernels that overlap it, by their starts and durations. */
static struct sum overlapping(const struct table *t, uint64_t since_ns, uint64_t until_ns)
{
    struct sum s = {0};
    unsigned type = column_of(t, "type");
    for (unsigned line = 1; line < t->lines; line++) {
        uint64_t start_ns = number(t, line, "start_ns"), ns = number(t, line, "duration_ns");
        if (strcmp(t->cells[line][type], "kernel") || start_ns >= until_ns ||
            start_ns + ns < since_ns)
            continue;
        s.calls++;
        s.total_ns += ns;
    }
    return s;
}

static struct sum sum_of_all(const struct table *t)
{
    struct sum s = {0};
    for (unsigned line = 1; line < t->lines; line++) {
        s.calls += number(t, line, "calls");
        s.total_ns += number(t, line, "total_ns");
    }
    return s;
}

/* The borders are in the midst of operations, which are in it whole. */
START_TEST(windows_have_what_overlaps_them)
{
    char since[40], until[40];
    record();
    const struct table *trace = read_table(0, ARGUMENTS("trace"), "summary.trace");
    unsigned third = trace->lines / 3;
    uint64_t since_ns = number(trace, third, "start_ns") + 1;
    uint64_t until_ns = number(trace, 2 * third, "start_ns") + 1;
    snprintf(since, sizeof(since), "--since=%" PRIu64 "ns", since_ns);
    snprintf(until, sizeof(until), "--until=%" PRIu64 "ns", until_ns);
    struct sum want = overlapping(trace, since_ns, until_ns);
    ck_assert_uint_gt(want.calls, 100);
    struct sum all = sum_of_all(read_table(1, ARGUMENTS("kernels", since, until), "summary.trace"));
    struct sum each = sum_of_all(
        read_table(1, ARGUMENTS("kernels", since, until, "--per", "stream"), "summary.trace"));
    ck_assert_uint_eq(all.calls, want.calls);
    ck_assert_uint_eq(all.total_ns, want.total_ns);
    ck_assert_uint_eq(each.calls, want.calls);
    ck_assert_uint_eq(each.total_ns, want.total_ns);
}
END_TEST

/* ---- what is refused ---- */

static void check_refused(const char *file, int status, const char *words)
{
    struct stage_run r = report(ARGUMENTS("kernels", "--per", "stream"), file);
    ck_assert_int_eq(stage_exit(&r), status);
    ck_assert_msg(strstr(r.err, words) && strchr(r.err, '\n') == r.err + strlen(r.err) - 1,
                  "%.900s", r.err);
    stage_drop(&r);
}

START_TEST(what_does_not_know_streams)
{
    record();
    check_refused("summary.bin", 2, "--per stream goes with 'kernels' of traces alone");
    ck_assert_int_eq(truncate("summary.trace", 50), 0);
    check_refused("summary.trace", 1, "summary.trace: is truncated");
}
END_TEST

/* What has no time is not in a trace, and said. */
START_TEST(what_was_not_timed_is_said)
{
    struct stage_run r =
        PLAY(.argv = {"small", "3000"}, .env = {"CUTRACE_TRACE=1", "CUTRACE_SAMPLE=16"});
    ck_assert_int_eq(r.status, 0);
    stage_drop(&r);
    r = report(ARGUMENTS("kernels", "--per", "stream"), "summary.trace");
    ck_assert_int_eq(r.status, 0);
    ck_assert_msg(strstr(r.err, "operations without a duration are not there"), "%.900s", r.err);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("by stream");
    tcase_add_test(t, the_same_as_of_the_profile);
    tcase_add_test(t, streams_add_up);
    tcase_add_test(t, windows_have_what_overlaps_them);
    tcase_add_test(t, what_does_not_know_streams);
    tcase_add_test(t, what_was_not_timed_is_said);
    return stage_main("life_by_stream", t);
}
