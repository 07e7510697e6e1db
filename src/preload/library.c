/* SPDX-License-Identifier: MIT */
#include "preload/library.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/text.h"
#include "preload/real_dlsym.h"

#define NONE UINT32_MAX
#define PAGE_SHIFT 12

static uint32_t add(struct ct_libraries *all, const struct ct_object *o)
{
    ct_spin_lock(&all->lock);
    uint32_t n = atomic_load_explicit(&all->count, memory_order_relaxed), i = 0;
    while (i < n && all->object[i].base != o->base)
        i++;
    if (i == n && n < CT_LIBRARIES) {
        all->object[n] = *o;
        atomic_store_explicit(&all->count, n + 1, memory_order_release);
    }
    ct_spin_unlock(&all->lock);
    /* What was found in it stays good when the program closes its handle. */
    if (i == n && n < CT_LIBRARIES)
        dlopen(o->name, RTLD_LAZY | RTLD_NOLOAD);
    return i < CT_LIBRARIES ? i : NONE;
}

struct search {
    const struct ct_libraries *all;
    const char *name; /* of the file, or how it starts */
    uint32_t matches;
    struct ct_object found; /* the first */
};

/* Our own exports look like such a library, too. */
static bool is_ourselves(const struct ct_object *o)
{
    return ct_object_has(o, (const void *)(uintptr_t)ct_library_claim);
}

static bool is_one(const struct search *s, const struct ct_object *o)
{
    return o->name && ct_contains(o->name, s->name) && !is_ourselves(o) && s->all->is_one(o);
}

static bool visit(const struct ct_object *o, void *arg)
{
    struct search *s = arg;
    if (is_one(s, o) && !s->matches++)
        s->found = *o;
    return false;
}

/* The library that the caller's object names as needed, or that it is itself, else the first one.
 */
static uint32_t library_of(struct ct_libraries *all, const void *caller)
{
    struct ct_object o;
    struct search s = {.all = all, .name = all->file};
    bool known = ct_object_of(caller, &o);
    if (known && is_one(&s, &o))
        return add(all, &o);
    if (known && ct_object_needs(&o, all->needed, &s.name))
        ct_objects_visit(visit, &s);
    s.name = all->file;
    if (!s.matches)
        ct_objects_visit(visit, &s);
    return s.matches ? add(all, &s.found) : NONE;
}

bool ct_library_claim(const struct ct_libraries *all, const void *address)
{
    struct ct_object o;
    struct search s = {.all = all, .name = all->file};
    if (!ct_object_of(address, &o) || is_ourselves(&o) || !all->is_one(&o))
        return false;
    ct_objects_visit(visit, &s);
    return s.matches == 1;
}

static CT_COLD uint32_t find(struct ct_libraries *all, const void *caller, _Atomic uint64_t *slot,
                             uint64_t page)
{
    uint32_t i = library_of(all, caller);
    if (i != NONE)
        atomic_store_explicit(slot, page << 8 | (i + 1), memory_order_release);
    return i;
}

/* An interposer behind us in the search order comes before the library, as it would without us. */
static CT_COLD ct_function resolve(struct ct_libraries *all, uint32_t library, uint32_t index)
{
    const char *name = all->names[index];
    void *next = ct_real_dlsym_next(name);
    struct ct_object o;
    if (!next || !ct_object_of(next, &o) || all->is_one(&o))
        next = ct_object_symbol(&all->object[library], name);
    ct_function f = (ct_function)(uintptr_t)next;
    atomic_store_explicit(&all->real[library * all->functions + index], f, memory_order_release);
    return f;
}

ct_function ct_library_real(struct ct_libraries *all, uint32_t index, const void *caller)
{
    uint64_t page = (uint64_t)(uintptr_t)caller >> PAGE_SHIFT;
    _Atomic uint64_t *slot = &all->callers[page % CT_LIBRARY_CALLERS];
    uint64_t known = atomic_load_explicit(slot, memory_order_acquire);
    uint32_t library = known >> 8 == page ? (uint32_t)(known & 0xff) - 1 : NONE;
    int saved_errno = errno;
    if (ct_unlikely(library == NONE))
        library = find(all, caller, slot, page);
    if (library == NONE)
        return NULL;
    ct_function f =
        atomic_load_explicit(&all->real[library * all->functions + index], memory_order_acquire);
    if (ct_unlikely(!f))
        f = resolve(all, library, index);
    errno = saved_errno;
    return f;
}
