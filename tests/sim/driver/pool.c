/* SPDX-License-Identifier: MIT */
/*
 * Handles. Each type has a range of addresses that is never unmapped, so that a destroyed handle
 * can be told from a living one and from what never was one.
 */
#include "driver/sim.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
    const char *what;
    size_t bytes;
    uint32_t limit;
    uint32_t rest; /* freed ones that lie idle before the first is used again */
    char *base;
    uint32_t used, idle, alive;
    uint32_t first_free, last_free; /* index + 1 */
};

/* Streams, modules and functions come back at once, as the driver's do; events rest, so that the
 * use of a destroyed one is seen. */
static struct pool pools[SIM_TYPES] = {
    [SIM_CONTEXT] = {.what = "context", .bytes = sizeof(struct CUctx_st), .limit = 1 << 14},
    [SIM_STREAM] = {.what = "stream", .bytes = sizeof(struct CUstream_st), .limit = 1 << 20},
    [SIM_EVENT] = {.what = "event",
                   .bytes = sizeof(struct CUevent_st),
                   .limit = 1 << 22,
                   .rest = 1 << 16},
    [SIM_MODULE] = {.what = "module", .bytes = sizeof(struct CUmod_st), .limit = 1 << 18},
    [SIM_LIBRARY] = {.what = "library", .bytes = sizeof(struct CUlib_st), .limit = 1 << 18},
    [SIM_FUNCTION] = {.what = "function", .bytes = sizeof(struct CUfunc_st), .limit = 1 << 20},
    [SIM_KERNEL] = {.what = "kernel", .bytes = sizeof(struct CUkern_st), .limit = 1 << 20},
    [SIM_GRAPH] = {.what = "graph",
                   .bytes = sizeof(struct CUgraph_st),
                   .limit = 1 << 20,
                   .rest = 64},
    [SIM_NODE] = {.what = "graph node", .bytes = sizeof(struct CUgraphNode_st), .limit = 1 << 22},
    [SIM_EXEC] = {.what = "executable graph",
                  .bytes = sizeof(struct CUgraphExec_st),
                  .limit = 1 << 20},
    [SIM_ARRAY] = {.what = "array", .bytes = sizeof(struct CUarray_st), .limit = 1 << 18},
    [SIM_GREEN] = {.what = "green context",
                   .bytes = sizeof(struct CUgreenCtx_st),
                   .limit = 1 << 14},
    [SIM_MEMORY_POOL] = {.what = "memory pool",
                         .bytes = sizeof(struct CUmemPoolHandle_st),
                         .limit = 1 << 14},
};

static struct sim_object *at(const struct pool *p, uint32_t index)
{
    return (struct sim_object *)(p->base + (size_t)index * p->bytes);
}

/* Memory that a program has locked (mlockall) is to be its own and the library's. */
static void reserve(struct pool *p)
{
    p->bytes = (p->bytes + 63) & ~(size_t)63;
    size_t whole = p->bytes * p->limit;
    p->base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->base == MAP_FAILED || munlock(p->base, whole) ||
        mprotect(p->base, whole, PROT_READ | PROT_WRITE)) {
        perror("simulated device: mmap");
        _exit(99);
    }
}

static struct sim_object *next_free(struct pool *p)
{
    struct sim_object *o = at(p, p->first_free - 1);
    p->first_free = o->next_free;
    p->idle--;
    return o;
}

void *sim_take(enum sim_type type)
{
    struct pool *p = &pools[type];
    struct sim_object *o;
    if (!p->base)
        reserve(p);
    if (p->idle > p->rest || (p->used == p->limit && p->idle))
        o = next_free(p);
    else if (p->used < p->limit)
        o = at(p, p->used++);
    else
        return NULL;
    __builtin_memset(o, 0, p->bytes);
    o->alive = true;
    p->alive++;
    return o;
}

static void append(struct pool *p, struct sim_object *o, uint32_t index)
{
    o->next_free = 0;
    if (p->idle++)
        at(p, p->last_free - 1)->next_free = index + 1;
    else
        p->first_free = index + 1;
    p->last_free = index + 1;
}

static void prepend(struct pool *p, struct sim_object *o, uint32_t index)
{
    o->next_free = p->idle++ ? p->first_free : 0;
    if (!o->next_free)
        p->last_free = index + 1;
    p->first_free = index + 1;
}

void sim_give(enum sim_type type, void *object)
{
    struct pool *p = &pools[type];
    struct sim_object *o = object;
    uint32_t index = (uint32_t)(((char *)object - p->base) / (ptrdiff_t)p->bytes);
    o->alive = false;
    p->alive--;
    if (p->rest)
        append(p, o, index);
    else
        prepend(p, o, index);
}

static bool inside(const struct pool *p, const void *handle)
{
    const char *h = handle;
    return p->base && h >= p->base && h < p->base + (size_t)p->used * p->bytes &&
           !((size_t)(h - p->base) % p->bytes);
}

bool sim_is(enum sim_type type, const void *handle)
{
    return inside(&pools[type], handle) && ((const struct sim_object *)handle)->alive;
}

CUresult sim_check(enum sim_type type, const void *handle)
{
    const struct pool *p = &pools[type];
    char text[64];
    if (!inside(p, handle))
        return CUDA_ERROR_INVALID_HANDLE;
    if (((const struct sim_object *)handle)->alive)
        return CUDA_SUCCESS;
    snprintf(text, sizeof(text), "use of a destroyed %s", p->what);
    sim_breach(text);
    return CUDA_ERROR_INVALID_HANDLE;
}

uint64_t sim_alive(enum sim_type type)
{
    return pools[type].alive;
}

const char *sim_type_name(enum sim_type type)
{
    return pools[type].what;
}

void *sim_each(enum sim_type type, bool (*visit)(void *object, void *arg), void *arg)
{
    const struct pool *p = &pools[type];
    for (uint32_t i = 0; i < p->used; i++)
        if (at(p, i)->alive && visit(at(p, i), arg))
            return at(p, i);
    return NULL;
}
