/* SPDX-License-Identifier: MIT */
/*
 * The changes that the report "explain" names, between pairs of runs drawn by chance: how often one
 * that is there, and how often one that is not. And its length.
 */
#include <string.h>

#include "case_main.h"
#include "drawn.h"
#include "report/options_table.h"
#include "report/reports.h"

#define KERNELS 20
#define LAUNCHES 600
#define MOST_FILES 4

static const double slowdown = 1.03;

/* ---- pairs of runs ---- */

/* Without processes' own: each launch scatters by its kernel's 2 to 6 %. */
struct runs {
    unsigned processes; /* of each side */
    double scatter;     /* of processes: half of the range of a factor of all their kernels */
    int slower;         /* kernel, of the new side; -1: none */
};

static double mean_ns(unsigned kernel)
{
    return 50000 + 20000.0 * kernel;
}

/* A tail to the right. */
static uint64_t drawn_ns(unsigned kernel, double factor)
{
    double scatter = 0.02 + 0.002 * kernel;
    return (uint64_t)(mean_ns(kernel) * factor *
                      (1 - scatter - scatter * log(1 - ct_drawn_uniform())));
}

static void write_run(const char *path, uint32_t pid, const struct runs *r, bool is_new)
{
    static uint64_t ns[LAUNCHES];
    struct ct_build b;
    char name[16];
    double own = 1 + r->scatter * (2 * ct_drawn_uniform() - 1);
    ct_build_start(&b);
    ct_build_process(&b, pid, "./app");
    ct_build_device(&b, 0, "GPU");
    for (unsigned kernel = 0; kernel < KERNELS; kernel++) {
        double factor = own * (is_new && (int)kernel == r->slower ? slowdown : 1);
        for (unsigned i = 0; i < LAUNCHES; i++)
            ns[i] = drawn_ns(kernel, factor);
        snprintf(name, sizeof(name), "k%u", kernel);
        ct_drawn_add(&b, name, ns, LAUNCHES, 100);
    }
    ck_assert(ct_build_save(&b, path));
    ct_build_free(&b);
}

/* ---- the report's rows ---- */

struct found {
    struct ct_sink sink;
    const struct ct_relation *relation;
    unsigned changes;
    bool has_slower;
    bool is_of_one; /* it says that a side is one process */
    char slower[16];
};

static void begin(struct ct_sink *sink, const struct ct_relation *r)
{
    ((struct found *)sink)->relation = r;
}

static void row(struct ct_sink *sink, const struct ct_cell *cells)
{
    struct found *f = (struct found *)sink;
    size_t name, verdict;
    if (strcmp(f->relation->key, "changes"))
        return;
    ck_assert(ct_relation_find(f->relation, "name", 4, &name));
    ck_assert(ct_relation_find(f->relation, "verdict", 7, &verdict));
    f->changes++;
    f->has_slower |= !strcmp(cells[name].text, f->slower) && !strcmp(cells[verdict].text, "slower");
}

static void note(struct ct_sink *sink, const char *text)
{
    ((struct found *)sink)->is_of_one |= strstr(text, "one process") != NULL;
}

static void end(struct ct_sink *sink)
{
    (void)sink;
}

static struct found explain(const struct runs *r)
{
    static char paths[2 * MOST_FILES][CT_CASE_PATH];
    char *files[2 * MOST_FILES];
    for (unsigned i = 0; i < 2 * r->processes; i++) {
        files[i] = paths[i];
        if (!*paths[i]) {
            ct_case_template(paths[i]);
            close(mkstemp(paths[i]));
        }
        write_run(paths[i], 100 + i, r, i >= r->processes);
    }
    struct ct_options o = {
        .report = &ct_reports[CT_REPORT_EXPLAIN],
        .format = &ct_formats[CT_FORMAT_MD],
        .baselines = {.texts = files, .count = (int)r->processes},
        .files = files + r->processes,
        .file_count = (int)r->processes,
        .fail_over = -1,
    };
    struct ct_input in = {.o = &o, .report = o.report, .device = CT_VIEW_ALL_DEVICES};
    struct found f = {.sink = {begin, row, note, end, NULL}};
    snprintf(f.slower, sizeof(f.slower), "k%d", r->slower);
    ck_assert_int_eq(o.report->rows(&in, &f.sink), 0);
    return f;
}

struct tally {
    unsigned named;        /* pairs in which the slower kernel is, */
    unsigned false_alarms; /* and in which any other is */
};

static struct tally try(const struct runs *r, unsigned count)
{
    struct tally t = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        struct found f = explain(r);
        t.named += f.has_slower;
        t.false_alarms += f.changes > f.has_slower;
        ck_assert_int_eq(f.is_of_one, r->processes == 1);
    }
    printf("%u process%s a side, scatter %.0f%%, %s: %u of %u named, %u false\n", r->processes,
           r->processes > 1 ? "es" : "", 100 * r->scatter, r->slower < 0 ? "equal" : "slower",
           t.named, count, t.false_alarms);
    return t;
}

/* ---- a profile with much of everything ---- */

#define MANY 40

static const char *long_text(char text[512], const char *start, unsigned i)
{
    int len = snprintf(text, 512, "%s%u_", start, i);
    memset(text + len, '"', 500 - (size_t)len);
    text[500] = 0;
    return text;
}

static void add_stack(struct ct_build *b, uint32_t row, unsigned i)
{
    char text[512];
    struct ct_file_line line = {.file = ct_build_text(b, long_text(text, "file", i)),
                                .function = ct_build_text(b, long_text(text, "function", i)),
                                .line = 1000000 + i};
    struct ct_file_module module = {.type = ct_build_text(b, long_text(text, "Module", i)),
                                    .number = 0};
    struct ct_file_frame frame = {.line = ct_build_add(b, CT_SECTION_LINES, &line),
                                  .module = ct_build_add(b, CT_SECTION_MODULES, &module) + 1};
    struct ct_file_stack stack = {.row = row,
                                  .frame = ct_build_add(b, CT_SECTION_FRAMES, &frame),
                                  .count = 10,
                                  .timed = 10,
                                  .total_ns = 100000};
    ct_build_add(b, CT_SECTION_STACKS, &stack);
}

static void write_much(const char *path, uint32_t pid, double slower)
{
    struct ct_build b;
    char text[512];
    uint64_t ns[10];
    ct_build_start(&b);
    ct_build_process(&b, pid, long_text(text, "./app", 0));
    for (unsigned i = 0; i < MANY; i++) {
        ct_build_device(&b, i, long_text(text, "GPU", i));
        for (unsigned k = 0; k < 10; k++)
            ns[k] = (uint64_t)((123456789 + 1000 * k) * (1 + slower * i));
        uint32_t row = ct_drawn_add(&b, long_text(text, "kernel", i), ns, 10, 100);
        add_stack(&b, row, i);
        struct ct_file_note warning = {.kind = CT_NOTE_WARNING, .count = 1};
        warning.text = ct_build_text(&b, long_text(text, "warning", i));
        ct_build_add(&b, CT_SECTION_NOTES, &warning);
        for (uint32_t kind = 0; kind < CT_SENSOR_COUNT; kind++) {
            struct ct_file_sensor s = {
                .device = i, .kind = kind, .samples = 9, .time_ns = 1u << 31};
            s.processes = 1;
            s.calls = 9;
            s.sum = s.limit = 1234567890123.0;
            s.clock_sum = s.sum * 1000;
            ct_build_add(&b, CT_SECTION_SENSORS, &s);
        }
    }
    ck_assert(ct_build_save(&b, path));
    ct_build_free(&b);
}

static size_t length_of(const struct ct_input *in, const struct ct_format *format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct ct_look look = {.in = in, .prefix = ""};
    ck_assert_ptr_nonnull(out);
    struct ct_sink *sink = format->sink(out, &look);
    ck_assert_int_eq(in->report->rows(in, sink), 0);
    ct_sink_close(sink);
    fclose(out);
    printf("%s: %zu characters\n", format->name, size);
    ck_assert_ptr_nonnull(strstr(text, "cutrace-report advice"));
    ck_assert_ptr_nonnull(strstr(text, "slower"));
    ck_assert_ptr_nonnull(strstr(text, "operations changed"));
    ck_assert_ptr_nonnull(strstr(text, "A side is one process"));
    free(text);
    return size;
}

/* ---- tests ---- */

/* All sections are there, and their tables are cut. */
START_TEST(length)
{
    static char paths[2][CT_CASE_PATH], *files[] = {paths[0], paths[1]};
    for (unsigned i = 0; i < 2; i++) {
        ct_case_template(paths[i]);
        close(mkstemp(paths[i]));
        write_much(paths[i], 1000 * (i + 1), 0.01 * i);
    }
    struct ct_options o = {.report = &ct_reports[CT_REPORT_EXPLAIN],
                           .baselines = {.texts = files, .count = 1},
                           .files = files + 1,
                           .file_count = 1,
                           .fail_over = -1};
    static const int formats[] = {CT_FORMAT_MD, CT_FORMAT_JSON};
    for (unsigned i = 0; i < 2; i++) {
        o.format = &ct_formats[formats[i]];
        struct ct_input in = {.o = &o, .report = o.report, .device = CT_VIEW_ALL_DEVICES};
        ck_assert_uint_le(length_of(&in, o.format), 16000);
    }
}
END_TEST

/* 400 pairs, one of 20 of which has a kernel that is 3 % slower. */
START_TEST(one_of_twenty)
{
    unsigned named = 0, false_alarms = 0;
    ct_drawn_state = 11;
    for (int set = 0; set < 20; set++) {
        struct tally slower = try(&(struct runs){1, 0, set}, 1);
        struct tally equal = try(&(struct runs){1, 0, -1}, 19);
        named += slower.named;
        false_alarms += slower.false_alarms + equal.false_alarms;
    }
    printf("in all %u of 20 named, %u of 400 false\n", named, false_alarms);
    ck_assert_uint_ge(named, 19);
    ck_assert_uint_le(false_alarms, 4);
}
END_TEST

/* The kernel that scatters most. */
START_TEST(power)
{
    ct_drawn_state = 12;
    struct tally t = try(&(struct runs){1, 0, KERNELS - 1}, 100);
    ck_assert_uint_ge(t.named, 95);
    ck_assert_uint_le(t.false_alarms, 1);
}
END_TEST

/* Four of each: processes that are alike do not hide it. */
START_TEST(several)
{
    ct_drawn_state = 14;
    struct tally t = try(&(struct runs){4, 0, KERNELS - 1}, 40);
    ck_assert_uint_ge(t.named, 38);
    ck_assert_uint_eq(t.false_alarms, 0);
}
END_TEST

/* Processes that differ by 5 %: with several of each that is no change. */
START_TEST(processes)
{
    ct_drawn_state = 13;
    for (unsigned n = 2; n <= MOST_FILES; n++) {
        struct tally t = try(&(struct runs){n, 0.05, -1}, 100);
        ck_assert_uint_le(t.false_alarms, 1);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("explain");
    tcase_add_test(tests, one_of_twenty);
    tcase_add_test(tests, power);
    tcase_add_test(tests, several);
    tcase_add_test(tests, processes);
    tcase_add_test(tests, length);
    return ct_case_main_alone("explain", tests);
}
