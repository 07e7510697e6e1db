/* SPDX-License-Identifier: MIT */
/* Records of traces in the order of their starts, and what lines of them are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_main.h"
#include "format/trace_write.h"
#include "report/digits.h"
#include "report/names.h"
#include "report/trace/links.h"
#include "report/trace/timeline.h"

/* ---- digits ---- */

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

START_TEST(digits_are_those_of_printf)
{
    char ours[CT_DIGITS_BYTES + 1], theirs[CT_DIGITS_BYTES + 1];
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        uint64_t n = draw(&state) >> draw(&state) % 64;
        double x = (double)n * (i % 2 ? 1e-6 : 1.0 / 1048576);
        int decimals = (int)(draw(&state) % 7);
        *ct_digits_count(ours, n) = 0;
        snprintf(theirs, sizeof(theirs), "%llu", (unsigned long long)n);
        ct_assert(!strcmp(ours, theirs));
        *ct_digits_fixed(ours, x, decimals) = 0;
        snprintf(theirs, sizeof(theirs), "%.*f", decimals, x);
        ct_assert(!strcmp(ours, theirs));
    }
}
END_TEST

START_TEST(halves_and_signs_are_those_of_printf)
{
    static const double values[] = {0,         -0.0,      0.5,   1.5,   2.5,
                                    0.0000005, 0.0000015, -1.25, 1e300, 1e13};
    char ours[CT_DIGITS_BYTES + 1], theirs[CT_DIGITS_BYTES + 1];
    for (size_t i = 0; i < ct_countof(values); i++)
        for (int decimals = 0; decimals <= 6; decimals++) {
            *ct_digits_fixed(ours, values[i], decimals) = 0;
            snprintf(theirs, sizeof(theirs), "%.*f", decimals, values[i]);
            ck_assert_str_eq(ours, theirs);
        }
    *ct_digits_scaled(ours, 1000007, 3) = 0;
    ck_assert_str_eq(ours, "1000.007");
}
END_TEST

/* ---- names ---- */

START_TEST(functions_have_their_own_name)
{
    static const char *const names[][2] = {
        {"vecAdd(float const *, float const *, float*, int)", "vecAdd"},
        {"void foo1<float, int=32>(float*, int)", "foo1"},
        {"void at::native::f<at::g<int>(int)>(int)", "f"},
        {"(anonymous namespace)::kernel(float*)", "kernel"},
        {"void ns::(anonymous namespace)::k<(anonymous namespace)::t>(int)", "k"},
        {"plain", "plain"},
        {"", ""},
        {">>>", ">>>"},
        {"(((", "((("},
        {"[unnamed kernel]", "[unnamed kernel]"},
    };
    for (size_t i = 0; i < ct_countof(names); i++) {
        struct ct_string text = {0};
        ct_string_put(&text, names[i][0]);
        ct_name_base(&text);
        ck_assert_str_eq(text.data, names[i][1]);
        ct_string_free(&text);
    }
}
END_TEST

/* ---- links ---- */

START_TEST(links_are_kept)
{
    struct ct_links l = {0};
    ck_assert_ptr_null(ct_links_at(&l, 0));
    for (uint64_t c = 1; c <= 100000; c++)
        *ct_links_at(&l, c) = (uint32_t)c;
    for (uint64_t c = 1; c <= 100000; c++)
        ct_assert(ct_links_get(&l, c) == c);
    ck_assert_uint_eq(ct_links_get(&l, 200000), 0);
    ck_assert_uint_eq(ct_links_get(&l, UINT64_MAX), 0);
    ct_links_free(&l);
}
END_TEST

/* A page for each would be 4 GiB. */
START_TEST(scattered_links_cost_little)
{
    struct ct_links l = {0};
    for (uint64_t i = 1; i <= 1000000; i++) {
        uint32_t *at = ct_links_at(&l, i * 9973);
        if (at)
            *at = 1;
    }
    ck_assert_ptr_null(ct_links_at(&l, UINT64_MAX));
    ck_assert_uint_lt(l.page_count, 100000);
    ct_links_free(&l);
}
END_TEST

/* ---- the timeline ---- */

#define RECORDS 20000
#define STREAMS 4
#define PART (RECORDS / 2 / STREAMS)

static void save(struct ct_trace_writer *w, FILE *f)
{
    const struct ct_trace_out *out = ct_trace_take(w);
    for (unsigned i = 0; out && i < out->count; i++)
        fwrite(out->piece[i].data, 1, out->piece[i].bytes, f);
}

static void define_all(struct ct_trace_writer *w)
{
    ct_trace_begin(w);
    ct_trace_define_device(w, &(struct ct_trace_device){.name = "gpu"});
    ct_trace_define_row(w, &(struct ct_trace_row){.kind = CT_ROW_KERNEL, .name = "k"});
    ct_trace_define_api(w, &(struct ct_trace_api){.name = "call"});
    ct_trace_define_thread(w, &(struct ct_trace_thread){.name = "thread"});
    for (unsigned s = 0; s < STREAMS; s++)
        ct_trace_define_stream(w, &(struct ct_trace_stream){.id = s + 1});
}

/* Half of the records are calls, all before the operations; streams come one after the other. */
static void put_record(struct ct_trace_writer *w, unsigned i, uint64_t start_ns, uint64_t end_ns)
{
    unsigned at = i - RECORDS / 2;
    if (i < RECORDS / 2)
        ct_trace_put_call(w, &(struct ct_trace_call){start_ns, end_ns, i + 1, 0, 0, 0});
    else
        ct_trace_put_op(w, &(struct ct_trace_op){.start_ns = start_ns,
                                                 .end_ns = end_ns,
                                                 .operations = 1,
                                                 .correlation = at + 1,
                                                 .stream = at / PART + 1});
}

static void write_trace(const char *path, uint64_t zero_unix_ns, uint64_t seed)
{
    struct ct_trace_writer *w = calloc(1, sizeof(*w));
    struct ct_trace_process p = {.pid = 1, .zero_unix_ns = zero_unix_ns, .command = "", .host = ""};
    uint64_t state = seed, at_ns = 1000;
    ct_trace_start(w, &p, 0);
    FILE *f = fopen(path, "w");
    struct ct_trace_header h = ct_trace_header(w);
    fwrite(&h, sizeof(h), 1, f);
    define_all(w);
    for (unsigned i = 0; i < RECORDS; i++) {
        while (!ct_trace_begin(w))
            save(w, f);
        if (i >= RECORDS / 2 && i % PART == 0)
            at_ns = 1000;
        uint64_t end_ns = at_ns + draw(&state) % 300;
        put_record(w, i, at_ns, end_ns);
        at_ns = end_ns + draw(&state) % 200;
    }
    w->losses.finished = 1;
    ck_assert(ct_trace_seal(w));
    save(w, f);
    fclose(f);
    free(w);
}

/* How many there are, in order, none outside of the span. */
static uint64_t count_all(const struct ct_timeline_options *o, uint64_t *longest_ns)
{
    static char a[] = "timeline-a.trace", b[] = "timeline-b.trace";
    char *paths[] = {a, b};
    struct ct_timeline tl;
    const struct ct_event *e;
    uint64_t count = 0, before_ns = 0, first_ns = UINT64_MAX;
    ct_timeline_open(&tl, paths, 2, o);
    while (ct_timeline_next(&tl, &e)) {
        ct_assert(o->as_read || e->start_ns >= before_ns);
        ct_assert(e->end_ns >= o->since_ns);
        ct_assert(e->start_ns < o->until_ns);
        ct_assert(e->is_call ? o->calls : o->ops);
        before_ns = e->start_ns;
        first_ns = ct_min(first_ns, e->start_ns);
        *longest_ns = ct_max(*longest_ns, e->end_ns);
        count++;
    }
    ck_assert(!tl.failed);
    ck_assert_uint_eq(count, tl.facts.ops + tl.facts.calls);
    ck_assert_uint_eq(*longest_ns, tl.facts.end_ns);
    ck_assert_uint_eq(first_ns, tl.facts.first_ns);
    ck_assert_uint_eq(tl.facts.lanes, 2 * (STREAMS + 1));
    ct_timeline_close(&tl);
    return count;
}

START_TEST(records_come_in_the_order_of_their_starts)
{
    struct ct_timeline_options all = {.ops = true, .calls = true, .until_ns = UINT64_MAX};
    uint64_t end_ns = 0, part_ns = 0, rest_ns = 0;
    write_trace("timeline-a.trace", 5000000000, 1);
    write_trace("timeline-b.trace", 5000300000, 2);
    ck_assert_uint_eq(count_all(&all, &end_ns), 2 * RECORDS);
    all.calls = false;
    ck_assert_uint_eq(count_all(&all, &part_ns), RECORDS);
    all = (struct ct_timeline_options){.ops = true, .calls = true, .until_ns = end_ns / 2};
    part_ns = 0;
    uint64_t first = count_all(&all, &part_ns);
    all.since_ns = end_ns / 2;
    all.until_ns = UINT64_MAX;
    uint64_t second = count_all(&all, &rest_ns);
    ck_assert_uint_gt(first, RECORDS / 8);
    ck_assert_uint_gt(second, RECORDS / 8);
    /* what is on both sides of the cut is in both */
    ck_assert_uint_ge(first + second, 2 * RECORDS);
    ck_assert_uint_le(first + second, 2 * RECORDS + 2 * (STREAMS + 1));
    all.as_read = true;
    part_ns = 0;
    ck_assert_uint_eq(count_all(&all, &part_ns), second);
    unlink("timeline-a.trace");
    unlink("timeline-b.trace");
}
END_TEST

/* Each in a block of its own. */
static void put_range(struct ct_trace_writer *w, char name, uint32_t phase, uint64_t number,
                      uint64_t at_us)
{
    const char text[] = {name, 0};
    ct_trace_begin(w);
    ct_trace_define_label(
        w, &(struct ct_trace_label){.id = (uint32_t)name, .domain = "", .name = text});
    ct_trace_put_range(
        w, &(struct ct_trace_range){
               .at_ns = at_us * 1000, .number = number, .label = (uint32_t)name, .phase = phase});
    ck_assert(ct_trace_seal(w));
}

/* Steps in an epoch, one that is started, two that never end, an end alone, and marks. */
static void write_ranges(const char *path)
{
    enum {
        BEGINS = CT_TRACE_RANGE_BEGINS,
        ENDS = CT_TRACE_RANGE_ENDS,
        MARKS = CT_TRACE_RANGE_MARKS
    };
    static const struct {
        char name;
        uint32_t phase;
        uint64_t number, at_us;
    } records[] = {
        {'e', BEGINS, 0, 0},    {'a', BEGINS, 0, 100},  {'x', BEGINS, 7, 200},
        {'m', MARKS, 0, 300},   {'a', ENDS, 0, 1000},   {'b', BEGINS, 0, 1100},
        {'b', ENDS, 0, 2000},   {'z', ENDS, 0, 2100},   {'c', BEGINS, 0, 2200},
        {'m', MARKS, 0, 2300},  {'s', BEGINS, 8, 2400}, {'c', ENDS, 0, 3000},
        {'d', BEGINS, 0, 3100}, {'d', ENDS, 0, 4000},   {'s', ENDS, 8, 4100},
        {'y', BEGINS, 9, 4200}, {'m', MARKS, 0, 4300},  {'e', ENDS, 0, 5000},
    };
    struct ct_trace_writer *w = calloc(1, sizeof(*w));
    struct ct_trace_process p = {.pid = 1, .command = "", .host = ""};
    ct_trace_start(w, &p, 0);
    FILE *f = fopen(path, "w");
    struct ct_trace_header h = ct_trace_header(w);
    fwrite(&h, sizeof(h), 1, f);
    ct_trace_begin(w);
    ct_trace_define_thread(w, &(struct ct_trace_thread){.name = "thread"});
    for (size_t i = 0; i < ct_countof(records); i++)
        put_range(w, records[i].name, records[i].phase, records[i].number, records[i].at_us);
    w->losses.finished = 1;
    ck_assert(ct_trace_seal(w));
    save(w, f);
    fclose(f);
    free(w);
}

/* A range is there whole if any of it is: both of its records, wherever they and their blocks are.
 */
START_TEST(ranges_overlap_a_window_as_a_whole)
{
    static const struct {
        uint64_t since_us, until_us;
        const char *records;
    } windows[] = {
        {1500, 3500, "(e (x (b )b (c !m (s )c (d )d )s )e "},
        {1000, 1050, "(e (a (x )a )e "},
        {2050, 2150, "(e (x )e "},
        {4150, 9000, "(e (x (y !m )e "},
        {0, 100, "(e )e "},
    };
    static char path[] = "timeline-ranges.trace";
    char *paths[] = {path}, text[64], *to = text;
    struct ct_timeline tl;
    const struct ct_event *e;
    write_ranges(path);
    struct ct_timeline_options o = {.ops = true,
                                    .ranges = true,
                                    .as_read = _i % 2,
                                    .since_ns = windows[_i / 2].since_us * 1000,
                                    .until_ns = windows[_i / 2].until_us * 1000};
    ct_timeline_open(&tl, paths, 1, &o);
    uint64_t count = 0;
    for (; ct_timeline_next(&tl, &e); count++)
        to += sprintf(to, "%c%s ", "()!"[e->range.phase],
                      e -> file -> t -> labels.at[e->range.label].name);
    ck_assert_str_eq(text, windows[_i / 2].records);
    ck_assert_uint_eq(tl.facts.ranges, count);
    ct_timeline_close(&tl);
    unlink(path);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("timeline");
    tcase_add_test(tests, digits_are_those_of_printf);
    tcase_add_test(tests, halves_and_signs_are_those_of_printf);
    tcase_add_test(tests, functions_have_their_own_name);
    tcase_add_test(tests, links_are_kept);
    tcase_add_test(tests, scattered_links_cost_little);
    tcase_add_test(tests, records_come_in_the_order_of_their_starts);
    tcase_add_loop_test(tests, ranges_overlap_a_window_as_a_whole, 0, 10);
    return ct_case_main("timeline", tests);
}
