/* SPDX-License-Identifier: MIT */
/*
 * Memory as C11 has it, by views. Each place has its stores in modification order, with stamps; a
 * thread's view is, for each place, the oldest store that it may still read. A release store keeps
 * its thread's view, an acquire load takes it over. A store comes anywhere behind the thread's view
 * of its place, but never between a read-modify-write and what that has read.
 *
 * Sequentially consistent operations on a place do not go back behind each other. That is what the
 * standard wants of accesses; fences are not known here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define STORES 96 /* of one place, in an execution */
#define SEEN 8192 /* places that were accessed at all; a power of two */
#define APART ((uint64_t)1 << 40)

struct view {
    uint64_t at[PLACES]; /* stamp */
};

struct store {
    uint64_t stamp, value;
    bool is_followed; /* by the read-modify-write that has read it */
    struct view view; /* that an acquire load takes over */
    struct clocks clocks;
};

struct place {
    void *address;
    unsigned bytes;
    unsigned count;
    bool is_known; /* has its first store in this execution */
    uint64_t latest_sc;
    struct store *store; /* by stamp */
};

bool memory_has_learnt;

static struct place places[PLACES];
static unsigned place_count;
static struct view views[MODEL_THREADS];
static struct clocks clocks[MODEL_THREADS];

/* Who has accessed what in this execution, of places that are not known to be shared. */
static struct {
    const void *address;
    unsigned execution;
    uint8_t readers, writers;
} seen[SEEN];
static unsigned execution;

void memory_forget(void)
{
    for (unsigned i = 0; i < place_count; i++)
        free(places[i].store);
    memset(places, 0, sizeof(places));
    place_count = 0;
    memory_has_learnt = false;
}

void memory_begin(void)
{
    execution++;
    memory_has_learnt = false;
    memset(views, 0, sizeof(views));
    memset(clocks, 0, sizeof(clocks));
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        clocks[i].at[i] = 1;
    for (unsigned i = 0; i < place_count; i++)
        places[i].is_known = false;
}

struct clocks *memory_clocks(int thread)
{
    return &clocks[thread];
}

/* ---- the machine's own memory: all of what is not shared, and the latest of what is ---- */

static uint64_t machine_read(const void *p, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    return value;
}

static void machine_write(void *p, unsigned bytes, uint64_t value)
{
    memcpy(p, &value, bytes);
}

static uint64_t result(const struct access *a, uint64_t old)
{
    uint64_t mask = a->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * a->bytes) - 1;
    switch (a->kind) {
    case ADD:
        return (old + a->operand) & mask;
    case SUBTRACT:
        return (old - a->operand) & mask;
    case AND:
        return old & a->operand;
    case OR:
        return old | a->operand;
    case XOR:
        return old ^ a->operand;
    default:
        return a->operand & mask;
    }
}

static uint64_t alone(struct access *a)
{
    uint64_t old = machine_read(a->address, a->bytes);
    a->swapped = a->kind == COMPARE && old == a->expected;
    a->expected = old;
    if (a->kind != LOAD && (a->kind != COMPARE || a->swapped))
        machine_write(a->address, a->bytes, result(a, old));
    return old;
}

/* ---- which places are shared ---- */

static struct place *find(const void *address)
{
    for (unsigned i = 0; i < place_count; i++)
        if (places[i].address == address)
            return &places[i];
    return NULL;
}

static void learn(const struct access *a)
{
    if (place_count == PLACES)
        abort();
    places[place_count++] = (struct place){
        .address = a->address, .bytes = a->bytes, .store = calloc(STORES, sizeof(struct store))};
    memory_has_learnt = true;
    model_give_up();
}

static void look(const struct access *a)
{
    unsigned i = (unsigned)(((uintptr_t)a->address >> 2) * 0x9e3779b97f4a7c15u >> 51) % SEEN;
    while (seen[i].execution == execution && seen[i].address != a->address)
        i = (i + 1) % SEEN;
    if (seen[i].execution != execution) {
        seen[i].execution = execution;
        seen[i].address = a->address;
        seen[i].readers = seen[i].writers = 0;
    }
    uint8_t self = (uint8_t)(1u << model_self);
    seen[i].readers |= self;
    if (a->kind != LOAD)
        seen[i].writers |= self;
    if (seen[i].writers && (seen[i].readers & (seen[i].readers - 1)))
        learn(a);
}

/* ---- shared places ---- */

static void begin_place(struct place *p)
{
    p->is_known = true;
    p->count = 1;
    p->latest_sc = 0;
    memset(&p->store[0], 0, sizeof(p->store[0]));
    p->store[0].stamp = 1;
    p->store[0].value = machine_read(p->address, p->bytes);
}

static void join(struct view *v, struct clocks *c, const struct store *s)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (v->at[i] < s->view.at[i])
            v->at[i] = s->view.at[i];
    for (unsigned i = 0; i < MODEL_THREADS; i++)
        if (c->at[i] < s->clocks.at[i])
            c->at[i] = s->clocks.at[i];
}

static bool acquires(int order)
{
    return order == CONSUME || order == ACQUIRE || order == ACQ_REL || order == SEQ_CST;
}

static bool releases(int order)
{
    return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

/* Whether an operation can be that reads this store. */
static bool can_read(const struct place *p, const struct access *a, const struct store *s)
{
    unsigned index = (unsigned)(p - places);
    if (s->stamp < views[model_self].at[index])
        return false;
    if (a->order == SEQ_CST && s->stamp < p->latest_sc)
        return false;
    if (a->kind == LOAD || (a->kind == COMPARE && s->value != a->expected))
        return true;
    if (a->kind == EXCHANGE && s != &p->store[p->count - 1])
        return false; /* it would only try again */
    return !s->is_followed;
}

static struct store *choose_read(struct place *p, const struct access *a)
{
    struct store *can[STORES];
    unsigned n = 0;
    for (unsigned i = p->count; i--;)
        if (can_read(p, a, &p->store[i]))
            can[n++] = &p->store[i];
    if (!n)
        model_broken("an operation can read nothing");
    return can[model_choose(n)];
}

static void take(struct place *p, const struct store *s, int order)
{
    unsigned index = (unsigned)(p - places);
    if (views[model_self].at[index] < s->stamp)
        views[model_self].at[index] = s->stamp;
    if (acquires(order))
        join(&views[model_self], &clocks[model_self], s);
    if (order == SEQ_CST && p->latest_sc < s->stamp)
        p->latest_sc = s->stamp;
}

/* Behind `before`, which a read-modify-write (`reads`) has read. */
static void put(struct place *p, unsigned before, uint64_t value, int order, bool reads)
{
    unsigned index = (unsigned)(p - places);
    if (p->count == STORES)
        abort();
    memmove(&p->store[before + 2], &p->store[before + 1],
            (p->count - before - 1) * sizeof(p->store[0]));
    p->count++;
    struct store *s = &p->store[before + 1], *read = &p->store[before];
    bool is_last = before + 2 == p->count;
    s->stamp = is_last ? read->stamp + APART : read->stamp + (s[1].stamp - read->stamp) / 2;
    if (s->stamp == read->stamp)
        abort();
    s->value = value;
    s->is_followed = false;
    views[model_self].at[index] = s->stamp;
    memset(&s->view, 0, sizeof(s->view));
    memset(&s->clocks, 0, sizeof(s->clocks));
    if (reads) { /* goes on with the release sequence */
        read->is_followed = true;
        s->view = read->view;
        s->clocks = read->clocks;
    }
    s->view.at[index] = s->stamp;
    if (releases(order)) {
        struct store own = {.view = views[model_self], .clocks = clocks[model_self]};
        join(&s->view, &s->clocks, &own);
    }
    if (order == SEQ_CST && p->latest_sc < s->stamp)
        p->latest_sc = s->stamp;
    clocks[model_self].at[model_self]++;
    machine_write(p->address, p->bytes, p->store[p->count - 1].value);
}

static void store(struct place *p, const struct access *a)
{
    unsigned index = (unsigned)(p - places), can[STORES], n = 0;
    for (unsigned i = p->count; i--;) {
        const struct store *s = &p->store[i];
        bool is_old = s->stamp < views[model_self].at[index] ||
                      (a->order == SEQ_CST && s->stamp < p->latest_sc);
        if (!is_old && !s->is_followed)
            can[n++] = i;
    }
    put(p, can[model_choose(n)], a->operand, a->order, false);
}

bool memory_waits(const struct access *a)
{
    const struct place *p = find(a->address);
    return a->kind == EXCHANGE && a->operand && p && p->is_known && p->count > 1 &&
           p->store[p->count - 1].value == a->operand;
}

uint64_t memory_access(struct access *a)
{
    if (model_self < 0)
        return alone(a);
    struct place *p = find(a->address);
    if (!p) {
        look(a);
        return alone(a);
    }
    model_turn(a);
    if (!p->is_known)
        begin_place(p);
    if (a->kind == STORE) {
        store(p, a);
        return 0;
    }
    struct store *s = choose_read(p, a);
    uint64_t old = s->value;
    a->swapped = a->kind == COMPARE && old == a->expected;
    bool writes = a->kind != LOAD && (a->kind != COMPARE || a->swapped);
    a->expected = old;
    take(p, s, a->kind == COMPARE && !a->swapped ? a->failure_order : a->order);
    if (writes)
        put(p, (unsigned)(s - p->store), result(a, old), a->order, true);
    return old;
}
