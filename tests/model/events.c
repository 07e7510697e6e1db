/* SPDX-License-Identifier: MIT */
/*
 * Packs of events: an event is in one hand at a time, and whoever takes it comes after whoever gave
 * it. The pool is made and brought down to a few packs of one event each before the threads begin.
 */
#include "state/event.c"

#include "subjects.h"

#define LIMIT 64 /* so low that a pack is one event */
#define MADE 32  /* at a time */
#define FREE 3

static struct ct_context context;
static struct ct_event_pool *const pool = &context.events.pool[CT_EVENT_TIMED];
static char used[LIMIT];
static unsigned taken;

static CUresult create(CUevent *out, unsigned flags)
{
    (void)flags;
    *out = (CUevent)used;
    return CUDA_SUCCESS;
}

/* The context is the one that is current. */
static CUresult current(CUcontext *out)
{
    *out = NULL;
    return CUDA_SUCCESS;
}

static void begin(void)
{
    struct ct_event_cache cache = {0};
    ct_driver_real[CT_ID_cuEventCreate] = (ct_function)create;
    ct_driver_real[CT_ID_cuCtxGetCurrent] = (ct_function)current;
    context = (struct ct_context){.state = CT_CONTEXT_FREE};
    ct_events_init(&context.events, LIMIT);
    uint32_t first = ct_cache_take(&context, &cache);
    for (int i = 1; i < MADE; i++)
        ct_cache_take(&context, &cache);
    for (uint32_t i = 0; i < FREE; i++)
        ct_cache_give(&context, &cache, first + i);
    ct_cache_flush(&context, &cache);
    /* No new ones. */
    atomic_store(&pool->made, LIMIT);
    taken = 0;
}

static uint32_t take_one(struct ct_event_cache *cache)
{
    uint32_t e = ct_cache_take(&context, cache);
    if (e != CT_EVENT_NONE)
        model_writes(&used[e]);
    return e;
}

static void give_one(struct ct_event_cache *cache, uint32_t e)
{
    if (e == CT_EVENT_NONE)
        return;
    model_writes(&used[e]);
    ct_cache_give(&context, cache, e);
}

static void taker(void)
{
    struct ct_event_cache cache = {0};
    give_one(&cache, take_one(&cache));
    ct_cache_flush(&context, &cache);
}

/* The cache of one that may be idle: what is in it is the drain thread's as well. */
static struct ct_event_cache kept;

static void begin_kept(void)
{
    begin();
    kept = (struct ct_event_cache){0};
    give_one(&kept, take_one(&kept));
}

static void keeper(void)
{
    give_one(&kept, take_one(&kept));
}

static void thief(void)
{
    ct_cache_flush(&context, &kept);
    give_one(&context.events.returned, take_one(&context.events.returned));
}

static void all_are_back(void)
{
    struct ct_event_cache cache = {0};
    unsigned n = 0;
    uint64_t seen = 0;
    for (uint32_t e; (e = ct_cache_take(&context, &cache)) != CT_EVENT_NONE; n++) {
        MODEL_ASSERT(!(seen >> e & 1));
        seen |= (uint64_t)1 << e;
    }
    MODEL_ASSERT(n == FREE);
    MODEL_ASSERT(atomic_load(&pool->packs) <= MADE);
}

static void kept_are_back(void)
{
    ct_cache_flush(&context, &kept);
    ct_events_flush(&context);
    all_are_back();
}

/* ---- the stacks by themselves: the same pack comes back under another one's hands ---- */

static void begin_stack(void)
{
    begin();
    while (pop(pool, &pool->filled))
        ;
    for (uint32_t pack = FREE; pack; pack--)
        push(pool, &pool->filled, pack);
}

static uint32_t pop_one(void)
{
    uint32_t pack = pop(pool, &pool->filled);
    if (pack)
        pool->pack[pack - 1].count++;
    return pack;
}

static void push_one(uint32_t pack)
{
    if (!pack)
        return;
    pool->pack[pack - 1].count--;
    push(pool, &pool->filled, pack);
}

static void pop_two(void)
{
    uint32_t a = pop_one(), b = pop_one();
    push_one(a);
    push_one(b);
}

static void pop_and_push(void)
{
    push_one(pop_one());
}

static void stack_is_whole(void)
{
    uint32_t seen = 0;
    for (uint32_t pack; (pack = pop(pool, &pool->filled));) {
        MODEL_ASSERT(!(seen >> pack & 1));
        seen |= 1u << pack;
    }
    MODEL_ASSERT(seen == 0xe);
}

const struct model subject_events[] = {
    {"events: the stack", begin_stack, {pop_and_push, pop_two}, stack_is_whole, NULL},
    {"events: taken and given", begin, {taker, taker}, all_are_back, NULL},
    {"events: taken from the idle", begin_kept, {keeper, thief}, kept_are_back, NULL},
    {0},
};
