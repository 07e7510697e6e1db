/* SPDX-License-Identifier: MIT */
/*
 * Symbols of objects that the dynamic linker has loaded, read from their dynamic sections. Unlike
 * dlsym this sets no dlerror, allocates nothing, asks no interposer and cannot recurse.
 */
#ifndef CT_ELF_H
#define CT_ELF_H

#include <link.h>

#include "base/base.h"

struct ct_object {
    uintptr_t base;  /* load bias */
    uintptr_t start; /* first and one past the last mapped byte */
    uintptr_t end;
    const ElfW(Dyn) * dynamic;
    const char *name; /* path; owned by the dynamic linker, as are the next ones */
    const ElfW(Phdr) * headers;
    unsigned header_count;
};

/* The loaded object that contains an address. */
bool ct_object_of(const void *address, struct ct_object *o);

/*
 * Calls visit for each loaded object, in load order, until it returns true; returns what the last
 * call returned. The loader's lock is held: visit must not call the loader.
 */
bool ct_objects_visit(bool (*visit)(const struct ct_object *o, void *arg), void *arg);

/* How many objects have been unloaded so far; 0 also where the loader does not say. */
uint64_t ct_objects_unloaded(void);

/* Bytes of all loaded objects' thread-local variables: a thread has no more of them. */
size_t ct_objects_tls_bytes(void);

static inline bool ct_object_has(const struct ct_object *o, const void *address)
{
    return (uintptr_t)address - o->start < o->end - o->start;
}

/* Address of a function or object that o exports; NULL: none, or one that needs a resolver. */
void *ct_object_symbol(const struct ct_object *o, const char *name);

/*
 * glibc's own function of that name, however many come before it in the search order. Takes no
 * lock: in the child of a fork a thread that is gone may hold the loader's for ever.
 */
void *ct_libc_symbol(const char *name);

/* Whether one of o's DT_NEEDED names starts with `start`; *needed is that name, the linker's. */
bool ct_object_needs(const struct ct_object *o, const char *start, const char **needed);

#endif
