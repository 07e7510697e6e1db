/* SPDX-License-Identifier: MIT */
/* Files of many ranks: what they add up to, how they differ, and the one file made of them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hist.h"
#include "build_file.h"
#include "case_main.h"
#include "format/payload.h"
#include "report/profile/encode.h"
#include "report/profile/files.h"
#include "report/profile/spread.h"
#include "report/reports.h"

#define RANKS 100 /* several chunks, the last one not full */

static char directory[CT_CASE_PATH];
static char names[RANKS + 8][2 * CT_CASE_PATH];
static char *files[RANKS + 8];
static struct ct_merged merged;

static void set_up(void)
{
    ct_case_template(directory);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (int i = 0; i < RANKS + 8; i++) {
        snprintf(names[i], sizeof(names[i]), "%s/%d.bin", directory, i);
        files[i] = names[i];
    }
    merged = (struct ct_merged){.details = true, .devices_as = CT_DEVICES_BY_MODEL};
}

static void tear_down(void)
{
    ct_merge_free(&merged);
    for (int i = 0; i < RANKS + 8; i++)
        unlink(names[i]);
    rmdir(directory);
}

/* ---- files ---- */

static void add_process(struct ct_build *b, int rank)
{
    char text[32];
    struct ct_file_process p = {.pid = 100 + (unsigned)rank,
                                .start_unix_ns = 1000000000 + (unsigned)rank * 1000,
                                .duration_ns = 5000,
                                .flags = CT_PROCESS_FINISHED,
                                .driver_version = 13000,
                                .off_operations = 1,
                                .rank = (unsigned)rank + 1,
                                .ranks = RANKS};
    snprintf(text, sizeof(text), "./app --rank %d", rank % 3);
    p.command = ct_build_text(b, text);
    snprintf(text, sizeof(text), "node%d", rank / 8);
    p.host = ct_build_text(b, text);
    ct_build_add(b, CT_SECTION_PROCESS, &p);
}

/* Two GPUs of its own, and every third rank one of another model. */
static void add_devices(struct ct_build *b, int rank)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t at = ct_build_device(b, i, i && rank % 3 == 0 ? "Other GPU" : "GPU");
        struct ct_file_device *d = (struct ct_file_device *)b->parts[CT_SECTION_DEVICES].data + at;
        d->uuid[2] = (uint8_t)rank;
    }
}

static uint64_t duration(int rank, uint32_t kernel, int launch)
{
    return 1000 + kernel * 500 + (uint64_t)rank * 10 + (uint64_t)(launch * 37 % 100);
}

static void add_hist(struct ct_build *b, struct ct_file_row *row, int rank, uint32_t kernel)
{
    struct ct_file_bucket bucket = {.count = row->timed};
    bucket.bucket = ct_hist_bucket(duration(rank, kernel, 0));
    row->bucket_first = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
    bucket.bucket = ct_hist_bucket(duration(rank, kernel, 0) + CT_BUILD_BIAS_NS);
    row->raw_bucket_first = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
    row->bucket_count = row->raw_bucket_count = 1;
}

/* Kernel k is launched by each rank that k divides, k + 2 times on each of its devices. */
static void add_kernel(struct ct_build *b, int rank, uint32_t kernel, uint32_t device)
{
    char name[32];
    snprintf(name, sizeof(name), "kernel%u", kernel);
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, device, ct_build_text(b, name));
    struct ct_file_shape shape = {{kernel, 1, 1}, {64, 1, 1}, 0, kernel + 2};
    for (uint32_t i = 0; i < kernel + 2; i++)
        ct_build_time(&row, duration(rank, kernel, (int)i));
    row.doubt_ns = row.timed * 100;
    row.registers = 32;
    row.shape_first = ct_build_add(b, CT_SECTION_SHAPES, &shape);
    row.shape_count = 1;
    row.lost[CT_LOSS_RING_FULL] = kernel == 2;
    add_hist(b, &row, rank, kernel);
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static void add_graph(struct ct_build *b)
{
    struct ct_file_row row = ct_build_row(CT_ROW_GRAPH, 3, 0, ct_build_text(b, "1"));
    ct_build_time(&row, 9000);
    struct ct_file_node node = {.graph_row = ct_build_add(b, CT_SECTION_ROWS, &row), .count = 3};
    node.name = ct_build_text(b, "kernel1");
    ct_build_add(b, CT_SECTION_NODES, &node);
}

static void add_activity(struct ct_build *b, int rank)
{
    struct ct_file_row row = ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0);
    ct_build_time(&row, 3000);
    struct ct_file_transfer transfer = {.row = ct_build_add(b, CT_SECTION_ROWS, &row),
                                        .octave = 10,
                                        .from = CT_MEMORY_PAGEABLE,
                                        .to = CT_MEMORY_DEVICE,
                                        .timed = 1,
                                        .total_ns = 3000};
    struct ct_file_activity activity = {.operations = 10,
                                        .first_ns = 100,
                                        .last_ns = 9000 + (uint64_t)rank,
                                        .busy_ns = 5000,
                                        .idle_ns = {3900 + (uint64_t)rank}};
    struct ct_file_gap gap = {.octave = 11, .count = 2, .idle_ns = {3900 + (uint64_t)rank}};
    ct_build_add(b, CT_SECTION_TRANSFERS, &transfer);
    ct_build_add(b, CT_SECTION_ACTIVITIES, &activity);
    ct_build_add(b, CT_SECTION_GAPS, &gap);
}

static void write_rank(int rank)
{
    struct ct_build b;
    uint64_t calls[] = {100 + (uint64_t)rank, 300};
    struct ct_file_note note = {CT_NOTE_WARNING, 0, 1};
    ct_build_start(&b);
    add_process(&b, rank);
    add_devices(&b, rank);
    for (uint32_t k = 1; k < 6; k++)
        for (uint32_t device = 0; device < 2 && rank % (int)k == 0; device++)
            add_kernel(&b, rank, k, device);
    add_graph(&b);
    add_activity(&b, rank);
    ct_build_api(&b, "cudaMalloc", calls, 2);
    note.text = ct_build_text(&b, "a note");
    ct_build_add(&b, CT_SECTION_NOTES, &note);
    ck_assert(ct_build_save(&b, names[rank]));
    ct_build_free(&b);
}

static void write_ranks(int count)
{
    for (int i = 0; i < count; i++)
        write_rank(i);
}

/* What m has as a summary, whose payload the caller frees with it. */
static struct ct_summary summary_of(const struct ct_merged *m)
{
    struct ct_summary s = {.minor = CT_FILE_MINOR};
    struct ct_read_error error;
    size_t bytes;
    s.payload = ct_encode(m, &bytes);
    ck_assert_msg(!ct_payload_parse(&s, bytes, &error), "%s", error.text);
    return s;
}

static void add_merged(struct ct_merged *to, const struct ct_merged *from)
{
    struct ct_summary s = summary_of(from);
    ct_merge_add(to, &s);
    ct_summary_free(&s);
}

/* Names are numbered as they come: once read again, equal content has equal bytes. */
static void *bytes_of(const struct ct_merged *m, size_t *bytes)
{
    struct ct_merged again = {.details = true, .devices_as = m->devices_as};
    add_merged(&again, m);
    void *data = ct_encode(&again, bytes);
    ct_merge_free(&again);
    return data;
}

static void expect_equal(const struct ct_merged *a, const struct ct_merged *b)
{
    size_t a_bytes, b_bytes;
    char *a_data = bytes_of(a, &a_bytes), *b_data = bytes_of(b, &b_bytes);
    ck_assert_uint_eq(a_bytes, b_bytes);
    for (size_t i = 0; i < a_bytes; i++)
        ct_assert_msg(a_data[i] == b_data[i], "byte %zu of %zu differs", i, a_bytes);
    free(a_data);
    free(b_data);
}

static void merge_range(struct ct_merged *m, int first, int end)
{
    *m = (struct ct_merged){.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    ck_assert(ct_files_merge(m, files + first, (size_t)(end - first), 1));
}

/* ---- tests ---- */

START_TEST(a_merged_file_says_what_its_files_say)
{
    struct ct_merged again = {.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    write_ranks(5);
    merge_range(&merged, 0, 5);
    add_merged(&again, &merged);
    expect_equal(&merged, &again);
    ck_assert_uint_eq(again.process_count, 5);
    ck_assert_uint_eq(again.processes[3].rank, 4);
    ck_assert_str_eq(ct_merge_name(&again, again.processes[3].command), "./app --rank 0");
    ck_assert_uint_eq(again.off_operations, 5);
    ck_assert_uint_eq(again.device_keys.count, 10);
    ck_assert_uint_eq(again.row_keys.count, merged.row_keys.count);
    ck_assert_uint_eq(again.activity.device_keys.count, 1);
    ck_assert_uint_eq(again.activity.devices[0].operations, 50);
    ck_assert_uint_eq(again.activity.gaps[0].count, 10);
    ck_assert_uint_eq(again.activity.transfers[0].total_ns, 15000);
    for (uint32_t i = 0; i < again.row_keys.count; i++) {
        ck_assert_uint_eq(again.rows[i].sum.timed, merged.rows[i].sum.timed);
        ck_assert_uint_eq(again.rows[i].hist.count, merged.rows[i].hist.count);
        ck_assert_uint_eq(again.rows[i].shape_count, merged.rows[i].shape_count);
    }
    ct_merge_free(&again);
}
END_TEST

START_TEST(merging_is_associative)
{
    struct ct_merged ab, c, left, right = {.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    write_ranks(20);
    merge_range(&merged, 0, 20);
    merge_range(&ab, 0, 11);
    merge_range(&c, 11, 20);
    left = right;
    add_merged(&left, &ab);
    for (int i = 11; i < 20; i++) { /* merge(merge(a, b), c) */
        struct ct_merged one;
        merge_range(&one, i, i + 1);
        add_merged(&left, &one);
        ct_merge_free(&one);
    }
    expect_equal(&merged, &left);
    add_merged(&right, &ab); /* both of merged files */
    add_merged(&right, &c);
    ck_assert_uint_eq(right.row_keys.count, merged.row_keys.count);
    for (uint32_t i = 0; i < merged.row_keys.count; i++) {
        const struct ct_merged_row *x = &merged.rows[i], *y = &right.rows[i];
        ck_assert_uint_eq(x->sum.total_ns, y->sum.total_ns);
        ck_assert_uint_eq(x->spread.sum.processes, y->spread.sum.processes);
        ck_assert_uint_eq(x->spread.sum.min_ns, y->spread.sum.min_ns);
        ck_assert_uint_eq(x->spread.sum.least, y->spread.sum.least);
        ck_assert_uint_eq(x->spread.sum.max_ns, y->spread.sum.max_ns);
        ck_assert_uint_eq(x->spread.sum.most, y->spread.sum.most);
        ck_assert_double_eq_tol(x->spread.sum.square_ns2 / y->spread.sum.square_ns2, 1, 1e-12);
        ck_assert_double_eq_tol(x->sum.square_ns2 / y->sum.square_ns2, 1, 1e-12);
    }
    ct_merge_free(&ab);
    ct_merge_free(&c);
    ct_merge_free(&left);
    ct_merge_free(&right);
}
END_TEST

/* Whatever threads do: the order of files decides. */
START_TEST(threads_do_not_matter)
{
    struct ct_merged many = {.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    write_ranks(RANKS);
    merge_range(&merged, 0, RANKS);
    ck_assert(ct_files_merge(&many, files, RANKS, 4));
    expect_equal(&merged, &many);
    ct_merge_free(&many);
}
END_TEST

START_TEST(sums_over_the_ranks)
{
    write_ranks(RANKS);
    merge_range(&merged, 0, RANKS);
    double gpu_ns = 0, ranks_ns = 0;
    uint64_t operations = 0, calls = 0;
    for (uint32_t i = 0; i < merged.row_keys.count; i++)
        gpu_ns += merged.rows[i].spread.sum.total_ns;
    for (size_t i = 0; i < merged.process_count; i++) {
        ranks_ns += (double)merged.totals[i].gpu_ns;
        operations += merged.totals[i].operations;
        calls += merged.totals[i].calls;
    }
    ck_assert_double_eq_tol(gpu_ns, ranks_ns, RANKS * 20);
    uint64_t timed = 0, lost = 0;
    for (uint32_t i = 0; i < merged.row_keys.count; i++) {
        timed += merged.rows[i].sum.timed;
        lost += merged.rows[i].sum.lost[CT_LOSS_RING_FULL];
        if (!merged.rows[i].sum.lost[CT_LOSS_RING_FULL])
            ck_assert_double_eq_tol(merged.rows[i].spread.sum.total_ns,
                                    (double)merged.rows[i].sum.total_ns, 1);
    }
    ck_assert_uint_gt(lost, 0);
    ck_assert_uint_eq(operations, timed + lost);
    ck_assert_uint_eq(calls, 2 * RANKS);
}
END_TEST

static const struct ct_merged_row *row_of(const char *name, const char *device)
{
    for (uint32_t i = 0; i < merged.row_keys.count; i++) {
        const struct ct_file_row *row = &merged.rows[i].sum;
        if (!strcmp(ct_merge_name(&merged, row->name), name) &&
            !strcmp(ct_merge_name(&merged, merged.devices[row->device].sum.name), device))
            return &merged.rows[i];
    }
    ck_abort_msg("no %s on %s", name, device);
    return NULL;
}

START_TEST(least_and_most)
{
    write_ranks(RANKS);
    merge_range(&merged, 0, RANKS);
    const struct ct_merged_row *row = row_of("kernel3", "GPU"); /* by ranks 0, 3, 6 .. 99 */
    struct ct_imbalance i = ct_spread_of(&row->spread.sum);
    ck_assert_uint_eq(i.ranks, 34);
    ck_assert_uint_eq(merged.processes[i.least].rank, 0 + 1);
    ck_assert_uint_eq(merged.processes[i.most].rank, 99 + 1);
    ck_assert_uint_eq(i.max_ns - i.min_ns, 99 * 10 * 5);
    ck_assert_double_eq_tol(i.ratio, (double)i.max_ns / i.mean_ns, 1e-9);
    ck_assert_double_eq_tol(i.lost_ns, (double)i.max_ns - i.mean_ns, 1e-6);
    i = ct_spread_of(&merged.apis[0].spread.sum);
    ck_assert_uint_eq(i.ranks, RANKS);
    ck_assert_uint_eq(i.min_ns, 400);
    ck_assert_uint_eq(i.max_ns, 499);
}
END_TEST

/* Both GPUs of a rank are of one model then: its time of a kernel is that of both. */
START_TEST(one_process_counts_once)
{
    write_ranks(2);
    merge_range(&merged, 1, 2);
    const struct ct_merged_row *row = row_of("kernel1", "GPU");
    ck_assert_uint_eq(row->spread.sum.processes, 1);
    ck_assert_uint_eq(row->spread.sum.min_ns, row->sum.total_ns);
    ck_assert_uint_eq(row->spread.sum.max_ns, row->sum.total_ns);
    ck_assert_uint_eq(row->sum.timed, 6);
    ck_assert_double_eq_tol(row->spread.sum.mean_ns * 6, (double)row->sum.total_ns, 1e-6);
}
END_TEST

/* Of a merged file it is only known by model, and which ranks are on both where they must be. */
START_TEST(one_process_on_two_models_counts_once)
{
    struct ct_merged as_one = {.details = true, .devices_as = CT_DEVICES_AS_ONE};
    write_ranks(4); /* 0 and 3 have both */
    merge_range(&merged, 0, 4);
    add_merged(&as_one, &merged);
    for (uint32_t i = 0; i < as_one.row_keys.count; i++) {
        const struct ct_merged_row *row = &as_one.rows[i];
        if (!strcmp(ct_merge_name(&as_one, row->sum.name), "kernel1"))
            ck_assert_uint_eq(row->spread.sum.processes, 4);
        else if (!strcmp(ct_merge_name(&as_one, row->sum.name), "kernel2"))
            ck_assert_uint_eq(row->spread.sum.processes, 2); /* 0 and 2 */
        else
            continue;
        ck_assert(row->spread.unknown);
    }
    ct_merge_free(&as_one);
}
END_TEST

/* A rank's second process is added to its time; one without a rank is for itself. */
START_TEST(ranks_of_several_processes)
{
    size_t count;
    write_ranks(3);
    merge_range(&merged, 0, 3);
    ck_assert(!ct_files_merge(&merged, files, 2, 1)); /* the same ones */
    merged.processes[4].rank = 0;
    struct ct_rank_total *ranks = ct_spread_ranks(&merged, &count);
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(ranks[0].processes, 2);
    ck_assert_uint_eq(ranks[0].total.gpu_ns, merged.totals[0].gpu_ns + merged.totals[3].gpu_ns);
    ck_assert_uint_eq(ranks[2].process, 2);
    ck_assert_uint_eq(ranks[3].process, 4);
    struct ct_imbalance i = ct_spread_imbalance(&merged);
    ck_assert_uint_eq(i.ranks, 4);
    ck_assert_uint_eq(i.most, 0);
    ck_assert_double_gt(i.ratio, 1);
    free(ranks);
}
END_TEST

START_TEST(bad_files_are_named_and_left_out)
{
    struct ct_merged good = {.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    char *fine[RANKS], said[4096] = "";
    size_t fine_count = 0;
    write_ranks(RANKS);
    ck_assert(ct_build_write(names[7], "CUTRACE\nnonsense", 16));
    ck_assert(ct_build_write(names[70], "", 0));
    unlink(names[99]);
    for (int i = 0; i < RANKS; i++)
        if (i != 7 && i != 70 && i != 99)
            fine[fine_count++] = files[i];
    FILE *err = tmpfile();
    int saved = dup(STDERR_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    bool all = ct_files_merge(&merged, files, RANKS, 4);
    dup2(saved, STDERR_FILENO);
    close(saved);
    ck_assert_int_ge(pread(fileno(err), said, sizeof(said) - 1, 0), 0);
    fclose(err);
    ck_assert(!all);
    char *first = strstr(said, "/7.bin: "), *second = strstr(said, "/70.bin: ");
    ck_assert_msg(first && second && first < second && strstr(said, "/99.bin: "), "%s", said);
    size_t lines = 0;
    for (const char *p = said; *p; p++)
        lines += *p == '\n';
    ck_assert_uint_eq(lines, 3);
    ck_assert(ct_files_merge(&good, fine, fine_count, 2));
    ck_assert_uint_eq(merged.process_count, RANKS - 3);
    for (uint32_t i = 0; i < good.row_keys.count; i++)
        ck_assert_uint_eq(good.rows[i].sum.total_ns, merged.rows[i].sum.total_ns);
    ct_merge_free(&good);
}
END_TEST

/* The file that is written has our version: what only a newer one allows must not be in it. */
START_TEST(what_no_report_would_read_is_not_written)
{
    struct ct_build b;
    struct ct_read_error error;
    struct ct_summary s = {0};
    struct ct_options o = {.files = files, .file_count = 1, .log_file = names[1]};
    struct ct_file_row row = ct_build_row(77, 0, 0, 0);
    size_t bytes;
    ct_build_start(&b);
    add_process(&b, 0);
    add_devices(&b, 0);
    ct_build_add(&b, CT_SECTION_ROWS, &row);
    char *image = ct_build_image(&b, &bytes);
    ((struct ct_file_header *)image)->minor = CT_FILE_MINOR + 1;
    ck_assert(ct_build_write(names[0], image, bytes));
    ck_assert_int_eq(ct_summary_read(&s, names[0], &error), 0);
    ck_assert_int_eq(ct_report_merge(&(struct ct_input){.o = &o}, NULL), EXIT_FAILURE);
    ck_assert(access(names[1], F_OK));
    ct_summary_free(&s);
    free(image);
    ct_build_free(&b);
}
END_TEST

/* Beside profiles there may be anything; numbers are in their order. */
START_TEST(directories)
{
    struct ct_file_list list = {0};
    write_ranks(12);
    ck_assert(ct_build_write(names[RANKS], "no profile", 10));
    ck_assert_int_eq(mkdir(names[RANKS + 1], 0777), 0);
    ck_assert(ct_files_add(&list, directory));
    ck_assert_uint_eq(list.count, 12);
    for (int i = 0; i < 12; i++)
        ck_assert_str_eq(list.paths[i], names[i]);
    ck_assert(!ct_files_add(&list, names[RANKS + 1]));
    ck_assert_uint_eq(list.count, 12);
    ck_assert(ct_files_add(&list, "not there"));
    ck_assert_uint_eq(list.count, 13);
    ct_files_free(&list);
    list.output = names[3];
    ck_assert(ct_files_add(&list, directory));
    ck_assert(list.left_out);
    ck_assert_uint_eq(list.count, 11);
    ck_assert_str_eq(list.paths[3], names[4]);
    ck_assert(ct_files_add(&list, names[3]));
    ck_assert_uint_eq(list.count, 12);
    ct_files_free(&list);
    rmdir(names[RANKS + 1]);
}
END_TEST

/* The newest state is behind the one before, and a byte of it is missing. */
static void write_cut(const char *path, bool has_rows)
{
    struct ct_build b;
    size_t bytes;
    ct_build_start(&b);
    ct_build_process(&b, 1, "./app");
    struct ct_file_row row =
        ct_build_row(CT_ROW_KERNEL, 0, ct_build_device(&b, 0, "GPU"), ct_build_text(&b, "kernel"));
    ct_build_time(&row, 1000);
    if (has_rows)
        ct_build_add(&b, CT_SECTION_ROWS, &row);
    char *image = ct_build_image(&b, &bytes);
    struct ct_file_commit *c = ((struct ct_file_header *)image)->commit, newest = c[0];
    c[0].offset = c[1].offset;
    c[1].offset = newest.offset;
    ct_build_seal(image);
    ck_assert(ct_build_write(path, image, bytes - 1));
    free(image);
    ct_build_free(&b);
}

/* It is taken as it was before; only if nothing is left of it that is a failure. */
START_TEST(a_file_that_was_cut)
{
    write_cut(names[0], _i);
    ck_assert_int_eq(ct_files_merge(&merged, files, 1, 1), _i);
    ck_assert_uint_eq(merged.process_count, 1);
    ck_assert_uint_eq(merged.fell_back, 1);
    ck_assert_uint_eq(merged.row_keys.count, (unsigned)_i);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("ranks");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_merged_file_says_what_its_files_say);
    tcase_add_test(tests, merging_is_associative);
    tcase_add_test(tests, threads_do_not_matter);
    tcase_add_test(tests, sums_over_the_ranks);
    tcase_add_test(tests, least_and_most);
    tcase_add_test(tests, one_process_counts_once);
    tcase_add_test(tests, one_process_on_two_models_counts_once);
    tcase_add_test(tests, ranks_of_several_processes);
    tcase_add_test(tests, bad_files_are_named_and_left_out);
    tcase_add_test(tests, what_no_report_would_read_is_not_written);
    tcase_add_test(tests, directories);
    tcase_add_loop_test(tests, a_file_that_was_cut, 0, 2);
    return ct_case_main("ranks", tests);
}
