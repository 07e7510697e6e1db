/* SPDX-License-Identifier: MIT */
#include "state/host_wait.h"

#include "state/connections.h"
#include "state/context.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"
#include "time/op.h"

/* A reader that meets the change finds no wait. */
static void keep(_Atomic uint64_t *ticks, _Atomic uint32_t *what, uint32_t index, uint64_t now)
{
    atomic_store_explicit(ticks, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(what, index, memory_order_relaxed);
    atomic_store_explicit(ticks, now, memory_order_release);
}

static uint64_t of(const _Atomic uint64_t *ticks, const _Atomic uint32_t *what, uint32_t index,
                   uint64_t since)
{
    uint64_t first = atomic_load_explicit(ticks, memory_order_acquire);
    bool is_it = atomic_load_explicit(what, memory_order_relaxed) == index;
    atomic_thread_fence(memory_order_acquire);
    bool is_same = atomic_load_explicit(ticks, memory_order_relaxed) == first;
    return is_it && is_same && first > since ? first : UINT64_MAX;
}

void ct_host_wait_stream(struct ct_thread *t, CUstream stream)
{
    if (ct_likely(!atomic_load_explicit(&ct_connections_were_short, memory_order_relaxed)))
        return;
    uint64_t now = ct_ticks();
    const struct ct_stream *s = ct_stream_known(t, stream);
    if (s)
        keep(&t->waited.stream_ticks, &t->waited.stream, ct_stream_index(s), now);
}

void ct_host_wait_context(struct ct_thread *t, CUcontext context)
{
    if (ct_likely(!atomic_load_explicit(&ct_connections_were_short, memory_order_relaxed)))
        return;
    uint64_t now = ct_ticks();
    const struct ct_context *c = context ? ct_context_find(context) : ct_context_current();
    if (c)
        keep(&t->waited.context_ticks, &t->waited.context, ct_context_index(c), now);
}

uint64_t ct_host_wait_ticks(const struct ct_thread *t, const struct ct_op *op)
{
    const struct ct_waited *w = &t->waited;
    return ct_min(of(&w->stream_ticks, &w->stream, op->stream, op->closed_ticks),
                  of(&w->context_ticks, &w->context, op->context, op->closed_ticks));
}
