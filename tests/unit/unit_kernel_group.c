/* SPDX-License-Identifier: MIT */
/* Kernels by what people call them: the table's own examples, recorded names, sums of groups. */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hist.h"
#include "build_file.h"
#include "case_main.h"
#include "format/payload.h"
#include "report/kernel_group.h"
#include "report/names.h"
#include "report/nvprof_names.h"
#include "report/profile/encode.h"
#include "report/profile/files.h"
#include "report/profile/merged_hist.h"
#include "report/profile/spread.h"
#include "report/profile/view.h"

static size_t rules(void)
{
    size_t count = 0;
    while (ct_kernel_rules[count].select)
        count++;
    return count;
}

/* As a report spells it first: c++filt's spelling becomes nvprof's. */
static void expect(const char *name, const char *group)
{
    struct ct_string text = {0};
    ct_edg_respell(&text, name);
    ct_kernel_group(&text);
    ck_assert_str_eq(text.data, group);
    ct_string_free(&text);
}

START_TEST(each_rule_has_its_example)
{
    ck_assert_uint_gt(rules(), 15);
    for (size_t i = 0; i < rules(); i++)
        expect(ct_kernel_rules[i].example, ct_kernel_rules[i].shown);
}
END_TEST

static const char *const others[][2] = {
    {"void spin<500ll>(unsigned long long)", "spin"},
    {"vecAdd(float const*, float const*, float*, int)", "vecAdd"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, "
     "false>(int, "
     "float, float const*, float const*, float const*, float*, float*, float*)",
     "at::native::vectorized_layer_norm_kernel"},
    {"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, "
     "int>::Policy800, false, long, int, int, int>(int*, int*, int*, int const*, long*, long "
     "const*, "
     "int*, int const*, int, int, int)",
     "cub::DeviceRadixSortOnesweepKernel"},
    {"void lib::Tile<float, 4>::run<8>(int)", "lib::Tile::run"},
    {"cudapy::__main__::addone[abi:v1][abi:cw51](long long, Array<double, 1, A>)",
     "cudapy::__main__::addone"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::BUnaryFunctor<float, float, "
     "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)",
     "elementwise<MulFunctor>"},
    {"triton_red_fused__to_copy_native_layer_norm_12",
     "triton_red_fused__to_copy_native_layer_norm"},
    {"triton__0d1d2de", "triton_"},
    {"triton_poi_fused_add_3_0d1d2d3de", "triton_poi_fused_add"},
    {"nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "nvjet_tst"},
    {"volta_sgemm_128x64_nn", "volta_sgemm"},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclKernel_AllReduce"},
    {"gemv2T_kernel_val", "gemv2T_kernel_val"},
    /* what is no function of C++, or cannot be told */
    {"(other kernels)", "(other kernels)"},
    {"[unnamed kernel]", "[unnamed kernel]"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AbsFu",
     "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AbsFu"},
    {"f<", "f<"},
    {"f>>>(", "f>>>("},
};

START_TEST(names_without_a_rule_lose_what_varies)
{
    expect(others[_i][0], others[_i][1]);
}
END_TEST

/* Kernels that CUPTI saw on an H200, cut at 60 characters: those in C are whole. */
START_TEST(recorded_names_are_in_few_groups)
{
    const char *dir = getenv("srcdir");
    char pattern[4096], line[512];
    struct ct_key_table names = {0}, groups = {0};
    glob_t files;
    snprintf(pattern, sizeof(pattern), "%s/tests/data/brackets/*.cupti.tsv", dir ? dir : ".");
    ck_assert_int_eq(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        FILE *f = fopen(files.gl_pathv[i], "r");
        while (fgets(line, sizeof(line), f)) {
            struct ct_string group = {0};
            line[strcspn(line, "\t")] = 0;
            if (strncmp(line, "nvjet", 5) && strncmp(line, "cudnn", 5) && strncmp(line, "_Z4", 3))
                continue;
            ct_key_table_text(&names, line);
            ct_name_kernel(&group, line, CT_NAMES_GROUPED);
            ct_key_table_text(&groups, group.data);
            ct_string_free(&group);
        }
        fclose(f);
    }
    globfree(&files);
    ck_assert_uint_gt(names.count, 20);
    ck_assert_uint_eq(groups.count, 5); /* fill, spin, nvjet_sm90_tst, cudnn's fprop and bprop */
    ct_key_table_free(&names);
    ct_key_table_free(&groups);
}
END_TEST

START_TEST(long_names_end)
{
    struct ct_string name = {0};
    ct_string_put(&name, "at::native::elementwise_kernel<");
    for (int i = 0; i < 100000; i++)
        ct_string_put(&name, "a<b_kernel");
    ct_kernel_group(&name);
    ck_assert_uint_gt(name.len, 1000000); /* nothing closes it: it stays */
    for (int i = 0; i < 100001; i++)
        ct_string_put(&name, ">");
    ct_kernel_group(&name);
    ck_assert_str_eq(name.data, "at::native::elementwise_kernel");
    ct_string_free(&name);
}
END_TEST

/* ---- sums ---- */

#define FILES 70 /* more than one chunk of ct_files_merge() */

static char dir[CT_CASE_PATH];

static void add_kernel(struct ct_build *b, const char *name, uint64_t ns, uint32_t registers)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, name));
    struct ct_file_bucket bucket = {.count = 1, .bucket = ct_hist_bucket(ns)};
    ct_build_time(&row, ns);
    row.registers = registers;
    row.doubt_ns = 7;
    row.lost[CT_LOSS_RING_FULL] = 1;
    row.bucket_first = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
    row.bucket_count = 1;
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static char *path_of(int i)
{
    char *path = NULL;
    ck_assert_int_gt(asprintf(&path, "%s/%d", dir, i), 0);
    return path;
}

/* Each file has two instances that all have, and one of its own; the first and the last were built
 * otherwise. */
static void write_files(char **paths)
{
    ct_case_template(dir);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int i = 0; i < FILES; i++) {
        struct ct_build b;
        char own[64];
        snprintf(own, sizeof(own), "_Z4spinILi%dEEvx", 1000 + i);
        paths[i] = path_of(i);
        ct_build_start(&b);
        ct_build_process(&b, 100 + (uint32_t)i, "./app");
        ct_build_device(&b, 0, "GPU");
        add_kernel(&b, "_Z4spinILi1EEvx", 1000, 16);
        add_kernel(&b, "_Z4spinILi2EEvx", 3000, 16);
        add_kernel(&b, own, 100000 + (uint64_t)i, 16);
        add_kernel(&b, "_Z4fillIfEvPf", 50, 16);
        add_kernel(&b, "_Z4fillIdEvPd", 60, 18);
        add_kernel(&b, "_Z4copyIfEvPf", 40, i < FILES - 1 ? 16 : 18);
        add_kernel(&b, "_Z4markIfEvPf", 30, i ? 16 : 18);
        ck_assert(ct_build_save(&b, paths[i]));
        ct_build_free(&b);
    }
}

static void remove_files(char **paths, int count)
{
    for (int i = 0; i < count; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(dir);
}

static void expect_sums(const struct ct_merged *m, size_t files)
{
    struct ct_view v;
    struct ct_view_options o = {.demangle = true, .grouped = true};
    ct_view_gpu(&v, m, CT_VIEW_ALL_DEVICES, &o);
    ck_assert_uint_eq(v.count, 4);
    const struct ct_line *spin = &v.lines[0], *fill = &v.lines[1], *copy = &v.lines[2];
    const struct ct_line *mark = &v.lines[3];
    ck_assert_str_eq(spin->name, "spin");
    ck_assert_uint_eq(spin->names, files + 2);
    ck_assert_uint_eq(spin->timed, 3 * files);
    ck_assert_uint_eq(spin->calls, 6 * files);
    ck_assert_uint_eq(spin->min_ns, 1000);
    ck_assert_uint_eq(spin->max_ns, 100000 + files - 1);
    ck_assert_uint_eq(spin->doubt_ns, 21 * files);
    ck_assert_uint_eq(spin->row->hist.count > 2 && spin->row->sum.registers == 16, 1);
    uint64_t median_ns = ct_merged_hist_quantile(&spin->row->hist, 0.5, spin->min_ns, spin->max_ns);
    ck_assert(median_ns > 2900 && median_ns < 3100);
    ck_assert_str_eq(fill->name, "fill");
    ck_assert_uint_eq(fill->names, 2);
    ck_assert_uint_eq(fill->row->sum.registers, UINT32_MAX);
    ck_assert_str_eq(copy->name, "copy");
    ck_assert_uint_eq(copy->row->sum.registers, files < FILES ? 16 : UINT32_MAX);
    ck_assert_str_eq(mark->name, "mark");
    ck_assert_uint_eq(mark->row->sum.registers, files < FILES ? 18 : UINT32_MAX);
    ct_view_free(&v);
}

START_TEST(a_group_is_all_its_rows)
{
    char *paths[FILES];
    write_files(paths);
    for (size_t count = 1; count <= FILES; count += FILES - 1) {
        struct ct_merged m = {.details = true, .grouped = true};
        ck_assert(ct_files_merge(&m, paths, count, 2));
        expect_sums(&m, count);
        ct_merge_free(&m);
    }
    remove_files(paths, FILES);
}
END_TEST

/* What a rank spent in a group is the sum over its names, and not one rank for each name. */
START_TEST(ranks_have_sums_of_groups)
{
    char *paths[FILES];
    struct ct_merged m = {.details = true, .grouped = true};
    write_files(paths);
    ck_assert(ct_files_merge(&m, paths, FILES, 2));
    ck_assert_uint_eq(m.row_keys.count, 4);
    for (uint32_t i = 0; i < m.row_keys.count; i++) {
        struct ct_imbalance spread = ct_spread_of(&m.rows[i].spread.sum);
        ck_assert(!m.rows[i].spread.unknown);
        ck_assert_uint_eq(spread.ranks, FILES);
    }
    ck_assert_uint_eq(m.rows[0].spread.sum.min_ns, 2 * (1000 + 3000 + 100000));
    ct_merge_free(&m);
    remove_files(paths, FILES);
}
END_TEST

#define RANKS 8

/* What makes a rank slow makes all its kernels so. Every other one has another model of GPU. */
static void write_ranks(char **paths)
{
    ct_case_template(dir);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int i = 0; i < RANKS; i++) {
        struct ct_build b;
        paths[i] = path_of(i);
        ct_build_start(&b);
        ct_build_process(&b, 100 + (uint32_t)i, "./app");
        ct_build_device(&b, 0, i % 2 ? "GPU" : "Other GPU");
        for (int launch = 0; launch < 4; launch++)
            add_kernel(&b, "_Z4spinILi1EEvx", 1000 + (uint64_t)i * 10, 16);
        add_kernel(&b, "_Z4spinILi2EEvx", 100000 + (uint64_t)i * 1000, 16);
        ck_assert(ct_build_save(&b, paths[i]));
        ct_build_free(&b);
    }
}

/* Of what the report "merge" makes a file of. */
static void add_merged(struct ct_merged *to, const struct ct_merged *from)
{
    struct ct_summary s = {.minor = CT_FILE_MINOR};
    struct ct_read_error error;
    size_t bytes;
    s.payload = ct_encode(from, &bytes);
    ck_assert_msg(!ct_payload_parse(&s, bytes, &error), "%s", error.text);
    ct_merge_add(to, &s);
    ct_summary_free(&s);
}

static double scatter_ns2(const struct ct_file_spread *s)
{
    return s->mean_square_ns2 - s->mean_ns * s->mean_ns / (double)s->processes;
}

/* A merged file has each name by itself: that they differ is no scatter between ranks. */
START_TEST(merged_ranks_scatter_as_ranks_do)
{
    struct ct_merged several = {.grouped = true, .devices_as = CT_DEVICES_AS_ONE};
    struct ct_merged file = {.devices_as = CT_DEVICES_BY_MODEL}, merged = several;
    char *paths[RANKS];
    write_ranks(paths);
    ck_assert(ct_files_merge(&several, paths, RANKS, 1));
    ck_assert(ct_files_merge(&file, paths, RANKS, 1));
    add_merged(&merged, &file);
    add_merged(&merged, &file);
    ck_assert_uint_eq(merged.row_keys.count, 1);
    const struct ct_merged_spread *a = &several.rows[0].spread, *b = &merged.rows[0].spread;
    ck_assert(!a->unknown && b->unknown);
    ck_assert_uint_eq(b->sum.processes, 2 * RANKS);
    ck_assert_double_eq_tol(b->sum.mean_ns / a->sum.mean_ns, 2, 1e-9);
    ck_assert_double_eq_tol(scatter_ns2(&b->sum) / scatter_ns2(&a->sum), 2, 1e-6);
    ct_merge_free(&several);
    ct_merge_free(&file);
    ct_merge_free(&merged);
    remove_files(paths, RANKS);
}
END_TEST

/* What threads get by themselves where the stack has no limit, as batch systems like to have it. */
#define THREAD_STACK_BYTES ((size_t)2 << 20)

START_TEST(threads_have_room_for_long_names)
{
    struct ct_merged m = {.grouped = true};
    char *paths[FILES], name[16000] = "_Z4spinI";
    pthread_attr_t attr;
    write_files(paths);
    memset(name + strlen(name), 'P', sizeof(name) - strlen(name) - sizeof("iEvv"));
    strcat(name, "iEvv");
    for (int i = 0; i < FILES; i++) {
        struct ct_build b;
        ct_build_start(&b);
        ct_build_process(&b, 100 + (uint32_t)i, "./app");
        ct_build_device(&b, 0, "GPU");
        add_kernel(&b, name, 1000, 16);
        ck_assert(ct_build_save(&b, paths[i]));
        ct_build_free(&b);
    }
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
    ck_assert_int_eq(pthread_setattr_default_np(&attr), 0);
    ck_assert(ct_files_merge(&m, paths, FILES, 3));
    ck_assert_uint_eq(m.row_keys.count, 1);
    ct_merge_free(&m);
    remove_files(paths, FILES);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("kernel_group");
    tcase_add_test(c, each_rule_has_its_example);
    tcase_add_loop_test(c, names_without_a_rule_lose_what_varies, 0,
                        sizeof(others) / sizeof(others[0]));
    tcase_add_test(c, recorded_names_are_in_few_groups);
    tcase_add_test(c, long_names_end);
    tcase_add_test(c, a_group_is_all_its_rows);
    tcase_add_test(c, ranks_have_sums_of_groups);
    tcase_add_test(c, merged_ranks_scatter_as_ranks_do);
    tcase_add_test(c, threads_have_room_for_long_names);
    return ct_case_main("kernel_group", c);
}
