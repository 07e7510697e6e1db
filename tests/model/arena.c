/* SPDX-License-Identifier: MIT */
/*
 * Instead of mmap, for code that is looked into: each execution gets the same memory, zeroed, and
 * none while a thread has a lock.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"
#include "engine.h"

#define BYTES ((size_t)1 << 30)

static char *base;
static size_t used;
static int locks[1 + MODEL_THREADS]; /* that are held, also by who sets up */

void arena_lock(int by)
{
    locks[1 + model_self] += by;
}

void arena_reset(void)
{
    if (!base)
        base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED || (used && madvise(base, used, MADV_DONTNEED)))
        abort();
    used = 0;
    memset(locks, 0, sizeof(locks));
}

void *arena_map(void *where, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    (void)where;
    (void)protection;
    (void)flags;
    (void)fd;
    (void)offset;
    MODEL_ASSERT(!locks[1 + model_self]);
    char *p = base + used;
    used += (bytes + 4095) & ~(size_t)4095;
    if (used > BYTES)
        abort();
    return p;
}

int arena_unmap(void *p, size_t bytes)
{
    (void)p;
    (void)bytes;
    MODEL_ASSERT(!locks[1 + model_self]);
    return 0;
}

int arena_protect(void *p, size_t bytes, int protection)
{
    (void)p;
    (void)bytes;
    (void)protection;
    return 0;
}
