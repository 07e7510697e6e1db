/* SPDX-License-Identifier: MIT */
/* The hooks around calls that allocate and free. */
#include "preload/hooks.h"
#include "state/context.h"

/* The block between both hooks of a call that frees, which is not made inside another. */
static CT_TLS struct ct_allocated freeing;

/* The context and device that an allocation made now belongs to. */
static struct ct_allocated block_here(void)
{
    struct ct_allocated b = {.context = NULL};
    if (CT_HAS(cuCtxGetCurrent))
        b.context = ct_context_current_handle();
    const struct ct_context *c = b.context ? ct_context_get(b.context) : NULL;
    b.device = c ? (uint16_t)c->device : 0;
    return b;
}

static void count(const struct ct_hook *h, struct ct_allocated b)
{
    if (h->result != CUDA_SUCCESS)
        ct_allocations_failed(b.kind, b.device, b.bytes);
    else if (b.key)
        ct_allocations_add(b);
}

static void count_here(const struct ct_hook *h, uint32_t kind, uint64_t key, uint64_t bytes)
{
    struct ct_allocated b = block_here();
    b.kind = kind;
    b.key = key;
    b.bytes = bytes;
    count(h, b);
}

static uint64_t address_in(const struct ct_hook *h, const void *address)
{
    uint64_t key = 0;
    if (h->result == CUDA_SUCCESS && address)
        __builtin_memcpy(&key, address, sizeof(key));
    return key;
}

void ct_hook_allocated(const struct ct_hook *h, uint32_t kind, const void *address, size_t bytes)
{
    if (ct_allocations_are_on())
        count_here(h, kind, address_in(h, address), bytes);
}

/* The driver makes rows longer than asked for, so that each begins where copies like it. */
void ct_hook_allocated_rows(const struct ct_hook *h, const void *address, const size_t *pitch,
                            size_t width, size_t rows)
{
    bool known = h->result == CUDA_SUCCESS && pitch;
    ct_hook_allocated(h, CT_ALLOCATION_DEVICE, address, (known ? *pitch : width) * rows);
}

static bool captures(const struct ct_hook *h, CUstream s)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CT_HAS(cuStreamIsCapturing) &&
           CT_REAL(cuStreamIsCapturing)(s ? s : h->null_stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* In a capture the call makes a node: the graph's launches allocate, each time. */
void ct_hook_allocated_in_stream(const struct ct_hook *h, const void *address, size_t bytes,
                                 CUstream s)
{
    if (ct_allocations_are_on() && !captures(h, s))
        ct_hook_allocated(h, CT_ALLOCATION_POOL, address, bytes);
}

/* A device of which only a refused call has spoken is not made known. */
static bool is_known_device(const struct ct_hook *h, const CUmemLocation *l)
{
    return l->type == CU_MEM_LOCATION_TYPE_DEVICE &&
           (h->result == CUDA_SUCCESS || h->result == CUDA_ERROR_OUT_OF_MEMORY);
}

/* The block goes with no context, and is where the call says, whichever context is current. */
void ct_hook_allocated_physical(const struct ct_hook *h, const CUmemGenericAllocationHandle *handle,
                                size_t bytes, const CUmemAllocationProp *p)
{
    if (!ct_allocations_are_on())
        return;
    bool is_host = p && p->location.type > CU_MEM_LOCATION_TYPE_DEVICE;
    struct ct_allocated b = {
        .kind = is_host ? CT_ALLOCATION_PINNED : CT_ALLOCATION_PHYSICAL,
        .key = address_in(h, handle) | CT_ALLOCATION_HANDLE,
        .bytes = bytes,
    };
    b.device = p && is_known_device(h, &p->location) ? (uint16_t)ct_device_index(p->location.id)
                                                     : block_here().device;
    count(h, b);
}

void ct_hook_registered(const struct ct_hook *h, const void *p, size_t bytes)
{
    if (ct_allocations_are_on())
        count_here(h, CT_ALLOCATION_REGISTERED, (uint64_t)(uintptr_t)p, bytes);
}

void ct_hook_retained(const struct ct_hook *h, const CUmemGenericAllocationHandle *handle)
{
    if (ct_allocations_are_on() && h->result == CUDA_SUCCESS)
        ct_allocations_retain(address_in(h, handle) | CT_ALLOCATION_HANDLE);
}

void ct_hook_freed_before(const struct ct_hook *h, uint32_t kind, uint64_t key)
{
    (void)h;
    freeing.kind = 0;
    if (ct_allocations_are_on() && key)
        freeing = ct_allocations_free(key, kind, block_here().device);
}

void ct_hook_freed_after(const struct ct_hook *h, uint32_t kind, uint64_t key)
{
    (void)kind;
    (void)key;
    if (ct_allocations_are_on() && h->result != CUDA_SUCCESS && freeing.kind)
        ct_allocations_keep(freeing);
}

void ct_hook_freed_in_stream_before(const struct ct_hook *h, CUdeviceptr p, CUstream s)
{
    freeing.kind = 0;
    if (ct_allocations_are_on() && !captures(h, s))
        ct_hook_freed_before(h, CT_ALLOCATION_POOL, p);
}

void ct_hook_freed_in_stream_after(const struct ct_hook *h, CUdeviceptr p, CUstream s)
{
    (void)s;
    ct_hook_freed_after(h, CT_ALLOCATION_POOL, p);
}
