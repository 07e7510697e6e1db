/* SPDX-License-Identifier: MIT */
/*
 * Choice of the operations that are timed when not all are. Each is decided on its own, at random:
 * an operation is timed with probability 1 / every, whatever the ones before it did, so no program
 * can keep step with that. `every` depends on the operation's cell, that is on its row and its
 * shape, and on how much of the budget is left. Programmatic rows, which timing would keep apart,
 * are sampled even where nothing else is; there `every` depends on how many a thread has seen.
 *
 * Launching threads read the cells and count on their own. The drain thread sets the rates
 * (control.h) and keeps the purse filled.
 */
#ifndef CT_SAMPLE_H
#define CT_SAMPLE_H

#include <stdatomic.h>

#include "base/base.h"
#include "counts/cluster.h"
#include "counts/stratum.h"
#include "time/op.h"

#define CT_CELLS 16384
/* Operations of a cell that are timed before any is passed: with a budget, */
#define CT_SURE 100
/* with a target beside it,  */
#define CT_SURE_TO_TARGET 1000
/* and of programmatic rows where nothing else is sampled. */
#define CT_SURE_APART 16
#define CT_EVERY_MOST (1u << 30)

struct ct_sample_cell {
    _Alignas(CT_CACHE_LINE) _Atomic uint32_t every;
    _Atomic int32_t sure; /* operations to be timed before any is passed over */
    uint32_t row;
    uint64_t operations; /* in each launch or copy; more than one in batches */
};

/* A cell's launches, copies and batches, and how many of these are or will be timed. */
struct ct_cell_count {
    uint64_t seen;
    uint64_t chosen;
};

/* A thread's part in sampling; it writes `count`, which the drain thread reads. */
struct ct_sampler {
    uint64_t random;
    uint32_t unmeasured; /* operations since the cost of one was measured */
    struct {
        _Atomic uint64_t seen;
        _Atomic uint64_t chosen;
    } count[CT_CELLS];
    struct {
        uint32_t seen; /* lower half of the count */
        uint32_t chosen;
    } taken[CT_CELLS]; /* part of `count` that the drain thread has added up */
};

/* The user's wishes, from which everything else follows. */
struct ct_sample_policy {
    uint32_t every;      /* never time more than one in so many */
    uint32_t budget_ppm; /* parts of the run time; 0: no budget */
    uint32_t apart;      /* most of `every` where timing keeps operations apart; 0: no bound */
    uint32_t sure;       /* operations of each cell that are timed first */
    uint32_t target_ppm; /* with a budget, the half of an interval that will do; 0: none */
};

/* Weight: how many operations this one stands for, itself included; 0: it was passed over. */
struct ct_choice {
    double weight;
    uint32_t cell;
    uint32_t cluster; /* its number; 0: it was drawn by itself, or not at all */
    bool follows;     /* behind another one of its cluster */
    bool counted;     /* as seen, in the thread's sampler */
};

/* False: no memory. */
bool ct_sample_init(const struct ct_sample_policy *policy);
/* has_rate: the user named a rate, and so said that timing may keep operations apart. */
struct ct_sample_policy ct_sample_policy_of_config(bool has_rate);

/* Whether all operations are sampled; otherwise only programmatic rows are. */
extern bool ct_sample_is_on;
const struct ct_sample_policy *ct_sample_policy(void);

/* The reason under which operations of the row count that were not drawn. */
enum ct_loss ct_sample_loss(uint32_t row);

struct ct_sample_cell *ct_cell(uint32_t index);
struct ct_stratum *ct_cell_stratum(uint32_t index); /* the drain thread's */
/* Sums over all threads, of dozing ones up to when they began to doze (awake.h). Drain thread. */
struct ct_cell_count ct_cell_count(uint32_t index);
/* Adds a thread's counts since the last time to these sums. Drain thread. */
void ct_cells_sum_up(struct ct_sampler *s);
/* One in how many is drawn, and whether some are still to be timed first. */
uint32_t ct_cell_every(uint32_t index);
bool ct_cell_is_sure(uint32_t index);
/* Whether a cell's operations are timed in clusters as well; not those that timing keeps apart. */
bool ct_cell_is_in_clusters(uint32_t index);
/* Drain thread: counts n operations that went by without a look. */
void ct_cell_passed(uint32_t index, uint64_t n);
/* Drain thread: an operation that was chosen has found no time. */
void ct_cell_lose(uint32_t index);
uint32_t ct_cells_count(void);

/* The key that tells operations of a row apart: a kernel's shape, otherwise the bytes, roughly. */
uint64_t ct_sample_key(const struct ct_shape *shape, uint64_t bytes, uint64_t operations);

/*
 * A draw in advance (pass.h): one in `every`, and whether this operation is that one. {1, true}:
 * there was no draw.
 */
struct ct_drawn {
    uint32_t every;
    bool is_it;
};

/*
 * Whether an operation of that row is timed, drawn by itself or in a cluster; it is counted in its
 * cell either way.
 */
bool ct_sample_choose(struct ct_sampler *s, struct ct_cluster *cluster, uint32_t row, uint64_t key,
                      uint64_t operations, struct ct_drawn drawn, struct ct_choice *choice);
/* Counts an operation that is timed without a decision: its row was not known before. */
void ct_sample_add_sure(struct ct_sampler *s, uint32_t row, uint64_t key, uint64_t operations,
                        struct ct_choice *choice);
/* Takes back a counted operation that did not run, or gets no time for another reason. */
void ct_sample_take_back(struct ct_sampler *s, const struct ct_choice *choice);

/* The host's cost of cutrace's part in an operation, measured now and then. */
enum ct_cost {
    CT_COST_BRACKET, /* a timed operation */
    CT_COST_NEXT,    /* one right behind another timed one */
    CT_COST_PASSED,  /* one that was looked at and passed over */
    CT_COST_PASS,    /* one that went by without a look (pass.h) */
    CT_COST_COUNT,
};
void ct_sample_measured(enum ct_cost cost, uint64_t ticks);
/* The median of the measurements; 0: not known yet. */
uint64_t ct_sample_ticks(enum ct_cost cost);

/* Filled by the control loop; launching threads pay from it. */
struct ct_purse {
    _Atomic int64_t left_ns; /* may be spent now; a little below zero at worst */
    _Atomic int64_t size_ns;
    _Atomic uint32_t bracket_ns;    /* cost of a bracket */
    _Atomic uint32_t next_ns;       /* cost of one behind another of its cluster */
    _Atomic uint32_t cluster_cycle; /* 0: not known yet */
    /* The first second of operations: those that are sure to be timed are timed at any price. */
    atomic_bool early;
};
extern struct ct_purse ct_purse;

#endif
