/* SPDX-License-Identifier: MIT */
#include "preload/lookup.h"

#include <dlfcn.h>

#include "cuda/api.h"
#include "preload/driver.h"
#include "preload/nccl.h"
#include "preload/real_dlsym.h"
#include "preload/runtime.h"
#include "system/library_copies.h"

static struct ct_answer give(void *address)
{
    return (struct ct_answer){address, 1};
}

static void *ask(void *handle, const char *name, const char *version)
{
    return version ? ct_real_dlvsym(handle, name, version) : ct_real_dlsym(handle, name);
}

static void *ask_next(const char *name, const char *version)
{
    return ct_behind_copies(name, ask(RTLD_NEXT, name, version));
}

/* Scope of the caller's own libraries, where a driver opened with RTLD_LOCAL is found. */
static void *ask_scope_of(void *caller, const char *name, const char *version)
{
    struct ct_object o;
    if (!ct_object_of(caller, &o) || !o.name || !*o.name)
        return NULL;
    void *handle = dlopen(o.name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    void *p = ask(handle, name, version);
    dlclose(handle);
    return p;
}

/* Our side of a name. */
struct subject {
    void *own; /* our export of that name; NULL: none */
    bool (*claim)(
        const void *address); /* whether an address is one to substitute; NULL: the driver's */
};

static struct subject subject_of(const char *name)
{
    uint32_t nccl = ct_nccl_find(name), id = ct_api_find(name);
    if (nccl < CT_NCCL_COUNT)
        return (struct subject){(void *)(uintptr_t)ct_nccl_wrapper(nccl), ct_nccl_claim};
    if (id == CT_API_NONE)
        return (struct subject){NULL, NULL};
    if (id < CT_RUNTIME_FIRST)
        return (struct subject){(void *)(uintptr_t)ct_driver_wrappers[id], NULL};
    return (struct subject){(void *)(uintptr_t)ct_runtime_wrappers[id - CT_RUNTIME_FIRST],
                            ct_runtime_claim};
}

/*
 * Our exports stand in front of the global scope: without a driver behind them the program must
 * get the NULL it would get without us.
 */
static void *look_behind(void *handle, const char *name, const char *version, void *caller)
{
    void *p = ask_next(name, version);
    if (p || handle != RTLD_DEFAULT)
        return p;
    p = ask_scope_of(caller, name, version);
    return p ? p : ask_next(name, version); /* for dlerror() to say why */
}

static void *substitute(const struct subject *s, const char *name, void *address)
{
    if (s->claim)
        return s->claim(address) ? s->own : address;
    if (ct_driver_claim(address))
        return ct_driver_substitute(name, address);
    ct_runtime_asked(name, address);
    return address;
}

struct order {
    const void *caller;
    bool is_before_us;
};

static bool is_caller_or_us(const struct ct_object *o, void *arg)
{
    struct order *order = arg;
    order->is_before_us = ct_object_has(o, order->caller);
    return order->is_before_us || ct_object_has(o, (const void *)(uintptr_t)is_caller_or_us);
}

/*
 * From the program, or from an object preloaded before us, RTLD_NEXT finds our export: without a
 * driver behind us the answer must be NULL, as without us. From elsewhere our export is not found.
 */
static struct ct_answer look_next(const char *name, const char *version, void *caller)
{
    struct order order = {.caller = caller};
    ct_objects_visit(is_caller_or_us, &order);
    bool ours_alone = order.is_before_us && !ask_next(name, version);
    return (struct ct_answer){NULL, ours_alone};
}

struct ct_answer ct_lookup(void *handle, const char *name, const char *version, void *caller)
{
    struct subject s = subject_of(name);
    if (!s.own && !ct_api_looks_like_work(name))
        return (struct ct_answer){NULL, 0};
    if (!s.own && (handle == RTLD_NEXT || handle == RTLD_DEFAULT)) {
        ct_driver_asked(name);
        return (struct ct_answer){NULL, 0};
    }
    if (handle == RTLD_NEXT)
        return look_next(name, version, caller);
    /* A function of the program's own, or of an object preloaded before us, comes before ours. */
    void *p = handle == RTLD_DEFAULT && version ? s.own : ask(handle, name, version);
    if (p && p == s.own)
        p = look_behind(handle, name, version, caller);
    return give(p ? substitute(&s, name, p) : NULL);
}
