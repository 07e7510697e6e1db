/* SPDX-License-Identifier: MIT */
/*
 * Rows: lines of the table. A row is a kernel on a device, or a copy direction, memset, prefetch or
 * graph on a device. Rows are found by identity, never removed, and bounded in number: kernels for
 * which there is no row, or no memory, share one named "(other kernels)" a device.
 *
 * Launching threads write the atomic counters only; the statistics belong to the drain thread.
 */
#ifndef CT_ROW_H
#define CT_ROW_H

#include <stdatomic.h>

#include "base/base.h"
#include "counts/buckets.h"
#include "counts/stratum.h"
#include "counts/transfer.h"
#include "cutrace/format.h"
#include "format/list_extent.h"
#include "time/estimate.h"
#include "time/op.h"

#define CT_ROWS 16384
#define CT_ROW_SHAPES 8
#define CT_NAME_BYTES ((size_t)64 * 1024) /* longer names are cut */

#define CT_ROW_WITNESS CT_ROWS /* row of witnesses (witness.h), which are in no table */

/*
 * Classes of durations for metrics (metrics.h): few, and 64 bits wide, as they count for as long as
 * a service runs. Upper limits, inclusive, in ns, and as text in seconds; the last class has none.
 */
#define CT_CLASS_LIMITS(X)                                                                         \
    X(1000, "1e-06")                                                                               \
    X(5000, "5e-06")                                                                               \
    X(10000, "1e-05")                                                                              \
    X(50000, "5e-05")                                                                              \
    X(100000, "0.0001")                                                                            \
    X(500000, "0.0005")                                                                            \
    X(1000000, "0.001")                                                                            \
    X(5000000, "0.005")                                                                            \
    X(10000000, "0.01")                                                                            \
    X(100000000, "0.1")                                                                            \
    X(1000000000, "1.0")
#define X(ns, text) +1
enum { CT_CLASSES = 1 CT_CLASS_LIMITS(X) };
#undef X

/* Figures of durations, corrected or raw. */
struct ct_sums {
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    double square_ns2;
    struct ct_buckets *buckets;   /* NULL until the first duration */
    struct ct_list_extent listed; /* buckets in the file, as of the row's `timed` */
};

/* Sums over clusters of products of distances, ns2 (common_error.h); about 0 for independent ones. */
struct ct_in_common {
    double of_cells_ns2;    /* between the row's cells */
    double with_others_ns2; /* between its cells and those of all other rows */
};

struct ct_row {
    /* Each launch reads these: nothing that is often written may lie beside them. */
    _Alignas(CT_CACHE_LINE) uint32_t kind;
    uint32_t detail;
    uint32_t device;
    atomic_bool programmatic; /* launched programmatically, or followed by a kernel that was */
    bool excluded;            /* nobody wants its time (filter.h) */
    const char *name;
    _Atomic uint32_t registers;
    _Atomic uint32_t static_shared_bytes;
    _Atomic uint32_t parameter_bytes; /* 0: not known */

    _Alignas(CT_CACHE_LINE) _Atomic uint64_t lost[CT_LOSS_COUNT];
    _Atomic uint64_t errors;
    _Atomic uint64_t bytes;

    /* The rest is the drain thread's. */
    uint64_t timed;
    struct ct_projection projection; /* operations passed over, as of the last ct_rows_project() */
    struct ct_in_common in_common;   /* between estimates */
    struct ct_sums time;
    struct ct_sums raw;
    struct ct_prior prior;
    uint64_t classes[CT_CLASSES]; /* operations, each with all it stands for; with metrics only */
    uint64_t timed_bytes;
    struct ct_transfers *transfers; /* copies; NULL until one is timed */
    uint64_t doubt_ns;
    uint64_t overlapped;
    uint64_t legacy_waits;
    uint64_t marked;
    struct {
        struct ct_shape shape;
        uint64_t count;
    } shapes[CT_ROW_SHAPES];
    struct ct_extent listed_shapes;
    uint64_t shape_other;
};

bool ct_rows_init(void);

extern struct ct_row *ct_rows;

static inline struct ct_row *ct_row(uint32_t index)
{
    return &ct_rows[index];
}

static inline bool ct_row_is_programmatic(uint32_t index)
{
    return atomic_load_explicit(&ct_row(index)->programmatic, memory_order_relaxed);
}

/* Whether such operations were passed over by chance: the timed stand for them. */
static inline bool ct_loss_is_drawn(enum ct_loss loss)
{
    return loss == CT_LOSS_SAMPLED || loss == CT_LOSS_PROGRAMMATIC;
}

uint32_t ct_rows_count(void);

/*
 * The row of that identity, made if need be. name may be NULL. Never fails: when there is no room
 * the row for all others is returned.
 */
uint32_t ct_row_get(uint32_t kind, uint32_t detail, uint32_t device, const char *name);

/* Counts operations that ran, or were captured, without a duration. Any thread. */
static inline void ct_row_lose(uint32_t row, enum ct_loss loss, uint64_t operations, uint64_t bytes)
{
    struct ct_row *r = ct_row(row);
    atomic_fetch_add_explicit(&r->lost[loss], operations, memory_order_relaxed);
    if (bytes && loss != CT_LOSS_CAPTURED)
        atomic_fetch_add_explicit(&r->bytes, bytes, memory_order_relaxed);
}

/* Operations that have no time although one was wanted, in all rows. */
uint64_t ct_rows_lost(void);

#endif
