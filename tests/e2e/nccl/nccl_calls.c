/* SPDX-License-Identifier: MIT */
/* NCCL: what it is called for is counted, with its bytes and the time of its kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#define MIB ((uint64_t)1 << 20)
#define INT8 1
#define FLOAT 8
#define BFLOAT16 10

/* In what way a program comes to NCCL, and how the directory of its library is called. */
static const struct way {
    const char *program, *library;
} linked = {"talker", "lib"}, late = {"talker_late", "lib"}, old = {"talker_late", "nccl-old"},
  part = {"talker_in", "nccl-in"};
static const struct way *const ways[] = {&linked, &late, &part};

static struct stage_scene scene_of(const struct way *way, const char *name, const char *env)
{
    static char program[4200], path[8500];
    snprintf(program, sizeof(program), "%s/tests/e2e/nccl/%s", stage_path_of("."), way->program);
    snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s/tests/sim/%s:%s/tests/sim/lib",
             stage_path_of("."), way->library, stage_path_of("."));
    return (struct stage_scene){.program = program, .argv = {name}, .env = {path, env}};
}

static void play(struct ct_summary *s, const struct way *way, const char *name, const char *env)
{
    struct stage_scene scene = scene_of(way, name, env);
    struct stage_run r = stage_play(&scene);
    ck_assert_msg(r.status == 0, "%s", r.err);
    stage_drop(&r);
    *s = (struct ct_summary){0};
    stage_profile(s, "summary.bin");
}

/* The row of messages of some size; all zero: there is none. */
static struct ct_file_collective row_of(const struct ct_summary *s, uint32_t collective,
                                        uint32_t datatype, uint32_t ranks, uint64_t bytes)
{
    struct ct_file_collective found = {0};
    unsigned rows = 0;
    for (size_t i = 0; i < s->collectives_count; i++) {
        const struct ct_file_collective *c = &s->collectives[i];
        if (c->collective != collective || c->datatype != datatype || c->ranks != ranks ||
            c->octave != 63 - (uint32_t)__builtin_clzll(bytes))
            continue;
        found = *c;
        rows++;
    }
    ck_assert_uint_le(rows, 1);
    return found;
}

/* As the stand-in has it. */
static uint64_t kernel_ns(uint64_t bytes)
{
    return 1000 + bytes / 64;
}

#define CHECK_CALLS(row, n, each_bytes, timed_n)                                                   \
    do {                                                                                           \
        const struct ct_file_collective row_ = (row);                                              \
        ck_assert_uint_eq(row_.calls, (n));                                                        \
        ck_assert_uint_eq(row_.bytes, (n) * (each_bytes));                                         \
        ck_assert_uint_eq(row_.timed, (timed_n));                                                  \
        ck_assert_uint_eq(row_.timed_bytes, (timed_n) * (each_bytes));                             \
        ck_assert_uint_eq(row_.failed, 0);                                                         \
    } while (0)

/* Times are estimates: here they are within a fiftieth and 0.3 us of what the kernels take. */
static void check_time(const struct ct_file_collective *row, uint64_t each_ns)
{
    uint64_t off = 300 + each_ns / 50;
    ck_assert_uint_gt(row->timed, 0);
    ck_assert_uint_le(row->total_ns / row->timed, each_ns + off);
    ck_assert_uint_ge(row->total_ns / row->timed + off, each_ns);
    ck_assert_uint_le(row->min_ns * row->timed, row->total_ns);
    ck_assert_uint_le(row->total_ns, row->max_ns * row->timed);
}

static void check_operation(const struct ct_summary *s, uint32_t collective, uint32_t datatype,
                            uint64_t calls, uint64_t bytes, uint64_t ns)
{
    struct ct_file_collective r = row_of(s, collective, datatype, 4, bytes);
    CHECK_CALLS(r, calls, bytes, calls);
    ck_assert_uint_eq(r.shared + r.captured, 0);
    check_time(&r, ns);
}

START_TEST(each_operation)
{
    struct ct_summary s;
    play(&s, ways[_i], "each", NULL);
    check_operation(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 10, MIB, kernel_ns(MIB));
    check_operation(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 1, 16 * MIB, kernel_ns(16 * MIB));
    check_operation(&s, CT_COLLECTIVE_ALL_GATHER, BFLOAT16, 3, 2 * MIB, kernel_ns(2 * MIB));
    check_operation(&s, CT_COLLECTIVE_REDUCE_SCATTER, INT8, 1, 4 * MIB, kernel_ns(4 * MIB));
    check_operation(&s, CT_COLLECTIVE_BROADCAST, INT8, 2, MIB, kernel_ns(MIB));
    check_operation(&s, CT_COLLECTIVE_REDUCE, INT8, 1, MIB, kernel_ns(MIB));
    check_operation(&s, CT_COLLECTIVE_SEND, INT8, 1, MIB, kernel_ns(MIB));
    check_operation(&s, CT_COLLECTIVE_RECV, INT8, 1, MIB, kernel_ns(0));
    ck_assert_uint_eq(s.collectives_count, 8);
    CHECK_TIMED(stage_kernel(&s, "spinDevKernel"), 20);
    ct_summary_free(&s);
}
END_TEST

START_TEST(groups_share_a_kernel)
{
    struct ct_summary s;
    play(&s, &linked, "groups", NULL);
    struct ct_file_collective small = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 4, MIB);
    struct ct_file_collective large = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 4, 2 * MIB);
    struct ct_file_collective cast = row_of(&s, CT_COLLECTIVE_BROADCAST, INT8, 4, MIB);
    CHECK_CALLS(small, 1, MIB, 1);
    CHECK_CALLS(large, 1, 2 * MIB, 1);
    CHECK_CALLS(cast, 1, MIB, 1);
    ck_assert_uint_eq(small.shared + large.shared + cast.shared, 3);
    check_time(&small, kernel_ns(4 * MIB) / 4);
    check_time(&large, kernel_ns(4 * MIB) / 2);
    check_time(&cast, kernel_ns(4 * MIB) / 4);
    ct_summary_free(&s);
}
END_TEST

START_TEST(exchanges_are_one_operation)
{
    struct ct_summary s;
    play(&s, &linked, "groups", NULL);
    check_operation(&s, CT_COLLECTIVE_ALL_TO_ALL, INT8, 1, 4 * MIB, kernel_ns(4 * MIB));
    check_operation(&s, CT_COLLECTIVE_SEND_RECV, INT8, 1, 4 * MIB, kernel_ns(MIB / 2 * 7));
    check_operation(&s, CT_COLLECTIVE_SEND_RECV, INT8, 1, MIB, kernel_ns(MIB));
    ck_assert_uint_eq(s.collectives_count, 6);
    ct_summary_free(&s);
}
END_TEST

/* Whose kernel it is that two communicators have launched in one stream nobody can tell. */
START_TEST(communicators_have_their_kernels)
{
    struct ct_summary s;
    play(&s, &linked, "comms", NULL);
    struct ct_file_collective four = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 4, MIB);
    struct ct_file_collective two = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 2, MIB);
    CHECK_CALLS(four, 2, MIB, 1);
    CHECK_CALLS(two, 2, MIB, 1);
    check_time(&four, kernel_ns(MIB));
    check_time(&two, kernel_ns(MIB));
    ck_assert_uint_eq(four.shared + two.shared, 0);
    ct_summary_free(&s);
}
END_TEST

START_TEST(captured_calls_have_no_time)
{
    struct ct_summary s;
    play(&s, &linked, "captured", NULL);
    struct ct_file_collective r = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 4, MIB);
    CHECK_CALLS(r, 3, MIB, 1);
    ck_assert_uint_eq(r.captured, 2);
    check_time(&r, kernel_ns(MIB));
    ct_summary_free(&s);
}
END_TEST

START_TEST(errors_are_passed_on)
{
    struct ct_summary s;
    struct stage_scene scene = scene_of(ways[_i], "failures", NULL);
    stage_compare(scene);
    play(&s, ways[_i], "failures", NULL);
    uint64_t failed = 0, calls = 0;
    for (size_t i = 0; i < s.collectives_count; i++) {
        failed += s.collectives[i].failed;
        calls += s.collectives[i].calls;
    }
    ck_assert_uint_eq(failed, 2);
    ck_assert_uint_eq(calls, 1);
    ct_summary_free(&s);
}
END_TEST

START_TEST(without_the_number_of_ranks)
{
    struct ct_summary s;
    play(&s, &old, "each", NULL);
    struct ct_file_collective r = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 0, MIB);
    CHECK_CALLS(r, 10, MIB, 10);
    check_time(&r, kernel_ns(MIB));
    CHECK_CALLS(row_of(&s, CT_COLLECTIVE_ALL_GATHER, BFLOAT16, 0, MIB / 2), 3, MIB / 2, 3);
    ct_summary_free(&s);
}
END_TEST

/* Launches that are not timed, looked at or passed over, leave the calls counted. */
START_TEST(without_times)
{
    struct ct_summary s;
    play(&s, &linked, "each", _i ? "CUTRACE_ACTIVITIES=api" : "CUTRACE_KERNELS=!spin*");
    struct ct_file_collective r = row_of(&s, CT_COLLECTIVE_ALL_REDUCE, FLOAT, 4, MIB);
    CHECK_CALLS(r, 10, MIB, 0);
    ck_assert_uint_eq(r.total_ns, 0);
    ct_summary_free(&s);
}
END_TEST

/* What NCCL marks when we ask how many ranks there are is not the program's. */
#if __has_include(<nvtx3/nvToolsExt.h>)
START_TEST(only_calls_of_the_program_are_ranges)
{
    struct ct_summary s;
    play(&s, &linked, "each", NULL);
    ck_assert_uint_eq(s.ranges_count, 1);
    ck_assert_str_eq(ct_summary_text(&s, s.ranges[0].name), "ncclAllReduce");
    ck_assert_uint_eq(s.ranges[0].count, 11);
    ct_summary_free(&s);
}
END_TEST
#endif

START_TEST(a_program_without_it_sees_none)
{
    struct stage_scene scene = {.program = stage_path_of("tests/e2e/nccl/asker")};
    struct stage_run r = stage_play(&scene);
    ck_assert_str_eq(r.out,
                     "ncclAllReduce 0\nncclGroupStart 0\nncclCommCount 0\nncclAlltoAll 0\n0 0\n");
    stage_drop(&r);
}
END_TEST

/* Two ranks are added up: calls and bytes, and what a rank has of the bus. */
START_TEST(ranks_are_merged)
{
    char line[512] = "", operation[32] = "";
    unsigned long total, calls, ranks, bytes;
    double algorithm, bus;
    struct ct_summary s;
    for (int i = 0; i < 2; i++) {
        play(&s, &linked, "each", NULL);
        ck_assert_int_eq(rename("summary.bin", i ? "b.bin" : "a.bin"), 0);
        ct_summary_free(&s);
    }
    char command[1024];
    snprintf(command, sizeof(command),
             "%s merge -o both.bin a.bin b.bin && %s nccl --format csv both.bin",
             stage_path_of("cutrace-report"), stage_path_of("cutrace-report"));
    FILE *f = popen(command, "r");
    while (fgets(line, sizeof(line), f) && !strstr(line, "AllReduce"))
        ;
    pclose(f);
    ck_assert_msg(sscanf(line, "%lu,%lu,%*u,%*u,%*u,\"%31[^\"]\",\"float\",%lu,%*u,%lu,%lf,%lf",
                         &total, &calls, operation, &ranks, &bytes, &algorithm, &bus) == 7,
                  "%s", line);
    ck_assert_str_eq(operation, "AllReduce");
    ck_assert_uint_eq(calls, 2); /* the largest come first */
    ck_assert_uint_eq(bytes, 2 * 16 * MIB);
    ck_assert_uint_eq(ranks, 4);
    ck_assert_double_eq_tol(algorithm, (double)bytes * 1e9 / (double)total, 2);
    ck_assert_double_eq_tol(bus, algorithm * 1.5, 2);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("nccl_calls");
    tcase_add_loop_test(t, each_operation, 0, 3);
    tcase_add_test(t, groups_share_a_kernel);
    tcase_add_test(t, exchanges_are_one_operation);
    tcase_add_test(t, communicators_have_their_kernels);
    tcase_add_test(t, captured_calls_have_no_time);
    tcase_add_loop_test(t, errors_are_passed_on, 0, 3);
    tcase_add_test(t, without_the_number_of_ranks);
    tcase_add_loop_test(t, without_times, 0, 2);
#if __has_include(<nvtx3/nvToolsExt.h>)
    tcase_add_test(t, only_calls_of_the_program_are_ranges);
#endif
    tcase_add_test(t, a_program_without_it_sees_none);
    tcase_add_test(t, ranks_are_merged);
    return stage_main("nccl_calls", t);
}
