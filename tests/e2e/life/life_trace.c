/* SPDX-License-Identifier: MIT */
/*
 * CUTRACE_TRACE: every operation where it ran, tied to its call; and what is left of it when the
 * process, the disk or the bound ends it.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/trace_read.h"
#include "stage.h"

#define MOST 400000 /* more than any scene submits */

/* A trace that was read, with indices into its tables, which stay open. */
static struct ct_trace_reader *trace;
static struct ct_trace_op ops[MOST];
static struct ct_trace_call calls[MOST];
static unsigned ops_count, calls_count;

static void open_trace(const char *path)
{
    struct ct_read_error error;
    ct_trace_close(trace);
    ck_assert_msg(!ct_trace_open(&trace, path, &error), "%s %s", path, error.text);
}

/* Operations of a stream and calls of a thread come in their order, and never at once. */
static void check_order(void)
{
    uint64_t *end_ns = calloc(trace->streams.count + trace->threads.count + 2, sizeof(*end_ns));
    uint64_t *of_thread = end_ns + trace->streams.count + 1;
    for (unsigned i = 0; i < ops_count; i++) {
        ct_assert(ops[i].start_ns >= end_ns[ops[i].stream]);
        end_ns[ops[i].stream] = ops[i].end_ns;
    }
    for (unsigned i = 0; i < calls_count; i++) {
        /* The rate of the host's clock becomes better known meanwhile. */
        ct_assert(calls[i].start_ns + 2000 >= of_thread[calls[i].thread]);
        of_thread[calls[i].thread] = calls[i].end_ns;
    }
    free(end_ns);
}

static void read_trace(const char *path)
{
    struct ct_trace_record r;
    struct ct_read_error error;
    int rc;
    open_trace(path);
    ops_count = calls_count = 0;
    while ((rc = ct_trace_next(trace, &r, &error)) > 0) {
        ct_assert(ops_count < MOST);
        ct_assert(calls_count < MOST);
        if (r.op)
            ops[ops_count++] = *r.op;
        else
            calls[calls_count++] = *r.call;
    }
    ck_assert_msg(rc == 0, "%s", error.text);
    check_order();
}

static const char *api_name(const struct ct_trace_call *c)
{
    return trace->apis.at[c->api].name;
}

static const struct ct_trace_call *call_of(const struct ct_trace_op *op)
{
    for (unsigned i = 0; i < calls_count; i++)
        if (calls[i].correlation == op->correlation)
            return &calls[i];
    return NULL;
}

/* ---- what is in it ---- */

static uint64_t timed_in(const struct ct_summary *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->rows_count; i++)
        n += s->rows[i].timed;
    return n;
}

static void check_calls(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->apis_count; i++) {
        uint64_t n = 0;
        for (unsigned k = 0; k < calls_count; k++)
            n += !strcmp(api_name(&calls[k]), ct_summary_text(s, s->apis[i].name));
        ck_assert_uint_eq(n, s->apis[i].calls);
    }
}

static void check_against_profile(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(trace->process.pid, s.process->pid);
    ck_assert_uint_eq(trace->process.start_unix_ns, s.process->start_unix_ns);
    ck_assert_uint_le(trace->process.zero_unix_ns, trace->process.start_unix_ns);
    ck_assert_str_eq(trace->process.command, ct_summary_text(&s, s.process->command));
    ck_assert_ptr_null(ct_trace_ending(trace));
    ck_assert_uint_eq(trace->losses.dropped_ops + trace->losses.dropped_calls, 0);
    ck_assert_uint_eq(ops_count, timed_in(&s));
    check_calls(&s);
    for (unsigned i = 0; i < ops_count; i++) {
        const struct ct_trace_row *r = &trace->rows.at[ops[i].row];
        ck_assert_str_eq(r->name, ct_summary_text(&s, s.rows[r->id].name));
        ck_assert_uint_eq(r->kind, s.rows[r->id].kind);
        ck_assert_str_eq(trace->devices.at[r->device].name, "Simulated H200");
    }
    ct_summary_free(&s);
}

/* Which call submits what, in this program. */
static void check_kind(const struct ct_trace_op *op, const struct ct_trace_call *c)
{
    const struct ct_trace_row *r = &trace->rows.at[op->row];
    const char *name = r->kind == CT_ROW_KERNEL ? "cuLaunchKernel"
                       : r->kind == CT_ROW_SET  ? "cuMemsetD8Async"
                                                : "cuMemcpyDtoHAsync_v2";
    ck_assert_str_eq(api_name(c), name);
    ck_assert_uint_eq(op->bytes, r->kind == CT_ROW_KERNEL ? 0 : 4096);
    ck_assert_uint_eq(op->operations, 1);
    ck_assert_uint_eq(op->shape != 0, r->kind == CT_ROW_KERNEL);
    if (op->shape)
        ck_assert_uint_ge(trace->shapes.at[op->shape].block[0], 1);
}

START_TEST(all_that_ran)
{
    struct stage_run r = PLAY(.argv = {"small", "200"}, .env = {"CUTRACE_TRACE=1"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.err, "");
    read_trace("summary.trace");
    check_against_profile();
    ck_assert_uint_eq(ops_count, 320);
    for (unsigned i = 0; i < ops_count; i++) {
        const struct ct_trace_call *c = call_of(&ops[i]);
        ck_assert_ptr_nonnull(c);
        ck_assert_uint_ge(ops[i].start_ns, c->start_ns);
        ck_assert_int_eq(c->result, 0);
        check_kind(&ops[i], c);
    }
    for (unsigned i = 0; i < calls_count; i++) {
        ck_assert_str_eq(trace->threads.at[calls[i].thread].name, "actor");
        ck_assert_uint_eq(trace->threads.at[calls[i].thread].tid, (unsigned)r.pid);
    }
    stage_drop(&r);
}
END_TEST

/* Runtime calls alone: the driver calls inside are no calls of the program. */
START_TEST(outermost_calls)
{
    struct stage_run r =
        PLAY(.program = stage_path_of("examples/demo"), .env = {"CUTRACE_TRACE=x.trace"});
    ck_assert_int_eq(r.status, 0);
    read_trace("x.trace");
    check_against_profile();
    for (unsigned i = 0; i < calls_count; i++) {
        ck_assert_msg(!strncmp(api_name(&calls[i]), "cuda", 4), "%s", api_name(&calls[i]));
        ck_assert_uint_eq(trace->apis.at[calls[i].api].flags, CT_API_RUNTIME);
    }
    for (unsigned i = 0; i < ops_count; i++)
        ck_assert_ptr_nonnull(call_of(&ops[i]));
    ck_assert_uint_eq(trace->losses.untimed[CT_LOSS_CAPTURED], 4);
    stage_drop(&r);
}
END_TEST

/* Also with a budget, by which few calls are timed otherwise; and what is sampled out is told. */
START_TEST(with_a_budget)
{
    struct ct_summary s;
    uint64_t sampled = 0;
    struct stage_run r =
        PLAY(.argv = {"small", "3000"}, .env = {"CUTRACE_TRACE=1", "CUTRACE_BUDGET=0.01%"});
    ck_assert_int_eq(r.status, 0);
    read_trace("summary.trace");
    check_against_profile();
    stage_profile(&s, "summary.bin");
    for (size_t i = 0; i < s.rows_count; i++)
        sampled += s.rows[i].lost[CT_LOSS_SAMPLED];
    ck_assert_uint_gt(sampled, 0);
    ck_assert_uint_eq(trace->losses.untimed[CT_LOSS_SAMPLED], sampled);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- what the driver says of the device ---- */

/* A figure that it refuses is not known: it is not 0. */
static const struct {
    const char *refused;
    bool says;
} drivers[] = {{"A=1", true}, {"CUDASIM_FAIL=cuDeviceGetAttribute:1-1000", false}};

START_TEST(the_device)
{
    uint32_t sms, khz, grid, integrated;
    struct stage_run r =
        PLAY(.argv = {"small", "20"}, .env = {"CUTRACE_TRACE=1", drivers[_i].refused});
    ck_assert_int_eq(r.status, 0);
    read_trace("summary.trace");
    const struct ct_trace_device *d = &trace->devices.at[0];
    bool says[] = {ct_trace_says(d, CT_TRACE_MULTIPROCESSOR_COUNT, &sms),
                   ct_trace_says(d, CT_TRACE_CLOCK_RATE, &khz),
                   ct_trace_says(d, CT_TRACE_MAX_GRID_DIM_X, &grid),
                   ct_trace_says(d, CT_TRACE_INTEGRATED, &integrated)};
    for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
        ck_assert_int_eq(says[i], drivers[_i].says);
    ck_assert_uint_eq(d->memory_bytes, 150121545728);
    ck_assert_uint_eq(ct_trace_memory_rate(d), drivers[_i].says ? 4916736000000 : 0);
    if (drivers[_i].says) {
        ck_assert_uint_eq(sms, 132);
        ck_assert_uint_eq(khz, 1980000);
        ck_assert_uint_eq(grid, 2147483647);
        ck_assert_uint_eq(integrated, 0);
    }
    stage_drop(&r);
}
END_TEST

/* ---- where it lies ---- */

struct place {
    int64_t start_ns, end_ns;
};

static struct place places[MOST];

static unsigned read_truth(const char *path)
{
    char line[300], name[100];
    unsigned n = 0;
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        ck_assert_uint_lt(n, MOST);
        n += sscanf(line, "%*s %99s %*u %" SCNd64 " %" SCNd64, name, &places[n].start_ns,
                    &places[n].end_ns) == 3;
    }
    fclose(f);
    return n;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_correlation(const void *a, const void *b)
{
    const struct ct_trace_op *x = a, *y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* What is to be added to a time of the trace for one of CLOCK_MONOTONIC, if calendars are right. */
static int64_t distance_ns(void)
{
    struct timespec unix_time, monotonic;
    clock_gettime(CLOCK_REALTIME, &unix_time);
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    int64_t ns = (int64_t)(unix_time.tv_sec - monotonic.tv_sec) * 1000000000 + unix_time.tv_nsec -
                 monotonic.tv_nsec;
    return (int64_t)trace->process.zero_unix_ns - ns;
}

/*
 * Streams whose operations begin at moments of the machine's clock. How far the trace's zero is
 * from that is only known by calendar time, so what counts is how much the operations differ: how
 * well the clocks of host and GPU are tied together. Launches that were interrupted do not count,
 * nor do the outermost 2 %: it may have been interrupted between two calls.
 */
static bool is_exact(const struct ct_trace_op *op)
{
    return op->end_ns - op->start_ns - 49000 <= 2000;
}

/* How far the ends are off, sorted; whether enough were exact and are close to each other. */
static bool lies_well(void)
{
    static int64_t off[MOST];
    unsigned n = 0, exact = 0;
    read_trace("summary.trace");
    unsigned ran = read_truth("truth");
    ck_assert_uint_eq(ran, 1500);
    qsort(ops, ops_count, sizeof(*ops), by_correlation);
    uint64_t first = ops[0].correlation; /* the launches are calls one behind the other */
    for (unsigned i = 0; i < ops_count; i++) {
        const struct ct_trace_call *c = call_of(&ops[i]);
        const struct place *p = &places[ops[i].correlation - first];
        ck_assert_uint_lt(ops[i].correlation - first, ran);
        if (c->end_ns - c->start_ns > 10000 || ops[i].flags & CT_TRACE_OP_UNTIED)
            continue;
        exact += is_exact(&ops[i]);
        off[n++] = (int64_t)ops[i].end_ns - p->end_ns;
    }
    qsort(off, n, sizeof(*off), by_value);
    if (n <= 1000 || exact <= n * 9 / 10)
        return false;
    printf("# %u off by %" PRId64 " to %" PRId64 " ns, all of them by %" PRId64 "\n", n,
           off[0] - off[n / 2], off[n - 1] - off[n / 2], off[n / 2] + distance_ns());
    return off[n - 1 - n / 50] - off[n / 2] <= 30000 && off[n / 50] - off[n / 2] >= -30000 &&
           llabs(off[n / 2] + distance_ns()) <= 10000000;
}

/* On a machine that has much else to do, one run of several may be left alone for long enough. */
START_TEST(lies_where_it_ran)
{
    struct stage_run r;
    bool well = false;
    STAGE_UNTIL(r.status != 0 || (well = lies_well()), r,
                PLAY(.argv = {"ahead", "1500", "50000", "2"},
                     .env = {"CUTRACE_TRACE=1", "CUDASIM_HOST_CLOCK=1", "CUDASIM_REAL_TIME=1",
                             "CUDASIM_SPANS=truth", "CUDASIM_NAME=NVIDIA H200"}));
    ck_assert_int_eq(r.status, 0);
    ck_assert(well);
    stage_drop(&r);
}
END_TEST

/* ---- how it ends ---- */

START_TEST(killed)
{
    struct stage_run r;
    STAGE_UNTIL(stage_exists("summary.trace"), r,
                PLAY(.argv = {"ahead", "100000000", "1000"}, .env = {"CUTRACE_TRACE=1"},
                     .kill_after_ms = 500));
    ck_assert_int_eq(stage_exit(&r), 128 + SIGKILL);
    open_trace("summary.trace");
    struct ct_trace_record record;
    struct ct_read_error error;
    unsigned seen = 0;
    int rc;
    while ((rc = ct_trace_next(trace, &record, &error)) > 0)
        seen++;
    ck_assert_msg(rc == 0, "%s", error.text);
    ck_assert_uint_gt(seen, 0);
    ck_assert_ptr_nonnull(ct_trace_ending(trace));
    stage_drop(&r);
}
END_TEST

/* Lines of cutrace's own, which must be one, with these words. */
static void check_line(const struct stage_run *r, const char *words)
{
    ck_assert_msg(stage_said(r) == 1, "%.900s", r->err);
    ck_assert_msg(strstr(r->err, words) != NULL, "%.900s", r->err);
}

START_TEST(disk_that_fills_up)
{
    char script[500];
    snprintf(script, sizeof(script), "ulimit -f 200; exec %s small 400000",
             stage_path_of("tests/e2e/actor/actor"));
    struct stage_run r = PLAY(.program = "/bin/sh", .argv = {"-c", script},
                              .env = {"CUTRACE_TRACE=1"}, .timeout_s = 200);
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_ptr_nonnull(strstr(r.out, "small: 400000 launches"));
    check_line(&r, "/summary.trace: file too large");
    read_trace("summary.trace");
    ck_assert_uint_gt(ops_count + calls_count, 100);
    ck_assert_ptr_nonnull(ct_trace_ending(trace));
    stage_drop(&r);
}
END_TEST

/* Calls that are in the trace of `hammer`, or did not find room; all that there were are. */
static uint64_t count_hammered(void)
{
    struct ct_summary s;
    struct ct_trace_record record;
    struct ct_read_error error;
    uint64_t made = 0, seen = 0;
    int rc;
    stage_profile(&s, "summary.bin");
    for (size_t i = 0; i < s.apis_count; i++)
        made += s.apis[i].calls;
    open_trace("summary.trace");
    while ((rc = ct_trace_next(trace, &record, &error)) > 0)
        seen += record.call != NULL;
    ck_assert_msg(rc == 0, "%s", error.text);
    ck_assert_ptr_null(ct_trace_ending(trace));
    ck_assert_uint_eq(seen + trace->losses.dropped_calls, made);
    ct_summary_free(&s);
    return seen;
}

/* Threads that begin while others are at work: the drain thread looks at all of them. */
START_TEST(many_threads)
{
    struct stage_run r =
        PLAY(.argv = {"hammer", "16", "16", "20000"}, .timeout_s = 300, .env = {"CUTRACE_TRACE=1"});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_gt(count_hammered(), 10000);
    stage_drop(&r);
}
END_TEST

/* Without a drain thread all comes at the end: more than has room at a time. */
START_TEST(all_at_the_end)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return; /* the sanitizers' pthread_create stands in between */
#endif
    char preload[9000], sanitizer[4096];
    stage_sanitizer(sanitizer, sizeof(sanitizer));
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s%s:%s", sanitizer,
             stage_path_of(".libs/libcutrace.so"), stage_path_of("tests/e2e/.libs/libfaulty.so"));
    struct stage_run r = PLAY(.argv = {"hammer", "128", "64", "1200000"}, .timeout_s = 300,
                              .env = {"CUTRACE_TRACE=1", "FAULTY=pthread_create:1", preload});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    check_line(&r, "no drain thread could be started");
    ck_assert_uint_gt(count_hammered(), 500000);
    stage_drop(&r);
}
END_TEST

static const struct {
    const char *trace, *words;
} impossible[] = {
    {"CUTRACE_TRACE=nowhere/x", "nowhere/x: no such directory"},
    {"CUTRACE_TRACE=there", "there: something else is there (CUTRACE_FORCE=1 overwrites)"},
    {"CUTRACE_TRACE=/dev/full", "/dev/full: it is no regular file"},
    {"CUTRACE_TRACE=%z", "CUTRACE_TRACE='%z' is not possible"},
    {"CUTRACE_TRACE=", "CUTRACE_TRACE='' is not possible, using off"},
};

/* The trace is beside the profile, whatever became of that. */
START_TEST(beside_a_profile_that_cannot_be)
{
    struct stage_run r = PLAY(.argv = {"small"}, .env = {"CUTRACE_TRACE=1", "CUTRACE_OUTPUT=%z"});
    check_line(&r, "CUTRACE_OUTPUT='%z' is not possible");
    read_trace("summary.trace");
    stage_drop(&r);
    ck_assert_int_eq(mkdir("summary.bin.d", 0777), 0);
    ck_assert_int_eq(unlink("summary.bin") || unlink("summary.trace"), 0);
    ck_assert_int_eq(rename("summary.bin.d", "summary.bin"), 0);
    r = PLAY(.argv = {"small"}, .env = {"CUTRACE_TRACE=1", "CUTRACE_OUTPUT=%z"});
    ck_assert_uint_eq(stage_said(&r), 2);
    ck_assert_msg(strstr(r.err, "summary.bin: it is no regular file") != NULL, "%.900s", r.err);
    read_trace("summary.trace");
    stage_drop(&r);
}
END_TEST

#define LONGEST 4095 /* bytes of a path */

/* As long as a path may be: then the trace's name is too long, and none is made up. */
START_TEST(name_too_long)
{
    static char output[LONGEST + 100] = "CUTRACE_OUTPUT=";
    size_t end = strlen(output) + LONGEST - 4, at = strlen(output);
    ck_assert_ptr_nonnull(getcwd(output + at, 2048));
    at = strlen(output);
    output[at++] = '/';
    while (at + 2 <= end - 3) {
        output[at++] = '.';
        output[at++] = '/';
    }
    snprintf(output + at, 6, "%.*s.b", (int)(end - 2 - at), "sss");
    struct stage_run r = PLAY(.argv = {"small"}, .env = {"CUTRACE_TRACE=1", output});
    ck_assert_uint_eq(stage_profiles(), 0);
    ck_assert_msg(stage_said(&r) == 1 && strstr(r.err, "its name would be too long"), "%.9000s",
                  r.err);
    stage_drop(&r);
    ck_assert_int_eq(system("test $(ls | wc -l) = 1"), 0); /* the profile */
}
END_TEST

START_TEST(nowhere_to_go)
{
    FILE *f = fopen("there", "w");
    ck_assert(f && fputs("a poem", f) >= 0 && fclose(f) == 0);
    struct stage_run r = PLAY(.argv = {"small"}, .env = {impossible[_i].trace});
    ck_assert_int_eq(r.status, 0);
    check_line(&r, impossible[_i].words);
    ck_assert(stage_exists("summary.bin"));
    ck_assert(!stage_exists("summary.trace"));
    char *poem = stage_read("there");
    ck_assert_str_eq(poem, "a poem");
    free(poem);
    stage_drop(&r);
}
END_TEST

static const struct {
    const char *size;
    uint64_t bytes; /* 0: it is none, and the standard is taken */
} sizes[] = {{"4M", 4 << 20},
             {"8000000000G", (uint64_t)8000000000 << 30},
             {"5000000", 5000000},
             {"1g", 1 << 30},
             {"3M", 0},
             {"", 0},
             {"x", 0},
             {"4MM", 0},
             {"M", 0},
             {"-4M", 0},
             {"99999999999G", 0}};

START_TEST(bounds)
{
    char size[60];
    struct ct_trace_header h;
    uint64_t bytes = sizes[_i].bytes ? sizes[_i].bytes : 1 << 30;
    snprintf(size, sizeof(size), "CUTRACE_TRACE_SIZE=%s", sizes[_i].size);
    struct stage_run r = PLAY(.argv = {"small", "5"}, .env = {"CUTRACE_TRACE=1", size});
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(stage_said(&r), !sizes[_i].bytes);
    read_trace("summary.trace");
    check_against_profile();
    FILE *f = fopen("summary.trace", "r");
    ck_assert(f && fread(&h, sizeof(h), 1, f) == 1 && fclose(f) == 0);
    ck_assert_uint_le(sizeof(h) + 2 * h.segment_bytes, bytes);
    ck_assert_uint_ge(sizeof(h) + 2 * h.segment_bytes, bytes - 16);
    stage_drop(&r);
}
END_TEST

/* ---- relatives ---- */

static unsigned check_all_traces(void)
{
    unsigned n = 0;
    char *list = NULL;
    ck_assert_int_eq(system("ls *.trace > list"), 0);
    list = stage_read("list");
    for (char *name = strtok(list, "\n"); name; name = strtok(NULL, "\n"), n++) {
        struct ct_summary s;
        char profile[300];
        snprintf(profile, sizeof(profile), "%.*s.bin", (int)strlen(name) - 6, name);
        stage_profile(&s, profile);
        read_trace(name);
        ck_assert_uint_eq(trace->process.pid, s.process->pid);
        ck_assert_uint_eq(trace->process.start_unix_ns, s.process->start_unix_ns);
        ck_assert_uint_eq(ops_count, timed_in(&s));
        ct_summary_free(&s);
    }
    free(list);
    return n;
}

START_TEST(descendants)
{
    char script[1000];
    const char *actor = stage_path_of("tests/e2e/actor/actor");
    snprintf(script, sizeof(script), "%s small 50 & %s small 50; wait", actor, actor);
    struct stage_run r =
        PLAY(.program = "/bin/sh", .argv = {"-c", script}, .env = {"CUTRACE_TRACE=1"});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_uint_eq(check_all_traces(), 2);
    ck_assert(stage_exists("summary.trace"));
    stage_drop(&r);
}
END_TEST

#ifndef __SANITIZE_THREAD__
START_TEST(forks_beside_work)
{
    struct stage_run r =
        PLAY(.argv = {"storm", "8", "300"}, .env = {"CUTRACE_TRACE=1"}, .timeout_s = 60);
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_uint_eq(check_all_traces(), 1);
    ck_assert_ptr_null(ct_trace_ending(trace));
    stage_drop(&r);
}
END_TEST
#endif

int main(void)
{
    TCase *t = tcase_create("the trace");
    tcase_add_test(t, all_that_ran);
    tcase_add_test(t, outermost_calls);
    tcase_add_test(t, with_a_budget);
    tcase_add_loop_test(t, the_device, 0, sizeof(drivers) / sizeof(drivers[0]));
    if (!CT_CHECKS_THREADS) /* its launches take too long to be told from interruptions */
        tcase_add_test(t, lies_where_it_ran);
    tcase_add_test(t, killed);
    tcase_add_test(t, disk_that_fills_up);
    tcase_add_test(t, many_threads);
    if (!CT_CHECKS_THREADS) /* it takes minutes */
        tcase_add_test(t, all_at_the_end);
    tcase_add_loop_test(t, nowhere_to_go, 0, sizeof(impossible) / sizeof(impossible[0]));
    tcase_add_test(t, beside_a_profile_that_cannot_be);
    tcase_add_test(t, name_too_long);
    tcase_add_loop_test(t, bounds, 0, sizeof(sizes) / sizeof(sizes[0]));
    tcase_add_test(t, descendants);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(t, forks_beside_work);
#endif
    return stage_main("life_trace", t);
}
