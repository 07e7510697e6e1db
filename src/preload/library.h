/* SPDX-License-Identifier: MIT */
/*
 * The vendor's libraries of which a process may have several, of different versions, with one name
 * for different functions: a call goes on to the one that its caller is linked with.
 */
#ifndef CT_LIBRARY_H
#define CT_LIBRARY_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/elf.h"
#include "base/spin.h"
#include "cuda/api.h"

#define CT_LIBRARIES 8 /* of one kind */
#define CT_LIBRARY_CALLERS 256

/* One kind. The first five are given, the rest is zero at first. */
struct ct_libraries {
    const char *needed; /* how the name begins by which others need it */
    const char *file;   /* what its path contains; "": it may be part of any object */
    bool (*is_one)(const struct ct_object *o);
    const char *const *names;   /* of its functions */
    _Atomic(ct_function) *real; /* CT_LIBRARIES times as many as there are names */
    uint32_t functions;

    struct ct_object object[CT_LIBRARIES];
    _Atomic uint32_t count;
    struct ct_spin lock; /* for adding */
    /* Which library the code on a page calls: page << 8 | index + 1. */
    _Atomic uint64_t callers[CT_LIBRARY_CALLERS];
};

/* Whether an address lies in a library that calls can be forwarded to unambiguously. */
bool ct_library_claim(const struct ct_libraries *all, const void *address);

/* The real function `index` for a caller; NULL: there is no library. */
ct_function ct_library_real(struct ct_libraries *all, uint32_t index, const void *caller);

#endif
