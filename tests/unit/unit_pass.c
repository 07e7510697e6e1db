/* SPDX-License-Identifier: MIT */
/*
 * Launches that go by without a look, and calls that are not timed: what is counted is exact, what
 * is drawn is drawn as often as is said. Seeds are fixed: each run is the same.
 */
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "case_main.h"
#include "counts/api_call.h"
#include "counts/api_count.h"
#include "counts/pass.h"
#include "counts/range.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "drain/api_stats.h"
#include "launch/thread_life.h"
#include "state/thread.h"
#include "system/clock.h"

static uint64_t seed;

static void set_up(void)
{
    ck_assert(ct_rows_init() && ct_contexts_init() && ct_streams_init() && ct_threads_init() &&
              ct_api_stats_init());
    ck_assert(ct_sample_init(&(struct ct_sample_policy){.every = 50, .sure = 1}));
    ct_pass_init(true);
    ct_stream(0)->flags = ct_stream(1)->flags = CU_STREAM_NON_BLOCKING;
    seed = ct_thread_self()->sampler->random = 0x123456789abcdef;
}

/* ---- drawing in advance ---- */

static const uint32_t everies[] = {2, 3, 7, 64, 1000, 1000000};

#define DRAWS 200000

/* P(skip >= k) is (1 - 1/every)^k: at the mean, and at thrice and a tenth of it. */
START_TEST(a_skip_is_geometric)
{
    uint32_t every = everies[_i];
    double ks[] = {1, every / 10.0 + 1, every, 3.0 * every}, sum = 0;
    unsigned least[4] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint32_t skip = ct_random_skip(&seed, every, UINT32_MAX);
        sum += skip;
        for (int k = 0; k < 4; k++)
            least[k] += skip >= floor(ks[k]);
    }
    double mean = every - 1, deviation = sqrt((double)every * (every - 1.0));
    ck_assert_double_lt(fabs(sum / DRAWS - mean), 4 * deviation / sqrt(DRAWS));
    for (int k = 0; k < 4; k++) {
        double p = pow(1 - 1.0 / every, floor(ks[k]));
        ck_assert_double_lt(fabs(least[k] - p * DRAWS), 4.5 * sqrt(p * (1 - p) * DRAWS) + 1);
    }
}
END_TEST

START_TEST(a_skip_has_bounds)
{
    for (int i = 0; i < 1000; i++) {
        ck_assert_uint_eq(ct_random_skip(&seed, 1, 10), 0);
        ck_assert_uint_le(ct_random_skip(&seed, 1u << 30, 32), 32);
    }
}
END_TEST

/* ---- launches ---- */

#define KERNELS 900 /* more than a thread has entries */
#define ROUNDS 400

static char handles[KERNELS][64]; /* as far apart as those of a driver */
static uint64_t looked_at[KERNELS], launched[KERNELS];

/* Of the kernels each third is in another stream, and one in five is in a shape of its own. */
static bool launch(struct ct_thread *t, uint32_t k, CUresult result)
{
    struct ct_stream *s = ct_stream(k % 3 == 0);
    struct ct_shape shape = {.grid = {k % 5 ? 1 : k, 1, 1}, .block = {64, 1, 1}};
    struct ct_pass_finding f = {
        .handle = handles[k],
        .stream = (CUstream)s,
        .shape = &shape,
        .known_stream = s,
        .context = ct_context(0),
        .row = k,
        .loss = CT_LOSS_SAMPLED,
        .generation = ct_pass_generation_now(),
    };
    struct ct_pass *p = ct_pass_take(t->passes, f.handle, shape.grid, shape.block, 0, f.stream);
    launched[k]++;
    if (p) {
        ct_pass_made(t->passes, p, result);
        return true;
    }
    struct ct_choice choice;
    struct ct_drawn drawn = ct_pass_candidate(t->passes, &f);
    ct_sample_choose(t->sampler, &t->passes->cluster, k, ct_sample_key(&shape, 0, 1), 1, drawn,
                     &choice);
    f.cell = choice.cell;
    looked_at[k]++;
    if (!ct_cell_is_sure(f.cell))
        ct_pass_arm(t->passes, &f, &t->sampler->random);
    return false;
}

static uint64_t passed_of(uint32_t k)
{
    return atomic_load(&ct_row(k)->lost[CT_LOSS_SAMPLED]);
}

/* Entries change hands, the drain thread comes by, what was drawn is thrown away: nothing is lost.
 */
START_TEST(counts_are_exact)
{
    struct ct_thread *t = ct_thread_self();
    uint64_t passed = 0, seen = 0;
    for (uint32_t n = 0; n < KERNELS * ROUNDS; n++) {
        passed += launch(t, n % 7 ? n % 20 : n / 50 % KERNELS, CUDA_SUCCESS);
        if (n % 1000 == 0)
            ct_passes_collect(t->passes);
        if (n % 30000 == 0)
            ct_pass_renew();
    }
    ct_passes_collect(t->passes);
    ck_assert(!ct_passes_collect(t->passes));
    for (uint32_t k = 0; k < KERNELS; k++)
        ck_assert_uint_eq(passed_of(k) + looked_at[k], launched[k]);
    for (uint32_t i = 1; i < ct_cells_count(); i++)
        seen += ct_cell_count(i).seen;
    ck_assert_uint_eq(seen, KERNELS * ROUNDS);
    ck_assert_uint_gt(passed, KERNELS * ROUNDS / 2);
    ck_assert_uint_eq(ct_passes_collected(), passed);
}
END_TEST

/* What a launch is compared with: not even a part of it may be another's. */
START_TEST(only_the_same_launch_goes_by)
{
    struct ct_thread *t = ct_thread_self();
    struct ct_pass *p = NULL;
    while (!launch(t, 1, CUDA_SUCCESS))
        ;
    uint32_t grid[] = {1, 1, 1}, block[] = {64, 1, 1}, other[] = {1, 1, 2};
    const void *f = handles[1];
    CUstream s = (CUstream)ct_stream(0);
    for (int i = 0; i < 10 && !p; i++) {
        launch(t, 1, CUDA_SUCCESS);
        p = ct_pass_take(t->passes, f, grid, block, 0, s);
    }
    ck_assert(p);
    p->left = 10;
    ck_assert(!ct_pass_take(t->passes, f, other, block, 0, s));
    ck_assert(!ct_pass_take(t->passes, f, grid, other, 0, s));
    ck_assert(!ct_pass_take(t->passes, f, grid, block, 1, s));
    ck_assert(!ct_pass_take(t->passes, f, grid, block, (size_t)1 << 32, s));
    ck_assert(!ct_pass_take(t->passes, f, grid, block, 0, (CUstream)ct_stream(1)));
    ck_assert_ptr_eq(ct_pass_take(t->passes, f, grid, block, 0, s), p);
    ct_pass_renew();
    ck_assert(!ct_pass_take(t->passes, f, grid, block, 0, s));
}
END_TEST

/* The call itself does not count, and a first one that was interrupted is no matter. */
START_TEST(what_it_costs_is_measured)
{
    for (int i = 0; i < 20; i++) {
        uint64_t now = ct_ticks();
        ct_pass_measured(now - (i ? 1000000 : 9000000), now - 900000, now);
    }
    uint64_t ticks = ct_sample_ticks(CT_COST_PASS);
    ck_assert_uint_ge(ticks, 90000); /* within a step */
    ck_assert_uint_lt(ticks, 110000);
    ck_assert_uint_eq(ct_sample_ticks(CT_COST_BRACKET), 0);
}
END_TEST

/* A launch that fails has not run. */
START_TEST(failures_do_not_count)
{
    struct ct_thread *t = ct_thread_self();
    unsigned failed = 0;
    for (int i = 0; i < 5000; i++)
        failed += launch(t, 2, i % 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE) && i % 2 == 0;
    ct_passes_collect(t->passes);
    ck_assert_uint_gt(failed, 1000);
    ck_assert_uint_eq(passed_of(2) + looked_at[2] + failed, 5000);
    ck_assert_uint_eq(atomic_load(&ct_row(2)->errors), failed);
}
END_TEST

/* ---- the host's clock ---- */

#define API CT_ID_cuLaunchKernel

/* A call of so many ticks, after a pause; returns whether it was timed. */
static bool call_of(struct ct_thread *t, uint32_t api, uint64_t *now, uint64_t pause,
                    uint64_t ticks)
{
    bool due = ct_thread_times_call(t, api);
    *now += pause;
    ct_thread_count(t, api, due, *now, *now + ticks, false, 0);
    *now += ticks;
    return due;
}

static bool call(struct ct_thread *t, uint64_t *now, uint64_t pause, uint64_t ticks)
{
    return call_of(t, API, now, pause, ticks);
}

static uint64_t ticks_of_call(int i)
{
    return i % 100 == 37 ? 40000 : i % 2 ? 3000 : 9000;
}

/* Quick calls are timed now and then, and what is made of them is right. */
START_TEST(quick_calls_are_estimated)
{
    struct ct_thread *t = ct_thread_self();
    uint64_t now = 1, truth = 5000000, timed = 1;
    ct_api_interval_ticks = 40000;
    ct_api_long_ticks = UINT64_MAX;
    call(t, &now, 0, truth); /* the first one takes long, and stands for no other */
    for (int i = 1; i < 400000; i++) {
        uint64_t ticks = ticks_of_call(i);
        truth += ticks;
        timed += call(t, &now, 100, ticks);
        if (i % 1000 == 0)
            ct_api_stats_collect(t);
    }
    ct_api_stats_sum_up(t);
    struct ct_api_totals totals = ct_api_totals(API);
    double error = (double)totals.total_ns / (double)ct_ticks_to_ns(truth) - 1;
    printf("# %llu timed, %.4f\n", (unsigned long long)timed, error);
    ck_assert_uint_eq(totals.calls, 400000);
    ck_assert_uint_eq(totals.timed, timed);
    ck_assert_uint_lt(timed, 110000);
    ck_assert_uint_gt(timed, 40000);
    ck_assert_double_lt(fabs(error), 0.01);
    double stands = (double)ct_api_stats(API)->sampled / 400000 - 1;
    ck_assert_double_lt(fabs(stands), 0.02);
    ct_api_interval_ticks = 0;
}
END_TEST

START_TEST(slow_calls_are_all_timed)
{
    struct ct_thread *t = ct_thread_self();
    uint64_t now = 1, truth = 0;
    ct_api_interval_ticks = 40000;
    ct_api_long_ticks = UINT64_MAX;
    for (int i = 0; i < 10000; i++) {
        truth += 30000 + (uint64_t)i;
        ck_assert(call(t, &now, 30000, 30000 + (uint64_t)i));
    }
    ct_api_stats_sum_up(t);
    struct ct_api_totals totals = ct_api_totals(API);
    ck_assert_uint_eq(totals.timed, 10000);
    ck_assert_uint_eq(totals.total_ns, ct_ticks_to_ns(truth));
    ct_api_interval_ticks = 0;
}
END_TEST

/* Calls that only ask: short ones of two lengths in step, and now and then one that takes longer.
 */
static uint64_t ticks_of_question(uint64_t i)
{
    return ct_ns_to_ticks(i % 50000 == 40000 ? 3000 : i % 16 == 3 ? 200 : 60);
}

/* Without a budget few calls that only ask are timed, and their total is right all the same. */
START_TEST(short_calls_are_timed_rarely)
{
    struct ct_thread *t = ct_thread_self();
    uint64_t now = 1, truth = 0, timed = 0;
    ct_api_count_init(false, 0);
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t ticks = ticks_of_question(i);
        truth += ticks;
        timed += call_of(t, CT_ID_cudaGetDevice, &now, ct_ns_to_ticks(1000), ticks);
        if (i % 1000 == 0)
            ct_api_stats_collect(t);
    }
    ct_api_stats_sum_up(t);
    struct ct_api_totals totals = ct_api_totals(CT_ID_cudaGetDevice);
    double error = (double)totals.total_ns / (double)ct_ticks_to_ns(truth) - 1;
    printf("# %llu timed, %.4f\n", (unsigned long long)timed, error);
    ck_assert_uint_eq(totals.calls, 1000000);
    ck_assert_uint_lt(timed, 80000);
    ck_assert_uint_gt(timed, 50000);
    ck_assert_double_lt(fabs(error), 0.01);
}
END_TEST

/* A call that may wait, one of microseconds, one that comes rarely, and all in ranges are timed. */
START_TEST(other_calls_are_all_timed)
{
    static const struct {
        uint32_t api, pause_ns, ns, range;
    } cases[] = {
        {CT_ID_cudaStreamSynchronize, 1000, 100, 0}, {CT_ID_cudaMemcpyAsync, 1000, 100, 0},
        {CT_ID_cudaLaunchKernel, 1000, 100, 0},      {CT_ID_cudaMemGetInfo, 1000, 2000, 0},
        {CT_ID_cudaGetDevice, 500000, 100, 0},       {CT_ID_cudaGetDeviceCount, 1000, 100, 1},
    };
    struct ct_thread *t = ct_thread_self();
    uint64_t now = 1;
    ct_api_count_init(false, 0);
    if (cases[_i].range)
        ct_range_push(t, &(struct ct_range_label){.text = "range", .bytes = 5});
    for (uint64_t i = 0; i < 2000; i++)
        ck_assert(call_of(t, cases[_i].api, &now, ct_ns_to_ticks(cases[_i].pause_ns),
                          ct_ns_to_ticks(cases[_i].ns)));
}
END_TEST

/* A function that begins to take long is timed as a whole from its first such call on. */
START_TEST(a_long_call_ends_the_sample)
{
    struct ct_thread *t = ct_thread_self();
    uint64_t now = 1, untimed = 0;
    ct_api_count_init(false, 0);
    for (uint64_t i = 0; i < 100000; i++)
        untimed += !call_of(t, CT_ID_cudaEventQuery, &now, 1, ct_ns_to_ticks(100));
    ck_assert_uint_gt(untimed, 80000);
    while (!call_of(t, CT_ID_cudaEventQuery, &now, 1, ct_ns_to_ticks(5000)))
        continue;
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert(call_of(t, CT_ID_cudaEventQuery, &now, 1, ct_ns_to_ticks(5000)));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("pass");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, a_skip_is_geometric, 0, (int)ct_countof(everies));
    tcase_add_test(tests, a_skip_has_bounds);
    tcase_add_test(tests, counts_are_exact);
    tcase_add_test(tests, only_the_same_launch_goes_by);
    tcase_add_test(tests, what_it_costs_is_measured);
    tcase_add_test(tests, failures_do_not_count);
    tcase_add_test(tests, quick_calls_are_estimated);
    tcase_add_test(tests, slow_calls_are_all_timed);
    tcase_add_test(tests, short_calls_are_timed_rarely);
    tcase_add_loop_test(tests, other_calls_are_all_timed, 0, 6);
    tcase_add_test(tests, a_long_call_ends_the_sample);
    return ct_case_main("pass", tests);
}
