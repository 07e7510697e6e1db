/* SPDX-License-Identifier: MIT */
/* Sums over several files, estimates, losses, quantiles, and what is said below the table.
 */
#include <stdio.h>
#include <string.h>

#include "base/hist.h"
#include "merged_fixture.h"
#include "report/names.h"
#include "report/profile/merged_hist.h"
#include "report/profile/view.h"

static const struct ct_view_options plain = {.demangle = true};

static void add_row(struct ct_build *b, struct ct_file_row row)
{
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static struct ct_file_row kernel(struct ct_build *b, uint32_t device, const char *name)
{
    return ct_build_row(CT_ROW_KERNEL, 0, device, ct_build_text(b, name));
}

START_TEST(files_add_up)
{
    struct ct_build b;
    struct ct_view gpu, apis;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t calls[] = {10 + i, 20};
        start(&b);
        ct_build_text(&b, &"moves the offsets"[i]);
        struct ct_file_row row = kernel(&b, 0, i % 2 ? "_Z1gv" : "_Z1fv");
        ct_build_time(&row, 1000 * (i + 1));
        ct_build_time(&row, 500);
        add_row(&b, row);
        ct_build_api(&b, "cudaMalloc", calls, 2);
        merge(&b);
    }
    ct_view_gpu(&gpu, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ct_view_apis(&apis, &merged);
    ck_assert_uint_eq(gpu.count, 2);
    ck_assert_str_eq(gpu.lines[0].name, "f(void)");
    ck_assert_uint_eq(gpu.lines[0].calls, 4);
    ck_assert_uint_eq(gpu.lines[0].total_ns, 5000);
    ck_assert_uint_eq(gpu.lines[0].avg_ns, 1250);
    ck_assert_uint_eq(gpu.lines[0].min_ns, 500);
    ck_assert_uint_eq(gpu.lines[0].max_ns, 3000);
    ck_assert_uint_eq(gpu.total_ns, 7500);
    ck_assert_uint_eq(apis.count, 1);
    ck_assert_uint_eq(apis.lines[0].calls, 6);
    ck_assert_uint_eq(apis.lines[0].total_ns, 93);
    ck_assert_uint_eq(apis.lines[0].avg_ns, 15);
    ck_assert_uint_eq(merged.device_keys.count, 1);
    ct_view_free(&gpu);
    ct_view_free(&apis);
}
END_TEST

START_TEST(losses_and_estimates)
{
    struct ct_build b;
    struct ct_view v;
    start(&b);
    struct ct_file_row row = kernel(&b, 0, "half");
    ct_build_time(&row, 100);
    ct_build_time(&row, 201);
    row.lost[CT_LOSS_SAMPLED] = 2;
    row.lost[CT_LOSS_CAPTURED] = 7;
    row.lost[CT_LOSS_EXCLUDED] = 5;
    row.errors = 3;
    add_row(&b, row);
    row = kernel(&b, 0, "never");
    row.lost[CT_LOSS_RING_FULL] = 4;
    add_row(&b, row);
    row = kernel(&b, 0, "captured");
    row.lost[CT_LOSS_CAPTURED] = 9;
    add_row(&b, row);
    row = kernel(&b, 0, "excluded");
    row.lost[CT_LOSS_EXCLUDED] = 1;
    add_row(&b, row);
    row = kernel(&b, 0, "from a newer library");
    row.lost[CT_LOSS_COUNT] = 1;
    add_row(&b, row);
    merge(&b);
    ct_view_gpu(&v, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_uint_eq(v.count, 3);
    ck_assert_uint_eq(v.lines[0].calls, 4);
    ck_assert_uint_eq(v.lines[0].timed, 2);
    ck_assert_uint_eq(v.lines[0].total_ns, 602);
    ck_assert_uint_eq(v.lines[0].avg_ns, 150);
    ck_assert_str_eq(v.lines[1].name, "never");
    ck_assert_uint_eq(v.lines[1].timed, 0);
    ct_view_free(&v);
    struct ct_options o = {0};
    expect_line(
        o, "                        -         -         4         -         -         -  never\n");
    expect_line(o, "======== 15 operations: 2 timed, 13 not (2 left out of the sample, 6 excluded "
                   "as asked, 4 launched faster than they could be read, 1 for a reason that this "
                   "program does not know); 16 more captured into graphs\n");
    expect_line(o, "======== The time of 1 row is estimated");
    expect_line(o, "======== 3 more operations failed to start\n");
    expect_line((struct ct_options){.csv = true}, "\"GPU activities\",,,4,,,,\"never\"\n");
}
END_TEST

/* Independent samples, and a file from before there were any: sums, variances, moments add up. */
START_TEST(samples_add_up)
{
    struct ct_build b;
    struct ct_view v;
    for (int i = 0; i < 3; i++) {
        start(&b);
        struct ct_file_row row = kernel(&b, 0, "k");
        ct_build_time(&row, 100);
        if (i < 2) {
            row.lost[CT_LOSS_SAMPLED] = 9;
            row.estimated = 10;
            row.estimated_ns = 1000 + 200 * i;
            row.variance_ns2 = 300;
            row.third_ns3 = 0;
            row.freedom_ns4 = 300.0 * 300.0 / 50;
        }
        add_row(&b, row);
        merge(&b);
    }
    ck_assert_uint_eq(merged.rows[0].sum.estimated, 21);
    ct_view_gpu(&v, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_uint_eq(v.lines[0].calls, 21);
    ck_assert_uint_eq(v.lines[0].total_ns, 2300);
    ck_assert_uint_eq(v.lines[0].avg_ns, 110); /* 109.5 */
    ck_assert_double_eq_tol(ct_view_line_half_ns(&v.lines[0]), 24.495 * 1.984, 0.01);
    ck_assert_double_eq_tol(ct_view_half_ns(&v), 24.495 * 1.984, 0.01);
    ct_view_free(&v);
    expect_line((struct ct_options){0},
                "======== 3 of 21 calls of 1 row timed, known to +-2.1%, all times "
                "together to +-2.1% (95% intervals); Min and Max are of the timed\n");
}
END_TEST

/* The covariance of two rows, each with the other: it is in the sum of both, and in neither. */
START_TEST(rows_are_off_together)
{
    struct ct_build b;
    struct ct_view v;
    start(&b);
    for (int i = 0; i < 2; i++) {
        struct ct_file_row row = kernel(&b, 0, i ? "k" : "l");
        ct_build_time(&row, 100);
        row.lost[CT_LOSS_SAMPLED] = 9;
        row.estimated = 10;
        row.estimated_ns = 1000;
        row.variance_ns2 = 300;
        row.freedom_ns4 = 300.0 * 300.0 / 50;
        row.with_others_ns2 = 200;
        add_row(&b, row);
    }
    merge(&b);
    ct_view_gpu(&v, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_double_eq_tol(ct_view_line_half_ns(&v.lines[0]), 17.321 * 2.009, 0.01);
    ck_assert_double_eq_tol(ct_view_half_ns(&v), 31.623 * 2.0003, 0.01); /* 60 degrees */
    ct_view_free(&v);
}
END_TEST

START_TEST(estimates_do_not_overflow)
{
    struct ct_build b;
    struct ct_view v;
    start(&b);
    struct ct_file_row row = kernel(&b, 0, "long");
    row.timed = 2;
    row.total_ns = UINT64_MAX - 1;
    row.lost[CT_LOSS_SAMPLED] = UINT64_MAX - 1;
    add_row(&b, row);
    merge(&b);
    ct_view_gpu(&v, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_uint_eq(v.lines[0].calls, UINT64_MAX);
    ck_assert_uint_eq(v.lines[0].total_ns, UINT64_MAX);
    ck_assert_uint_eq(v.lines[0].avg_ns, UINT64_MAX / 2);
    ct_view_free(&v);
}
END_TEST

START_TEST(devices_are_known_by_uuid)
{
    struct ct_build b;
    struct ct_view v;
    for (uint32_t i = 0; i < 4; i++) {
        start(&b);
        struct ct_file_device *d = (struct ct_file_device *)b.parts[CT_SECTION_DEVICES].data;
        d->ordinal = i; /* the number differs from process to process */
        d->uuid[5] = (uint8_t)(i % 2);
        if (i == 3)
            d->calibration = CT_CALIBRATION_NONE;
        struct ct_file_row row = kernel(&b, 0, "k");
        ct_build_time(&row, 1000);
        add_row(&b, row);
        merge(&b);
    }
    ck_assert_uint_eq(merged.device_keys.count, 2);
    ct_view_gpu(&v, &merged, 1, &plain);
    ck_assert_uint_eq(v.lines[0].calls, 2);
    ct_view_free(&v);
    ct_view_gpu(&v, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_uint_eq(v.count, 1);
    ck_assert_uint_eq(v.lines[0].calls, 4);
    ct_view_free(&v);
    expect_line((struct ct_options){0},
                "Warning: Device \"GPU (1)\" has no calibration: its durations are raw brackets\n");
}
END_TEST

/* What a device that was not wanted has copied is not shown: neither its copies nor their bytes. */
START_TEST(excluded_copies_have_no_bytes)
{
    struct ct_build b;
    struct ct_view v;
    start(&b);
    uint32_t unwanted = ct_build_device(&b, 1, "GPU");
    struct ct_file_row row = ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0);
    for (int i = 0; i < 10; i++)
        ct_build_time(&row, 1000);
    row.bytes = row.timed_bytes = 10 * 1000000;
    add_row(&b, row);
    row = ct_build_row(CT_ROW_COPY, CT_HTOD, unwanted, 0);
    row.lost[CT_LOSS_EXCLUDED] = 10;
    row.bytes = 90 * 1000000;
    add_row(&b, row);
    merge(&b);
    ct_view_gpu(&v, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_uint_eq(v.count, 1);
    ck_assert_uint_eq(v.lines[0].calls, 10);
    ck_assert_uint_eq(v.lines[0].bytes, 10 * 1000000);
    ct_view_free(&v);
}
END_TEST

START_TEST(shapes_and_histograms_add_up)
{
    struct ct_build b;
    for (uint64_t i = 0; i < 2; i++) {
        start(&b);
        struct ct_file_row row = kernel(&b, 0, "k");
        struct ct_file_shape shape = {{1, 1, 1}, {32, 1, 1}, 0, 1};
        uint64_t ns[] = {100, 200, 300 + i};
        for (int k = 0; k < 3; k++) {
            struct ct_file_bucket bucket = {ct_hist_bucket(ns[2 - k]), 1}; /* out of order */
            ct_build_time(&row, ns[k]);
            ct_build_add(&b, CT_SECTION_BUCKETS, &bucket);
        }
        row.bucket_count = 3;
        row.shape_count = 2;
        ct_build_add(&b, CT_SECTION_SHAPES, &shape);
        shape.grid[0] = 2 + (uint32_t)i;
        ct_build_add(&b, CT_SECTION_SHAPES, &shape);
        add_row(&b, row);
        merge(&b);
    }
    ck_assert_uint_eq(merged.rows[0].shape_count, 3);
    ck_assert_uint_eq(merged.rows[0].shapes[0].count, 2);
    const struct ct_merged_hist *h = &merged.rows[0].hist;
    uint64_t all = 0;
    for (size_t i = 0; i < h->count; i++) {
        all += h->buckets[i].count;
        ck_assert(!i || h->buckets[i - 1].bucket < h->buckets[i].bucket);
    }
    ck_assert_uint_eq(all, 6);
    ck_assert_uint_eq(ct_merged_hist_quantile(h, 0.5, 100, 301),
                      ct_hist_middle(ct_hist_bucket(200)));
    ck_assert_uint_eq(ct_merged_hist_quantile(h, 0.01, 100, 301), 100);
    struct ct_merged_hist even = {0};
    ct_merged_hist_add(&even, 100, 1);
    ck_assert_uint_eq(ct_merged_hist_quantile(&even, 0.5, 100, 100), 100);
    ct_merged_hist_add(&even, 300, 1);
    ck_assert_uint_eq(ct_merged_hist_quantile(&even, 0.5, 100, 300), 200);
    ct_merged_hist_add(&even, 300, 2);
    ck_assert_uint_eq(ct_merged_hist_quantile(&even, 0.5, 100, 300), 300);
    free(even.buckets);
    ck_assert_uint_eq(ct_merged_hist_quantile(h, 1, 100, 301), 301);
}
END_TEST

/* Against the plain way, for every kind of overlap of two sets of buckets. */
START_TEST(histograms_merge_like_arrays)
{
    uint64_t expected[64] = {0};
    uint32_t random = 1;
    struct ct_merged_hist h = {0};
    for (int round = 0; round < 200; round++) {
        struct ct_file_bucket b[64];
        size_t count = 0;
        for (uint64_t i = 0; i < 64; i++) {
            random = random * 1664525 + 1013904223;
            if (random >> 24 < (unsigned)round + 20) {
                b[count++] = (struct ct_file_bucket){i, random >> 16 & 7};
                expected[i] += random >> 16 & 7;
            }
        }
        ct_merged_hist_merge(&h, b, count);
        for (size_t i = 0, at = 0; i < 64; i++) {
            uint64_t here = at < h.count && h.buckets[at].bucket == i ? h.buckets[at++].count : 0;
            ck_assert_uint_eq(here, expected[i]);
        }
    }
    free(h.buckets);
}
END_TEST

START_TEST(deviation_is_that_of_a_sample)
{
    ck_assert_uint_eq(ct_view_whole_ns(ct_merged_hist_deviation(0, 0, 0)), 0);
    ck_assert_uint_eq(ct_view_whole_ns(ct_merged_hist_deviation(1, 7, 49)), 0);
    ck_assert_uint_eq(ct_view_whole_ns(ct_merged_hist_deviation(2, 300, 100.0 * 100 + 200 * 200)),
                      71);
    ck_assert_uint_eq(ct_view_whole_ns(ct_merged_hist_deviation(3, 3000, 3e6 - 1)),
                      0); /* rounding below zero */
    ck_assert_uint_eq(ct_view_whole_ns(ct_merged_hist_deviation(2, 0, 1e300)), UINT64_MAX);
    ck_assert_uint_eq(ct_view_whole_ns(ct_merged_hist_deviation(0x1p64, 0x1p64, 0x1p65)),
                      1); /* more than a count can be */
}
END_TEST

START_TEST(what_is_not_as_it_should_be)
{
    struct ct_build b;
    struct ct_file_note notes[] = {{CT_NOTE_WARNING, 0, 1}, {CT_NOTE_NOT_WRAPPED, 0, 2}};
    start(&b);
    struct ct_file_process *p = (struct ct_file_process *)b.parts[CT_SECTION_PROCESS].data;
    p->flags = 0;
    p->off_operations = 12;
    notes[0].text = ct_build_text(&b, "The \x1b[1mclock\nstood still");
    notes[1].text = ct_build_text(&b, "cuLaunchNewThing");
    ct_build_add(&b, CT_SECTION_NOTES, &notes[0]);
    ct_build_add(&b, CT_SECTION_NOTES, &notes[1]);
    merge(&b);
    struct ct_options o = {0};
    expect_line(o, "======== 0 operations: 0 timed, 0 not\n");
    expect_line(o, "======== 12 more operations came while recording was off\n");
    expect_line(o, "======== Warning: Process 10 did not end normally: this is what it did up to "
                   "1.23457s (./app)\n");
    expect_line(o, "======== Warning: The \\x1b[1mclock\\x0astood still\n");
    expect_line(o, "======== Warning: Not wrapped: cuLaunchNewThing (2)\n");
}
END_TEST

START_TEST(lines_at_the_end_of_a_program)
{
    struct ct_build b;
    start(&b);
    merge(&b);
    expect_line((struct ct_options){.live = true},
                "==10== CUTRACE is profiling process 10, command: ./app\n"
                "==10== Profiling application: ./app\n"
                "==10== Profiling result:\n"
                "No kernels were profiled.\n"
                "No API activities were profiled.\n"
                "\n==10== 0 operations: 0 timed, 0 not\n");
}
END_TEST

START_TEST(raw_durations)
{
    struct ct_build b;
    start(&b);
    struct ct_file_row row = kernel(&b, 0, "k");
    ct_build_time(&row, 1000);
    ct_build_time(&row, 3000);
    add_row(&b, row);
    merge(&b);
    expect_line(
        (struct ct_options){.raw = true},
        " GPU activities:  100.00%  6.0000us         2  3.0000us  2.0000us  4.0000us     k\n");
}
END_TEST

/* A row of two files: doubts, marks and raw brackets are of both, the histograms are apart. */
START_TEST(doubts_and_raw_brackets_add_up)
{
    struct ct_build b;
    for (uint64_t i = 0; i < 2; i++) {
        start(&b);
        struct ct_file_row row = kernel(&b, 0, "k");
        struct ct_file_bucket buckets[] = {{ct_hist_bucket(100 + i), 1},
                                           {ct_hist_bucket(1100 + 100 * i), 1}};
        ct_build_time(&row, 100 + i);
        row.doubt_ns = 40;
        row.marked = 1;
        row.overlapped = i;
        row.legacy_waits = 1 - i;
        row.bucket_first = ct_build_add(&b, CT_SECTION_BUCKETS, &buckets[0]);
        row.raw_bucket_first = ct_build_add(&b, CT_SECTION_BUCKETS, &buckets[1]);
        row.bucket_count = row.raw_bucket_count = 1;
        add_row(&b, row);
        merge(&b);
    }
    const struct ct_merged_row *row = &merged.rows[0];
    struct ct_durations time = ct_view_durations(row, false), raw = ct_view_durations(row, true);
    ck_assert_uint_eq(row->sum.marked, 2);
    ck_assert_uint_eq(ct_view_marked(&row->sum, CT_VIEW_OVERLAPPED), 1);
    ck_assert_uint_eq(ct_view_marked(&row->sum, CT_VIEW_LEGACY_WAIT), 1);
    ck_assert_uint_eq(ct_view_marked(&row->sum, CT_VIEW_OTHER_MARK), 0);
    ck_assert_uint_eq(time.doubt_ns, 80);
    ck_assert_uint_eq(raw.doubt_ns, 0);
    ck_assert_uint_eq(time.total_ns, 201);
    ck_assert_uint_eq(raw.total_ns, 2201);
    ck_assert(row->sum.square_ns2 == 100.0 * 100 + 101.0 * 101);
    ck_assert(raw.estimated_square_ns2 == 1100.0 * 1100 + 1101.0 * 1101);
    ck_assert_uint_eq(time.hist->buckets[1].bucket, ct_hist_bucket(101));
    ck_assert_uint_eq(raw.hist->buckets[1].bucket, ct_hist_bucket(1200));
}
END_TEST

START_TEST(twice_the_doubt_is_enough)
{
    ck_assert(!ct_view_uncertain(0, 0));
    ck_assert(ct_view_uncertain(0, 1));
    ck_assert(ct_view_uncertain(1, 1));
    ck_assert(!ct_view_uncertain(2, 1));
    ck_assert(ct_view_uncertain(3, 2));
    ck_assert(!ct_view_uncertain(4, 2));
    ck_assert(ct_view_uncertain(UINT64_MAX, UINT64_MAX));
}
END_TEST

START_TEST(details_show_the_rest)
{
    struct ct_build b;
    start(&b);
    struct ct_file_row row = ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0);
    struct ct_file_stream stream = {
        .id = 3, .operations = 9, .waits = 2, .flags = 1, .priority = -5};
    ct_build_time(&row, 1000);
    row.lost[CT_LOSS_DEEP_QUEUE] = 1;
    row.bytes = 2048000;
    row.timed_bytes = 1024000;
    add_row(&b, row);
    row = kernel(&b, 0, "k");
    struct ct_file_shape shape = {{7, 8, 9}, {32, 2, 1}, 512, 42};
    row.shape_first = ct_build_add(&b, CT_SECTION_SHAPES, &shape);
    row.shape_count = 1;
    row.shape_other = 2;
    row.registers = 37;
    row.static_shared_bytes = UINT32_MAX;
    ct_build_time(&row, 5);
    add_row(&b, row);
    ct_build_add(&b, CT_SECTION_STREAMS, &stream);
    merge(&b);
    struct ct_options o = {.details = true};
    expect_line(o, "  1.9531MB  0.9766MB  1024.0GB/s  0    [CUDA memcpy HtoD]\n");
    expect_line(o, "      42  (7 8 9)    (32 2 1)      32256   512B    37  k\n");
    expect_line(o, "       2  other      other             -      -    37  k\n");
    expect_line(o, "         1  in a stream too full for timing    0  [CUDA memcpy HtoD]\n");
    expect_line(o, "     3    0           9      2        -5  created, non-blocking\n");
    expect_line(o, "2023-11-14T22:13:20Z");
    expect_line(o, "GPU-c0000000-0000-0000-0000-000000000000  GPU\n");
}
END_TEST

static void merge_instance(const char *name, uint32_t registers)
{
    struct ct_build b;
    start(&b);
    struct ct_file_row row = kernel(&b, 0, name);
    row.registers = row.static_shared_bytes = registers;
    ct_build_time(&row, 5);
    add_row(&b, row);
    merge(&b);
}

/* A process knows none of a kernel that it has only captured. */
START_TEST(registers_are_those_of_any_process)
{
    struct ct_view view;
    merge_instance("_Z1fIfEvv", _i ? 40 : UINT32_MAX);
    merge_instance("_Z1fIfEvv", _i ? UINT32_MAX : 40);
    ct_view_gpu(&view, &merged, CT_VIEW_ALL_DEVICES, &plain);
    ck_assert_uint_eq(view.lines[0].row->sum.registers, 40);
    ck_assert_uint_eq(view.lines[0].row->sum.static_shared_bytes, 40);
    ct_view_free(&view);
}
END_TEST

/* Instances of a template that are shown as one have their own. */
START_TEST(registers_are_those_of_all_instances)
{
    const struct ct_view_options base = {.demangle = true, .base = true};
    struct ct_view view;
    merge_instance("_Z1fIfEvv", 40);
    merge_instance("_Z1fIdEvv", _i ? 40 : 64);
    ct_view_gpu(&view, &merged, CT_VIEW_ALL_DEVICES, &base);
    ck_assert_uint_eq(view.count, 1);
    ck_assert_uint_eq(view.lines[0].row->sum.registers, _i ? 40 : UINT32_MAX);
    ck_assert_uint_eq(view.lines[0].row->sum.static_shared_bytes, _i ? 40 : UINT32_MAX);
    ct_view_free(&view);
}
END_TEST

static void add_moved(struct ct_build *b, uint32_t device, uint32_t kind, uint64_t bytes,
                      uint64_t ns)
{
    struct ct_file_unified u = {.device = device,
                                .kind = kind,
                                .count = 1,
                                .bytes = bytes,
                                .min_bytes = bytes,
                                .max_bytes = bytes,
                                .cause_bytes = {bytes},
                                .timed = ns != 0,
                                .total_ns = ns,
                                .min_ns = ns,
                                .max_ns = ns,
                                .first_address = bytes,
                                .last_address = 2 * bytes};
    ct_build_add(b, CT_SECTION_UNIFIED, &u);
}

static void add_sensor(struct ct_build *b, uint32_t device, double value, uint64_t ns,
                       enum ct_sensor_state state)
{
    struct ct_file_sensor s = {.device = device, .state = state, .processes = 1, .limit = 2000};
    if (state == CT_SENSORS_READ) {
        s.samples = 2;
        s.time_ns = ns;
        s.sum = value * (double)ns;
        s.least = s.most = value;
        s.calls = 2;
        s.call_ns = ns / 100;
        s.part_ns[3] = ns;
    }
    ct_build_add(b, CT_SECTION_SENSORS, &s);
}

/* Means are over the time of both; a device that one process cannot read is read by the other. */
START_TEST(readings_add_up)
{
    struct ct_build b;
    for (int file = 0; file < 2; file++) {
        start(&b);
        ct_build_device(&b, 1, "GPU");
        add_sensor(&b, 0, file ? 1000 : 2000, file ? 3000 : 1000, CT_SENSORS_READ);
        add_sensor(&b, 1, 1500, 1000, file ? CT_SENSORS_READ : CT_SENSORS_NO_LIBRARY);
        merge(&b);
    }
    const struct ct_file_sensor *s = ct_merged_sensors_find(&merged.sensors, 0, CT_SENSOR_SM_CLOCK);
    ck_assert_double_eq_tol(ct_sensor_mean(s), 1250, 1e-9);
    ck_assert_double_eq(s->least, 1000);
    ck_assert_double_eq(s->most, 2000);
    ck_assert_double_eq(s->limit, 2000);
    ck_assert_uint_eq(s->processes, 2);
    ck_assert_uint_eq(s->samples, 4);
    ck_assert_uint_eq(s->part_ns[3], 4000);
    s = ct_merged_sensors_find(&merged.sensors, 1, CT_SENSOR_SM_CLOCK);
    ck_assert_uint_eq(s->state, CT_SENSORS_READ);
    ck_assert_double_eq(s->least, 1500);
    ck_assert_ptr_null(ct_merged_sensors_find(&merged.sensors, 1, CT_SENSOR_POWER));
}
END_TEST

/* By device and kind; faults of the CPU are of no device. */
START_TEST(managed_memory_adds_up)
{
    struct ct_build b;
    for (int file = 0; file < 2; file++) {
        start(&b);
        ct_build_device(&b, 1, "GPU");
        add_moved(&b, 0, CT_UNIFIED_HTOD, file ? 300 : 100, file ? 7 : 0);
        add_moved(&b, 1, CT_UNIFIED_HTOD, 1000, 5);
        add_moved(&b, (uint32_t)file, CT_UNIFIED_CPU_FAULTS, 0, 0);
        merge(&b);
    }
    const struct ct_file_unified *u = ct_managed_memory_find(&merged.managed, 0, CT_UNIFIED_HTOD);
    ck_assert_uint_eq(u->count, 2);
    ck_assert_uint_eq(u->bytes, 400);
    ck_assert_uint_eq(u->cause_bytes[0], 400);
    ck_assert_uint_eq(u->min_bytes, 100);
    ck_assert_uint_eq(u->max_bytes, 300);
    ck_assert_uint_eq(u->timed, 1);
    ck_assert_uint_eq(u->min_ns, 7);
    ck_assert_uint_eq(u->total_ns, 7);
    ck_assert_uint_eq(u->first_address, 100);
    ck_assert_uint_eq(u->last_address, 600);
    ck_assert_uint_eq(ct_managed_memory_find(&merged.managed, 1, CT_UNIFIED_HTOD)->bytes, 2000);
    ck_assert_uint_eq(ct_managed_memory_find(&merged.managed, 0, CT_UNIFIED_CPU_FAULTS)->count, 2);
    ck_assert_ptr_null(ct_managed_memory_find(&merged.managed, 1, CT_UNIFIED_CPU_FAULTS));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("merge");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, files_add_up);
    tcase_add_test(tests, losses_and_estimates);
    tcase_add_test(tests, samples_add_up);
    tcase_add_test(tests, rows_are_off_together);
    tcase_add_test(tests, estimates_do_not_overflow);
    tcase_add_test(tests, devices_are_known_by_uuid);
    tcase_add_test(tests, excluded_copies_have_no_bytes);
    tcase_add_test(tests, shapes_and_histograms_add_up);
    tcase_add_test(tests, histograms_merge_like_arrays);
    tcase_add_test(tests, deviation_is_that_of_a_sample);
    tcase_add_test(tests, what_is_not_as_it_should_be);
    tcase_add_test(tests, lines_at_the_end_of_a_program);
    tcase_add_test(tests, raw_durations);
    tcase_add_test(tests, doubts_and_raw_brackets_add_up);
    tcase_add_test(tests, twice_the_doubt_is_enough);
    tcase_add_test(tests, details_show_the_rest);
    tcase_add_loop_test(tests, registers_are_those_of_any_process, 0, 2);
    tcase_add_loop_test(tests, registers_are_those_of_all_instances, 0, 2);
    tcase_add_test(tests, managed_memory_adds_up);
    tcase_add_test(tests, readings_add_up);
    return ct_case_main("merge", tests);
}
