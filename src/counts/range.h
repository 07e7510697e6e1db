/* SPDX-License-Identifier: MIT */
/*
 * Ranges that the program opens and closes (NVTX), and its work meanwhile. A thread's open ranges
 * are a path in a tree of the thread's own, whose nodes are ranges by name; an operation or a call
 * belongs to the last node of the path, and thereby to all above. So a launch looks at one number,
 * which is zero outside of ranges.
 *
 * A thread writes its tree, its counters and its ring, the drain thread reads them. Everything is
 * bounded; ranges and calls without room are counted as lost, and no operation's share is ever
 * given to another range.
 */
#ifndef CT_RANGE_H
#define CT_RANGE_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/ring.h"
#include "counts/buckets.h"
#include "cutrace/format.h"
#include "format/list_extent.h"
#include "state/thread.h"

#define CT_RANGE_DEPTH (CT_FILE_RANGE_DEPTH - 1) /* open in a thread at once, and a mark */
#define CT_RANGE_NODES 4096                      /* in a thread's tree, the root included */
#define CT_RANGE_DOMAINS 256                     /* the last one stands for all further domains */
#define CT_RANGE_NAME_BYTES 1024                 /* longer names are cut */
#define CT_RANGE_CALLS 8192  /* slots for pairs of range and function in a thread */
#define CT_RANGE_CELLS 65536 /* pairs of range and row in the process */
#define CT_RANGE_HISTS 2048  /* histograms in the process */

#define CT_RANGE_STALE UINT32_MAX /* another thread has ended a range: ct_range_renew() */

/* A range's name, as the program gives it; the text need not be terminated, nor live on. */
struct ct_range_label {
    const char *text;
    uint32_t bytes;
    uint32_t domain; /* from ct_range_domain() */
    uint32_t color;
    uint32_t category;              /* 0: none */
    const struct ct_origin *origin; /* for a push; NULL: that of the range around it */
};

struct ct_range_node {
    uint64_t hash;
    const char *text;
    uint32_t bytes;
    uint32_t parent; /* 0: the root */
    uint32_t domain;
    uint32_t style; /* enum ct_range_style */
    uint32_t color; /* the first range's of that name, as is the category */
    uint32_t category;
    bool captures; /* see capture_range.h */
    _Atomic uint64_t opened;
    _Atomic uint64_t count; /* closed ranges, which alone are in the figures below */
    _Atomic uint64_t total_ticks;
    _Atomic uint64_t min_ticks;
    _Atomic uint64_t max_ticks;
};

/* A node's sums, kept by the drain thread. */
struct ct_range_sums {
    uint64_t sampled;
    double square_ns2;
    struct ct_buckets *buckets;   /* NULL: there is none */
    struct ct_list_extent listed; /* buckets in the file, as of that `sampled` */
    uint32_t index;               /* in the file that is being written */
    uint32_t traced_in;           /* the segment of the trace that knows the node's label */
};

/* Calls of one function in one range. */
struct ct_range_call {
    _Atomic uint64_t key; /* node << 32 | function + 1; 0: free */
    _Atomic uint64_t calls;
    _Atomic uint64_t total_ticks;
    _Atomic uint64_t min_ticks;
    _Atomic uint64_t max_ticks;
};

/* Reasons why ranges, calls and operations are not counted; the texts are notes of the profile. */
#define CT_RANGE_LOSSES(X)                                                                         \
    X(DEEP, "Ranges that are not counted: more were open in their thread than fit")                \
    X(MANY, "Ranges that are not counted: their thread had too many of different names")           \
    X(CALLS, "Calls that are in no range: their thread had too many kinds of them")                \
    X(CELLS, "Operations that are in no range: there were too many kinds of them")                 \
    X(ENDS, "Ranges that are not counted: other threads ended too many at once")

enum ct_range_loss {
#define X(id, text) CT_RANGE_LOST_##id,
    CT_RANGE_LOSSES(X)
#undef X
        CT_RANGE_LOSS_COUNT
};

struct ct_ranges;

/* The number of the domain with that name. Any thread. */
uint32_t ct_range_domain(const char *name, size_t bytes);
const char *ct_range_domain_name(uint32_t domain);

/* Names a category of a domain; the text lives on. Any thread. */
void ct_range_name_category(uint32_t domain, uint32_t category, const char *name);
const char *ct_range_category_name(uint32_t domain, uint32_t category); /* NULL: nothing */

/* Names a thread of the system, as NVTX does; the text lives on. Any thread. */
void ct_range_name_thread(uint32_t tid, const char *name);
const char *ct_range_thread_name(uint32_t tid); /* NULL: nothing */
uint32_t ct_range_namings(void);                /* given to threads so far */

/*
 * In the program's thread. Push returns how many ranges of the domain were open before, pop how
 * many are open after, or -1 where none was.
 */
int ct_range_push(struct ct_thread *t, const struct ct_range_label *l);
int ct_range_pop(struct ct_thread *t, uint32_t domain);
/* Returns the id by which any thread can end the range; 0: there was no memory. */
uint64_t ct_range_start(struct ct_thread *t, const struct ct_range_label *l);
void ct_range_end(struct ct_thread *t, uint64_t id);
void ct_range_mark(struct ct_thread *t, const struct ct_range_label *l);

/* Takes out ranges that other threads have ended; returns the last one that is still open. */
CT_COLD uint32_t ct_range_renew(struct ct_thread *t);

/* Counts a call of the thread in this range, which stands for 2^shift calls. */
CT_COLD void ct_range_count_call(struct ct_thread *t, uint32_t range, uint32_t api, uint64_t ticks,
                                 uint32_t shift);

/* The thread ends: its state may become another thread's. */
void ct_range_thread_ends(struct ct_thread *t);

/* In the child of a fork: another thread may have held the locks. */
void ct_range_names_forget(void);

/* ---- for the profile ---- */

/* Trees of all threads that ever had a range. NULL: there are no more. */
struct ct_ranges *ct_ranges_first(void);
struct ct_ranges *ct_ranges_next(struct ct_ranges *r);
uint32_t ct_range_nodes(struct ct_ranges *r); /* the root included; the number only grows */
struct ct_range_node *ct_range_node(struct ct_ranges *r, uint32_t node);
struct ct_range_sums *ct_range_sums(struct ct_ranges *r, uint32_t node);
struct ct_range_call *ct_range_calls(struct ct_ranges *r); /* CT_RANGE_CALLS of them */
struct ct_file_thread ct_range_thread(struct ct_ranges *r, const char **name);

/* A range's number holds its thread's number and its node. */
#define CT_RANGE_NODE_BITS 12
_Static_assert(CT_RANGE_NODES == 1 << CT_RANGE_NODE_BITS, "a node has so many bits");

static inline uint32_t ct_range_of(uint64_t thread, uint32_t node)
{
    return (uint32_t)(thread << CT_RANGE_NODE_BITS) | node;
}

static inline uint32_t ct_range_node_of(uint32_t range)
{
    return range & (CT_RANGE_NODES - 1);
}

static inline uint32_t ct_range_thread_of(uint32_t range)
{
    return range >> CT_RANGE_NODE_BITS;
}

uint64_t ct_range_lost(enum ct_range_loss loss);

/* The range that an operation belongs to; 0: none. */
static inline uint32_t ct_thread_range(struct ct_thread *t)
{
    uint32_t range = atomic_load_explicit(&t->range, memory_order_relaxed);
    return ct_unlikely(range == CT_RANGE_STALE) ? ct_range_renew(t) : range;
}

#endif
