/* SPDX-License-Identifier: MIT */
/*
 * The vendor's libraries of which a process may have several, of different versions, with one name
 * for different functions: a call goes on to the library that its caller is linked with.
 */
#ifndef CT_LIBRARY_H
#define CT_LIBRARY_H

#include <stdatomic.h>

#include "base/base.h"
#include "cuda/api.h"
#include "system/elf.h"
#include "system/spin.h"

#define CT_LIBRARIES 8 /* libraries of one kind */
#define CT_LIBRARY_PAGES 4096
#define CT_LIBRARY_PAGE_BITS 12
#define CT_LIBRARY_CALLERS 64

/* An object that calls such a library. To find out which, all objects had to be looked at. */
struct ct_library_caller {
    struct ct_object object;
    uint32_t library;
};

/* Libraries of one kind. The first six fields are given, the rest is zero at first. */
struct ct_libraries {
    const char *needed; /* beginning of the name by which others need it */
    const char *file;   /* file's name up to the version; "": it may be part of any object */
    bool (*is_one)(const struct ct_object *o);
    const char *const *names;   /* names of the functions */
    _Atomic(ct_function) *real; /* CT_LIBRARIES times as many as there are names */
    uint32_t functions;

    struct ct_object object[CT_LIBRARIES];
    _Atomic uint32_t count;
    struct ct_spin lock; /* for adding, and for the next three fields */
    struct ct_library_caller caller[CT_LIBRARY_CALLERS];
    uint32_t callers;
    uint64_t unloaded; /* objects unloaded when the callers were found */
    /* Which library the code on a page calls: page << 8 | index + 1. */
    _Atomic uint64_t pages[CT_LIBRARY_PAGES];
};

/* In the child of a fork, where a thread that held the lock is not. Pages stay as they were. */
void ct_library_forget(struct ct_libraries *all);

/* Whether an address lies in a library that calls can be forwarded to unambiguously. */
bool ct_library_claim(const struct ct_libraries *all, const void *address);

/*
 * The real function `index` for a caller; NULL: there is no library. Each call comes here; _find is
 * for callers whose page is not known.
 */
CT_COLD ct_function ct_library_find(struct ct_libraries *all, uint32_t index, const void *caller);

CT_INLINE ct_function ct_library_real(struct ct_libraries *all, uint32_t index, const void *caller)
{
    uint64_t page = (uint64_t)(uintptr_t)caller >> CT_LIBRARY_PAGE_BITS;
    uint64_t known =
        atomic_load_explicit(&all->pages[page % CT_LIBRARY_PAGES], memory_order_acquire);
    uint64_t library = known - (page << 8) - 1; /* below CT_LIBRARIES if `known` is this page's */
    ct_function f = NULL;
    if (ct_likely(library < CT_LIBRARIES))
        f = atomic_load_explicit(&all->real[library * all->functions + index],
                                 memory_order_acquire);
    return ct_likely(f != NULL) ? f : ct_library_find(all, index, caller);
}

#endif
