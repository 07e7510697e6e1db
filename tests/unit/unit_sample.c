/* SPDX-License-Identifier: MIT */
/*
 * Sampling in virtual time: a program that launches, the controller, and what is made of the timed
 * operations, with the truth at hand. Seeds are fixed: each run is the same.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/covariance.h"
#include "base/process.h"
#include "base/ring.h"
#include "case_main.h"
#include "counts/pass.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "drain/api_stats.h"
#include "drain/control.h"
#include "drain/row_sums.h"
#include "launch/thread_life.h"
#include "report/profile/interval.h"
#include "state/thread.h"

#define MS 1000000u
#define SECOND 1000000000u

/* ---- numbers ---- */

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)((seed >> 11) + 1) / 9007199254740993.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- a run ---- */

static uint64_t clock_ns, stepped_ns;
static struct ct_costs costs;

static void start(struct ct_sample_policy policy, uint64_t run)
{
    ct_process_forget();
    ct_control_forget();
    ct_threads_forget();
    ck_assert(ct_rows_init() && ct_threads_init() && ct_sample_init(&policy));
    ck_assert(ct_streams || (ct_streams_init() && ct_contexts_init()));
    ct_stream(0)->flags = CU_STREAM_NON_BLOCKING;
    ct_pass_init(true);
    seed = 0x1234567 + run * 7919;
    ct_thread_self()->sampler->random = 0x9e3779b97f4a7c15u * (run + 1);
    clock_ns = 5 * (uint64_t)SECOND;
    stepped_ns = 0;
    costs = (struct ct_costs){.bracket_ns = 5600, .next_ns = 2400, .passed_ns = 40, .pass_ns = 40};
}

/* The drain thread comes by each 10 ms. */
static void pass_time(uint64_t ns)
{
    clock_ns += ns;
    if (clock_ns - stepped_ns < 10 * MS)
        return;
    stepped_ns = clock_ns;
    ct_passes_collect(ct_thread_self()->passes);
    ct_control_step(clock_ns, &costs);
}

static char handles[CT_ROWS][64];

static struct ct_pass_finding finding(const struct ct_shape *shape, uint32_t row)
{
    return (struct ct_pass_finding){
        .handle = handles[row],
        .stream = (CUstream)handles,
        .shape = shape,
        .known_stream = ct_stream(0),
        .context = ct_context(0),
        .row = row,
        .loss = CT_LOSS_SAMPLED,
        .generation = ct_pass_generation_now(),
    };
}

/* As src/launch/bracket.c does it. */
static bool choose(struct ct_thread *t, const struct ct_shape *shape, uint32_t row,
                   struct ct_choice *choice)
{
    struct ct_pass_finding f = finding(shape, row);
    struct ct_pass *p = ct_pass_take(t->passes, f.handle, shape->grid, shape->block, 0, f.stream);
    if (p) {
        ct_pass_made(t->passes, p, CUDA_SUCCESS);
        return false;
    }
    struct ct_drawn drawn = ct_pass_candidate(t->passes, &f);
    uint64_t key = ct_sample_key(shape, 0, 1);
    bool timed = ct_sample_choose(t->sampler, &t->passes->cluster, row, key, 1, drawn, choice);
    f.cell = choice->cell;
    if (f.cell != CT_CELL_NONE && !(timed && ct_cell_is_sure(f.cell)))
        ct_pass_arm(t->passes, &f, &t->sampler->random);
    return timed;
}

/* Returns what that costs. */
static uint32_t launch_in(struct ct_thread *t, uint32_t row, uint32_t blocks, double ns)
{
    struct ct_shape shape = {.grid = {blocks, 1, 1}, .block = {128, 1, 1}};
    struct ct_choice choice;
    if (!choose(t, &shape, row, &choice))
        return costs.passed_ns;
    struct ct_op op = {.row = row,
                       .operations = 1,
                       .shape = shape,
                       .cell = choice.cell,
                       .weight = choice.weight,
                       .cluster = choice.cluster};
    ct_row_add(ct_row(row), &op, (uint64_t)ns, (uint64_t)ns, 0);
    return choice.follows ? costs.next_ns : costs.bracket_ns;
}

static uint32_t launch(uint32_t row, uint32_t blocks, double ns)
{
    return launch_in(ct_thread_self(), row, blocks, ns);
}

static uint32_t kernel(uint32_t number)
{
    char name[32];
    snprintf(name, sizeof(name), "kernel_%u", number);
    return ct_row_get(CT_ROW_KERNEL, 0, 0, name);
}

/* ---- the user's wishes ---- */

START_TEST(a_target_is_last)
{
    ct_config = (struct ct_config){.sample = 1};
    ck_assert_uint_eq(ct_sample_policy_of_config(false).target_ppm, 5000);
    ck_assert_uint_eq(ct_sample_policy_of_config(false).budget_ppm, 20000);
    ck_assert_uint_eq(ct_sample_policy_of_config(true).budget_ppm, 0);
    ct_config.budget_ppm = 7000;
    ck_assert_uint_eq(ct_sample_policy_of_config(false).target_ppm, 0);
    ck_assert_uint_eq(ct_sample_policy_of_config(false).budget_ppm, 7000);
    ct_config = (struct ct_config){.sample = 1, .trace = "1"};
    ck_assert_uint_eq(ct_sample_policy_of_config(false).budget_ppm, 0);
    ct_config = (struct ct_config){.sample = 1, .time_all = true};
    ck_assert_uint_eq(ct_sample_policy_of_config(false).budget_ppm, 0);
    ct_config = (struct ct_config){.sample = 1};
}
END_TEST

/* ---- the budget ---- */

#define WINDOW 100 /* ms */
#define RUN_MS 4000

static double spent_ns[RUN_MS + 1], passed_ns[RUN_MS + 1]; /* in each millisecond */

static void spend(double *sums, uint64_t begin_ns, double ns)
{
    uint64_t at = (clock_ns - begin_ns) / MS;
    if (at <= RUN_MS)
        sums[at] += ns;
}

/* The dearest 100 ms after the first second, of the time that passed. */
static double dearest(const double *sums)
{
    double most = 0, sum = 0;
    for (int i = 1000; i < RUN_MS; i++) {
        sum += sums[i] - (i >= 1000 + WINDOW ? sums[i - WINDOW] : 0);
        if (i >= 1000 + WINDOW && sum > most)
            most = sum;
    }
    return most / (WINDOW * (double)MS);
}

/* A program: the time until its next launch, and which kernel that is of. */
struct program {
    const char *name;
    void (*next)(uint64_t n, uint64_t *wait_ns, uint32_t *kernel);
};

static void steady(uint64_t n, uint64_t *wait_ns, uint32_t *kernel)
{
    *wait_ns = 2500;
    *kernel = (uint32_t)(n % 3);
}

/* 2,000 launches one upon the other, then nothing for a while. */
static void bursts(uint64_t n, uint64_t *wait_ns, uint32_t *kernel)
{
    *wait_ns = n % 2000 ? 1500 : 150 * MS;
    *kernel = (uint32_t)(n % 7);
}

/* It never stops to bring new kernels. */
static void thousands(uint64_t n, uint64_t *wait_ns, uint32_t *kernel)
{
    *wait_ns = 10000;
    *kernel = (uint32_t)(n / 50) % 12000;
}

/* One is launched 100 times a second beside one that is launched all the time. */
static void rare(uint64_t n, uint64_t *wait_ns, uint32_t *kernel)
{
    *wait_ns = 4000;
    *kernel = n % 2500 ? 0 : 1;
}

/* Idle for two seconds, then all at once and for good. */
static void late(uint64_t n, uint64_t *wait_ns, uint32_t *kernel)
{
    *wait_ns = n == 10 ? 2 * (uint64_t)SECOND : 1500;
    *kernel = (uint32_t)(n % 20);
}

static const struct program programs[] = {
    {"steady", steady}, {"bursts", bursts}, {"thousands", thousands},
    {"rare", rare},     {"late", late},
};

#define PROGRAMS ((int)ct_countof(programs))

static uint64_t timed_of(uint32_t k)
{
    return ct_row(kernel(k))->timed;
}

static void run(const struct program *p, uint32_t budget_ppm)
{
    start((struct ct_sample_policy){.every = 1, .budget_ppm = budget_ppm, .sure = CT_SURE}, 0);
    memset(spent_ns, 0, sizeof(spent_ns));
    memset(passed_ns, 0, sizeof(passed_ns));
    uint64_t begin_ns = clock_ns;
    uint32_t rows[12000] = {0};
    for (uint64_t n = 0; clock_ns - begin_ns < RUN_MS * (uint64_t)MS; n++) {
        uint64_t wait_ns;
        uint32_t k;
        p->next(n, &wait_ns, &k);
        while (wait_ns > MS) {
            pass_time(MS);
            wait_ns -= MS;
        }
        pass_time(wait_ns);
        if (!rows[k])
            rows[k] = kernel(k) + 1;
        uint32_t cost_ns = launch(rows[k] - 1, 1, 3000);
        spend(spent_ns, begin_ns, cost_ns);
        if (cost_ns == costs.passed_ns)
            spend(passed_ns, begin_ns, cost_ns);
        pass_time(cost_ns);
    }
}

static const uint32_t budgets_ppm[] = {100000, 20000, 10000};

/* What those cost that are passed over cannot be saved: it may be more than the budget alone. */
START_TEST(no_window_costs_more_than_the_budget)
{
    const struct program *p = &programs[_i % PROGRAMS];
    double budget = budgets_ppm[_i / PROGRAMS] * 1e-6, all = 0;
    run(p, budgets_ppm[_i / PROGRAMS]);
    double most = dearest(spent_ns), passed = dearest(passed_ns);
    fprintf(stderr, "# %s %.3f: %.4f, passed over %.4f\n", p->name, budget, most, passed);
    ck_assert_double_le(most, passed < 0.75 * budget ? budget : passed + 0.25 * budget);
    for (int i = 2000; i < RUN_MS; i++)
        all += spent_ns[i];
    if (p->next == steady) /* it is not kept by timing nothing */
        ck_assert_double_gt(all / ((RUN_MS - 2000) * (double)MS), 0.6 * budget);
}
END_TEST

START_TEST(first_launches_and_rare_kernels_are_timed)
{
    run(&programs[3], 20000);
    ck_assert_uint_gt(timed_of(1), 350); /* nearly all of about 400 */
    ck_assert_uint_gt(timed_of(0), 4000);
}
END_TEST

static void all_first_launches_are_timed(uint64_t from_ns)
{
    start((struct ct_sample_policy){.every = 1, .budget_ppm = 10000, .sure = CT_SURE}, 0);
    clock_ns = from_ns;
    for (int i = 0; i < 3000; i++)
        pass_time(MS);
    for (uint32_t n = 0; n < 20 * CT_SURE; n++) {
        ck_assert_uint_ne(launch(kernel(n % 20), 1, 3000), costs.passed_ns);
        pass_time(2000);
    }
}

/*
 * However long a program takes to get ready: the first second is that of its operations. The child
 * of a fork, which starts anew, has one of its own.
 */
START_TEST(the_first_second_begins_with_the_first_operation)
{
    all_first_launches_are_timed(SECOND);
    all_first_launches_are_timed(100 * (uint64_t)SECOND);
}
END_TEST

/* Passing over costs more than the budget: the first launches are not to stand for all. */
START_TEST(something_is_timed_at_any_rate)
{
    run(&programs[0], 10000);
    for (uint32_t k = 0; k < 3; k++)
        ck_assert_uint_gt(timed_of(k), 3 * CT_SURE);
}
END_TEST

/* Calls that are only counted are paid as well: what is left is for brackets. */
static double spent_beside_calls(uint32_t calls)
{
    double spent = 0;
    start((struct ct_sample_policy){.every = 1, .budget_ppm = 20000}, 0);
    ck_assert(ct_api_stats_init());
    costs.count_ns = 15;
    struct ct_thread *t = ct_thread_self();
    for (uint64_t n = 0; n < 300000; n++) {
        uint32_t cost_ns = launch(kernel(0), 1, 3000), i;
        spent += cost_ns == costs.passed_ns ? 0 : cost_ns;
        if (n % 100 == 0 && calls && ct_ring_reserve(&t->sample_ring, CT_THREAD_SAMPLES, &i)) {
            t->samples[i] = (uint64_t)calls << (CT_SAMPLE_TICKS + CT_SAMPLE_API) | 1000;
            ct_ring_publish(&t->sample_ring);
            ct_api_stats_collect(t);
        }
        pass_time(cost_ns + 10000);
    }
    return spent / (double)(clock_ns - 5 * (uint64_t)SECOND);
}

START_TEST(counted_calls_are_in_the_budget)
{
    double alone = spent_beside_calls(0), beside = spent_beside_calls(9); /* 2^9 in each ms */
    fprintf(stderr, "# %.4f, beside counted calls %.4f of the time\n", alone, beside);
    ck_assert_double_gt(alone, 0.008);
    ck_assert_double_le(beside + 0.0075, 0.0165);
    ck_assert_double_ge(beside, 0.002);
}
END_TEST

/* ---- weights ---- */

static const struct {
    uint32_t cycle, every;
} rates[] = {{8, 1000}, {9, 2},  {10, 1000}, {16, 2},   {20, CT_EVERY_MOST},
             {64, 3},   {64, 1}, {1000, 20}, {500, 500}};

/* Of each operation the inverse of the probability that it is timed: they add up to all. */
START_TEST(weights_add_up)
{
    const struct ct_shape shape = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    const uint64_t n = 2000000;
    struct ct_choice choice;
    double sum = 0;
    start((struct ct_sample_policy){.every = 1, .budget_ppm = 20000}, 0);
    uint32_t row = kernel(0);
    ct_purse.left_ns = ct_purse.size_ns = INT64_MAX / 2;
    ct_purse.cluster_cycle = rates[_i].cycle;
    choose(ct_thread_self(), &shape, row, &choice);
    ct_cell(choice.cell)->every = rates[_i].every;
    ct_pass_renew();
    for (uint64_t i = 0; i < n; i++)
        if (choose(ct_thread_self(), &shape, row, &choice)) {
            ct_assert(choice.weight > 1 || rates[_i].every == 1 || rates[_i].cycle == CT_CLUSTER);
            sum += choice.weight;
        }
    ck_assert_double_eq_tol(sum / (double)n, 1, 0.03);
}
END_TEST

/* ---- totals ---- */

static struct ct_projection estimate_of(uint32_t row)
{
    ct_passes_collect(ct_thread_self()->passes);
    ct_rows_project();
    return ct_row(row)->projection;
}

static double total_of(uint32_t row)
{
    return (double)ct_row(row)->time.total_ns + estimate_of(row).total_ns;
}

static double half_of(uint32_t row)
{
    struct ct_projection e = estimate_of(row);
    return ct_interval_half_ns(e.variance_ns2, e.third_ns3, e.freedom_ns4);
}

/* Durations of a kernel, of its nth launch. */
struct durations {
    const char *name;
    double (*of)(uint64_t n);
};

static double same_bell(uint64_t n)
{
    (void)n;
    return 20000 + 1000 * normal();
}

static double two_modes(uint64_t n)
{
    (void)n;
    return uniform() < 0.1 ? 50000 + 2000 * normal() : 5000 + 200 * normal();
}

static double rare_mode(uint64_t n)
{
    (void)n;
    return uniform() < 0.04 ? 80000 : 6000 + 300 * normal();
}

static double long_tail(uint64_t n)
{
    (void)n;
    return exp(9 + 1.0 * normal());
}

static double period_16(uint64_t n)
{
    static const double ns[16] = {2000, 3000, 2000,  9000, 2000, 3000, 40000, 9000,
                                  2000, 3000, 70000, 9000, 2000, 3000, 2000,  9000};
    return ns[n % 16];
}

/* Twice as long in the end as at first, and a phase of its own in between. */
static double drift(uint64_t n)
{
    return 5000 + (double)n / 2 + (n % 10000 > 7000 ? 10000 : 0);
}

/* Nearly always the same, and sixteen times as long now and then. */
static double outliers(uint64_t n)
{
    (void)n;
    return uniform() < 0.002 ? 100000 : 6000 + 60 * normal();
}

/* A mean that wanders by a tenth, slowly, and scatters little about it. */
static double wander(uint64_t n)
{
    return 8000 + 800 * sin((double)n / 9000) + 80 * normal();
}

static const struct durations kinds[] = {
    {"bell", same_bell},      {"two modes", two_modes}, {"rare mode", rare_mode},
    {"long tail", long_tail}, {"period 16", period_16}, {"drift", drift},
    {"wander", wander},       {"outliers", outliers},
};
#define KINDS_OF_RATES 7 /* a fixed rate sees too few of outliers to know */
#define RUNS 170

struct cover {
    unsigned held;
    unsigned all;
    double error; /* of all, relative, and their squares */
    double square;
    double half; /* of their intervals, relative, and squared */
};

static struct ct_sample_policy fixed_rate(uint64_t run)
{
    return (struct ct_sample_policy){.every = (uint32_t)(run % 2 ? 16 : 64), .sure = 1};
}

static struct ct_sample_policy budgeted(uint64_t run)
{
    return (struct ct_sample_policy){
        .every = 1, .budget_ppm = run % 2 ? 10000 : 20000, .sure = CT_SURE};
}

/* CUTRACE_TIME=auto. */
static struct ct_sample_policy to_target(uint64_t run)
{
    (void)run;
    return (struct ct_sample_policy){
        .every = 1, .budget_ppm = 20000, .sure = CT_SURE_TO_TARGET, .target_ppm = 5000};
}

static void add_to_cover(struct cover *c, uint32_t row, double truth)
{
    double error = total_of(row) - truth;
    c->held += fabs(error) <= half_of(row);
    c->error += error / truth;
    c->square += error / truth * (error / truth);
    c->half += half_of(row) / truth * (half_of(row) / truth);
    c->all++;
}

/* What operations of a cluster have in common they have in the cells of several shapes. */
#define SHAPES 4

/*
 * One kernel of a kind in some shapes among others, launched in bursts; where a rate is fixed, all
 * alike.
 */
static void estimate(const struct durations *d, unsigned shapes, struct ct_sample_policy policy,
                     uint64_t run, struct cover *c)
{
    start(policy, run);
    uint32_t row = kernel(0), other = kernel(1);
    double truth = 0;
    uint64_t launches = policy.target_ppm ? 50000 : 20000; /* the first 20,000 are all timed */
    for (uint64_t n = 0; n < launches; n++) {
        double ns = d->of(n);
        truth += floor(ns);
        uint64_t cost_ns = launch(row, 10 + n % shapes, ns);
        if (n % 3 == 0)
            launch(other, 2, 5000);
        pass_time(cost_ns + (n % 1000 ? 4000 : 200 * MS));
    }
    add_to_cover(c, row, truth);
}

/* A half of 95 % is that times the errors' spread; wider ones hold the truth, and say little. */
#define TWO_SIGMA 1.96
#define WIDEST 1.6

static void check_kind(const struct cover *c, const char *name)
{
    double mean = c->error / c->all, mean_error = sqrt(c->square) / c->all;
    double width = sqrt(c->half / c->square) / TWO_SIGMA;
    fprintf(stderr, "# %s: %u of %u, bias %.4f +- %.4f, as wide as needed times %.2f\n", name,
            c->held, c->all, mean, mean_error, width);
    ck_assert_uint_ge(c->held, 0.9 * c->all);
    ck_assert_double_le(width, WIDEST);
    ck_assert_double_lt(fabs(mean), 4 * mean_error);
}

static void check_cover(struct ct_sample_policy (*policy)(uint64_t run), unsigned count)
{
    unsigned held = 0, all = 0;
    for (unsigned k = 0; k < count; k++) {
        struct cover c = {0};
        for (uint64_t run = 0; run < RUNS; run++)
            estimate(&kinds[k], 1 + run % SHAPES, policy(run), run, &c);
        check_kind(&c, kinds[k].name);
        held += c.held;
        all += c.all;
    }
    ck_assert_uint_ge(all, 1000);
    ck_assert_uint_ge(held, 0.93 * all);
}

static bool excluded_goes_by(struct ct_thread *t, uint32_t row)
{
    struct ct_shape shape = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    struct ct_pass_finding f = finding(&shape, row);
    struct ct_pass *p = ct_pass_take(t->passes, f.handle, shape.grid, shape.block, 0, f.stream);
    f.loss = CT_LOSS_EXCLUDED;
    if (p)
        ct_pass_made(t->passes, p, CUDA_SUCCESS);
    else
        ct_pass_arm(t->passes, &f, &t->sampler->random);
    return p;
}

/*
 * What is not timed at all neither begins a cluster nor brings the next one nearer: behind it the
 * launches are no likelier to be timed than the others, and it goes by.
 */
START_TEST(what_is_excluded_is_in_no_cluster)
{
    struct cover c = {0};
    uint64_t went_by = 0, all = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        start((struct ct_sample_policy){.every = 1, .budget_ppm = 50000, .sure = CT_SURE}, run);
        uint32_t row = kernel(0), out = kernel(1);
        double truth = 0;
        for (uint64_t n = 0; n < 400 * 24; n++) {
            double ns = n % 24 < 8 ? 20000 : 5000;
            for (int i = 0; i < 20 && n % 24 == 0; i++, all++) {
                went_by += excluded_goes_by(ct_thread_self(), out);
                pass_time(4000);
            }
            truth += ns;
            pass_time(launch(row, 1, ns) + 4000);
        }
        add_to_cover(&c, row, truth);
    }
    check_kind(&c, "behind excluded ones");
    ck_assert_uint_ge(went_by, all / 10 * 9);
}
END_TEST

/* One in so many at most, however many a budget would pay: clusters would be beyond that. */
START_TEST(a_rate_is_a_bound_with_a_budget_too)
{
    unsigned timed = 0;
    start((struct ct_sample_policy){.every = 16, .budget_ppm = 500000, .sure = CT_SURE}, 0);
    for (unsigned n = 0; n < 16000 + CT_SURE; n++) {
        timed += launch(kernel(0), 1, 3000) != costs.passed_ns;
        pass_time(100000);
    }
    ck_assert_uint_ge(timed, CT_SURE + 800);
    ck_assert_uint_le(timed, CT_SURE + 1200);
}
END_TEST

/* Of several threads, whose clusters come to the drain thread in between each other. */
#define THREADS 8

static void *self_of_thread(void *unused)
{
    (void)unused;
    return ct_thread_self();
}

/* What is left of a thread that has ended: this one launches in its place. */
static struct ct_thread *another_thread(uint64_t seed_of_it)
{
    pthread_t thread;
    void *t;
    ck_assert_int_eq(pthread_create(&thread, NULL, self_of_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &t), 0);
    ck_assert_ptr_nonnull(t);
    ((struct ct_thread *)t)->sampler->random = seed_of_it;
    return t;
}

static void estimate_of_threads(uint64_t run, struct cover *c)
{
    start((struct ct_sample_policy){.every = 1, .budget_ppm = 100000, .sure = CT_SURE}, run);
    struct ct_thread *threads[THREADS] = {ct_thread_self()};
    uint32_t row = kernel(0);
    double truth = 0;
    for (unsigned i = 1; i < THREADS; i++)
        threads[i] = another_thread(0x9e3779b97f4a7c15u * (run * THREADS + i + 77));
    for (uint64_t n = 0; n < 40000; n++) {
        double ns = floor(n / (64 * THREADS) % 2 ? 5000 + 200 * normal() : 20000 + 200 * normal());
        truth += ns;
        uint32_t cost_ns = launch_in(threads[n % THREADS], row, 1, ns);
        for (unsigned i = 1; i < THREADS && n % 500 == 0; i++)
            ct_passes_collect(threads[i]->passes);
        pass_time(cost_ns + 10000);
    }
    for (unsigned i = 1; i < THREADS; i++)
        ct_passes_collect(threads[i]->passes);
    add_to_cover(c, row, truth);
}

START_TEST(intervals_of_several_threads_hold)
{
    struct cover c = {0};
    for (uint64_t run = 0; run < RUNS; run++)
        estimate_of_threads(run, &c);
    check_kind(&c, "threads");
}
END_TEST

/* Kernels that are longer together for a while: the interval of all of them holds as well. */
#define TOGETHER 8

static bool holds_together(uint64_t run)
{
    start(budgeted(run), run);
    uint32_t rows[TOGETHER];
    double truth = 0, total = 0;
    struct ct_projection all = {0};
    for (uint32_t k = 0; k < TOGETHER; k++)
        rows[k] = kernel(k);
    for (uint64_t n = 0; n < 20000; n++) {
        double ns = floor(5000 + 2000 * sin((double)n / 500) + 200 * normal());
        truth += ns;
        pass_time(launch(rows[n % TOGETHER], 1, ns) + (n % 1000 ? 4000 : 200 * MS));
    }
    for (uint32_t k = 0; k < TOGETHER; k++) {
        struct ct_projection e = estimate_of(rows[k]);
        total += total_of(rows[k]);
        all.variance_ns2 += e.variance_ns2;
        all.third_ns3 += e.third_ns3;
        all.freedom_ns4 += e.freedom_ns4;
        all.with_others_ns2 += e.with_others_ns2;
    }
    ct_covariance_add(&all.variance_ns2, &all.freedom_ns4, all.with_others_ns2);
    return fabs(total - truth) <=
           ct_interval_half_ns(all.variance_ns2, all.third_ns3, all.freedom_ns4);
}

START_TEST(the_interval_of_all_rows_holds)
{
    unsigned held = 0;
    for (uint64_t run = 0; run < RUNS; run++)
        held += holds_together(run);
    fprintf(stderr, "# together: %u of %u\n", held, RUNS);
    ck_assert_uint_ge(held, 0.9 * RUNS);
}
END_TEST

START_TEST(intervals_at_a_fixed_rate_hold)
{
    check_cover(fixed_rate, KINDS_OF_RATES);
}
END_TEST

START_TEST(intervals_under_a_budget_hold)
{
    check_cover(budgeted, KINDS_OF_RATES);
}
END_TEST

START_TEST(intervals_to_a_target_hold)
{
    check_cover(to_target, ct_countof(kinds));
}
END_TEST

/*
 * A program of a second, and one of few launches, however fast they come, is timed as without a
 * target.
 */
START_TEST(short_programs_are_all_timed)
{
    static const struct {
        unsigned launches, gap_ns, kernels;
    } programs_[] = {{200000, 4900, 7}, {19000, 4000, 23}, {19000, 200000, 1}};
    start(to_target(0), 0);
    for (unsigned n = 0; n < programs_[_i].launches; n++) {
        ck_assert_uint_ne(launch(kernel(n % programs_[_i].kernels), 1, 3000), costs.passed_ns);
        pass_time(programs_[_i].gap_ns);
    }
}
END_TEST

/*
 * A steady program: each row is known to the target, and keeps it as it goes on, for ever fewer of
 * the launches; but for a tenth of the budget, which goes on.
 */
START_TEST(a_target_is_reached_and_kept)
{
    double half = 0, spent = 0;
    uint64_t before = 0, launches = 0;
    start(to_target(0), 0);
    uint32_t rows[] = {kernel(0), kernel(1), kernel(2)};
    for (uint64_t begin_ns = clock_ns; clock_ns - begin_ns < 20 * (uint64_t)SECOND; launches++) {
        uint64_t row = rows[launches % 3];
        uint32_t cost_ns = launch((uint32_t)row, 1, 20000 + 1000 * normal());
        spent +=
            clock_ns - begin_ns > 10 * (uint64_t)SECOND && cost_ns != costs.passed_ns ? cost_ns : 0;
        pass_time(cost_ns + 20000);
        if (launches % 100000 == 0 && clock_ns - begin_ns > 3 * (uint64_t)SECOND)
            for (unsigned i = 0; i < ct_countof(rows); i++)
                half = fmax(half, half_of(rows[i]) / total_of(rows[i]));
        if (!before && clock_ns - begin_ns > 10 * (uint64_t)SECOND)
            before = timed_of(0) + timed_of(1) + timed_of(2);
    }
    uint64_t timed = timed_of(0) + timed_of(1) + timed_of(2);
    double share = spent / (10 * (double)SECOND);
    fprintf(stderr, "# widest half %.4f, %lu of %lu timed, later %.5f of the time\n", half,
            (unsigned long)timed, (unsigned long)launches, share);
    ck_assert_double_le(half, 0.005);
    ck_assert_double_le(share, 0.004); /* a fifth of the budget; a tenth of what is spent */
    ck_assert_double_ge(share, 0.001);
    ck_assert_uint_gt(timed, before);
}
END_TEST

/* Calls that waited in the driver are not what cutrace costs. */
START_TEST(costs_are_medians)
{
    start((struct ct_sample_policy){.every = 1, .budget_ppm = 20000, .sure = CT_SURE}, 0);
    for (int i = 0; i < 1000; i++)
        ct_sample_measured(true, i % 5 < 2 ? 1000000 : 600 + (uint64_t)i % 7);
    ck_assert_uint_ge(ct_sample_ticks(true), 550);
    ck_assert_uint_le(ct_sample_ticks(true), 750);
}
END_TEST

/* A sequence that grows: each launch has a shape that has not come before, and takes longer. */
START_TEST(more_shapes_than_cells)
{
    double truth_ns = 0;
    start((struct ct_sample_policy){.every = 16, .sure = 1}, 0);
    uint32_t row = kernel(0), shapes = 2 * CT_CELLS;
    for (uint32_t i = 0; i < 3 * shapes; i++) {
        double ns = 1000 + i / 3;
        launch(row, 1 + i / 3, ns);
        truth_ns += ns;
    }
    double timed = (double)ct_row(row)->timed, all = timed + (double)estimate_of(row).operations;
    ck_assert_double_le(timed, 2 * shapes);
    ck_assert_double_eq_tol(all, 3 * shapes, 1);
    ck_assert_double_eq_tol(total_of(row), truth_ns, truth_ns / 30);
}
END_TEST

static uint32_t count_timed(uint32_t row, int launches)
{
    struct ct_shape shape = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    struct ct_thread *t = ct_thread_self();
    uint32_t timed = 0;
    for (int i = 0; i < launches; i++) {
        struct ct_choice c;
        timed += ct_sample_choose(t->sampler, &t->passes->cluster, row, ct_sample_key(&shape, 0, 1),
                                  1, (struct ct_drawn){1, true}, &c);
        ct_assert(!c.weight || c.weight <= 128);
    }
    return timed;
}

/* Programmatic dependent launches: the first, then one in 16, and in the end one in 128. */
START_TEST(those_kept_apart)
{
    start((struct ct_sample_policy){.every = 1, .apart = 128, .sure = CT_SURE_APART}, 0);
    ck_assert(!ct_sample_is_on);
    uint32_t row = kernel(0), other = kernel(1);
    atomic_store(&ct_row(row)->programmatic, true);
    ck_assert_uint_eq(count_timed(row, CT_SURE_APART), CT_SURE_APART);
    uint32_t first = count_timed(row, 256 - CT_SURE_APART), then = count_timed(row, 2048 - 256);
    uint32_t rest = count_timed(row, 128 * 100);
    ck_assert(first >= 3 && first <= 40); /* 15 */
    ck_assert(then >= 10 && then <= 65);  /* 33 */
    ck_assert(rest >= 60 && rest <= 140); /* 100 */
    ck_assert_int_eq(ct_sample_loss(row), CT_LOSS_PROGRAMMATIC);
    ck_assert_uint_eq(count_timed(other, 1000), 1000);
    ck_assert_int_eq(ct_sample_loss(other), CT_LOSS_SAMPLED);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sample");
    tcase_add_test(tests, a_target_is_last);
    tcase_add_loop_test(tests, no_window_costs_more_than_the_budget, 0,
                        PROGRAMS * (int)ct_countof(budgets_ppm));
    tcase_add_test(tests, first_launches_and_rare_kernels_are_timed);
    tcase_add_test(tests, the_first_second_begins_with_the_first_operation);
    tcase_add_test(tests, something_is_timed_at_any_rate);
    tcase_add_test(tests, counted_calls_are_in_the_budget);
    tcase_add_test(tests, costs_are_medians);
    tcase_add_loop_test(tests, weights_add_up, 0, (int)ct_countof(rates));
    tcase_add_test(tests, more_shapes_than_cells);
    tcase_add_test(tests, those_kept_apart);
    tcase_add_test(tests, intervals_at_a_fixed_rate_hold);
    tcase_add_test(tests, intervals_under_a_budget_hold);
    tcase_add_test(tests, intervals_to_a_target_hold);
    tcase_add_loop_test(tests, short_programs_are_all_timed, 0, 3);
    tcase_add_test(tests, a_target_is_reached_and_kept);
    tcase_add_test(tests, the_interval_of_all_rows_holds);
    tcase_add_test(tests, what_is_excluded_is_in_no_cluster);
    tcase_add_test(tests, a_rate_is_a_bound_with_a_budget_too);
    tcase_add_test(tests, intervals_of_several_threads_hold);
    return ct_case_main_alone("sample", tests);
}
