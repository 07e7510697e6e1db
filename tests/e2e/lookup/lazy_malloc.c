/* SPDX-License-Identifier: MIT */
/* A malloc that looks the next one up when it is first needed, as heap checkers do. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static char early[1 << 16] __attribute__((aligned(16)));
static size_t used;
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static int looking;

static void *from_early(size_t bytes)
{
    void *p = early + used;
    used += (bytes + 15) & ~(size_t)15;
    return used <= sizeof(early) ? p : NULL;
}

void *malloc(size_t bytes)
{
    if (!next_malloc) {
        if (looking)
            return from_early(bytes);
        looking = 1;
        next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
        next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
        looking = 0;
    }
    return next_malloc(bytes);
}

void free(void *p)
{
    if ((char *)p < early || (char *)p >= early + sizeof(early))
        if (p && next_free)
            next_free(p);
}
