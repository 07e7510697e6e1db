/* SPDX-License-Identifier: MIT */
/* Ranges of traces: as they are written and read, and which end is whose. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case_main.h"
#include "format/trace_write.h"
#include "report/trace/open_ranges.h"
#include "trace_pieces.h"

#define RECORDS 400000
#define LABELS 50

/* ---- which end is whose ---- */

static struct ct_trace_label labels[] = {
    {.name = "a", .domain = ""},
    {.name = "b", .domain = ""},
    {.name = "c", .domain = "other"},
};
static struct ct_trace_reader reader = {.labels = {labels, 3}};
static struct ct_timeline_file timeline_file = {.t = &reader};
static struct ct_open_ranges open_ranges;
static uint64_t now_ns;

static struct ct_event event(uint32_t phase, uint32_t label, uint64_t number)
{
    return (struct ct_event){.start_ns = ++now_ns,
                             .file = &timeline_file,
                             .is_range = true,
                             .range = {.phase = phase, .label = label, .number = number}};
}

static uint32_t begin(uint32_t label, uint64_t number)
{
    struct ct_event e = event(CT_TRACE_RANGE_BEGINS, label, number);
    return ct_open_ranges_begin(&open_ranges, &e)->lane;
}

/* When those began that an end ends, newest first, as text. */
static const char *end(uint32_t label, uint64_t number)
{
    static char text[64];
    struct ct_event e = event(CT_TRACE_RANGE_ENDS, label, number);
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    size_t count = ct_open_ranges_end(&open_ranges, &e, over);
    char *to = text;
    *to = '\0';
    for (size_t i = 0; i < count; i++)
        to += sprintf(to, "%d ", (int)over[i].start_ns);
    return text;
}

static void set_up(void)
{
    now_ns = 0;
}

static void tear_down(void)
{
    ct_open_ranges_free(&open_ranges);
}

START_TEST(pushed_ones_nest_in_each_domain)
{
    ck_assert_uint_eq(begin(0, 0), 0); /* at 1 */
    ck_assert_uint_eq(begin(2, 0), 0); /* at 2 */
    ck_assert_uint_eq(begin(0, 0), 1); /* at 3 */
    ck_assert_uint_eq(begin(1, 0), 2); /* at 4 */
    ck_assert_str_eq(end(1, 0), "4 ");
    ck_assert_str_eq(end(2, 0), "2 ");
    ck_assert_str_eq(end(0, 0), "3 ");
    ck_assert_str_eq(end(0, 0), "1 ");
    ck_assert_str_eq(end(0, 0), "");
}
END_TEST

START_TEST(started_ones_end_by_number)
{
    ck_assert_uint_eq(begin(0, 7), 0); /* at 1 */
    ck_assert_uint_eq(begin(0, 8), 1); /* at 2 */
    ck_assert_uint_eq(begin(0, 0), 0); /* at 3 */
    ck_assert_str_eq(end(0, 7), "1 ");
    ck_assert_uint_eq(begin(0, 9), 0); /* at 5 */
    ck_assert_str_eq(end(0, 7), "");
    ck_assert_str_eq(end(0, 8), "2 ");
    ck_assert_str_eq(end(0, 9), "5 ");
    ck_assert_str_eq(end(0, 0), "3 ");
}
END_TEST

START_TEST(what_lost_its_end_is_over_with_what_it_is_in)
{
    begin(0, 0); /* at 1 */
    begin(2, 0); /* at 2, of another domain */
    begin(1, 0); /* at 3 */
    begin(1, 5); /* at 4, started */
    ck_assert_str_eq(end(0, 0), "3 1 ");
    ck_assert_str_eq(end(2, 0), "2 ");
    struct ct_range_span left;
    ck_assert(ct_open_ranges_left(&open_ranges, &timeline_file, &left));
    ck_assert_uint_eq(left.start_ns, 4);
    ck_assert(!ct_open_ranges_left(&open_ranges, &timeline_file, &left));
}
END_TEST

START_TEST(there_is_a_bound)
{
    for (int i = 0; i < 3 * CT_OPEN_RANGES_MOST; i++)
        ck_assert_uint_lt(begin(0, (uint64_t)i + 1), CT_OPEN_RANGES_MOST);
    ck_assert_str_eq(end(0, 1), "");
    ck_assert_str_eq(end(0, 3 * CT_OPEN_RANGES_MOST), "768 ");
}
END_TEST

/* ---- in the file ---- */

static struct ct_trace_writer *writer;
static struct ct_trace_range put[RECORDS];
static int file;

static void save(void)
{
    ck_assert(trace_pieces_write(file, ct_trace_take(writer)));
}

static void define(uint32_t label, uint32_t *in)
{
    if (in[label] == writer->segment)
        return;
    in[label] = writer->segment;
    ct_trace_define_thread(writer, &(struct ct_trace_thread){.id = 9, .tid = 99, .name = "t"});
    ct_trace_define_label(writer,
                          &(struct ct_trace_label){.id = label,
                                                   .style = CT_RANGE_START_END,
                                                   .color = 0xff123456,
                                                   .category = label % 3,
                                                   .domain = "d",
                                                   .name = label % 2 ? "odd" : "even",
                                                   .category_name = label % 3 ? "c" : NULL});
}

static void write_all(uint64_t most_bytes, bool numbers)
{
    static uint32_t in[LABELS];
    const struct ct_trace_process p = {.command = "", .host = ""};
    uint64_t at_ns = 5000;
    memset(in, 0, sizeof(in));
    ct_trace_start(writer, &p, most_bytes);
    struct ct_trace_header h = ct_trace_header(writer);
    ck_assert_int_eq(pwrite(file, &h, sizeof(h), 0), sizeof(h));
    for (uint32_t i = 0; i < RECORDS; i++) {
        at_ns += (uint64_t)rand() % 100000 - (i % 7 ? 0 : 900);
        put[i] = (struct ct_trace_range){.at_ns = at_ns,
                                         .number = numbers ? (uint64_t)rand() << 31 | 1 : 0,
                                         .label = (uint32_t)rand() % LABELS,
                                         .thread = 9,
                                         .phase = i % 3};
        while (!ct_trace_begin(writer))
            save();
        define(put[i].label, in);
        ct_trace_put_range(writer, &put[i]);
    }
    writer->losses.finished = 1;
    writer->losses.dropped_ranges = 17;
    while (!ct_trace_seal(writer))
        save();
    save();
}

static void check(const struct ct_trace_reader *t, const struct ct_trace_range *r, uint32_t i)
{
    const struct ct_trace_label *l = &t->labels.at[r->label];
    ct_assert(r->at_ns == put[i].at_ns);
    ct_assert(r->number == put[i].number);
    ct_assert(r->phase == put[i].phase);
    ct_assert(l->id == put[i].label);
    ct_assert(t->threads.at[r->thread].tid == 99);
    ct_assert(l->style == CT_RANGE_START_END);
    ct_assert(l->color == 0xff123456);
    ct_assert(l->category == l->id % 3);
    ct_assert(!strcmp(l->domain, "d"));
    ct_assert(!strcmp(l->name, l->id % 2 ? "odd" : "even"));
    ct_assert(!strcmp(l->category_name, l->id % 3 ? "c" : ""));
}

/* All of them, and with a bound those that came last: what went is counted. */
START_TEST(read_as_written)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct ct_read_error error;
    writer = calloc(1, sizeof(*writer));
    file = memfd_create("ranges", 0);
    write_all(_i ? CT_TRACE_LEAST_BYTES : 0, _i);
    ck_assert_int_eq(ct_trace_open_at(&t, file, &error), 0);
    uint32_t first = (uint32_t)writer->losses.cut_ranges, i = first;
    while (ct_trace_next(t, &r, &error) > 0)
        check(t, r.range, i++);
    ck_assert_uint_eq(i, RECORDS);
    ck_assert_uint_eq(first != 0, _i);
    ck_assert_uint_eq(t->losses.cut_ranges, first);
    ck_assert_uint_eq(t->losses.dropped_ranges, 17);
    /* Compact: time, label, thread and phase */
    if (!_i)
        ck_assert_uint_le(t->file_bytes, (uint64_t)RECORDS * 8);
    ct_trace_close(t);
    close(file);
    free(writer);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("open_ranges");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, pushed_ones_nest_in_each_domain);
    tcase_add_test(tests, started_ones_end_by_number);
    tcase_add_test(tests, what_lost_its_end_is_over_with_what_it_is_in);
    tcase_add_test(tests, there_is_a_bound);
    tcase_add_loop_test(tests, read_as_written, 0, 2);
    return ct_case_main_alone("open_ranges", tests);
}
