/* SPDX-License-Identifier: MIT */
/* Memory of every kind is memory of the process; a table tells what it stands for. */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct sim_block *blocks; /* by address */
static size_t count, room;
static uint64_t last_id;

/* The first block behind p. */
static size_t position(uintptr_t p)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (blocks[middle].start <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct sim_block *sim_block_of(uintptr_t p)
{
    size_t i = position(p);
    return i && p - blocks[i - 1].start < blocks[i - 1].bytes ? &blocks[i - 1] : NULL;
}

void sim_memory_hide(uintptr_t p, bool hidden)
{
    size_t i = position(p);
    if (i && blocks[i - 1].start == p)
        blocks[i - 1].hidden = hidden;
}

static void add(struct sim_block b)
{
    size_t i = position(b.start);
    if (count == room) {
        room = room ? 2 * room : 64;
        blocks = realloc(blocks, room * sizeof(*blocks));
    }
    memmove(&blocks[i + 1], &blocks[i], (count - i) * sizeof(*blocks));
    b.id = ++last_id;
    blocks[i] = b;
    count++;
}

static void release(size_t i)
{
    if (blocks[i].ours)
        munmap((void *)blocks[i].start, blocks[i].bytes);
    count--;
    memmove(&blocks[i], &blocks[i + 1], (count - i) * sizeof(*blocks));
}

uint64_t sim_memory_used(int device)
{
    uint64_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (blocks[i].place == SIM_DEVICE && blocks[i].context->device == device)
            used += blocks[i].bytes;
    return used;
}

CUresult sim_memory_new(size_t bytes, enum sim_place place, unsigned flags, void **out)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    size_t whole = (bytes + 4095) & ~(size_t)4095;
    if (place == SIM_DEVICE && whole > sim_device_bytes - sim_memory_used(c->device))
        return CUDA_ERROR_OUT_OF_MEMORY;
    void *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    add((struct sim_block){.start = (uintptr_t)p,
                           .bytes = whole,
                           .place = place,
                           .ours = true,
                           .flags = flags,
                           .context = c});
    *out = p;
    return CUDA_SUCCESS;
}

CUresult sim_memory_free(uintptr_t p, enum sim_place place)
{
    size_t i = position(p);
    if (!i || blocks[i - 1].start != p || !blocks[i - 1].ours ||
        (blocks[i - 1].place == SIM_HOST) != (place == SIM_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    release(i - 1);
    return CUDA_SUCCESS;
}

void sim_memory_of_context_gone(CUcontext c)
{
    for (size_t i = count; i-- > 0;)
        if (blocks[i].context == c)
            release(i);
}

/* Allocating may be unsafe beside a capture; in a stream it is not. */
static CUresult allocate(size_t bytes, enum sim_place place, unsigned flags, void **out)
{
    CUresult r = sim_unsafe();
    return r == CUDA_SUCCESS ? sim_memory_new(bytes, place, flags, out) : r;
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    void *p = NULL;
    CUresult r = allocate(bytes, SIM_DEVICE, 0, &p);
    if (r == CUDA_SUCCESS)
        *out = (CUdeviceptr)(uintptr_t)p;
    return r;
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned int flags)
{
    void *p = NULL;
    CUresult r = flags ? allocate(bytes, SIM_MANAGED, flags, &p) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = (CUdeviceptr)(uintptr_t)p;
    return r;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                                unsigned int element_bytes)
{
    (void)element_bytes;
    *pitch = (width + 511) & ~(size_t)511;
    return sim_cuMemAlloc_v2(out, *pitch * height);
}

/* Freeing waits for all work, as it may use the memory. */
static CUresult free_now(uintptr_t p, enum sim_place place)
{
    CUcontext c;
    if (!p)
        return CUDA_SUCCESS;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS)
        r = sim_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    sim_wait_context(c);
    return sim_memory_free(p, place);
}

CUresult sim_cuMemFree_v2(CUdeviceptr p)
{
    return free_now((uintptr_t)p, SIM_DEVICE);
}

CUresult sim_cuMemHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate(bytes, SIM_HOST, flags, out);
}

CUresult sim_cuMemAllocHost_v2(void **out, size_t bytes)
{
    return sim_cuMemHostAlloc(out, bytes, 0);
}

CUresult sim_cuMemFreeHost(void *p)
{
    return p ? free_now((uintptr_t)p, SIM_HOST) : CUDA_ERROR_INVALID_VALUE;
}

/* A handle is the address of what is never mapped. */
CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                         const CUmemAllocationProp *p, unsigned long long flags)
{
    void *memory = NULL;
    if (!out || !p || flags || p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    bool on_device = p->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    CUresult r = allocate(bytes, on_device ? SIM_DEVICE : SIM_HOST, 0, &memory);
    *out = (uintptr_t)memory;
    return r;
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    const struct sim_block *b = sim_block_of((uintptr_t)handle);
    return b ? sim_memory_free((uintptr_t)handle, b->place) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytes, unsigned int flags)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r != CUDA_SUCCESS)
        return r;
    if (!p || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_block_of((uintptr_t)p))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    add((struct sim_block){
        .start = (uintptr_t)p, .bytes = bytes, .place = SIM_HOST, .flags = flags, .context = c});
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostUnregister(void *p)
{
    size_t i = position((uintptr_t)p);
    if (!i || blocks[i - 1].start != (uintptr_t)p || blocks[i - 1].ours)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    release(i - 1);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, unsigned int flags)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    if (flags || !out || !b || b->place != SIM_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *out, void *p)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    if (!b || b->place != SIM_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *out = b->flags;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *available, size_t *total)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r != CUDA_SUCCESS)
        return r;
    *total = sim_device_bytes;
    *available = sim_device_bytes - sim_memory_used(c->device);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    if (!b)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = b->start;
    if (bytes)
        *bytes = b->bytes;
    return CUDA_SUCCESS;
}

CUresult sim_cuPointerGetAttribute(void *out, CUpointer_attribute which, CUdeviceptr p)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    if (!out || !b || b->hidden)
        return CUDA_ERROR_INVALID_VALUE;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)out = b->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = b->place == SIM_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(CUdeviceptr *)out =
            b->place == SIM_DEVICE && which == CU_POINTER_ATTRIBUTE_HOST_POINTER ? 0 : p;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)out = b->place == SIM_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)out = b->context->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)out = b->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)out = b->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)out = b->bytes;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult sim_cuPointerGetAttributes(unsigned int n, CUpointer_attribute *which, void **out,
                                    CUdeviceptr p)
{
    for (unsigned i = 0; i < n; i++)
        if (sim_cuPointerGetAttribute(out[i], which[i], p) != CUDA_SUCCESS)
            memset(out[i], 0, which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ? 4 : 1);
    return CUDA_SUCCESS;
}

/* ---- in streams ---- */

CUresult sim_cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream handle)
{
    CUstream s;
    CUresult r = sim_stream_of(handle, &s);
    void *p = NULL;
    if (r == CUDA_SUCCESS)
        r = sim_memory_new(bytes, SIM_DEVICE, 0, &p);
    if (r == CUDA_SUCCESS && s->capture) { /* the graph's memory has its address for good */
        struct sim_work w = {.bytes = bytes, .memory = (CUdeviceptr)(uintptr_t)p};
        sim_memory_hide((uintptr_t)p, true);
        r = sim_capture_add(s, &w, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    }
    if (r == CUDA_SUCCESS)
        *out = (CUdeviceptr)(uintptr_t)p;
    return r;
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                     CUstream stream)
{
    CUresult r = sim_check(SIM_MEMORY_POOL, pool);
    return r == CUDA_SUCCESS ? sim_cuMemAllocAsync(out, bytes, stream) : r;
}

CUresult sim_cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    struct sim_work w = {.kind = SIM_WORK_FREE, .memory = p};
    if (!b || b->start != p || b->place == SIM_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    CUstream s;
    CUresult r = sim_stream_of(stream, &s);
    if (r == CUDA_SUCCESS && s->capture) {
        w.kind = SIM_WORK_EMPTY;
        return sim_capture_add(s, &w, CU_GRAPH_NODE_TYPE_MEM_FREE);
    }
    return r == CUDA_SUCCESS ? sim_submit(s, &w) : r;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties)
{
    if (!out || !properties || !sim_valid_device(properties->location.id))
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_take(SIM_MEMORY_POOL);
    (*out)->device = properties->location.id;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult r = sim_check(SIM_MEMORY_POOL, pool);
    if (r == CUDA_SUCCESS)
        sim_give(SIM_MEMORY_POOL, pool);
    return r;
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device)
{
    static CUmemoryPool pools[SIM_DEVICES];
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pools[device])
        pools[device] = sim_take(SIM_MEMORY_POOL);
    pools[device]->device = device;
    *out = pools[device];
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device)
{
    return sim_cuDeviceGetDefaultMemPool(out, device);
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value)
{
    CUresult r = sim_check(SIM_MEMORY_POOL, pool);
    if (r == CUDA_SUCCESS && which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(cuuint64_t *)value;
    return r;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)keep;
    return sim_check(SIM_MEMORY_POOL, pool);
}
