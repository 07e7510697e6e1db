/* SPDX-License-Identifier: MIT */
/* Another tool that interposes dlsym: counts look-ups of CUDA's names and says so at the end. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef __aarch64__
#define BASE_VERSION "GLIBC_2.17"
#else
#define BASE_VERSION "GLIBC_2.2.5"
#endif

typedef void *lookup_fn(void *, const char *);

static unsigned seen;

/* glibc's dlsym says which one is next; to take it itself would leave out all tools behind. */
static lookup_fn *real(void)
{
    static lookup_fn *found;
    if (!found) {
        lookup_fn *own = (lookup_fn *)dlvsym(RTLD_NEXT, "dlsym", BASE_VERSION);
        found = (lookup_fn *)own(RTLD_NEXT, "dlsym");
    }
    return found;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    seen += !strncmp(name, "cu", 2);
    return real()(handle, name);
}

__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "spy: %s\n", seen ? "saw look-ups" : "saw nothing");
}
