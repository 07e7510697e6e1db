/* SPDX-License-Identifier: MIT */
/* What advice is given, and above all when none is: just beyond and just short of each margin. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "report/reports/advice.h"
#include "report/reports/advice_facts.h"

#define MS 1000000u

static struct ct_merged merged;

/* A second of a program that does all well: kernels with copies from pinned memory beside them. */
struct program {
    struct ct_file_activity activity;
    struct ct_file_gap gap;
    struct ct_file_transfer in, out;
    uint64_t launches, kernel_ns; /* kernels, and one of them */
    uint64_t launch_ns;           /* the host's time for one */
    uint64_t sampled_out;
    const char *call; /* one more function, */
    uint64_t calls, call_ns;
    const char *copy_call;
    uint32_t rank;
    const char *command;
};

static struct program good(void)
{
    return (struct program){
        .activity = {.operations = 1200,
                     .first_ns = 5 * MS,
                     .last_ns = 1005 * MS,
                     .busy_ns = 950 * MS,
                     .compute_ns = 850 * MS,
                     .copy_ns = 300 * MS,
                     .both_ns = 200 * MS,
                     .beside_ns = 200 * MS,
                     .idle_ns = {[CT_IDLE_HOST] = 50 * MS},
                     .gaps = 500,
                     .longest_gap_ns = MS},
        .gap = {.octave = 16, .count = 500, .idle_ns = {[CT_IDLE_HOST] = 50 * MS}},
        .in = {.octave = 24,
               .from = CT_MEMORY_PINNED,
               .to = CT_MEMORY_DEVICE,
               .timed = 200,
               .bytes = (uint64_t)4000 * MS,
               .total_ns = 200 * MS},
        .out = {.octave = 24,
                .from = CT_MEMORY_DEVICE,
                .to = CT_MEMORY_PINNED,
                .timed = 100,
                .bytes = (uint64_t)2000 * MS,
                .total_ns = 100 * MS},
        .launches = 1000,
        .kernel_ns = 850000,
        .launch_ns = 4000,
        .call = "cuCtxSynchronize",
        .calls = 1,
        .call_ns = MS,
        .copy_call = "cuMemcpyHtoDAsync_v2",
        .command = "./app",
    };
}

static void put_kernels(struct ct_build *b, const struct program *p)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "k"));
    for (uint64_t i = 0; i < p->launches; i++)
        ct_build_time(&row, p->kernel_ns);
    row.lost[CT_LOSS_SAMPLED] = p->sampled_out;
    row.lost[CT_LOSS_CAPTURED] = 100000; /* they do not run */
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static void put_copies(struct ct_build *b, struct ct_file_transfer t, enum ct_direction direction)
{
    struct ct_file_row row = ct_build_row(CT_ROW_COPY, direction, 0, 0);
    for (uint64_t i = 0; i < t.timed; i++)
        ct_build_time(&row, t.total_ns / t.timed);
    t.row = ct_build_add(b, CT_SECTION_ROWS, &row);
    if (t.timed)
        ct_build_add(b, CT_SECTION_TRANSFERS, &t);
}

static void put_calls(struct ct_build *b, const char *name, uint64_t calls, uint64_t ns)
{
    struct ct_file_api a = {.name = ct_build_text(b, name), .calls = calls, .total_ns = ns};
    if (calls)
        ct_build_add(b, CT_SECTION_APIS, &a);
}

/* Adds the program's file to the merged. */
static void add(const struct program *p)
{
    struct ct_build b;
    struct ct_summary s = {0};
    struct ct_read_error error;
    char path[CT_CASE_PATH];
    ct_build_start(&b);
    struct ct_file_process process = {.pid = 100 + p->rank,
                                      .command = ct_build_text(&b, p->command),
                                      .flags = CT_PROCESS_FINISHED,
                                      .rank = p->rank,
                                      .ranks = p->rank ? 8 : 0};
    ct_build_add(&b, CT_SECTION_PROCESS, &process);
    ct_build_device(&b, p->rank, "GPU");
    put_kernels(&b, p);
    put_copies(&b, p->in, CT_HTOD);
    put_copies(&b, p->out, CT_DTOH);
    put_calls(&b, "cuLaunchKernel", p->launches, p->launches * p->launch_ns);
    put_calls(&b, p->copy_call, p->in.timed + p->out.timed, MS);
    put_calls(&b, p->call, p->calls, p->call_ns);
    ct_build_add(&b, CT_SECTION_ACTIVITIES, &p->activity);
    ct_build_add(&b, CT_SECTION_GAPS, &p->gap);
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(&b, path));
    ck_assert_msg(!ct_summary_read(&s, path, &error), "%s", error.text);
    ct_merge_add(&merged, &s);
    ct_summary_free(&s);
    ct_build_free(&b);
    unlink(path);
}

/* The keys of all lines, each with a blank behind it, are these; and a text has these words. */
static void expect_merged(const char *keys, const char *words)
{
    struct ct_advice advice = {0};
    char found[256] = "";
    bool has_words = !words;
    ct_advice_find(&advice, &merged);
    for (size_t i = 0; i < advice.count; i++) {
        strcat(strcat(found, advice.lines[i].key), " ");
        has_words |= words && strstr(advice.lines[i].text, words);
        ck_assert(strlen(advice.lines[i].text) < 400);
        ck_assert(advice.lines[i].percent <= 100.0);
    }
    ck_assert_str_eq(found, keys);
    ck_assert_msg(has_words, "no \"%s\" in: %s", words,
                  advice.count ? advice.lines[0].text : "nothing");
    ct_advice_free(&advice);
    ct_merge_free(&merged);
}

static void expect(const struct program *p, const char *keys, const char *words)
{
    add(p);
    expect_merged(keys, words);
}

static void nothing(const struct program *p)
{
    expect(p, "", NULL);
}

/* Idle time of that reason in so many gaps of that length, out of what was busy. */
static void idle(struct program *p, enum ct_idle reason, uint64_t ns, uint64_t count,
                 uint32_t octave)
{
    memset(p->activity.idle_ns, 0, sizeof(p->activity.idle_ns));
    memset(p->gap.idle_ns, 0, sizeof(p->gap.idle_ns));
    p->activity.idle_ns[reason] = p->gap.idle_ns[reason] = ns;
    p->activity.busy_ns = 1000 * MS - ns;
    p->activity.copy_ns = p->activity.both_ns = 200 * MS;
    p->activity.compute_ns = p->activity.busy_ns;
    p->gap.count = count;
    p->gap.octave = octave;
}

START_TEST(a_good_program)
{
    struct program p = good();
    nothing(&p);
}
END_TEST

START_TEST(launch_bound)
{
    struct program p = good();
    idle(&p, CT_IDLE_HOST, 210 * MS, 20000, 13);
    expect(&p, "launch_bound ",
           "idle 21.0% of its observed time while the host launched, 210.00ms in 20000 gaps");
    idle(&p, CT_IDLE_HOST, 190 * MS, 20000, 13);
    nothing(&p);
    idle(&p, CT_IDLE_HOST, 210 * MS, 90, 13);
    nothing(&p);
    idle(&p, CT_IDLE_QUEUED, 600 * MS, 20000, 13);
    nothing(&p);
    idle(&p, CT_IDLE_UNKNOWN, 600 * MS, 20000, 13);
    nothing(&p);
}
END_TEST

START_TEST(host_bound)
{
    struct program p = good();
    idle(&p, CT_IDLE_HOST, 400 * MS, 4, 26);
    expect(&p, "host_bound ", "idle 40.0% of its observed time while the host did something else");
    idle(&p, CT_IDLE_HOST, 190 * MS, 4, 26);
    nothing(&p);
    idle(&p, CT_IDLE_OFF, 400 * MS, 4, 26);
    nothing(&p);
}
END_TEST

/* What was not recorded, and what timing cost, are no part of the time. */
START_TEST(time_is_what_was_recorded)
{
    struct program p = good();
    idle(&p, CT_IDLE_HOST, 150 * MS, 20000, 13);
    nothing(&p);
    p.activity.idle_ns[CT_IDLE_OFF] = 200 * MS;
    p.activity.idle_ns[CT_IDLE_MEASURING] = 200 * MS;
    p.activity.busy_ns -= 400 * MS;
    expect(&p, "launch_bound ", "idle 25.0%");
}
END_TEST

START_TEST(synchronous_calls)
{
    struct program p = good();
    p.call = "cuStreamSynchronize_ptsz";
    p.calls = 700;
    p.call_ns = 300 * MS;
    idle(&p, CT_IDLE_SYNC, 120 * MS, 700, 17);
    expect(&p, "synchronous_calls ", "cuStreamSynchronize: 700 calls, 300.00ms");
    idle(&p, CT_IDLE_SYNC, 90 * MS, 700, 17);
    nothing(&p);
}
END_TEST

START_TEST(copies_of_graphs_do_not_wait)
{
    struct ct_advice_facts f;
    struct program p = good();
    p.call = "cudaGraphExecMemcpyNodeSetParams1D";
    add(&p);
    ct_advice_gather(&f, &merged);
    ck_assert_ptr_null(f.waiting.name);
    ct_merge_free(&merged);
}
END_TEST

START_TEST(small_kernels)
{
    struct program p = good();
    p.launches = 10000;
    p.kernel_ns = 2000;
    idle(&p, CT_IDLE_HOST, 300 * MS, 20000, 13);
    expect(
        &p, "launch_bound small_kernels ",
        "10000 of 10000 launches were of kernels of 2.0000us on average, less than the 4.0000us");
    idle(&p, CT_IDLE_HOST, 90 * MS, 20000, 13); /* the host is ahead */
    nothing(&p);
    p.kernel_ns = 4100;
    idle(&p, CT_IDLE_HOST, 300 * MS, 20000, 13);
    expect(&p, "launch_bound ", NULL);
}
END_TEST

START_TEST(pageable_copies)
{
    struct program p = good();
    p.in.from = CT_MEMORY_PAGEABLE;
    p.in.bytes /= 2;
    expect(&p, "pageable_copies ", "200.00ms for 1.8626GB at 10.000GB/s");
    p.in.total_ns = 90 * MS;
    p.in.bytes = (uint64_t)900 * MS;
    nothing(&p);
    p = good();
    p.in.from = CT_MEMORY_PAGEABLE; /* as fast as the pinned ones: nothing to gain */
    nothing(&p);
    p.in.from = CT_MEMORY_UNKNOWN;
    p.in.bytes /= 10;
    nothing(&p);
}
END_TEST

/* Two copies at a time: together they keep the device busy for half of the sum of their times. */
START_TEST(copies_beside_each_other)
{
    struct program p = good();
    p.in.from = CT_MEMORY_PAGEABLE;
    p.in.bytes /= 2;
    p.activity.copy_ns = p.activity.both_ns = 150 * MS;
    expect(&p, "pageable_copies ",
           "took 10.5% of the GPU's busy time, 100.00ms for 1.8626GB at 10.000GB/s");
    p.in.total_ns = 80 * MS;
    p.in.bytes = (uint64_t)800 * MS;
    p.activity.copy_ns = p.activity.both_ns = 90 * MS;
    nothing(&p);
}
END_TEST

START_TEST(no_overlap)
{
    struct program p = good();
    p.activity.compute_ns = 650 * MS;
    p.activity.both_ns = 0;
    expect(&p, "no_overlap ",
           "copies took 31.6% of the GPU's busy time and kernels 68.4%, but beside each other only "
           "0.0%; in several streams, from pinned memory, up to 300.00ms");
    p.activity.compute_ns = 690 * MS;
    p.activity.both_ns = 40 * MS; /* a good tenth of what could be */
    nothing(&p);
    p.activity.compute_ns = 860 * MS;
    p.activity.copy_ns = 90 * MS;
    p.activity.both_ns = 0;
    nothing(&p);
    p = good();
    p.activity.compute_ns = 650 * MS;
    p.activity.both_ns = 0;
    p.in.timed = 0;
    p.out.timed = 1; /* one alone cannot run beside what makes its data */
    nothing(&p);
}
END_TEST

START_TEST(small_copies)
{
    struct program p = good();
    p.in = (struct ct_file_transfer){.octave = 12,
                                     .from = CT_MEMORY_PINNED,
                                     .to = CT_MEMORY_DEVICE,
                                     .timed = 1000,
                                     .bytes = 4096000,
                                     .total_ns = 60 * MS};
    expect(&p, "small_copies ", "1000 copies of 4.0000KB on average took 6.3%");
    p.in.total_ns = 40 * MS;
    nothing(&p);
    p.in.total_ns = 60 * MS;
    p.in.timed = 90;
    nothing(&p);
    p.in.timed = 1000;
    p.in.octave = 16;
    nothing(&p);
}
END_TEST

START_TEST(mapped_memory)
{
    struct program p = good();
    p.call = "cuMemHostGetDevicePointer_v2";
    p.calls = 3;
    p.in.timed = 0;
    expect(&p, "mapped_memory ", "3 times the address of host memory");
    p.in.timed = 200; /* something is copied there */
    nothing(&p);
}
END_TEST

START_TEST(pinning)
{
    struct program p = good();
    p.call = "cuMemHostAlloc";
    p.calls = 3;
    p.call_ns = 700 * MS;
    expect(&p, "pinning ", "cuMemHostAlloc: 3 calls), all copies from and to it only 300.00ms");
    p.call_ns = 500 * MS;
    nothing(&p);
    p.call_ns = 700 * MS;
    p.in.from = p.out.to = CT_MEMORY_UNKNOWN;
    nothing(&p);
}
END_TEST

START_TEST(default_stream)
{
    struct program p = good();
    p.activity.turns = 600;
    p.activity.beside_ns = 0;
    expect(&p, "default_stream ", "waited for each other 600 times in 1200 operations");
    p.activity.turns = 90;
    nothing(&p);
    p.activity.turns = 600;
    p.activity.beside_ns = 200 * MS; /* and yet they run side by side */
    nothing(&p);
}
END_TEST

static void add_ranks(uint64_t most_launches)
{
    struct program p = good();
    for (p.rank = 1; p.rank <= 4; p.rank++) {
        p.launches = p.rank == 3 ? most_launches : 1000;
        add(&p);
    }
}

START_TEST(imbalance)
{
    add_ranks(2000);
    expect_merged("imbalance ",
                  "rank 2 had 2.00000s of work for its GPU, 47% more than the mean of 4 "
                  "ranks, 1.36250s: the others wait");
    add_ranks(1200);
    expect_merged("", NULL);
    add_ranks(1000);
    add_ranks(1000);
    add_ranks(2000); /* a rank has the time of all its processes: a third more than the others */
    expect_merged("", NULL);
    struct program p = good(), other = good(); /* not ranks of one program */
    other.launches = 3000;
    other.command = "./other";
    add(&p);
    add(&other);
    expect_merged("", NULL);
}
END_TEST

/* All that is wrong at once, and too little known to say so. */
START_TEST(silence_without_facts)
{
    struct program p = good();
    idle(&p, CT_IDLE_HOST, 500 * MS, 20000, 13);
    p.in.from = CT_MEMORY_PAGEABLE;
    p.sampled_out = 200;
    nothing(&p);
    p.sampled_out = 0;
    p.activity.misplaced_ns = 100 * MS;
    nothing(&p);
    p.activity.misplaced_ns = 0;
    p.activity.operations = 0; /* a file of an older version */
    p.activity.last_ns = p.activity.first_ns;
    nothing(&p);
}
END_TEST

START_TEST(a_run_of_a_moment)
{
    struct program p = good();
    idle(&p, CT_IDLE_HOST, 40000, 200, 13);
    p.activity.last_ns = p.activity.first_ns + 90000;
    p.activity.busy_ns = 50000;
    nothing(&p);
}
END_TEST

START_TEST(the_headline)
{
    struct program p = good();
    idle(&p, CT_IDLE_HOST, 400 * MS, 20000, 13);
    add(&p);
    struct ct_headline h = ct_headline_of(&merged);
    ck_assert(h.known && h.is_launch_bound);
    ck_assert_double_eq_tol(h.busy_percent, 60, 0.01);
    ck_assert_double_eq_tol(h.copy_percent, 20, 0.01);
    ck_assert_double_eq_tol(h.launch_percent, 40, 0.01);
    ct_merge_free(&merged);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("advice");
    tcase_add_test(tests, a_good_program);
    tcase_add_test(tests, launch_bound);
    tcase_add_test(tests, host_bound);
    tcase_add_test(tests, time_is_what_was_recorded);
    tcase_add_test(tests, synchronous_calls);
    tcase_add_test(tests, copies_of_graphs_do_not_wait);
    tcase_add_test(tests, small_kernels);
    tcase_add_test(tests, pageable_copies);
    tcase_add_test(tests, copies_beside_each_other);
    tcase_add_test(tests, no_overlap);
    tcase_add_test(tests, small_copies);
    tcase_add_test(tests, mapped_memory);
    tcase_add_test(tests, pinning);
    tcase_add_test(tests, default_stream);
    tcase_add_test(tests, imbalance);
    tcase_add_test(tests, silence_without_facts);
    tcase_add_test(tests, a_run_of_a_moment);
    tcase_add_test(tests, the_headline);
    return ct_case_main("advice", tests);
}
