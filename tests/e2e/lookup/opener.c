/* SPDX-License-Identifier: MIT */
/* Preloaded: loads what OPENER_LOADS names, into the global scope, before the program starts. */
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((constructor)) static void load(void)
{
    const char *path = getenv("OPENER_LOADS");
    if (path && !dlopen(path, RTLD_NOW | RTLD_GLOBAL))
        abort();
}
