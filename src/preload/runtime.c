/* SPDX-License-Identifier: MIT */
#include "preload/runtime.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/elf.h"
#include "base/spin.h"
#include "base/text.h"
#include "preload/real_dlsym.h"

#define RUNTIMES 8
#define CALLERS 256
#define PAGE_SHIFT 12

struct runtime {
    struct ct_object object;
    _Atomic(ct_function) real[CT_RUNTIME_COUNT];
};

static struct runtime runtimes[RUNTIMES];
static _Atomic uint32_t count;
static struct ct_spin lock; /* for adding */

/* Which runtime the code on a page calls: page << 8 | index + 1. */
static _Atomic uint64_t callers[CALLERS];

static bool is_runtime(const struct ct_object *o)
{
    return ct_object_symbol(o, "cudaRuntimeGetVersion") &&
           ct_object_symbol(o, "__cudaRegisterFatBinary") &&
           ct_object_symbol(o, "cudaGetDevice");
}

static struct runtime *add(const struct ct_object *o)
{
    ct_spin_lock(&lock);
    uint32_t n = atomic_load_explicit(&count, memory_order_relaxed), i = 0;
    while (i < n && runtimes[i].object.base != o->base)
        i++;
    if (i == n && n < RUNTIMES) {
        runtimes[n].object = *o;
        atomic_store_explicit(&count, n + 1, memory_order_release);
    }
    ct_spin_unlock(&lock);
    return i < RUNTIMES ? &runtimes[i] : NULL;
}

struct search {
    const char *name; /* of the file, or how it starts */
    uint32_t matches;
    struct ct_object found; /* the first */
};

/* Our own exports look like a runtime, too. */
static bool is_ourselves(const struct ct_object *o)
{
    return ct_object_has(o, (const void *)(uintptr_t)ct_runtime_wrappers[0]);
}

static bool visit(const struct ct_object *o, void *arg)
{
    struct search *s = arg;
    if (o->name && ct_contains(o->name, s->name) && !is_ourselves(o) && is_runtime(o) &&
        !s->matches++)
        s->found = *o;
    return false;
}

/* The runtime that the caller's object names as needed, else the first one there is. */
static struct runtime *runtime_of(const void *caller)
{
    struct ct_object o;
    const char *needed;
    struct search s = {.name = "libcudart.so"};
    if (ct_object_of(caller, &o) && ct_object_needs(&o, "libcudart.so", &needed)) {
        s.name = needed;
        ct_objects_visit(visit, &s);
        s.name = "libcudart.so";
    }
    if (!s.matches)
        ct_objects_visit(visit, &s);
    return s.matches ? add(&s.found) : NULL;
}

bool ct_runtime_claim(const void *address)
{
    struct ct_object o;
    struct search s = {.name = "libcudart.so"};
    if (!ct_object_of(address, &o) || is_ourselves(&o) || !is_runtime(&o))
        return false;
    ct_objects_visit(visit, &s);
    return s.matches == 1;
}

static CT_COLD struct runtime *find(const void *caller, _Atomic uint64_t *slot, uint64_t page)
{
    struct runtime *r = runtime_of(caller);
    if (r)
        atomic_store_explicit(slot, page << 8 | (uint64_t)(r - runtimes + 1),
                              memory_order_release);
    return r;
}

/* An interposer behind us in the search order comes before the runtime, as it would without us. */
static CT_COLD ct_function resolve(struct runtime *r, uint32_t id)
{
    const char *name = ct_api_names[id];
    void *next = ct_real_dlsym_next(name);
    struct ct_object o;
    if (!next || !ct_object_of(next, &o) || is_runtime(&o))
        next = ct_object_symbol(&r->object, name);
    ct_function f = (ct_function)(uintptr_t)next;
    atomic_store_explicit(&r->real[id - CT_RUNTIME_FIRST], f, memory_order_release);
    return f;
}

ct_function ct_runtime_real(uint32_t id, const void *caller)
{
    uint64_t page = (uint64_t)(uintptr_t)caller >> PAGE_SHIFT;
    _Atomic uint64_t *slot = &callers[page % CALLERS];
    uint64_t known = atomic_load_explicit(slot, memory_order_acquire);
    struct runtime *r = known >> 8 == page ? &runtimes[(known & 0xff) - 1] : NULL;
    int saved_errno = errno;
    if (ct_unlikely(!r))
        r = find(caller, slot, page);
    if (!r)
        return NULL;
    ct_function f = atomic_load_explicit(&r->real[id - CT_RUNTIME_FIRST], memory_order_acquire);
    if (ct_unlikely(!f))
        f = resolve(r, id);
    errno = saved_errno;
    return f;
}
