/* SPDX-License-Identifier: MIT */
/* Holds the loader's lock in its constructor, and looks something up there. */
#include <dlfcn.h>
#include <time.h>

__attribute__((constructor)) static void start(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    if (!dlsym(RTLD_DEFAULT, "malloc") || dlsym(RTLD_DEFAULT, "cuNothing"))
        __builtin_trap();
}
