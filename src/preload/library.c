/* SPDX-License-Identifier: MIT */
#include "preload/library.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/text.h"
#include "preload/real_dlsym.h"
#include "system/library_copies.h"

#define NONE UINT32_MAX

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
    /* Functions found in the library stay good when the program closes its handle. */
    if (i == n && n < CT_LIBRARIES)
        dlopen(o->name, RTLD_LAZY | RTLD_NOLOAD);
    return i < CT_LIBRARIES ? i : NONE;
}

struct search {
    const struct ct_libraries *all;
    const char *name; /* file's name, or its beginning before a dot */
    uint32_t matches;
    struct ct_object found; /* the first match */
};

static bool is_one(const struct search *s, const struct ct_object *o)
{
    if (!o->name)
        return false;
    bool is_called_so = !*s->name || ct_is_library(o->name, s->name);
    /* Our own exports look like such a library, too. */
    return is_called_so && !ct_is_copy(o) && s->all->is_one(o);
}

static bool visit(const struct ct_object *o, void *arg)
{
    struct search *s = arg;
    if (is_one(s, o) && !s->matches++)
        s->found = *o;
    return false;
}

/* The library that the caller's object is, or names as needed, else the first one. */
static uint32_t library_of(struct ct_libraries *all, const struct ct_object *caller)
{
    struct search s = {.all = all, .name = all->file};
    if (caller && is_one(&s, caller))
        return add(all, caller);
    if (caller && ct_object_needs(caller, all->needed, &s.name))
        ct_objects_visit(visit, &s);
    s.name = all->file;
    if (!s.matches)
        ct_objects_visit(visit, &s);
    return s.matches ? add(all, &s.found) : NONE;
}

static uint32_t library_of_known_locked(const struct ct_libraries *all, const void *address)
{
    for (uint32_t i = 0; i < all->callers; i++)
        if (ct_object_has(&all->caller[i].object, address))
            return all->caller[i].library;
    return NONE;
}

/* Where an object was, another one may be now. */
static void forget_unloaded_locked(struct ct_libraries *all, uint64_t unloaded)
{
    if (all->unloaded == unloaded)
        return;
    all->unloaded = unloaded;
    all->callers = 0;
    for (unsigned i = 0; i < CT_LIBRARY_PAGES; i++)
        atomic_store_explicit(&all->pages[i], 0, memory_order_relaxed);
}

static uint32_t library_of_known(struct ct_libraries *all, const void *address, uint64_t unloaded)
{
    ct_spin_lock(&all->lock);
    forget_unloaded_locked(all, unloaded);
    uint32_t library = library_of_known_locked(all, address);
    ct_spin_unlock(&all->lock);
    return library;
}

/* Several threads may come from one object at once. */
static void remember(struct ct_libraries *all, const struct ct_object *caller, uint32_t library,
                     uint64_t unloaded)
{
    ct_spin_lock(&all->lock);
    if (all->unloaded == unloaded && all->callers < CT_LIBRARY_CALLERS &&
        library_of_known_locked(all, (const void *)caller->start) == NONE)
        all->caller[all->callers++] = (struct ct_library_caller){*caller, library};
    ct_spin_unlock(&all->lock);
}

/* There are thousands of pages in an object, and to look at all objects takes microseconds. */
static uint32_t library_for(struct ct_libraries *all, const void *caller)
{
    struct ct_object o;
    uint64_t unloaded = ct_objects_unloaded();
    uint32_t library = library_of_known(all, caller, unloaded);
    if (library != NONE)
        return library;
    bool known = ct_object_of(caller, &o);
    library = library_of(all, known ? &o : NULL);
    if (known && library != NONE)
        remember(all, &o, library, unloaded);
    return library;
}

void ct_library_forget(struct ct_libraries *all)
{
    ct_spin_init(&all->lock);
    all->callers = 0;
}

bool ct_library_claim(const struct ct_libraries *all, const void *address)
{
    struct ct_object o;
    struct search s = {.all = all, .name = all->file};
    if (!ct_object_of(address, &o) || ct_is_copy(&o) || !all->is_one(&o))
        return false;
    ct_objects_visit(visit, &s);
    return s.matches == 1;
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

CT_COLD ct_function ct_library_find(struct ct_libraries *all, uint32_t index, const void *caller)
{
    int saved_errno = errno;
    uint64_t page = (uint64_t)(uintptr_t)caller >> CT_LIBRARY_PAGE_BITS;
    uint32_t library = library_for(all, caller);
    ct_function f = NULL;
    if (library != NONE) {
        f = atomic_load_explicit(&all->real[library * all->functions + index],
                                 memory_order_acquire);
        if (!f)
            f = resolve(all, library, index);
        atomic_store_explicit(&all->pages[page % CT_LIBRARY_PAGES], page << 8 | (library + 1),
                              memory_order_release);
    }
    errno = saved_errno;
    return f;
}
