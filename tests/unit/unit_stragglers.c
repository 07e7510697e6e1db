/* SPDX-License-Identifier: MIT */
/*
 * Jobs of eight ranks, drawn by chance: how often the report "stragglers" names a rank that is 3 %
 * slower, within ten steps, and for the right reason; and how often one that is not.
 */
#include <string.h>

#include "case_main.h"
#include "drawn.h"
#include "report/watch/step_count.h"
#include "report/watch/step_times.h"

#define RANKS 8
#define STEPS 10
#define KERNELS 12
#define MOST 64 /* launches of a kernel in a step */
#define JOBS 50
#define SLOW 3
#define BASE_NS 200000.0 /* of a collective that waits for nobody */

enum slow { NOTHING, KERNELS_LONGER, COPIES_LONGER, HOST_LATE };

struct job {
    enum slow slow;
    bool has_nccl;
    bool has_ranges;
    double jitter; /* of a host, a part of a step */
};

static struct ct_step_times times;

static void tear_down(void)
{
    ct_step_times_free(&times);
}

/* Layers' kernels are launched often, others once. */
static unsigned launches(unsigned kernel)
{
    return kernel < 6 ? 24 : kernel < 8 ? 2 : 1;
}

static double mean_ns(unsigned kernel)
{
    return 20000 + 10000.0 * kernel;
}

/* As drawn(), by 4 %. */
static uint64_t drawn_ns(double mean)
{
    return (uint64_t)(mean * (0.96 - 0.04 * log(1 - ct_drawn_uniform())));
}

static double step_ns(void)
{
    double sum = 1.5 * BASE_NS;
    for (unsigned k = 0; k < KERNELS; k++)
        sum += launches(k) * mean_ns(k);
    return sum;
}

/* Durations of a rank, and its arrival at the collective in each step. */
struct rank {
    uint64_t kernel[KERNELS][STEPS * MOST], copy[STEPS], nccl[STEPS];
    double arrival_ns[STEPS];
};

static void draw(struct rank *r, const struct job *j, bool is_slow)
{
    memset(r->arrival_ns, 0, sizeof(r->arrival_ns));
    for (unsigned k = 0; k < KERNELS; k++) {
        double factor = is_slow && j->slow == KERNELS_LONGER ? 1.03 : 1;
        for (unsigned i = 0; i < STEPS * launches(k); i++) {
            r->kernel[k][i] = drawn_ns(mean_ns(k) * factor);
            r->arrival_ns[i / launches(k)] += (double)r->kernel[k][i];
        }
    }
    for (unsigned i = 0; i < STEPS; i++) {
        double more = is_slow && j->slow == COPIES_LONGER ? 0.03 * step_ns() : 0;
        r->copy[i] = drawn_ns(BASE_NS / 2 + more);
        r->arrival_ns[i] += (double)r->copy[i] + 2 * j->jitter * step_ns() * ct_drawn_uniform() +
                            (is_slow && j->slow == HOST_LATE ? 0.03 * step_ns() : 0);
    }
}

static void meet(struct rank *all)
{
    for (unsigned i = 0; i < STEPS; i++) {
        double last_ns = 0;
        for (unsigned r = 0; r < RANKS; r++)
            last_ns = fmax(last_ns, all[r].arrival_ns[i]);
        for (unsigned r = 0; r < RANKS; r++)
            all[r].nccl[i] = drawn_ns(BASE_NS) + (uint64_t)(last_ns - all[r].arrival_ns[i]);
    }
}

static void add_range(struct ct_build *b, const char *domain, const char *name, uint32_t parent,
                      uint64_t count, double total_ns)
{
    struct ct_file_range range = {.parent = parent,
                                  .domain = ct_build_text(b, domain),
                                  .name = ct_build_text(b, name),
                                  .style = CT_RANGE_PUSH_POP,
                                  .count = count,
                                  .total_ns = (uint64_t)total_ns,
                                  .max_ns = (uint64_t)total_ns};
    ct_build_add(b, CT_SECTION_RANGES, &range);
}

/* A step, a part of it, one of it all, and NCCL's own. */
static void add_ranges(struct ct_build *b, const struct rank *r, bool before)
{
    double sum_ns = 0;
    uint64_t count = before ? 0 : STEPS;
    struct ct_file_thread thread = {.tid = 1, .count = 1};
    for (unsigned i = 0; i < STEPS && !before; i++)
        sum_ns += r->arrival_ns[i];
    ct_build_add(b, CT_SECTION_THREADS, &thread);
    add_range(b, "", "step", 0, count, sum_ns);
    add_range(b, "", "forward", 1, count, sum_ns / 3);
    add_range(b, "", "load", 0, count, sum_ns / 10);
    add_range(b, "", "epoch", 0, before ? 0 : 1, sum_ns * 1.1);
    add_range(b, "NCCL", "ncclAllReduce", 0, count, sum_ns * 1.2);
}

/* The profile of STEPS steps; `before`: of none, as of the start of the time that is looked at. */
static void add(const struct rank *r, unsigned number, const struct job *j, bool before)
{
    char path[CT_CASE_PATH], name[16];
    struct ct_build b;
    struct ct_summary s = {0};
    struct ct_read_error error;
    ct_build_start(&b);
    ct_build_process(&b, 100 + number, "./app");
    ct_build_device(&b, 0, "GPU");
    struct ct_file_process *p = (void *)b.parts[CT_SECTION_PROCESS].data;
    p->rank = number + 1;
    p->ranks = RANKS;
    p->duration_ns = before ? 1000 : (uint64_t)(1000 + STEPS * step_ns());
    for (unsigned k = 0; k < KERNELS; k++) {
        snprintf(name, sizeof(name), "k%u", k);
        ct_drawn_add(&b, name, r->kernel[k], before ? 0 : STEPS * launches(k), 0);
    }
    if (j->has_nccl)
        ct_drawn_add(&b, "ncclDevKernel_AllReduce", r->nccl, before ? 0 : STEPS, 0);
    struct ct_file_row copy = ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0);
    for (unsigned i = 0; i < STEPS && !before; i++)
        ct_build_time(&copy, r->copy[i]);
    ct_build_add(&b, CT_SECTION_ROWS, &copy);
    if (j->has_ranges)
        add_ranges(&b, r, before);
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(&b, path));
    ck_assert_msg(!ct_summary_read(&s, path, &error), "%s", error.text);
    ck_assert_ptr_null(ct_step_times_add(&times, &s));
    ct_summary_free(&s);
    ct_build_free(&b);
    unlink(path);
}

static void draw_all(struct rank *all, const struct job *j)
{
    for (unsigned r = 0; r < RANKS; r++)
        draw(&all[r], j, r == SLOW);
    meet(all);
}

/* The ranks as they come out, the furthest behind first. */
static void play(const struct job *j)
{
    static struct rank all[RANKS];
    ct_step_times_free(&times);
    draw_all(all, j);
    for (int before = 1; before >= 0; before--)
        for (unsigned r = 0; r < RANKS; r++)
            add(&all[r], r, j, before);
    ct_step_times_compare(&times);
    ck_assert_uint_eq(times.count, RANKS);
    ck_assert_double_eq_tol(times.steps, STEPS, 0.5);
}

/* The reason is most of what it is behind by. */
static bool is_right(const struct job *j)
{
    const struct ct_step_rank *r = &times.ranks[0];
    double of[] = {[KERNELS_LONGER] = r->longer_ns[CT_STEP_KERNELS],
                   [COPIES_LONGER] = r->longer_ns[CT_STEP_COPIES],
                   [HOST_LATE] = ct_step_host_ns(r)};
    return r->is_straggler && r->process.rank == SLOW + 1 && of[j->slow] > r->behind_ns / 2 &&
           !times.ranks[1].is_straggler;
}

static void check_named(const struct job *j)
{
    unsigned right = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        play(j);
        right += is_right(j);
    }
    printf("slow %d, NCCL %d, ranges %d, hosts' jitter %.1f%%: %u of %u\n", j->slow, j->has_nccl,
           j->has_ranges, 100 * j->jitter, right, JOBS);
    ck_assert_uint_ge(right, JOBS * 95 / 100);
}

START_TEST(the_slow_rank_is_named)
{
    const enum slow slow = (enum slow)(_i + 1);
    ct_drawn_state = 7;
    check_named(&(struct job){slow, true, false, 0.002});
    check_named(&(struct job){slow, true, false, 0.01});
}
END_TEST

/* Without NCCL's kernels the ranks' own work is compared; a host's lateness is not to be seen. */
START_TEST(work_is_compared_without_nccl)
{
    ct_drawn_state = 8;
    check_named(&(struct job){KERNELS_LONGER, false, false, 0.01});
    check_named(&(struct job){COPIES_LONGER, false, false, 0.01});
}
END_TEST

/* Ranks that wait for nobody: their hosts are seen to be late where their steps are known. */
START_TEST(ranges_are_steps)
{
    ct_drawn_state = 10;
    for (enum slow slow = KERNELS_LONGER; slow <= HOST_LATE; slow++) {
        check_named(&(struct job){slow, false, true, 0.002});
        ck_assert_str_eq(times.range, "step");
        ck_assert_double_eq(times.ranks[0].steps, STEPS);
    }
}
END_TEST

/* Ranges as often as steps, and shorter, are none; nor is one that is once. */
START_TEST(parts_are_no_steps)
{
    struct ct_step_range step = {STEPS, 95}, load = {STEPS, 10}, epoch = {1, 100};
    ck_assert(ct_step_range_fits(&step, STEPS, 100));
    ck_assert(!ct_step_range_fits(&load, STEPS, 100));
    ck_assert(!ct_step_range_fits(&epoch, STEPS, 100));
    ck_assert(!ct_step_range_fits(&epoch, 2, 100));
}
END_TEST

START_TEST(no_rank_is_named_without_cause)
{
    const double jitter[] = {0.002, 0.01};
    unsigned named = 0;
    ct_drawn_state = 9;
    for (unsigned i = 0; i < 2 * JOBS; i++) {
        play(&(struct job){NOTHING, i % 4 < 2, i % 8 < 4, jitter[i % 2]});
        named += times.ranks[0].is_straggler;
    }
    printf("named without cause: %u of %u\n", named, 2 * JOBS);
    ck_assert_uint_le(named, 1);
}
END_TEST

/* Set-up takes little time; layers are launched more often. */
START_TEST(set_up_is_no_step)
{
    struct ct_step_launches rows[] = {{24000, 9e9}, {24000, 8e9}, {48000, 5e9}, {1000, 1e9},
                                      {1001, 9e8},  {2, 1e6},     {2, 1e6},     {3, 2e6},
                                      {50, 1e5},    {50, 1e5},    {1, 5e7}};
    ck_assert_double_eq(ct_step_count(rows, sizeof(rows) / sizeof(rows[0])), 1000);
    ck_assert_double_eq(ct_step_count(rows, 0), 0);
}
END_TEST

/* A process that launched one kernel, once. rank: plus one; 0: none. */
static void add_one_launch(uint32_t pid, uint32_t rank)
{
    struct ct_file_process p = {.pid = pid, .rank = rank, .duration_ns = 9};
    struct ct_file_device d = {.ordinal = 0};
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, 0);
    char strings[] = "";
    struct ct_summary s = {.process = &p,
                           .strings = strings,
                           .strings_count = 1,
                           .rows = &row,
                           .rows_count = 1,
                           .devices = &d,
                           .devices_count = 1};
    ct_build_time(&row, 1000);
    ck_assert_ptr_null(ct_step_times_add(&times, &s));
}

/* A process of another job, with a rank of its own, has none of the kernels. */
START_TEST(a_rank_of_another_job_hides_nothing)
{
    struct job job = {KERNELS_LONGER, false, false, 0.002};
    static struct rank all[RANKS];
    ct_drawn_state = 11;
    draw_all(all, &job);
    for (unsigned r = 0; r < RANKS; r++)
        add(&all[r], r, &job, false);
    add_one_launch(7, 1);
    ct_step_times_compare(&times);
    ck_assert_uint_eq(times.count, RANKS);
    ck_assert_uint_eq(times.all, RANKS + 1);
    ck_assert_uint_eq(times.ranks[0].process.rank, SLOW + 1);
    ck_assert(times.ranks[0].is_straggler);
}
END_TEST

/* A rank that has ended meanwhile has one profile, of all its time. */
START_TEST(one_profile_beside_windows_is_left_out)
{
    struct job job = {HOST_LATE, true, false, 0.002};
    static struct rank all[RANKS];
    ct_drawn_state = 12;
    draw_all(all, &job);
    for (unsigned r = 1; r < RANKS; r++)
        add(&all[r], r, &job, true);
    for (unsigned r = 0; r < RANKS; r++)
        add(&all[r], r, &job, false);
    ct_step_times_compare(&times);
    ck_assert_uint_eq(times.count, RANKS - 1);
    ck_assert_uint_eq(times.all, RANKS);
    ck_assert_uint_eq(times.ranks[RANKS - 1].process.rank, 1);
    ck_assert(!times.ranks[RANKS - 1].is_idle);
    ck_assert(is_right(&job));
}
END_TEST

/* One launch of one kernel is no step. */
START_TEST(what_is_launched_once_is_no_step)
{
    add_one_launch(1, 0);
    add_one_launch(2, 0);
    ct_step_times_compare(&times);
    ck_assert_uint_eq(times.count, 2);
    ck_assert_double_eq(times.steps, 0);
}
END_TEST

START_TEST(profiles_of_no_use_are_refused)
{
    struct ct_file_process p = {.pid = 1};
    char strings[] = "";
    struct ct_summary s = {.process = &p, .strings = strings, .strings_count = 1};
    ck_assert_ptr_null(ct_step_times_add(&times, &s));
    ck_assert_str_eq(ct_step_times_add(&times, &s),
                     "it is as old as the other profile of its process");
    p.duration_ns = 5;
    ck_assert_ptr_null(ct_step_times_add(&times, &s));
    ck_assert_str_eq(ct_step_times_add(&times, &s),
                     "there are two profiles of its process already");
    s.processes_count = 2;
    ck_assert_str_eq(ct_step_times_add(&times, &s),
                     "several processes were merged into it: their steps are not known");
    ct_step_times_compare(&times);
    ck_assert_uint_eq(times.count, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("stragglers");
    tcase_add_checked_fixture(t, NULL, tear_down);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, the_slow_rank_is_named, 0, 3);
    tcase_add_test(t, work_is_compared_without_nccl);
    tcase_add_test(t, ranges_are_steps);
    tcase_add_test(t, parts_are_no_steps);
    tcase_add_test(t, no_rank_is_named_without_cause);
    tcase_add_test(t, set_up_is_no_step);
    tcase_add_test(t, a_rank_of_another_job_hides_nothing);
    tcase_add_test(t, one_profile_beside_windows_is_left_out);
    tcase_add_test(t, what_is_launched_once_is_no_step);
    tcase_add_test(t, profiles_of_no_use_are_refused);
    return ct_case_main("stragglers", t);
}
