/* SPDX-License-Identifier: MIT */
/* NVTX: what programs mark is in the profile, and another injection gets all of it as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/trace_read.h"
#include "stage.h"

#define RANGER stage_path_of("tests/e2e/nvtx/ranger")

static struct stage_run play(const char *part, const char *one, const char *two)
{
    const char *ranger = strdup(RANGER);
    return PLAY(.program = ranger, .argv = {part}, .env = {one, two});
}

static char *witness(void)
{
    char text[4200];
    snprintf(text, sizeof(text), "NVTX_INJECTION64_PATH=%s",
             stage_path_of("tests/e2e/nvtx/witness.so"));
    return strdup(text);
}

static const char *text_of(const struct ct_summary *s, uint32_t text)
{
    return ct_summary_text(s, text);
}

/* All of a name added up. */
static struct ct_file_range range_of(const struct ct_summary *s, const char *name)
{
    struct ct_file_range sum = {0};
    for (size_t i = 0; i < s->ranges_count; i++) {
        const struct ct_file_range *r = &s->ranges[i];
        if (strcmp(text_of(s, r->name), name))
            continue;
        sum.count += r->count;
        sum.unclosed += r->unclosed;
        sum.total_ns += r->total_ns;
        sum.style = r->style;
        sum.domain = r->domain;
        sum.color = r->color;
        sum.thread = r->thread;
        ck_assert_uint_le(r->min_ns * r->count, r->total_ns);
        ck_assert_uint_le(r->total_ns, r->max_ns * r->count);
    }
    return sum;
}

static bool is_in(const struct ct_summary *s, uint32_t range, const char *name)
{
    for (uint32_t at = range + 1; at; at = s->ranges[at - 1].parent)
        if (!strcmp(text_of(s, s->ranges[at - 1].name), name))
            return true;
    return false;
}

/* Operations or calls in ranges of that name, and what is in these. */
static uint64_t count_in(const struct ct_summary *s, const char *name, uint32_t section)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->cells_count; i++)
        if (s->cells[i].section == section && is_in(s, s->cells[i].range, name))
            n += s->cells[i].count;
    return n;
}

static void check_count(const struct ct_summary *s, const char *name, uint64_t count, uint64_t sets)
{
    ck_assert_uint_eq(range_of(s, name).count, count);
    ck_assert_uint_eq(count_in(s, name, CT_SECTION_ROWS), sets);
    ck_assert_uint_eq(count_in(s, name, CT_SECTION_APIS), sets);
}

static void check_nest(const char *path)
{
    struct ct_summary s;
    stage_profile(&s, path);
    check_count(&s, "step", 3, 9);
    check_count(&s, "fwd", 3, 3);
    check_count(&s, "bwd", 3, 6);
    check_count(&s, "outlives", 3, 3);
    ck_assert_uint_eq(range_of(&s, "instant").count, 3);
    ck_assert_uint_eq(range_of(&s, "instant").style, CT_RANGE_MARK);
    ck_assert_uint_eq(range_of(&s, "outlives").style, CT_RANGE_START_END);
    ck_assert_str_eq(text_of(&s, range_of(&s, "bwd").domain), "mydomain");
    ck_assert_uint_eq(range_of(&s, "bwd").color, 0xff00ff00);
    ck_assert_uint_eq(s.threads_count, 1);
    ck_assert_str_eq(text_of(&s, s.threads[0].name), "main");
    ct_summary_free(&s);
}

START_TEST(ranges_are_recorded)
{
    struct stage_run r = play("nest", _i ? "NVTX_INJECTION64_PATH=" : NULL, NULL);
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.out, "push step 0\npush fwd 1\npop fwd 1\npush bwd 0\npop bwd "
                                        "0\npop step 0\n"));
    check_nest("summary.bin");
    stage_drop(&r);
}
END_TEST

START_TEST(another_injection_gets_all)
{
    char *path = witness();
    const char *ranger = strdup(RANGER);
    struct stage_run bare = PLAY(.program = ranger, .argv = {"nest"}, .env = {path}, .bare = true);
    struct stage_run r = play("nest", path, NULL);
    ck_assert_int_eq(bare.status, 0);
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.out, "witness: push registered\n"));
    ck_assert_str_eq(r.out, bare.out);
    check_nest("summary.bin");
    stage_drop(&bare);
    stage_drop(&r);
}
END_TEST

/* It uses NVTX when it is told of the program's. */
START_TEST(another_injection_that_marks)
{
    struct stage_run r = play("nest", witness(), "WITNESS_MARKS=1");
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.out, "witness: push registered\n"));
    check_nest("summary.bin");
    stage_drop(&r);
}
END_TEST

/* It takes none of the functions, as one that is to record later. */
START_TEST(another_injection_that_sleeps)
{
    struct stage_run r = play("nest", witness(), "WITNESS_SLEEPS=1");
    ck_assert_int_eq(r.status, 0);
    check_nest("summary.bin");
    stage_drop(&r);
}
END_TEST

START_TEST(another_injection_with_many_ranges)
{
    struct ct_summary s;
    struct stage_run r = play("epoch", witness(), NULL);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    check_count(&s, "epoch", 1, 1);
    ck_assert_uint_eq(range_of(&s, "epoch").unclosed, 0);
    ck_assert_uint_eq(range_of(&s, "step").count, 10000);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* A child without the library gets what it would have had if nobody had it. */
START_TEST(children_that_are_not_profiled)
{
    static const char *const parts[] = {"bare", "child"};
    char *paths[] = {strdup("CUTRACE_LOG=1"), witness()};
    const char *children = _i ? "CUTRACE_CHILDREN=off" : NULL;
    for (int i = 0; i < 2; i++) {
        const char *ranger = strdup(RANGER);
        struct stage_run bare =
            PLAY(.program = ranger, .argv = {parts[_i]}, .env = {paths[i]}, .bare = true);
        struct stage_run r = play(parts[_i], paths[i], children);
        ck_assert_int_eq(r.status, 0);
        ck_assert_str_eq(r.out, bare.out);
        ck_assert_ptr_null(strstr(r.err, "none of its calls came by here"));
        ck_assert_uint_eq(stage_profiles(), _i ? 1 : 0);
        stage_drop(&bare);
        stage_drop(&r);
    }
}
END_TEST

START_TEST(children_that_are_profiled)
{
    struct stage_run r = play("child", witness(), NULL);
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(stage_profiles(), 2);
    ck_assert_ptr_nonnull(strstr(r.out, "witness: push registered\n"));
    stage_drop(&r);
}
END_TEST

START_TEST(names_and_ends)
{
    struct ct_summary s;
    struct stage_run r = play("names", NULL, NULL);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(range_of(&s, "w\303\244hle \342\202\254 \360\237\230\200").count, 1);
    ck_assert_uint_eq(range_of(&s, "aten::add").count, 10);
    ck_assert_uint_eq(range_of(&s, "<unnamed>").count, 3); /* pushed, marked, started */
    ck_assert_uint_eq(range_of(&s, "open").count, 0);
    ck_assert_uint_eq(range_of(&s, "open").unclosed, 1);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static const struct ct_file_stream *stream_called(const struct ct_summary *s, const char *name)
{
    for (size_t i = 0; i < s->streams_count; i++)
        if (!strcmp(text_of(s, s->streams[i].name), name))
            return &s->streams[i];
    return NULL;
}

static void check_stream(const struct ct_summary *s, const char *name, uint32_t special, uint64_t n)
{
    const struct ct_file_stream *stream = stream_called(s, name);
    ck_assert_msg(stream != NULL, "no stream is called %s", name);
    ck_assert_uint_eq(stream->special, special);
    ck_assert_uint_eq(stream->operations, n);
    ck_assert_str_eq(text_of(s, stream->context_name), "main context");
}

static void check_things(void)
{
    struct ct_summary s;
    unsigned nameless = 0;
    stage_profile(&s, "summary.bin");
    ck_assert_str_eq(text_of(&s, s.devices[0].given_name), "gr\303\266\303\237te");
    check_stream(&s, "early \342\202\254", 0, 2);
    check_stream(&s, "late", 0, 2);
    check_stream(&s, "default", 1, 1);
    check_stream(&s, "own", 2, 1);
    for (size_t i = 0; i < s.streams_count; i++)
        nameless += !*text_of(&s, s.streams[i].name);
    ck_assert_uint_ge(nameless, 7);
    ct_summary_free(&s);
}

/* What operations and calls say of where they were, at the end of the trace. */
static void check_trace_of_things(void)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct ct_read_error error;
    unsigned early = 0, late = 0, calls = 0;
    ck_assert_int_eq(ct_trace_open(&t, "things.trace", &error), 0);
    while (ct_trace_next(t, &r, &error) > 0) {
        const struct ct_trace_stream *stream = r.op ? &t->streams.at[r.op->stream] : NULL;
        if (stream && !strcmp(stream->name, "early \342\202\254"))
            early++;
        if (stream && !strcmp(stream->name, "late"))
            late++;
        if (stream)
            ck_assert_str_eq(stream->context_name, "main context");
        if (r.call)
            calls += !strcmp(t->threads.at[r.call->thread].name, "trainer");
    }
    ck_assert_uint_ge(early, 1);
    ck_assert_uint_ge(late, 1);
    ck_assert_uint_ge(calls, 20);
    ck_assert_str_eq(t->devices.at[0].given_name, "gr\303\266\303\237te");
    ct_trace_close(t);
}

START_TEST(things_have_names)
{
    struct stage_run r = play("things", "CUTRACE_TRACE=things.trace", NULL);
    ck_assert_int_eq(r.status, 0);
    check_things();
    check_trace_of_things();
    stage_drop(&r);
}
END_TEST

/* A stream keeps the name of its context, whatever comes into the entry of that. */
START_TEST(contexts_have_names_of_their_own)
{
    struct ct_summary s;
    struct stage_run r = play("contexts", NULL, NULL);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_str_eq(text_of(&s, stream_called(&s, "first")->context_name), "first");
    ck_assert_str_eq(text_of(&s, stream_called(&s, "second")->context_name), "second");
    ck_assert_str_eq(text_of(&s, stream_called(&s, "third")->context_name), "");
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Where ranges of a name begin, minus where they end; marks count as such. */
struct traced {
    unsigned begins, ends, marks;
    struct ct_trace_label label;
};

static struct traced traced_as(const char *name)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct ct_read_error error;
    struct traced sum = {0};
    uint64_t last_ns = 0;
    ck_assert_int_eq(ct_trace_open(&t, "ranges.trace", &error), 0);
    while (ct_trace_next(t, &r, &error) > 0) {
        if (!r.range)
            continue;
        ck_assert_uint_ge(r.range->at_ns, last_ns); /* there is one thread */
        last_ns = r.range->at_ns;
        const struct ct_trace_label *l = &t->labels.at[r.range->label];
        if (strcmp(l->name, name))
            continue;
        sum.begins += r.range->phase == CT_TRACE_RANGE_BEGINS;
        sum.ends += r.range->phase == CT_TRACE_RANGE_ENDS;
        sum.marks += r.range->phase == CT_TRACE_RANGE_MARKS;
        sum.label = *l;
        sum.label.domain = strdup(l->domain);
        sum.label.category_name = strdup(l->category_name);
        ck_assert_uint_eq(!r.range->number, l->style != CT_RANGE_START_END);
    }
    ck_assert_ptr_null(ct_trace_ending(t));
    ck_assert_uint_eq(t->losses.dropped_ranges, 0);
    ct_trace_close(t);
    return sum;
}

START_TEST(ranges_are_traced)
{
    struct stage_run r = play("nest", "CUTRACE_TRACE=ranges.trace", NULL);
    ck_assert_int_eq(r.status, 0);
    struct traced step = traced_as("step"), bwd = traced_as("bwd"), instant = traced_as("instant");
    struct traced outlives = traced_as("outlives");
    ck_assert(step.begins == 3 && step.ends == 3 && !step.marks);
    ck_assert(bwd.begins == 3 && bwd.ends == 3);
    ck_assert(outlives.begins == 3 && outlives.ends == 3);
    ck_assert(instant.marks == 3 && !instant.begins && !instant.ends);
    ck_assert_uint_eq(bwd.label.color, 0xff00ff00);
    ck_assert_str_eq(bwd.label.domain, "mydomain");
    ck_assert_uint_eq(bwd.label.category, 12);
    ck_assert_str_eq(bwd.label.category_name, "gradients");
    ck_assert_uint_eq(step.label.color, 0);
    ck_assert_uint_eq(step.label.category, 0);
    check_nest("summary.bin");
    stage_drop(&r);
}
END_TEST

/* Ranges without any CUDA call in them, faster than they can be written for long. */
START_TEST(many_ranges_are_traced_or_counted)
{
    struct ct_trace_reader *t;
    struct ct_trace_record record;
    struct ct_read_error error;
    uint64_t records = 0;
    struct stage_run r = play("burst", "CUTRACE_TRACE=burst.trace", NULL);
    ck_assert_int_eq(r.status, 0);
    ck_assert_int_eq(ct_trace_open(&t, "burst.trace", &error), 0);
    while (ct_trace_next(t, &record, &error) > 0)
        records += record.range != NULL;
    ck_assert_uint_eq(records + t->losses.dropped_ranges, 2 * 200000);
    ck_assert_uint_ge(records, 4096);
    ct_trace_close(t);
    stage_drop(&r);
}
END_TEST

START_TEST(one_that_stays_open_begins)
{
    struct stage_run r = play("names", "CUTRACE_TRACE=ranges.trace", NULL);
    ck_assert_int_eq(r.status, 0);
    struct traced open = traced_as("open"), add = traced_as("aten::add");
    ck_assert(open.begins == 1 && !open.ends);
    ck_assert(add.begins == 10 && add.ends == 10);
    stage_drop(&r);
}
END_TEST

/* What of the program is recorded; of nest() there are three steps. */
static const struct {
    const char *part, *capture;
    uint64_t timed, all;
} captures[] = {
    {"captured", "CUTRACE_CAPTURE=hot", 2 + 8 + 4 + 32, 255},
    {"captured", "CUTRACE_CAPTURE=cold", 0, 255},
    {"nest", "CUTRACE_CAPTURE=step", 9, 17},
    {"nest", "CUTRACE_CAPTURE=outlives", 3, 17},
    {"nest", "CUTRACE_CAPTURE=bwd", 0, 17},
    {"nest", "CUTRACE_CAPTURE=bwd@*", 6, 17},
    {"nest", "CUTRACE_CAPTURE=bwd@mydomain", 6, 17},
    {"nest", "CUTRACE_CAPTURE=fwd@mydomain", 0, 17},
    {"nest", "CUTRACE_CAPTURE=instant", 0, 17},
    {"nest", "CUTRACE_CAPTURE=none", 17, 17},
};

START_TEST(a_range_is_captured)
{
    struct ct_summary s;
    struct stage_run r = play(captures[_i].part, captures[_i].capture, NULL);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_rows(&s, CT_ROW_SET, NULL).timed, captures[_i].timed);
    ck_assert_uint_eq(s.process->off_operations + captures[_i].timed, captures[_i].all);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(naming_leaves_captures_alone)
{
    struct ct_summary s;
    struct stage_run r = play("capture", NULL, NULL);
    ck_assert_msg(r.status == 0, "%s", r.out);
    stage_profile(&s, "summary.bin");
    ck_assert_ptr_nonnull(stream_called(&s, "after"));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static uint64_t noted(const struct ct_summary *s, const char *words)
{
    for (size_t i = 0; i < s->notes_count; i++)
        if (strstr(text_of(s, s->notes[i].text), words))
            return s->notes[i].count;
    return 0;
}

START_TEST(what_finds_no_room_is_counted)
{
    struct ct_summary s;
    struct stage_run r = play("much", NULL, NULL);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(range_of(&s, "deep").count + noted(&s, "more were open"), 200);
    ck_assert_uint_eq(count_in(&s, "deep", CT_SECTION_ROWS), 1);
    check_count(&s, "after", 1, 1);
    uint64_t named = 0;
    for (size_t i = 0; i < s.ranges_count; i++)
        if (!strncmp(text_of(&s, s.ranges[i].name), "name ", 5))
            named += s.ranges[i].count;
    ck_assert_uint_eq(named + noted(&s, "different names"), 6000);
    ck_assert_uint_gt(named, 4000);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* At exit there is one table, which begins with those in which the GPU did most. */
START_TEST(those_with_most_on_the_gpu)
{
    struct stage_run r = play("compile", "CUTRACE_PRINT=on", NULL);
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_null(strstr(r.err, "Range \""));
    const char *table = strstr(r.err, "Ranges (NVTX):\n");
    ck_assert_msg(table, "%s", r.err);
    const char *row = strchr(strchr(table, '\n') + 1, '\n') + 1;
    ck_assert_msg(!strncmp(strchr(row, '\n') - 5, "  run", 5), "%s", table);
    stage_drop(&r);
}
END_TEST

START_TEST(calls_that_are_estimates)
{
    struct stage_run r = play("nest", "CUTRACE_PRINT=on", "CUTRACE_SAMPLE=1000");
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.err, "In ranges Calls are estimates as well\n"));
    stage_drop(&r);
}
END_TEST

START_TEST(several_threads)
{
    struct ct_summary s;
    struct stage_run r = play("threads", NULL, NULL);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    check_count(&s, "handed over", 1, 1);
    check_count(&s, "thread", 1, 2);
    ck_assert_uint_ne(range_of(&s, "handed over").thread, range_of(&s, "thread").thread);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("nvtx");
    tcase_add_loop_test(tests, ranges_are_recorded, 0, 2);
    tcase_add_test(tests, another_injection_gets_all);
    tcase_add_test(tests, another_injection_that_marks);
    tcase_add_test(tests, another_injection_that_sleeps);
    tcase_add_test(tests, another_injection_with_many_ranges);
    tcase_add_loop_test(tests, children_that_are_not_profiled, 0, 2);
    tcase_add_test(tests, children_that_are_profiled);
    tcase_add_test(tests, names_and_ends);
    tcase_add_test(tests, things_have_names);
    tcase_add_test(tests, contexts_have_names_of_their_own);
    tcase_add_test(tests, naming_leaves_captures_alone);
    tcase_add_test(tests, ranges_are_traced);
    tcase_add_test(tests, one_that_stays_open_begins);
    tcase_add_loop_test(tests, a_range_is_captured, 0, sizeof(captures) / sizeof(captures[0]));
    tcase_add_test(tests, many_ranges_are_traced_or_counted);
    tcase_add_test(tests, what_finds_no_room_is_counted);
    tcase_add_test(tests, those_with_most_on_the_gpu);
    tcase_add_test(tests, calls_that_are_estimates);
    tcase_add_test(tests, several_threads);
    return stage_main("nvtx_ranges", tests);
}
