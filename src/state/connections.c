/* SPDX-License-Identifier: MIT */
#include "state/connections.h"

#include "state/context.h"
#include "state/renewal.h"
#include "state/stream.h"
#include "system/clock.h"

#define USUAL 8 /* a driver's number without a setting */
#define MOST 32

#define MANY 32 /* streams at work */

/* Behind operations without a bracket nothing shows when a stream is through: a guess. */
#define QUIET_NS 500000000u

CT_READ_MOSTLY uint32_t ct_connections_count = USUAL;
CT_READ_MOSTLY atomic_bool ct_connections_were_short;

static CT_PROCESS _Atomic(struct ct_stream *) at_work;

void ct_connections_init(const char *setting)
{
    uint32_t n = 0;
    for (; setting && *setting >= '0' && *setting <= '9' && n <= MOST; setting++)
        n = 10 * n + (uint32_t)(*setting - '0');
    ct_connections_count = n ? (uint32_t)ct_min(n, MOST) : USUAL;
}

static void push(struct ct_stream *s)
{
    struct ct_stream *first = atomic_load_explicit(&at_work, memory_order_relaxed);
    do
        s->work.next = first;
    while (!atomic_compare_exchange_weak_explicit(&at_work, &first, s, memory_order_release,
                                                  memory_order_relaxed));
}

static CT_COLD void add(struct ct_context *c, struct ct_stream *s)
{
    if (atomic_exchange_explicit(&s->work.is_known, true, memory_order_acq_rel))
        return;
    atomic_store_explicit(&ct_connections_were_short, true, memory_order_relaxed);
    s->work.context = ct_context_index(c);
    s->work.quiet_since_ticks = ct_ticks();
    atomic_fetch_add_explicit(&c->connections.at_work, 1, memory_order_relaxed);
    push(s);
}

bool ct_connections_are_short(struct ct_context *c, struct ct_stream *s)
{
    if (!atomic_load_explicit(&s->work.is_known, memory_order_relaxed))
        add(c, s);
    return atomic_load_explicit(&c->connections.at_work, memory_order_relaxed) >
           ct_connections_count / 2;
}

uint32_t ct_connections_every(const struct ct_context *c)
{
    return 1 + atomic_load_explicit(&c->connections.at_work, memory_order_relaxed) / MANY;
}

static bool is_at_work(struct ct_stream *s, uint64_t now)
{
    uint64_t breaks = ct_stream_breaks(s);
    if (breaks != s->work.breaks) {
        s->work.breaks = breaks;
        s->work.quiet_since_ticks = now;
    }
    if (!ct_stream_is_dealt_with(s))
        return true;
    return ct_stream_is_broken(s) &&
           ct_ticks_between(s->work.quiet_since_ticks, now) < ct_ns_to_ticks(QUIET_NS);
}

/* Has launches that go by looked at again: the next one shows the stream at work. */
static void drop(struct ct_stream *s)
{
    atomic_fetch_sub_explicit(&ct_context(s->work.context)->connections.at_work, 1,
                              memory_order_relaxed);
    atomic_store_explicit(&s->work.is_known, false, memory_order_release);
}

void ct_connections_step(void)
{
    if (ct_likely(!atomic_load_explicit(&at_work, memory_order_relaxed)))
        return;
    bool dropped = false;
    uint64_t now = ct_ticks();
    struct ct_stream *next, *s = atomic_exchange_explicit(&at_work, NULL, memory_order_acquire);
    for (; s; s = next) {
        next = s->work.next;
        if (is_at_work(s, now)) {
            push(s);
        } else {
            drop(s);
            dropped = true;
        }
    }
    if (dropped)
        ct_pass_renew();
}
