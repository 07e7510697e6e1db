/* SPDX-License-Identifier: MIT */
#include "work/graph_memory.h"

#include "system/mem.h"
#include "system/spin.h"

struct range {
    CUdeviceptr start;
    uint64_t bytes; /* 0: no graph's */
    int device;
};

struct memories {
    struct range range[CT_GRAPH_MEMORIES];
    uint64_t added; /* ranges ever added; the next one replaces the oldest */
    struct ct_spin lock;
};

static CT_PROCESS struct memories *all;

bool ct_graph_memories_init(void)
{
    return (all = ct_map(sizeof(*all))) != NULL;
}

/* Looks at the newest first: addresses come again when their graph is gone. NULL: none. */
static struct range *range_at(CUdeviceptr p)
{
    for (uint64_t i = all->added; i-- > 0 && all->added - i <= CT_GRAPH_MEMORIES;) {
        struct range *r = &all->range[i % CT_GRAPH_MEMORIES];
        if (p - r->start < r->bytes)
            return r;
    }
    return NULL;
}

/* Adds a range once, however often its graph is read. */
static void add(struct range new)
{
    ct_spin_lock(&all->lock);
    struct range *r = range_at(new.start);
    if (!r || r->start != new.start || r->bytes != new.bytes || r->device != new.device) {
        all->range[all->added % CT_GRAPH_MEMORIES] = new;
        all->added++;
    }
    ct_spin_unlock(&all->lock);
}

void ct_graph_memory_add(CUgraphNode node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS p;
    __builtin_memset(&p, 0, sizeof(p));
    if (!all || !CT_HAS(cuGraphMemAllocNodeGetParams) ||
        CT_REAL(cuGraphMemAllocNodeGetParams)(node, &p) != CUDA_SUCCESS)
        return;
    if (p.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        add((struct range){p.dptr, p.bytesize, p.poolProps.location.id});
}

bool ct_graph_memory_find(CUdeviceptr p, int *device)
{
    if (!all)
        return false;
    ct_spin_lock(&all->lock);
    const struct range *r = range_at(p);
    if (r)
        *device = r->device;
    ct_spin_unlock(&all->lock);
    return r != NULL;
}
