/* SPDX-License-Identifier: MIT */
#include "counts/range.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/count.h"
#include "base/text.h"
#include "containers/intern.h"
#include "counts/call_log.h"
#include "counts/range_tree.h"
#include "state/capture_range.h"
#include "state/nap.h"
#include "state/recording.h"
#include "state/thread.h"
#include "system/clock.h"
#include "system/mem.h"

#define CALL_TRIES 16
#define BUSY UINT64_MAX

static CT_PROCESS _Atomic uint64_t lost[CT_RANGE_LOSS_COUNT];

void ct_range_lose(enum ct_range_loss loss, uint64_t n)
{
    atomic_fetch_add_explicit(&lost[loss], n, memory_order_relaxed);
}

static CT_PROCESS struct ct_ranges *_Atomic first_ranges;

struct ct_ranges *ct_ranges_first(void)
{
    return atomic_load_explicit(&first_ranges, memory_order_acquire);
}

struct ct_ranges *ct_ranges_next(struct ct_ranges *r)
{
    return r->next;
}

uint64_t ct_range_lost(enum ct_range_loss loss)
{
    return atomic_load_explicit(&lost[loss], memory_order_relaxed);
}

struct ct_file_thread ct_range_thread(struct ct_ranges *r, const char **name)
{
    uint32_t tid = atomic_load_explicit(&r->first_tid, memory_order_relaxed);
    *name = ct_range_thread_name(tid);
    return (struct ct_file_thread){
        .tid = tid, .count = atomic_load_explicit(&r->threads, memory_order_relaxed)};
}

/* A thread's first range. */
static CT_COLD struct ct_ranges *begin(struct ct_thread *t)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_relaxed);
    if (!r && (r = ct_map(sizeof(*r)))) {
        atomic_store_explicit(&r->nodes, 1, memory_order_relaxed);
        atomic_store_explicit(&t->ranges, r, memory_order_release);
        r->next = atomic_load_explicit(&first_ranges, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&first_ranges, &r->next, r,
                                                      memory_order_acq_rel, memory_order_relaxed))
            ;
    }
    if (!r)
        return NULL;
    r->tid = (uint32_t)syscall(SYS_gettid);
    if (!atomic_load_explicit(&r->first_tid, memory_order_relaxed))
        atomic_store_explicit(&r->first_tid, r->tid, memory_order_relaxed);
    ct_count_bump(&r->threads, 1);
    return r;
}

static struct ct_ranges *ranges_of(struct ct_thread *t)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_relaxed);
    return ct_likely(r && r->tid) ? r : begin(t);
}

static bool is_node(const struct ct_range_node *n, uint64_t hash, uint32_t parent, uint32_t style,
                    const struct ct_range_label *l)
{
    return n->hash == hash && n->parent == parent && n->style == style && n->domain == l->domain &&
           n->bytes == l->bytes && !__builtin_memcmp(n->text, l->text, l->bytes);
}

static uint32_t add_node(struct ct_ranges *r, uint16_t *slot, uint64_t hash, uint32_t parent,
                         uint32_t style, const struct ct_range_label *l)
{
    uint32_t n = atomic_load_explicit(&r->nodes, memory_order_relaxed);
    const char *text = n < CT_RANGE_NODES ? ct_intern(l->text, l->bytes) : NULL;
    if (!text)
        return 0;
    struct ct_range_node *node = &r->node[n];
    node->hash = hash;
    node->text = text;
    node->bytes = l->bytes;
    node->parent = parent;
    node->domain = l->domain;
    node->style = style;
    node->color = l->color;
    node->category = l->category;
    node->captures = style != CT_RANGE_MARK &&
                     ct_capture_is_of(ct_range_domain_name(l->domain), l->text, l->bytes);
    *slot = (uint16_t)n;
    atomic_store_explicit(&r->nodes, n + 1, memory_order_release);
    return n;
}

/* The node of that name below `parent`; 0: there is no room for it. */
static uint32_t node_below(struct ct_ranges *r, uint32_t parent, uint32_t style,
                           const struct ct_range_label *l)
{
    uint64_t hash = ct_hash_bytes(l->text, l->bytes);
    hash = (hash ^ parent) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ ((uint64_t)style << 16 | l->domain)) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = (uint32_t)(hash >> 40);; i++) {
        uint16_t *slot = &r->index[i % CT_RANGE_INDEX]; /* twice as many as nodes: some are free */
        if (!*slot)
            return add_node(r, slot, hash, parent, style, l);
        if (is_node(&r->node[*slot], hash, parent, style, l))
            return *slot;
    }
}

static uint32_t last_node(const struct ct_ranges *r)
{
    return r->depth ? r->open[r->depth - 1].node : 0;
}

/* Ends by other threads that came before the number is replaced are taken out here. */
static void show(struct ct_thread *t, struct ct_ranges *r)
{
    uint32_t node = last_node(r);
    uint32_t range = node ? ct_range_of(t->number, node) : 0;
    t->origin = r->depth ? r->open[r->depth - 1].origin : (struct ct_origin){.stack = 0};
    if (ct_unlikely(atomic_exchange(&t->range, range) == CT_RANGE_STALE))
        ct_range_renew(t);
}

static struct ct_open_range *open_range(struct ct_ranges *r, uint32_t style,
                                        const struct ct_range_label *l)
{
    if (ct_unlikely(r->depth == CT_RANGE_DEPTH)) {
        ct_range_lose(CT_RANGE_LOST_DEEP, 1);
        return NULL;
    }
    uint32_t node = node_below(r, last_node(r), style, l);
    if (ct_unlikely(!node)) {
        ct_range_lose(CT_RANGE_LOST_MANY, 1);
        return NULL;
    }
    if (ct_unlikely(r->node[node].captures))
        ct_capture_opens();
    struct ct_open_range *o = &r->open[r->depth];
    *o = (struct ct_open_range){.node = node, .opened_as = node, .counts = ct_recording()};
    if (l->origin)
        o->origin = *l->origin;
    else if (r->depth)
        o->origin = r->open[r->depth - 1].origin;
    r->depth++;
    if (o->counts)
        ct_count_bump(&r->node[node].opened, 1);
    return o;
}

static bool is_traced(void)
{
    return atomic_load_explicit(&ct_call_log_is_on, memory_order_relaxed);
}

/* A trace may lose no record: the drain thread is woken lest it nap longer than the room lasts. */
static void put_record(struct ct_ranges *r, struct ct_range_record record)
{
    uint32_t at;
    if (ct_unlikely(!ct_ring_reserve(&r->ring, CT_RANGE_RECORDS, &at))) {
        ct_count_bump(&r->dropped, 1);
        return;
    }
    r->records[at] = record;
    ct_ring_publish(&r->ring);
    if (ct_unlikely(at % (CT_RANGE_RECORDS / 4) == 0) && is_traced())
        ct_drain_wake();
}

/* The clock is read last, when all else that a beginning costs has been paid. */
static void begin_range(struct ct_ranges *r, struct ct_open_range *o)
{
    o->start_ticks = ct_ticks();
    if (ct_unlikely(is_traced()) && o->counts)
        put_record(r, (struct ct_range_record){o->opened_as, (uint32_t)o->id, o->start_ticks, 0});
}

static void add_duration(struct ct_ranges *r, const struct ct_open_range *o, uint64_t end_ticks)
{
    struct ct_range_node *n = &r->node[o->opened_as];
    uint64_t ticks = ct_ticks_between(o->start_ticks, end_ticks);
    uint64_t min = atomic_load_explicit(&n->min_ticks, memory_order_relaxed);
    if (!atomic_load_explicit(&n->count, memory_order_relaxed) || ticks < min)
        atomic_store_explicit(&n->min_ticks, ticks, memory_order_relaxed);
    if (ticks > atomic_load_explicit(&n->max_ticks, memory_order_relaxed))
        atomic_store_explicit(&n->max_ticks, ticks, memory_order_relaxed);
    ct_count_bump(&n->total_ticks, ticks);
    ct_count_bump(&n->count, 1);
    put_record(r,
               (struct ct_range_record){o->opened_as, (uint32_t)o->id, o->start_ticks, end_ticks});
}

/* Ranges that were opened later stay open, with another path from now on. */
static void end_range(struct ct_ranges *r, uint32_t at, uint64_t end_ticks)
{
    if (r->open[at].counts)
        add_duration(r, &r->open[at], end_ticks);
    if (ct_unlikely(r->node[r->open[at].opened_as].captures))
        ct_capture_closes();
    r->depth--;
    for (uint32_t i = at; i < r->depth; i++) {
        struct ct_open_range *o = &r->open[i];
        *o = r->open[i + 1];
        const struct ct_range_node *n = &r->node[o->node];
        const struct ct_range_label l = {n->text, n->bytes, n->domain, n->color, n->category, NULL};
        uint32_t node = node_below(r, i ? r->open[i - 1].node : 0, n->style, &l);
        if (node)
            o->node = node;
        else
            ct_range_lose(CT_RANGE_LOST_MANY, 1);
    }
}

static void end_id(struct ct_ranges *r, uint64_t id, uint64_t ticks)
{
    for (uint32_t i = r->depth; i-- > 0;)
        if (r->open[i].id == id) {
            end_range(r, i, ticks);
            return;
        }
}

static void take_ended(struct ct_ranges *r)
{
    for (unsigned i = 0; i < CT_RANGE_ENDED; i++) {
        uint64_t id = atomic_load_explicit(&r->ended[i].id, memory_order_acquire);
        if (!id || id == BUSY)
            continue;
        end_id(r, id, r->ended[i].ticks);
        atomic_store_explicit(&r->ended[i].id, 0, memory_order_release);
    }
}

CT_COLD uint32_t ct_range_renew(struct ct_thread *t)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_relaxed);
    uint32_t range;
    do {
        uint32_t node;
        atomic_store(&t->range, 0); /* before the look: later ends set CT_RANGE_STALE again */
        take_ended(r);
        node = last_node(r);
        range = node ? ct_range_of(t->number, node) : 0;
    } while (atomic_exchange(&t->range, range) == CT_RANGE_STALE);
    return range;
}

int ct_range_push(struct ct_thread *t, const struct ct_range_label *l)
{
    struct ct_ranges *r = ranges_of(t);
    if (!r)
        return 0;
    uint32_t level = r->level[l->domain]++;
    if (ct_unlikely(level != r->kept[l->domain])) { /* inside a range that is not kept */
        ct_range_lose(CT_RANGE_LOST_DEEP, 1);
        return (int)level;
    }
    struct ct_open_range *o = open_range(r, CT_RANGE_PUSH_POP, l);
    if (ct_likely(o != NULL)) {
        r->kept[l->domain]++;
        show(t, r);
        begin_range(r, o);
    }
    return (int)level;
}

static void pop(struct ct_ranges *r, uint32_t domain, uint64_t ticks)
{
    for (uint32_t i = r->depth; i-- > 0;) {
        const struct ct_range_node *n = &r->node[r->open[i].node];
        if (!r->open[i].id && n->domain == domain) {
            end_range(r, i, ticks);
            return;
        }
    }
}

int ct_range_pop(struct ct_thread *t, uint32_t domain)
{
    uint64_t ticks = ct_ticks();
    struct ct_ranges *r = ranges_of(t);
    if (!r || !r->level[domain])
        return -1;
    uint32_t level = --r->level[domain];
    if (ct_likely(r->kept[domain] > level)) {
        r->kept[domain]--;
        pop(r, domain, ticks);
        show(t, r);
    }
    return (int)level;
}

uint64_t ct_range_start(struct ct_thread *t, const struct ct_range_label *l)
{
    struct ct_ranges *r = ranges_of(t);
    if (!r)
        return 0;
    uint64_t id = t->number << 32 | (++r->starts & UINT32_MAX);
    struct ct_open_range *o = open_range(r, CT_RANGE_START_END, l);
    if (o) {
        o->id = id;
        show(t, r);
        begin_range(r, o);
    }
    return id;
}

static void tell(struct ct_thread *owner, struct ct_ranges *r, uint64_t id, uint64_t ticks)
{
    for (unsigned i = 0; i < CT_RANGE_ENDED; i++) {
        uint64_t free_id = 0;
        if (!atomic_compare_exchange_strong(&r->ended[i].id, &free_id, BUSY))
            continue;
        r->ended[i].ticks = ticks;
        atomic_store_explicit(&r->ended[i].id, id, memory_order_release);
        atomic_store(&owner->range, CT_RANGE_STALE);
        return;
    }
    ct_range_lose(CT_RANGE_LOST_ENDS, 1);
}

void ct_range_end(struct ct_thread *t, uint64_t id)
{
    uint64_t ticks = ct_ticks();
    struct ct_thread *owner = t;
    if (t->number != id >> 32)
        for (owner = ct_threads_first(); owner && owner->number != id >> 32;)
            owner = owner->next;
    struct ct_ranges *r = owner ? atomic_load_explicit(&owner->ranges, memory_order_acquire) : NULL;
    if (!r)
        return;
    if (owner != t) {
        tell(owner, r, id, ticks);
        return;
    }
    end_id(r, id, ticks);
    show(t, r);
}

void ct_range_mark(struct ct_thread *t, const struct ct_range_label *l)
{
    struct ct_ranges *r = ranges_of(t);
    if (!r || !ct_recording())
        return;
    uint32_t node = node_below(r, last_node(r), CT_RANGE_MARK, l);
    if (!node) {
        ct_range_lose(CT_RANGE_LOST_MANY, 1);
        return;
    }
    uint64_t now = ct_ticks();
    ct_count_bump(&r->node[node].opened, 1);
    ct_count_bump(&r->node[node].count, 1);
    put_record(r, (struct ct_range_record){node, 0, now, now});
}

static struct ct_range_call *call_of(struct ct_ranges *r, uint64_t key)
{
    uint64_t home = key * 0x9e3779b97f4a7c15u >> 32;
    for (uint64_t i = home; i < home + CALL_TRIES; i++) {
        struct ct_range_call *c = &r->calls[i % CT_RANGE_CALLS];
        uint64_t k = atomic_load_explicit(&c->key, memory_order_relaxed);
        if (!k)
            atomic_store_explicit(&c->key, k = key, memory_order_release);
        if (k == key)
            return c;
    }
    return NULL;
}

CT_COLD void ct_range_count_call(struct ct_thread *t, uint32_t range, uint32_t api, uint64_t ticks,
                                 uint32_t shift)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_relaxed);
    struct ct_range_call *c = call_of(r, ((uint64_t)ct_range_node_of(range) << 32 | api) + 1);
    if (!c) {
        ct_range_lose(CT_RANGE_LOST_CALLS, (uint64_t)1 << shift);
        return;
    }
    uint64_t min = atomic_load_explicit(&c->min_ticks, memory_order_relaxed);
    if (!atomic_load_explicit(&c->calls, memory_order_relaxed) || ticks < min)
        atomic_store_explicit(&c->min_ticks, ticks, memory_order_relaxed);
    if (ticks > atomic_load_explicit(&c->max_ticks, memory_order_relaxed))
        atomic_store_explicit(&c->max_ticks, ticks, memory_order_relaxed);
    ct_count_bump(&c->total_ticks, ticks << shift);
    ct_count_bump(&c->calls, (uint64_t)1 << shift);
}

/* Ranges that are still open remain unclosed; the tree goes on with the state's next thread. */
void ct_range_thread_ends(struct ct_thread *t)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_relaxed);
    if (!r)
        return;
    take_ended(r);
    for (uint32_t i = 0; i < r->depth; i++)
        if (r->node[r->open[i].opened_as].captures)
            ct_capture_closes();
    r->depth = r->tid = 0;
    for (unsigned i = 0; i < CT_RANGE_DOMAINS; i++)
        r->level[i] = r->kept[i] = 0;
    t->origin = (struct ct_origin){.stack = 0};
    atomic_store(&t->range, 0);
}

uint32_t ct_range_nodes(struct ct_ranges *r)
{
    return atomic_load_explicit(&r->nodes, memory_order_acquire);
}

struct ct_range_node *ct_range_node(struct ct_ranges *r, uint32_t node)
{
    return &r->node[node];
}

struct ct_range_sums *ct_range_sums(struct ct_ranges *r, uint32_t node)
{
    return &r->sums[node];
}

struct ct_range_call *ct_range_calls(struct ct_ranges *r)
{
    return r->calls;
}
