/* SPDX-License-Identifier: MIT */
#include "state/context.h"

#include "base/config.h"
#include "base/text.h"
#include "containers/intern.h"
#include "system/mem.h"
#include "system/pci.h"
#include "system/spin.h"

struct contexts {
    struct ct_context context[CT_CONTEXTS];
    struct ct_device device[CT_DEVICES];
    _Atomic uint32_t devices;
    _Atomic uint32_t begun; /* entries begun, counting each use */
    struct ct_spin lock;    /* for adding a device, or a use */
};

static CT_PROCESS struct contexts *all;
static _Atomic(const char *) given_names[CT_DEVICES]; /* the program's to the end, by ordinal */
CT_READ_MOSTLY struct ct_context *ct_contexts;
struct ct_context_hooks ct_context_hooks;

bool ct_contexts_init(void)
{
    struct contexts *c = ct_map(sizeof(*c));
    all = c;
    ct_contexts = c ? c->context : NULL;
    return c != NULL;
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

void ct_device_give_name(CUdevice device, const char *name)
{
    if (device >= 0 && device < CT_DEVICES)
        atomic_store_explicit(&given_names[device], name, memory_order_release);
}

const char *ct_device_given_name(CUdevice device)
{
    bool may_have = device >= 0 && device < CT_DEVICES;
    return may_have ? atomic_load_explicit(&given_names[device], memory_order_acquire) : NULL;
}

/* Entries are used from the front: behind a free one all are free. */
static bool is_used(const struct ct_context *c)
{
    return atomic_load_explicit(&c->state, memory_order_acquire) != CT_CONTEXT_FREE;
}

bool ct_context_is_alive(const struct ct_context *c)
{
    uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);
    return state != CT_CONTEXT_FREE && state != CT_CONTEXT_GONE;
}

struct ct_context *ct_context_to_forget(void)
{
    for (struct ct_context *c = all->context; c < all->context + CT_CONTEXTS && is_used(c); c++)
        if (!ct_context_is_alive(c) &&
            !atomic_load_explicit(&c->is_forgotten, memory_order_relaxed))
            return c;
    return NULL;
}

struct ct_context *ct_context_find(CUcontext handle)
{
    for (struct ct_context *c = all->context; c < all->context + CT_CONTEXTS; c++) {
        if (ct_context_is_alive(c) && c->handle == handle)
            return c;
        if (!is_used(c))
            return NULL;
    }
    return NULL;
}

struct ct_context *ct_context_current(void)
{
    CUcontext handle = ct_context_current_handle();
    return handle ? ct_context_get(handle) : NULL;
}

static void ask_attributes(struct ct_device *d)
{
    static const CUdevice_attribute which[] = {
#define X(id) CU_DEVICE_ATTRIBUTE_##id,
        CT_TRACE_ATTRIBUTES(X)
#undef X
    };
    for (unsigned i = 0; CT_HAS(cuDeviceGetAttribute) && i < CT_TRACE_ATTRIBUTE_COUNT; i++) {
        int value = -1;
        CUresult r = CT_REAL(cuDeviceGetAttribute)(&value, which[i], d->handle);
        d->attribute[i] = r == CUDA_SUCCESS && value >= 0 ? (uint32_t)value + 1 : 0;
    }
}

/* 0: the value is 0, or the driver has not said. */
static uint32_t attribute(const struct ct_device *d, enum ct_trace_attribute which)
{
    return d->attribute[which] ? d->attribute[which] - 1 : 0;
}

/* MB/s, by two words of the bus at each beat of the memory's clock. */
static uint32_t memory_mbs(const struct ct_device *d)
{
    uint64_t khz = attribute(d, CT_TRACE_MEMORY_CLOCK_RATE);
    return (uint32_t)(khz * 2 * attribute(d, CT_TRACE_GLOBAL_MEMORY_BUS_WIDTH) / 8000);
}

static uint32_t link_mbs(const struct ct_device *d)
{
    const struct ct_pci_address a = {attribute(d, CT_TRACE_PCI_DOMAIN_ID),
                                     attribute(d, CT_TRACE_PCI_BUS_ID),
                                     attribute(d, CT_TRACE_PCI_DEVICE_ID)};
    return ct_pci_link_mbs(&a);
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
    if (!d->name)
        d->name = "unknown device";
    d->calibration = ct_calibration_of(name, 0);
    d->memory_bytes = memory;
    ask_attributes(d);
    d->sm_count = attribute(d, CT_TRACE_MULTIPROCESSOR_COUNT);
    d->clock_khz = attribute(d, CT_TRACE_CLOCK_RATE);
    d->compute_major = attribute(d, CT_TRACE_COMPUTE_CAPABILITY_MAJOR);
    d->compute_minor = attribute(d, CT_TRACE_COMPUTE_CAPABILITY_MINOR);
    d->memory_mbs = memory_mbs(d);
    d->link_mbs = link_mbs(d);
}

/* Describes the device before the lock: no driver call is made under it. */
uint32_t ct_device_index(CUdevice handle)
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

/* Most often c is the current context already; then the thread's stack is left alone. */
bool ct_context_enter(const struct ct_context *c, CUcontext *before)
{
    *before = NULL;
    if (CT_ASK(cuCtxGetCurrent, before) != CUDA_SUCCESS)
        return false;
    return *before == c->handle || CT_ASK_IN(c, cuCtxPushCurrent_v2, c->handle) == CUDA_SUCCESS;
}

/* A context that cannot be taken off the stack is covered with the one that was current before. */
void ct_context_leave(const struct ct_context *c, CUcontext before)
{
    CUcontext popped;
    if (before == c->handle)
        return;
    for (unsigned i = 0; i < CT_RESTORE_TRIES; i++)
        if (CT_ASK(cuCtxPopCurrent_v2, &popped) == CUDA_SUCCESS)
            return;
    for (unsigned i = 0; CT_HAS(cuCtxSetCurrent) && i < CT_RESTORE_TRIES; i++)
        if (CT_ASK(cuCtxSetCurrent, before) == CUDA_SUCCESS)
            return;
}

uint32_t ct_device_current(void)
{
    CUdevice device = 0;
    return CT_ASK(cuCtxGetDevice, &device) == CUDA_SUCCESS ? ct_device_index(device) : 0;
}

/* The driver tells the device of the current context alone. */
static bool device_of(CUcontext handle, CUdevice *device)
{
    CUcontext before;
    const struct ct_context c = {.handle = handle}; /* this context has no entry yet */
    if (!ct_context_enter(&c, &before))
        return false;
    bool ok = CT_REAL(cuCtxGetDevice)(device) == CUDA_SUCCESS;
    ct_context_leave(&c, before);
    return ok;
}

/*
 * Whether brackets are open or pending in its streams, a calibration runs, or a round that began
 * before it went is not over: a program does not wait for that longer than a second.
 */
static bool has_users(const struct ct_context *c)
{
    return !atomic_load_explicit(&c->is_forgotten, memory_order_acquire) ||
           atomic_load_explicit(&c->users, memory_order_acquire) ||
           (ct_context_hooks.streams_are_idle &&
            !ct_context_hooks.streams_are_idle(ct_context_index(c)));
}

/* An entry that is free, or that its last user is through with; NULL: there is none. */
static struct ct_context *choose(bool *is_new)
{
    for (struct ct_context *c = all->context; c < all->context + CT_CONTEXTS; c++) {
        uint32_t state = atomic_load_explicit(&c->state, memory_order_acquire);
        *is_new = state == CT_CONTEXT_FREE;
        if (*is_new || (state == CT_CONTEXT_GONE && !has_users(c)))
            return c;
    }
    return NULL;
}

static void begin_locked(struct ct_context *c, CUcontext handle, uint32_t device,
                         struct ct_events *memory)
{
    ct_events_begin(&c->events, memory, ct_config.events);
    atomic_fetch_add_explicit(&all->device[c->device].turns,
                              atomic_exchange_explicit(&c->turns, 0, memory_order_relaxed),
                              memory_order_relaxed);
    c->handle = handle;
    c->device = device;
    atomic_store_explicit(&c->name, NULL, memory_order_relaxed);
    ct_gpu_clock_reset(&c->clock);
    if (ct_context_hooks.begins)
        ct_context_hooks.begins(c);
    atomic_store_explicit(&c->state, CT_CONTEXT_NEW, memory_order_release);
    /* Behind that: a thread that sees the count sees the entry in use. */
    atomic_fetch_add_explicit(&all->begun, 1, memory_order_release);
}

/* False: another thread has begun an entry since there were `begun`, perhaps this one. */
static bool begin(struct ct_context **c, CUcontext handle, uint32_t device,
                  struct ct_events *memory, uint32_t begun)
{
    ct_spin_lock(&all->lock);
    struct ct_context *known = ct_context_find(handle);
    bool is_same = atomic_load_explicit(&all->begun, memory_order_relaxed) == begun;
    if (!known && is_same)
        begin_locked(*c, handle, device, memory);
    ct_spin_unlock(&all->lock);
    *c = known ? known : *c;
    return known || is_same;
}

/*
 * Chooses an entry, for which thousands of streams may have to be looked at, and maps its memory
 * before the lock; takes the entry only if no other thread has begun one meanwhile.
 */
static struct ct_context *claim(CUcontext handle, uint32_t device)
{
    for (;;) {
        bool is_new, is_done;
        struct ct_events memory = {.event = NULL};
        uint32_t begun = atomic_load_explicit(&all->begun, memory_order_acquire);
        struct ct_context *c = choose(&is_new);
        if (!c || (is_new && !ct_events_map(&memory, ct_config.events)))
            return NULL;
        is_done = begin(&c, handle, device, &memory, begun);
        ct_events_unmap(&memory, ct_config.events);
        if (is_done)
            return c;
    }
}

struct ct_context *ct_context_get(CUcontext handle)
{
    struct ct_context *c = ct_context_find(handle);
    if (ct_likely(c != NULL))
        return c;
    CUdevice device = 0;
    CUstreamCaptureMode mode;
    if (!ct_relaxed_enter(&mode))
        return NULL;
    if (device_of(handle, &device))
        c = claim(handle, ct_device_index(device));
    ct_relaxed_leave(mode);
    if (ct_context_hooks.met)
        ct_context_hooks.met();
    return c;
}

void ct_contexts_flush(void)
{
    for (struct ct_context *c = all->context; c < all->context + CT_CONTEXTS && is_used(c); c++)
        if (ct_context_is_alive(c))
            ct_events_flush(c);
}

/* Under the lock no entry is used anew. */
void ct_contexts_take_back(struct ct_event_cache cache[CT_CONTEXTS])
{
    if (!all)
        return;
    ct_spin_lock(&all->lock);
    for (uint32_t i = 0; i < CT_CONTEXTS && is_used(ct_context(i)); i++)
        if (ct_context_is_alive(ct_context(i)))
            ct_cache_flush(ct_context(i), &cache[i]);
    ct_spin_unlock(&all->lock);
}

bool ct_contexts_lack_events(void)
{
    for (struct ct_context *c = ct_contexts; all && c < all->context + CT_CONTEXTS && is_used(c);
         c++)
        if (ct_context_is_alive(c) && ct_events_are_short(c))
            return true;
    return false;
}
