/* SPDX-License-Identifier: MIT */
#include "record/context.h"

#include "base/mem.h"
#include "base/spin.h"
#include "base/text.h"
#include "base/config.h"
#include "record/op.h"

/* Events made at a time when the pool is dry: the cost of the exchange of modes is shared. */
#define BATCH 32

struct contexts {
    struct ct_context context[CT_CONTEXTS];
    struct ct_device device[CT_DEVICES];
    _Atomic uint32_t devices;
    struct ct_spin lock; /* for adding either */
};

static struct contexts *all;

bool ct_contexts_init(void)
{
    struct contexts *c = ct_map(sizeof(*c));
    all = c;
    return c != NULL;
}

void ct_contexts_forget(void)
{
    all = NULL;
}

struct ct_context *ct_context(uint32_t index)
{
    return &all->context[index];
}

uint32_t ct_context_index(const struct ct_context *c)
{
    return (uint32_t)(c - all->context);
}

uint32_t ct_devices_count(void)
{
    return all ? atomic_load_explicit(&all->devices, memory_order_acquire) : 0;
}

const struct ct_device *ct_device(uint32_t index)
{
    return &all->device[index];
}

void ct_device_calibrated(uint32_t index, const struct ct_calibration *figures)
{
    all->device[index].calibration = figures;
}

struct ct_context *ct_context_find(CUcontext handle)
{
    for (struct ct_context *c = all->context; c < all->context + CT_CONTEXTS; c++) {
        uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);
        if (state != CT_CONTEXT_FREE && state != CT_CONTEXT_GONE && c->handle == handle)
            return c;
        if (state == CT_CONTEXT_FREE && !c->events)
            return NULL; /* entries are used from the front: none was ever used from here on */
    }
    return NULL;
}

static uint32_t attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    if (CT_HAS(cuDeviceGetAttribute))
        CT_REAL(cuDeviceGetAttribute)(&value, which, device);
    return (uint32_t)value;
}

static void describe_device(struct ct_device *d, CUdevice handle)
{
    char name[256] = "unknown device";
    size_t memory = 0;
    if (CT_HAS(cuDeviceGetName))
        CT_REAL(cuDeviceGetName)(name, sizeof(name), handle);
    if (CT_HAS(cuDeviceTotalMem_v2))
        CT_REAL(cuDeviceTotalMem_v2)(&memory, handle);
    if (CT_HAS(cuDeviceGetUuid_v2))
        CT_REAL(cuDeviceGetUuid_v2)(&d->uuid, handle);
    else if (CT_HAS(cuDeviceGetUuid))
        CT_REAL(cuDeviceGetUuid)(&d->uuid, handle);
    d->handle = handle;
    d->name = ct_intern(name, ct_strlen(name));
    d->calibration = ct_calibration_of(name);
    d->memory_bytes = memory;
    d->sm_count = attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d->clock_khz = attribute(handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    d->compute_major = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    d->compute_minor = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

/* Described before the lock: no driver call is made under it. */
static uint32_t device_index(CUdevice handle)
{
    for (uint32_t i = 0; i < ct_devices_count(); i++)
        if (all->device[i].handle == handle)
            return i;
    struct ct_device d = {0};
    describe_device(&d, handle);
    ct_spin_lock(&all->lock);
    uint32_t n = atomic_load_explicit(&all->devices, memory_order_relaxed), i = 0;
    while (i < n && all->device[i].handle != handle)
        i++;
    if (i == n && n < CT_DEVICES && d.name) {
        all->device[n] = d;
        atomic_store_explicit(&all->devices, n + 1, memory_order_release);
    }
    ct_spin_unlock(&all->lock);
    return i < CT_DEVICES ? i : 0;
}

/* The device of a context can only be asked of the current one. */
static bool device_of(CUcontext handle, CUdevice *device)
{
    CUcontext previous;
    if (CT_REAL(cuCtxPushCurrent_v2)(handle) != CUDA_SUCCESS)
        return false;
    bool ok = CT_REAL(cuCtxGetDevice)(device) == CUDA_SUCCESS;
    CT_REAL(cuCtxPopCurrent_v2)(&previous);
    return ok;
}

static struct ct_context *claim_locked(CUcontext handle, uint32_t device)
{
    struct ct_context *c = ct_context_find(handle);
    if (c)
        return c;
    for (c = all->context; c < all->context + CT_CONTEXTS; c++) {
        uint32_t state = atomic_load_explicit(&c->state, memory_order_relaxed);
        if (state == CT_CONTEXT_GONE &&
            !atomic_load_explicit(&c->users, memory_order_acquire))
            state = CT_CONTEXT_FREE;
        if (state != CT_CONTEXT_FREE)
            continue;
        c->event_limit = ct_config.events;
        if (!c->events)
            c->events = ct_map(sizeof(*c->events) * c->event_limit);
        if (!c->events)
            return NULL;
        c->handle = handle;
        c->device = device;
        ct_gpu_clock_reset(&c->clock);
        atomic_store_explicit(&c->made, 0, memory_order_relaxed);
        atomic_store_explicit(&c->free, 0, memory_order_relaxed);
        atomic_store_explicit(&c->state, CT_CONTEXT_NEW, memory_order_release);
        return c;
    }
    return NULL;
}

struct ct_context *ct_context_get(CUcontext handle)
{
    struct ct_context *c = ct_context_find(handle);
    if (ct_likely(c != NULL))
        return c;
    CUdevice device = 0;
    CUstreamCaptureMode mode = ct_relaxed_enter();
    if (device_of(handle, &device)) {
        uint32_t index = device_index(device);
        ct_spin_lock(&all->lock);
        c = claim_locked(handle, index);
        ct_spin_unlock(&all->lock);
    }
    ct_relaxed_leave(mode);
    return c;
}

/* The tag changes with every change of the head: a head that came back is not the same one. */
static uint64_t head_after(uint64_t head, uint32_t first)
{
    return ((head >> 32) + 1) << 32 | first;
}

void ct_event_give(struct ct_context *c, uint32_t index)
{
    uint64_t head = atomic_load_explicit(&c->free, memory_order_relaxed);
    do
        atomic_store_explicit(&c->events[index].next, (uint32_t)head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&c->free, &head, head_after(head, index + 1),
                                                  memory_order_release, memory_order_relaxed));
}

static uint32_t pop(struct ct_context *c)
{
    uint64_t head = atomic_load_explicit(&c->free, memory_order_acquire);
    for (;;) {
        uint32_t first = (uint32_t)head;
        if (!first)
            return CT_EVENT_NONE;
        uint32_t next =
            atomic_load_explicit(&c->events[first - 1].next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&c->free, &head, head_after(head, next),
                                                  memory_order_acquire, memory_order_acquire))
            return first - 1;
    }
}

/* Takes n fresh indices below the limit, or none. */
static uint32_t extend(struct ct_context *c, uint32_t n)
{
    uint32_t made = atomic_load_explicit(&c->made, memory_order_relaxed);
    do
        if (made + n > c->event_limit)
            return CT_EVENT_NONE;
    while (!atomic_compare_exchange_weak_explicit(&c->made, &made, made + n,
                                                  memory_order_relaxed, memory_order_relaxed));
    return made;
}

/* An event belongs to the context that is current when it is made. */
static CT_COLD uint32_t make(struct ct_context *c)
{
    CUcontext previous;
    uint32_t taken = CT_EVENT_NONE;
    CUstreamCaptureMode mode = ct_relaxed_enter();
    if (CT_REAL(cuCtxPushCurrent_v2)(c->handle) == CUDA_SUCCESS) {
        uint32_t first = extend(c, BATCH);
        for (uint32_t i = first; first != CT_EVENT_NONE && i < first + BATCH; i++) {
            if (CT_REAL(cuEventCreate)(&c->events[i].event, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
                break;
            if (i == first)
                taken = i;
            else
                ct_event_give(c, i);
        }
        CT_REAL(cuCtxPopCurrent_v2)(&previous);
    }
    ct_relaxed_leave(mode);
    return taken;
}

uint32_t ct_event_take(struct ct_context *c)
{
    uint32_t index = pop(c);
    return ct_likely(index != CT_EVENT_NONE) ? index : make(c);
}
