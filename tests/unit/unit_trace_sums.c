/* SPDX-License-Identifier: MIT */
/* Operations of a trace, added up: what a row says is what the library would have made of them. */
#include <math.h>
#include <stdlib.h>

#include "base/hist.h"
#include "case_main.h"
#include "report/profile/merged_hist.h"
#include "report/trace/trace_sums.h"

static struct ct_trace_op op_of(uint32_t row, uint64_t stream, uint64_t ns, uint64_t operations)
{
    return (struct ct_trace_op){.start_ns = 1000,
                                .end_ns = 1000 + ns,
                                .bytes = 64,
                                .operations = operations,
                                .stream = stream,
                                .shape = 1,
                                .row = row};
}

static void add(struct ct_trace_sums *s, struct ct_trace_op op)
{
    ct_trace_sums_add(s, &op);
}

START_TEST(figures_of_a_row)
{
    struct ct_trace_sums s = {0};
    add(&s, op_of(3, 1, 500, 1));
    add(&s, op_of(3, 2, 100, 1));
    add(&s, op_of(3, 1, 700, 1));
    add(&s, op_of(4, 1, 9, 1));
    ck_assert_uint_eq(s.keys.count, 2);
    const struct ct_file_row *f = &s.at[0].figures;
    ck_assert_uint_eq(s.at[0].row, 3);
    ck_assert_uint_eq(f->timed, 3);
    ck_assert_uint_eq(f->total_ns, 1300);
    ck_assert_uint_eq(f->min_ns, 100);
    ck_assert_uint_eq(f->max_ns, 700);
    ck_assert_uint_eq(f->bytes, 192);
    ck_assert_uint_eq(f->timed_bytes, 192);
    ck_assert(fabs(f->square_ns2 - (250000 + 10000 + 490000)) < 1e-3);
    ck_assert_uint_eq(s.at[0].hist.count, 3);
    ck_assert_uint_eq(s.launch_keys.count, 2);
    ck_assert_uint_eq(s.launches[0].count, 3);
    ct_trace_sums_free(&s);
}
END_TEST

START_TEST(each_stream_by_itself)
{
    struct ct_trace_sums s = {.per_stream = true};
    for (uint64_t i = 0; i < 90; i++)
        add(&s, op_of(3, i % 3, i, 1));
    ck_assert_uint_eq(s.keys.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(s.at[i].group, i);
        ck_assert_uint_eq(s.at[i].figures.timed, 30);
        ck_assert_uint_eq(s.at[i].figures.min_ns, i);
        ck_assert_uint_eq(s.at[i].figures.max_ns, 87 + i);
    }
    ct_trace_sums_free(&s);
}
END_TEST

/* Each copy of a batch takes its share; a file may say nonsense of how many there are. */
START_TEST(batches)
{
    struct ct_trace_sums s = {0};
    add(&s, op_of(3, 1, 1000, 4));
    const struct ct_file_row *f = &s.at[0].figures;
    ck_assert_uint_eq(f->timed, 4);
    ck_assert_uint_eq(f->total_ns, 1000);
    ck_assert_uint_eq(f->min_ns, 250);
    ck_assert_uint_eq(f->max_ns, 250);
    ck_assert(fabs(f->square_ns2 - 4 * 62500) < 1e-3);
    ck_assert_uint_eq(s.at[0].hist.buckets[0].count, 4);
    add(&s, op_of(3, 1, 1000, 0));
    ck_assert_uint_eq(s.at[0].figures.timed, 5);
    add(&s, op_of(3, 1, 1000, UINT64_MAX));
    ck_assert_uint_eq(s.at[0].figures.timed, UINT64_MAX);
    ct_trace_sums_free(&s);
}
END_TEST

START_TEST(bounds)
{
    struct ct_trace_sums s = {0};
    struct ct_trace_op op = op_of(3, 1, 10, 1);
    op.flags = CT_TRACE_OP_BOUND;
    add(&s, op);
    op.flags |= CT_TRACE_OP_LEGACY_WAIT;
    add(&s, op);
    op.flags |= CT_TRACE_OP_OVERLAPPED;
    add(&s, op);
    op.flags = CT_TRACE_OP_UNTIED;
    add(&s, op);
    ck_assert_uint_eq(s.at[0].figures.marked, 3);
    ck_assert_uint_eq(s.at[0].figures.legacy_waits, 1);
    ck_assert_uint_eq(s.at[0].figures.overlapped, 1);
    ct_trace_sums_free(&s);
}
END_TEST

static void check_sizes(const struct ct_merged_sizes *s)
{
    ck_assert_uint_eq(s->count, 7);
    ck_assert_uint_eq(s->min_bytes, 0);
    ck_assert_uint_eq(s->max_bytes, 300);
    ck_assert(fabs(s->total_bytes - 500) < 1e-3);
    ck_assert(fabs(s->square_bytes2 - (300 * 300 + 4 * 50 * 50)) < 1e-3);
    ck_assert_uint_eq(ct_merged_hist_quantile(&s->hist, 0.5, s->min_bytes, s->max_bytes), 50);
}

/* A kernel has none; those of several rows are those of one. */
START_TEST(sizes)
{
    struct ct_trace_sums s = {.per_stream = true};
    struct ct_merged_sizes *sum = NULL;
    static const uint64_t bytes[][3] = {{1, 300, 1}, {1, 0, 1}, {2, 200, 4}, {2, 0, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct ct_trace_op op = op_of(3, bytes[i][0], 10, bytes[i][2]);
        op.shape = 0;
        op.bytes = bytes[i][1];
        add(&s, op);
    }
    add(&s, op_of(4, 1, 10, 1));
    ck_assert_uint_eq(s.at[2].sizes.count, 0);
    for (int i = 0; i < 3; i++)
        ct_sizes_merge(&sum, &s.at[i].sizes);
    check_sizes(sum);
    ct_sizes_free(sum);
    ct_trace_sums_free(&s);
}
END_TEST

/* One by one is the same as many at once. */
START_TEST(histograms)
{
    static struct ct_file_bucket all[CT_HIST_BUCKETS];
    struct ct_merged_hist one = {0}, many = {0};
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < CT_HIST_BUCKETS; i++)
        all[i].bucket = i;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t ns = state >> (24 + state % 40);
        ct_merged_hist_add(&one, ns, 2);
        all[ct_hist_bucket(ns)].count += 2;
    }
    for (uint32_t i = 0; i < CT_HIST_BUCKETS; i++)
        if (all[i].count)
            ct_merged_hist_merge(&many, &all[i], 1);
    ck_assert_uint_gt(many.count, 100);
    ck_assert_uint_eq(one.count, many.count);
    ck_assert_mem_eq(one.buckets, many.buckets, many.count * sizeof(*many.buckets));
    free(one.buckets);
    free(many.buckets);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sums of a trace");
    tcase_add_test(tests, figures_of_a_row);
    tcase_add_test(tests, each_stream_by_itself);
    tcase_add_test(tests, batches);
    tcase_add_test(tests, bounds);
    tcase_add_test(tests, sizes);
    tcase_add_test(tests, histograms);
    return ct_case_main("trace_sums", tests);
}
