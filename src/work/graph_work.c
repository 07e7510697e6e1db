/* SPDX-License-Identifier: MIT */
#include "work/graph_work.h"

#include "base/text.h"
#include "containers/table.h"
#include "state/ask.h"
#include "state/note.h"
#include "work/kernel.h"
#include "work/node_stack.h"
#include "work/way.h"

static const struct ct_graph_work none;

static struct ct_graph_work untold(void)
{
    ct_note(CT_NOTE_WARNING, "Nodes of graphs that are not counted: nobody says what they do");
    return none;
}

/* A kernel without a name cannot be told from others. */
static struct ct_graph_work kernel(CUfunction f)
{
    const char *name = ct_kernel_name(f);
    return name ? (struct ct_graph_work){.kind = CT_ROW_KERNEL, .name = name} : untold();
}

/* A copy without rows or layers is a line: the driver takes no node that copies nothing. */
static uint64_t bytes_of(const CUDA_MEMCPY3D *p)
{
    return (uint64_t)p->WidthInBytes * ct_max(p->Height, 1) * ct_max(p->Depth, 1);
}

static struct ct_graph_work copy(const CUDA_MEMCPY3D *p)
{
    uint64_t bytes = bytes_of(p);
    if (!bytes)
        return none;
    struct ct_way way = ct_way_of_node((struct ct_end){p->srcMemoryType, p->srcHost, p->srcDevice},
                                       (struct ct_end){p->dstMemoryType, p->dstHost, p->dstDevice});
    return (struct ct_graph_work){
        .kind = CT_ROW_COPY, .detail = ct_direction_of(way), .bytes = bytes};
}

static struct ct_graph_work set(size_t element_bytes, size_t width, size_t height)
{
    uint64_t bytes = (uint64_t)element_bytes * width * height;
    return bytes ? (struct ct_graph_work){.kind = CT_ROW_SET, .bytes = bytes} : none;
}

static struct ct_graph_work kernel_of(CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    if (!CT_HAS(cuGraphKernelNodeGetParams_v2) ||
        CT_ASK(cuGraphKernelNodeGetParams_v2, node, &p) != CUDA_SUCCESS)
        return untold();
    return kernel(p.func ? p.func : (CUfunction)p.kern);
}

static struct ct_graph_work copy_of(CUgraphNode node)
{
    CUDA_MEMCPY3D p;
    __builtin_memset(&p, 0, sizeof(p));
    if (!CT_HAS(cuGraphMemcpyNodeGetParams) ||
        CT_ASK(cuGraphMemcpyNodeGetParams, node, &p) != CUDA_SUCCESS)
        return untold();
    return copy(&p);
}

static struct ct_graph_work set_of(CUgraphNode node)
{
    CUDA_MEMSET_NODE_PARAMS p = {0};
    if (!CT_HAS(cuGraphMemsetNodeGetParams) ||
        CT_ASK(cuGraphMemsetNodeGetParams, node, &p) != CUDA_SUCCESS)
        return untold();
    return set(p.elementSize, p.width, p.height);
}

static struct ct_graph_work stackless(CUgraphNode node, CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel_of(node);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_of(node);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return set_of(node);
    default:
        return none;
    }
}

struct ct_graph_work ct_graph_work_of(CUgraphNode node, CUgraphNodeType type)
{
    struct ct_graph_work w = stackless(node, type);
    w.stack = w.kind ? ct_node_stack(node) : 0;
    return w;
}

struct ct_graph_work ct_graph_work_with(const CUgraphNodeParams *p)
{
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel(ct_function_of(p));
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy(&p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return set(p->memset.elementSize, p->memset.width, p->memset.height);
    default:
        return none;
    }
}

const char *ct_graph_work_name(const struct ct_graph_work *w)
{
    static const char *const directions[] = {
#define X(id, text) "[CUDA memcpy " text "]",
        CT_DIRECTIONS(X)
#undef X
    };
    static const char set[] = "[CUDA memset]";
    return w->kind == CT_ROW_COPY ? directions[w->detail] : w->kind == CT_ROW_SET ? set : w->name;
}

#define KIND_BITS 4
#define DETAIL_BITS 4
_Static_assert(CT_ROW_PREFETCH < 1 << KIND_BITS && CT_DIRECTION_COUNT <= 1 << DETAIL_BITS,
               "a kind or a direction takes more bits");

uint64_t ct_graph_work_pack(const struct ct_graph_work *w)
{
    uint64_t rest = w->kind == CT_ROW_KERNEL ? (uintptr_t)w->name : w->bytes;
    return (rest << DETAIL_BITS | w->detail) << KIND_BITS | w->kind;
}

struct ct_graph_work ct_graph_work_unpack(uint64_t packed)
{
    uint64_t rest = packed >> (KIND_BITS + DETAIL_BITS);
    struct ct_graph_work w = {.kind = packed & ((1u << KIND_BITS) - 1),
                              .detail = packed >> KIND_BITS & ((1u << DETAIL_BITS) - 1)};
    if (w.kind == CT_ROW_KERNEL)
        w.name = (const char *)(uintptr_t)rest;
    else
        w.bytes = rest;
    return w;
}

bool ct_graph_work_is(const struct ct_graph_work *a, const struct ct_graph_work *b)
{
    return a->kind == b->kind && a->detail == b->detail && a->bytes == b->bytes &&
           (a->kind != CT_ROW_KERNEL || ct_streq(a->name, b->name));
}

uint64_t ct_graph_work_pack_hash(const struct ct_graph_work *w)
{
    uint64_t packed = ct_graph_work_pack(w);
    return ct_hash_bytes((const char *)&packed, sizeof(packed)) | 1;
}

/* Names of equal text have one hash. */
uint64_t ct_graph_work_hash(const struct ct_graph_work *w)
{
    const struct ct_graph_work sizeless = {.kind = w->kind, .detail = w->detail};
    return w->kind == CT_ROW_KERNEL ? ct_hash_text(w->name) | 1
                                    : ct_graph_work_pack_hash(&sizeless);
}
