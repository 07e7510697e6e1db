/* SPDX-License-Identifier: MIT */
/*
 * Bounded queue from one producer thread to one consumer thread. The owner keeps the elements in an
 * array of 2^n; the ring keeps the indices, which only grow. Release on publishing, acquire on
 * taking: an element is whole before the other side can see it. Producer and consumer write to
 * different cache lines, and the producer looks at the consumer's only when the ring seems full.
 */
#ifndef CT_RING_H
#define CT_RING_H

#include <stdatomic.h>

#include "base/base.h"

struct ct_ring {
    _Alignas(CT_CACHE_LINE) _Atomic uint32_t head; /* written by the producer */
    uint32_t seen_tail;                            /* producer's copy of tail */
    _Alignas(CT_CACHE_LINE) _Atomic uint32_t tail; /* written by the consumer */
};

/* Producer: whether there is room for an element, at *index. */
static inline bool ct_ring_reserve(struct ct_ring *r, uint32_t capacity, uint32_t *index)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (ct_unlikely(head - r->seen_tail == capacity)) {
        r->seen_tail = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (head - r->seen_tail == capacity)
            return false;
    }
    *index = head & (capacity - 1);
    return true;
}

/* Producer: shows the reserved element to the consumer. */
static inline void ct_ring_publish(struct ct_ring *r)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

/* Consumer: how many elements wait, the first at *index, the others behind it modulo capacity. */
static inline uint32_t ct_ring_waiting(struct ct_ring *r, uint32_t capacity, uint32_t *index)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    *index = tail & (capacity - 1);
    return atomic_load_explicit(&r->head, memory_order_acquire) - tail;
}

/* Consumer: gives n elements back. */
static inline void ct_ring_consume(struct ct_ring *r, uint32_t n)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

#endif
