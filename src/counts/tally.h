/* SPDX-License-Identifier: MIT */
/*
 * A thread's counts of operations that are not timed, by row and reason: without a write that
 * another launching thread would wait for. The drain thread adds them to the rows.
 */
#ifndef CT_TALLY_H
#define CT_TALLY_H

#include "base/base.h"
#include "base/count.h"
#include "counts/row.h"

#define CT_TALLIES 256 /* pairs of row and reason; beyond that the rows count themselves */
#define CT_TALLY_TRIES 4

struct ct_tally {
    _Atomic uint64_t key; /* row << 8 | reason, + 1; 0: free. Never changes again */
    _Atomic uint64_t operations;
    _Atomic uint64_t bytes;
};

struct ct_tallies {
    _Alignas(CT_CACHE_LINE) _Atomic uint64_t changes; /* written by the thread, as the slots */
    struct ct_tally slot[CT_TALLIES];
    /* The drain thread's: counts that it has added. */
    _Alignas(CT_CACHE_LINE) uint64_t seen_changes;
    struct {
        uint64_t operations;
        uint64_t bytes;
    } seen[CT_TALLIES];
};

/* ct_row_lose() for the thread whose tallies these are. */
static inline void ct_tally_lose(struct ct_tallies *t, uint32_t row, enum ct_loss loss,
                                 uint64_t operations, uint64_t bytes)
{
    uint64_t key = ((uint64_t)row << 8 | loss) + 1;
    uint32_t first = (row * 31u + loss) % CT_TALLIES;
    for (uint32_t i = first; i < first + CT_TALLY_TRIES; i++) {
        struct ct_tally *s = &t->slot[i % CT_TALLIES];
        uint64_t k = atomic_load_explicit(&s->key, memory_order_relaxed);
        if (ct_unlikely(!k))
            atomic_store_explicit(&s->key, k = key, memory_order_release);
        if (k != key)
            continue;
        ct_count_bump(&s->operations, operations);
        if (ct_unlikely(bytes))
            ct_count_bump(&s->bytes, bytes);
        uint64_t changes = atomic_load_explicit(&t->changes, memory_order_relaxed);
        atomic_store_explicit(&t->changes, changes + 1, memory_order_release);
        return;
    }
    ct_row_lose(row, loss, operations, bytes);
}

/* Drain thread: adds new counts to the rows; returns whether there were any. */
bool ct_tallies_collect(struct ct_tallies *t);

#endif
