/* SPDX-License-Identifier: MIT */
#include "containers/stable_array.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/cancel.h"
#include "system/proc.h"

#define STEP_BYTES ((size_t)256 * 1024)

/* Where the program locks all its future memory, addresses count: these are unlocked. */
static void *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    int cancel = ct_cancel_disable();
    if (ct_proc_may_unlock())
        munlock(p, bytes);
    ct_cancel_restore(cancel);
    return p;
}

/* Several threads may do this at once, or again: nothing changes. */
static bool open_pages(char *from, size_t bytes)
{
    size_t before = (uintptr_t)from & ((size_t)sysconf(_SC_PAGESIZE) - 1);
    return !mprotect(from - before, before + bytes, PROT_READ | PROT_WRITE);
}

bool ct_stable_array_init(struct ct_stable_array *g, size_t element_bytes, uint32_t most,
                          uint32_t least)
{
    int saved_errno = errno;
    void *at = reserve(element_bytes * most);
    while (!at && most / 2 >= least)
        at = reserve(element_bytes * (most /= 2));
    g->at = at;
    g->element_bytes = element_bytes;
    atomic_store_explicit(&g->open, 0, memory_order_relaxed);
    atomic_store_explicit(&g->most, most, memory_order_relaxed);
    errno = saved_errno;
    return at && ct_stable_array_grow(g, 1);
}

bool ct_stable_array_open_one(struct ct_stable_array *g, uint32_t index)
{
    int saved_errno = errno;
    bool ok = open_pages((char *)g->at + index * g->element_bytes, g->element_bytes);
    errno = saved_errno;
    return ok;
}

/* A refusal is final, as each call of the program's might come here. */
bool ct_stable_array_grow(struct ct_stable_array *g, uint32_t count)
{
    uint32_t most = ct_stable_array_most(g), open = ct_stable_array_open(g);
    if (count > most)
        return false;
    int saved_errno = errno;
    size_t steps = (count * g->element_bytes + STEP_BYTES - 1) / STEP_BYTES;
    size_t bytes = ct_min(steps * STEP_BYTES, most * g->element_bytes);
    bool ok = open_pages(g->at, bytes);
    errno = saved_errno;
    if (!ok) {
        atomic_store_explicit(&g->most, open, memory_order_relaxed);
        return false;
    }
    uint32_t now = (uint32_t)(bytes / g->element_bytes);
    while (open < now && !atomic_compare_exchange_weak_explicit(
                             &g->open, &open, now, memory_order_release, memory_order_relaxed))
        ;
    return true;
}
