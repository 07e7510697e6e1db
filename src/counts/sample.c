/* SPDX-License-Identifier: MIT */
#include "counts/sample.h"

#include "base/config.h"
#include "base/count.h"
#include "base/random.h"
#include "containers/table.h"
#include "counts/row.h"
#include "state/active_threads.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/mem.h"
#include "system/spin.h"

/* `every` under a budget: of new cells, of operations without a cell; most of programmatic rows. */
#define FIRST_EVERY 16
#define NO_CELL_EVERY 256
#define APART_EVERY 128
/* `every` of programmatic rows: the first number, later this part of the operations seen. */
#define PROGRAMMATIC_EVERY 16
#define PROGRAMMATIC_PART 16
#define MOST_SHIFT 16
/* CUTRACE_TIME=auto: its budget, and the half of a cell's interval, in parts of the mean. */
#define TO_TARGET_BUDGET_PPM 20000
#define TARGET_PPM 5000
#define EMPTY_SHIFT 6
#define MEDIAN_STEPS 16
#define MEDIAN_FIRST 4

/* When so many cells are in use, all further shapes of a row share one cell. */
#define CELLS_OF_SHAPES (CT_CELLS / 4 * 3)

struct cells {
    struct ct_sample_cell cell[CT_CELLS];
    _Atomic uint32_t count;
    struct ct_spin lock;   /* for adding */
    struct ct_table index; /* key and row -> cell; with room for twice as many */
    /* The rest is the drain thread's. */
    struct ct_stratum stratum[CT_CELLS];
    uint64_t lost[CT_CELLS];
    uint64_t passed[CT_CELLS];
    struct ct_cell_count sums[CT_CELLS]; /* over all threads */
};

CT_PROCESS_READ bool ct_sample_is_on;
/* On its own line: each launch reads the purse under a budget, `costs` change now and then. */
CT_PROCESS _Alignas(CT_CACHE_LINE) struct ct_purse ct_purse;

static CT_PROCESS_READ struct cells *cells;
static CT_READ_MOSTLY struct ct_sample_policy policy;
static struct {
    _Alignas(CT_CACHE_LINE) struct cost {
        _Atomic uint64_t median; /* ticks; 0: not known yet */
        _Atomic uint32_t seen;   /* measurements, up to MEDIAN_FIRST */
    } of[CT_COST_COUNT];
} costs;

bool ct_sample_init(const struct ct_sample_policy *p)
{
    policy = *p;
    ct_sample_is_on = policy.every > 1 || policy.budget_ppm;
    atomic_store(&ct_purse.early, true);
    cells = ct_map(sizeof(*cells));
    if (!cells || !ct_table_init(&cells->index, 15))
        return ct_sample_is_on = false;
    atomic_store(&cells->count, CT_CELL_NONE + 1);
    return true;
}

static uint32_t first_sure(bool to_target)
{
    if (to_target)
        return CT_SURE_TO_TARGET;
    if (ct_config.budget_ppm)
        return CT_SURE;
    return ct_config.sample > 1 ? 1 : CT_SURE_APART;
}

/*
 * A timing record between programmatic dependent launches keeps these from overlapping: of two
 * kernels side by side a bracket in 128 costs at most 2 in 128 of one.
 */
struct ct_sample_policy ct_sample_policy_of_config(bool has_rate)
{
    bool to_target = !ct_config.time_all && !has_rate && !ct_config.budget_ppm && !ct_config.trace;
    return (struct ct_sample_policy){
        .every = ct_config.sample,
        .budget_ppm = to_target ? TO_TARGET_BUDGET_PPM : ct_config.budget_ppm,
        .apart = has_rate ? 0 : APART_EVERY,
        .sure = first_sure(to_target),
        .target_ppm = to_target ? TARGET_PPM : 0,
    };
}

const struct ct_sample_policy *ct_sample_policy(void)
{
    return &policy;
}

struct ct_sample_cell *ct_cell(uint32_t index)
{
    return &cells->cell[index];
}

struct ct_stratum *ct_cell_stratum(uint32_t index)
{
    return &cells->stratum[index];
}

/* Adds a thread's counts since the last time: few, or below 0 where operations were taken back. */
static void sum_up(struct ct_sampler *s, uint32_t index)
{
    struct ct_cell_count *sums = &cells->sums[index];
    uint64_t seen = atomic_load_explicit(&s->count[index].seen, memory_order_relaxed);
    uint64_t chosen = atomic_load_explicit(&s->count[index].chosen, memory_order_relaxed);
    int32_t more_seen = (int32_t)((uint32_t)seen - s->taken[index].seen);
    int32_t more_chosen = (int32_t)((uint32_t)chosen - s->taken[index].chosen);
    if (!more_seen && !more_chosen)
        return;
    sums->seen += (uint64_t)(int64_t)more_seen;
    sums->chosen += (uint64_t)(int64_t)more_chosen;
    s->taken[index].seen = (uint32_t)seen;
    s->taken[index].chosen = (uint32_t)chosen;
}

void ct_cells_sum_up(struct ct_sampler *s)
{
    for (uint32_t i = 0; i < ct_cells_count(); i++)
        sum_up(s, i);
}

struct ct_cell_count ct_cell_count(uint32_t index)
{
    for (struct ct_thread *t = *ct_active_threads(); t; t = t->next_awake)
        sum_up(t->sampler, index);
    uint64_t lost = cells->lost[index];
    const struct ct_cell_count *sums = &cells->sums[index];
    return (struct ct_cell_count){sums->seen + cells->passed[index] - lost, sums->chosen - lost};
}

void ct_cell_lose(uint32_t index)
{
    if (index != CT_CELL_NONE)
        cells->lost[index]++;
}

void ct_cell_passed(uint32_t index, uint64_t n)
{
    cells->passed[index] += n;
}

uint32_t ct_cells_count(void)
{
    return cells ? atomic_load_explicit(&cells->count, memory_order_acquire) : 0;
}

/* Digits of pi: each hashed word has its own salt. */
static const uint64_t salt[] = {
    0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89,
    0x452821e638d01377, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917,
};

/* Both halves of the product. Products of several pairs do not wait for each other. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four classes an octave: copies of a class take about as long. */
static uint64_t size_class(uint64_t bytes)
{
    unsigned top = bytes > 7 ? ct_octave(bytes) : 2;
    return (uint64_t)top << 32 | bytes >> (top - 2);
}

/* Reads the shape in the sizes it was just written in: other sizes make the processor wait. */
uint64_t ct_sample_key(const struct ct_shape *shape, uint64_t bytes, uint64_t operations)
{
    const uint32_t *g = shape->grid, *b = shape->block;
    return fold(g[0] ^ salt[0], g[1] ^ salt[1]) ^ fold(g[2] ^ salt[2], b[0] ^ salt[3]) ^
           fold(b[1] ^ salt[4], b[2] ^ salt[5]) ^
           fold(shape->dynamic_shared_bytes ^ salt[6], operations ^ salt[7]) ^ size_class(bytes);
}

static bool is_early(void)
{
    return atomic_load_explicit(&ct_purse.early, memory_order_relaxed);
}

/* To a target, a short program is timed as one without a budget. */
static bool all_are_timed(void)
{
    return policy.target_ppm && is_early();
}

static uint32_t add_locked(uint64_t key, uint32_t row, uint64_t operations)
{
    uint64_t known;
    uint32_t n = atomic_load_explicit(&cells->count, memory_order_relaxed);
    if (ct_table_find(&cells->index, key, &known))
        return (uint32_t)known;
    if (n == CT_CELLS)
        return CT_CELL_NONE;
    struct ct_sample_cell *c = &cells->cell[n];
    c->row = row;
    c->operations = operations;
    c->every =
        policy.budget_ppm && !all_are_timed() ? ct_max(policy.every, FIRST_EVERY) : policy.every;
    c->sure = (int32_t)policy.sure;
    atomic_store_explicit(&cells->count, n + 1, memory_order_release);
    ct_table_add(&cells->index, key, n);
    return n;
}

static uint64_t key_in_row(uint64_t key, uint32_t row)
{
    return fold(key, row ^ salt[0]) | 1;
}

/* An operation that finds no cell never does: it must not take the lock each time. */
static CT_COLD uint32_t add(uint64_t key, uint32_t row, uint64_t operations)
{
    uint64_t known;
    uint32_t count = ct_cells_count();
    if (count >= CELLS_OF_SHAPES) {
        key = key_in_row(fold(operations ^ salt[1], salt[2]), row);
        if (ct_table_find(&cells->index, key, &known))
            return (uint32_t)known;
        if (count == CT_CELLS)
            return CT_CELL_NONE;
    }
    ct_spin_lock(&cells->lock);
    uint32_t n = add_locked(key, row, operations);
    ct_spin_unlock(&cells->lock);
    return n;
}

static uint32_t find(uint32_t row, uint64_t key, uint64_t operations)
{
    uint64_t cell;
    key = key_in_row(key, row);
    if (ct_likely(ct_table_find(&cells->index, key, &cell)))
        return (uint32_t)cell;
    return add(key, row, operations);
}

/* The emptier the purse, the fewer are timed: a burst is thinned out, not cut off. */
static uint32_t thinned(uint32_t every, int64_t left_ns, int64_t size_ns)
{
    int64_t half_ns = size_ns / 2 + 1;
    if (!policy.budget_ppm || ct_likely(left_ns >= half_ns))
        return every;
    int64_t shift = left_ns > 0 ? EMPTY_SHIFT * (half_ns - left_ns) / half_ns
                                : EMPTY_SHIFT - 2 * left_ns / half_ns;
    return (uint32_t)ct_min((uint64_t)every << ct_min(shift, MOST_SHIFT), CT_EVERY_MOST);
}

enum ct_loss ct_sample_loss(uint32_t row)
{
    return ct_row_is_programmatic(row) ? CT_LOSS_PROGRAMMATIC : CT_LOSS_SAMPLED;
}

/* A short program has a mean of each kernel as well, and a long one loses little time. */
static uint32_t apart_every(uint32_t row, uint64_t seen)
{
    if (!ct_row_is_programmatic(row))
        return 1;
    return (uint32_t)ct_min(ct_max(seen / PROGRAMMATIC_PART, PROGRAMMATIC_EVERY), policy.apart);
}

/*
 * Within the budget: operations that are sure may use half of the purse, the others all of it.
 * Those that timing keeps apart are never all timed.
 */
static bool is_sure(struct ct_sample_cell *c, bool apart, bool all, int64_t left_ns,
                    int64_t size_ns)
{
    int32_t kept = apart && policy.target_ppm ? CT_SURE_TO_TARGET - CT_SURE : 0;
    if (ct_likely(!all && atomic_load_explicit(&c->sure, memory_order_relaxed) <= kept))
        return false;
    if (policy.budget_ppm && left_ns <= size_ns / 2 && !is_early())
        return false;
    return atomic_fetch_sub_explicit(&c->sure, 1, memory_order_relaxed) > kept || all;
}

/* seen: the cell's operations in this thread; for programmatic rows, which do not go by. */
static uint32_t every_of(const struct ct_sample_cell *c, uint32_t row, uint64_t seen)
{
    uint32_t every = policy.every;
    if (ct_likely(c != NULL))
        every = atomic_load_explicit(&c->every, memory_order_relaxed);
    else if (policy.budget_ppm)
        every = (uint32_t)ct_max(every, NO_CELL_EVERY);
    return (uint32_t)ct_max(every, apart_every(row, seen));
}

uint32_t ct_cell_every(uint32_t index)
{
    const struct ct_sample_cell *c = &cells->cell[index];
    return every_of(c, c->row, 0);
}

bool ct_cell_is_sure(uint32_t index)
{
    return atomic_load_explicit(&cells->cell[index].sure, memory_order_relaxed) > 0;
}

static void pay(bool sure, bool follows)
{
    uint32_t ns = follows ? atomic_load_explicit(&ct_purse.next_ns, memory_order_relaxed)
                          : atomic_load_explicit(&ct_purse.bracket_ns, memory_order_relaxed);
    if (policy.budget_ppm && !(sure && is_early()))
        atomic_fetch_sub_explicit(&ct_purse.left_ns, ns, memory_order_relaxed);
}

/*
 * Clusters are for budgets; operations that timing keeps apart are drawn one by one, and so are all
 * where the user's own rate is a bound.
 */
static bool may_be_in_cluster(uint32_t row, uint64_t seen)
{
    return policy.budget_ppm && policy.every <= 1 && apart_every(row, seen) <= 1;
}

bool ct_cell_is_in_clusters(uint32_t index)
{
    return may_be_in_cluster(cells->cell[index].row, 0);
}

static uint32_t cluster_cycle(void)
{
    return atomic_load_explicit(&ct_purse.cluster_cycle, memory_order_relaxed);
}

/* The cycle of the open cluster, or of one that would begin now; 0: not known yet. */
static uint32_t cycle_of(struct ct_cluster *c, uint64_t *random, int64_t left_ns, int64_t size_ns)
{
    if (c->left)
        return c->cycle;
    if (!c->cycle)
        ct_cluster_draw(c, cluster_cycle(), random);
    return thinned(c->cycle, left_ns, size_ns);
}

/* Fewer of the operations that were drawn in advance are chosen where `every` has grown since. */
static bool is_chosen(struct ct_drawn drawn, uint64_t every, uint64_t *random)
{
    return drawn.is_it && (every <= drawn.every || ct_random(random) * every >> 32 < drawn.every);
}

bool ct_sample_choose(struct ct_sampler *s, struct ct_cluster *cluster, uint32_t row, uint64_t key,
                      uint64_t operations, struct ct_drawn drawn, struct ct_choice *choice)
{
    int64_t left_ns = 0, size_ns = 0;
    uint32_t cell = find(row, key, operations), cycle = 0;
    struct ct_sample_cell *c = cell == CT_CELL_NONE ? NULL : &cells->cell[cell];
    *choice = (struct ct_choice){.cell = cell, .weight = 1, .counted = true};
    ct_count_bump(&s->count[cell].seen, 1);
    uint64_t seen = atomic_load_explicit(&s->count[cell].seen, memory_order_relaxed);
    if (policy.budget_ppm) {
        left_ns = atomic_load_explicit(&ct_purse.left_ns, memory_order_relaxed);
        size_ns = atomic_load_explicit(&ct_purse.size_ns, memory_order_relaxed);
    }
    bool apart = apart_every(row, seen) > 1, all = !apart && drawn.every <= 1 && all_are_timed();
    bool sure = c && is_sure(c, apart, all, left_ns, size_ns);
    if (may_be_in_cluster(row, seen)) {
        cycle = cycle_of(cluster, &s->random, left_ns, size_ns);
        choice->follows = cluster->left;
        if (ct_cluster_takes(cluster, cycle, &s->random))
            choice->cluster = cluster->number;
        ct_cluster_step(cluster, cluster_cycle(), &s->random);
    }
    if (!sure) {
        uint64_t every = ct_max(drawn.every, thinned(every_of(c, row, seen), left_ns, size_ns));
        choice->weight = cycle ? ct_cluster_weight(every, cycle) : (double)every;
        if (!choice->cluster && !is_chosen(drawn, every, &s->random)) {
            choice->weight = 0;
            return false;
        }
    }
    pay(sure, choice->follows);
    ct_count_bump(&s->count[cell].chosen, 1);
    return true;
}

void ct_sample_add_sure(struct ct_sampler *s, uint32_t row, uint64_t key, uint64_t operations,
                        struct ct_choice *choice)
{
    uint32_t cell = find(row, key, operations);
    *choice = (struct ct_choice){.cell = cell, .weight = 1, .counted = true};
    ct_count_bump(&s->count[cell].seen, 1);
    ct_count_bump(&s->count[cell].chosen, 1);
    if (cell != CT_CELL_NONE &&
        atomic_load_explicit(&cells->cell[cell].sure, memory_order_relaxed) > 0)
        atomic_fetch_sub_explicit(&cells->cell[cell].sure, 1, memory_order_relaxed);
    pay(true, false);
}

void ct_sample_take_back(struct ct_sampler *s, const struct ct_choice *choice)
{
    ct_count_bump(&s->count[choice->cell].seen, (uint64_t)-1);
    if (choice->weight)
        ct_count_bump(&s->count[choice->cell].chosen, (uint64_t)-1);
}

/*
 * Follows the median in small steps: calls that were interrupted, or waited in the driver for room
 * in the queue, say nothing of cutrace's cost. The way back from such a call would be long, as few
 * brackets are made where one seems dear: so the median begins at the least of the first few.
 */
static void follow(struct cost *c, uint64_t ticks)
{
    uint64_t now = atomic_load_explicit(&c->median, memory_order_relaxed);
    uint32_t seen = atomic_load_explicit(&c->seen, memory_order_relaxed);
    uint64_t step = now / MEDIAN_STEPS + 1;
    uint64_t next = ticks > now ? now + step : now - ct_min(step, now - 1);
    if (seen < MEDIAN_FIRST) {
        next = seen ? ct_min(now, ticks) : ticks;
        atomic_store_explicit(&c->seen, seen + 1, memory_order_relaxed);
    }
    atomic_store_explicit(&c->median, next, memory_order_relaxed);
}

void ct_sample_measured(enum ct_cost cost, uint64_t ticks)
{
    follow(&costs.of[cost], ct_max(ticks, 1));
}

uint64_t ct_sample_ticks(enum ct_cost cost)
{
    return atomic_load_explicit(&costs.of[cost].median, memory_order_relaxed);
}
