/* SPDX-License-Identifier: MIT */
/*
 * A table that has all its addresses from the start, and memory as far as it is used: an element
 * stays where it is, and is found by its number alone. Addresses without memory are not charged to
 * the process, nor locked with its memory (mlockall).
 *
 * Any thread may have the table grow. A table whose elements a lock protects is grown before the
 * lock is taken, as the kernel is asked for memory.
 */
#ifndef CT_STABLE_ARRAY_H
#define CT_STABLE_ARRAY_H

#include <stdatomic.h>

#include "base/base.h"

struct ct_stable_array {
    void *at;
    size_t element_bytes;
    _Atomic uint32_t open; /* elements with memory, zeroed at first */
    _Atomic uint32_t most; /* elements at the end: fewer where memory was out once */
};

/*
 * Reserves addresses for `most` elements, or for half as many, and so on down to `least`, and
 * memory for the first ones. False: there are none. errno is kept, here and below.
 */
bool ct_stable_array_init(struct ct_stable_array *g, size_t element_bytes, uint32_t most,
                          uint32_t least);

/* Memory for one element out of turn, and for its neighbours on the pages. False: there is none. */
bool ct_stable_array_open_one(struct ct_stable_array *g, uint32_t index);

CT_COLD bool ct_stable_array_grow(struct ct_stable_array *g, uint32_t count);

static inline uint32_t ct_stable_array_open(const struct ct_stable_array *g)
{
    return atomic_load_explicit(&g->open, memory_order_acquire);
}

static inline uint32_t ct_stable_array_most(const struct ct_stable_array *g)
{
    return atomic_load_explicit(&g->most, memory_order_relaxed);
}

/* Whether the first `count` elements have memory now; grows the table if need be. */
static inline bool ct_stable_array_reach(struct ct_stable_array *g, uint32_t count)
{
    return ct_likely(count <= ct_stable_array_open(g)) || ct_stable_array_grow(g, count);
}

#endif
