/* SPDX-License-Identifier: MIT */
#include "work/way.h"

#include "state/context.h"
#include "state/recording.h"
#include "work/graph_memory.h"

/* Places between which a copy's direction runs. Values order the names in `directions`. */
enum place { HOST, DEVICE, ARRAY };

static const uint8_t places[CT_MEMORY_COUNT] = {
    [CT_MEMORY_DEVICE] = DEVICE,
    [CT_MEMORY_ARRAY] = ARRAY,
    [CT_MEMORY_MANAGED] = DEVICE,
};

static const uint8_t directions[3][3] = {
    [HOST] = {[HOST] = CT_HTOH, [DEVICE] = CT_HTOD, [ARRAY] = CT_HTOA},
    [DEVICE] = {[HOST] = CT_DTOH, [DEVICE] = CT_DTOD, [ARRAY] = CT_DTOA},
    [ARRAY] = {[HOST] = CT_ATOH, [DEVICE] = CT_ATOD, [ARRAY] = CT_ATOA},
};

enum ct_direction ct_direction_of(struct ct_way way)
{
    return way.peers ? CT_PTOP : (enum ct_direction)directions[places[way.from]][places[way.to]];
}

struct answer {
    enum ct_memory memory;
    int device;
};

/* All attributes in one question; for memory that it does not know the driver sets each to zero. */
static CUresult ask(CUdeviceptr p, unsigned *type, unsigned *managed, int *device)
{
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {type, managed, device};
    return CT_ASK(cuPointerGetAttributes, 3, what, answers, p);
}

typedef struct answer look_fn(CUdeviceptr p);

static struct answer look_always(CUdeviceptr p)
{
    struct answer a = {CT_MEMORY_UNKNOWN, 0};
    unsigned type = 0, managed = 0;
    CUstreamCaptureMode mode;
    if (!CT_HAS(cuPointerGetAttributes) || !ct_relaxed_enter(&mode))
        return a;
    CUresult r = ask(p, &type, &managed, &a.device);
    ct_relaxed_leave(mode);
    if (r == CUDA_SUCCESS)
        a.memory = managed                        ? CT_MEMORY_MANAGED
                   : type == CU_MEMORYTYPE_DEVICE ? CT_MEMORY_DEVICE
                   : type == CU_MEMORYTYPE_HOST   ? CT_MEMORY_PINNED
                                                  : CT_MEMORY_PAGEABLE;
    return a;
}

static struct answer look(CUdeviceptr p)
{
    return ct_recording() ? look_always(p) : (struct answer){CT_MEMORY_UNKNOWN, 0};
}

/* The driver does not know a graph's own memory before the graph was launched. */
static struct answer look_in_graphs(CUdeviceptr p)
{
    struct answer a = look_always(p);
    if (a.memory == CT_MEMORY_PAGEABLE && ct_graph_memory_find(p, &a.device))
        a.memory = CT_MEMORY_DEVICE;
    return a;
}

enum ct_memory ct_memory_at(CUdeviceptr p)
{
    return look(p).memory;
}

static struct ct_way way_between(CUdeviceptr from, CUdeviceptr to, look_fn *at)
{
    struct answer a = at(from), b = at(to);
    bool both = a.memory == CT_MEMORY_DEVICE && b.memory == CT_MEMORY_DEVICE;
    return (struct ct_way){a.memory, b.memory, both && a.device != b.device};
}

struct ct_way ct_way_between(CUdeviceptr from, CUdeviceptr to)
{
    return way_between(from, to, look);
}

static enum ct_memory memory_of_host(const void *p, look_fn *at)
{
    enum ct_memory m = at((CUdeviceptr)(uintptr_t)p).memory;
    return places[m] == HOST ? m : CT_MEMORY_UNKNOWN;
}

enum ct_memory ct_memory_of_host(const void *p)
{
    return memory_of_host(p, look);
}

static enum ct_memory memory_of(const struct ct_end *e, look_fn *at)
{
    if (e->type == CU_MEMORYTYPE_UNIFIED)
        return at(e->device).memory;
    return e->type == CU_MEMORYTYPE_HOST    ? memory_of_host(e->host, at)
           : e->type == CU_MEMORYTYPE_ARRAY ? CT_MEMORY_ARRAY
                                            : CT_MEMORY_DEVICE;
}

/* Only an end's address tells its device. */
static struct ct_way way_of_ends(const struct ct_end *from, const struct ct_end *to, look_fn *at)
{
    struct ct_way w = {memory_of(from, at), memory_of(to, at), false};
    if (w.from == CT_MEMORY_DEVICE && w.to == CT_MEMORY_DEVICE)
        w.peers = way_between(from->device, to->device, at).peers;
    return w;
}

struct ct_way ct_way_of_ends(struct ct_end from, struct ct_end to)
{
    return way_of_ends(&from, &to, look);
}

struct ct_way ct_way_of_node(struct ct_end from, struct ct_end to)
{
    return way_of_ends(&from, &to, look_in_graphs);
}

/* Bytes of a channel; 0: a format without channels of one size. */
static size_t channel_bytes(CUarray_format format)
{
    switch ((unsigned)format) {
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_UNORM_INT16X1 ... CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X1 ... CU_AD_FORMAT_SNORM_INT16X4:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_UNORM_INT8X1 ... CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X1 ... CU_AD_FORMAT_SNORM_INT8X4:
        return 1;
    }
    return 0;
}

size_t ct_array_element_bytes(CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.NumChannels = 0};
    CUstreamCaptureMode mode;
    if (!ct_recording() || !CT_HAS(cuArray3DGetDescriptor_v2) || !ct_relaxed_enter(&mode))
        return 1;
    CUresult r = CT_ASK(cuArray3DGetDescriptor_v2, &d, array);
    ct_relaxed_leave(mode);
    return r == CUDA_SUCCESS ? ct_max(channel_bytes(d.Format) * d.NumChannels, 1) : 1;
}
