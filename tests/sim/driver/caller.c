/* SPDX-License-Identifier: MIT */
#include "driver/caller.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#define LIBRARY "/libcutrace.so"
#define CACHE 1024

bool sim_caller_named(const char *name, enum sim_caller *caller)
{
    static const char *const names[] = {
        [SIM_PROGRAM] = "program", [SIM_CUTRACE] = "cutrace", [SIM_DRAIN] = "drain"};
    for (unsigned i = SIM_PROGRAM; i <= SIM_DRAIN; i++)
        if (!strcmp(names[i], name)) {
            *caller = (enum sim_caller)i;
            return true;
        }
    return false;
}

/* Of a wrapper the symbol is the function's own name, or that of its per-thread twin. */
static bool look_up(const void *address, const char *function)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname || !strstr(info.dli_fname, LIBRARY))
        return false;
    return !info.dli_sname || strncmp(info.dli_sname, function, strlen(function)) != 0;
}

/* Of each place of a call it is asked once. */
static bool is_cutrace(const void *address, const char *function)
{
    static _Atomic uint64_t cache[CACHE]; /* address << 1 | answer */
    _Atomic uint64_t *slot = &cache[(uintptr_t)address % CACHE];
    uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    if (known >> 1 != (uintptr_t)address) {
        known = (uint64_t)(uintptr_t)address << 1 | look_up(address, function);
        atomic_store_explicit(slot, known, memory_order_relaxed);
    }
    return known & 1;
}

static bool is_drain_thread(void)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return !strcmp(name, "cutrace");
}

bool sim_caller_is(enum sim_caller caller, const void *address, const char *function)
{
    switch (caller) {
    case SIM_PROGRAM:
        return !is_cutrace(address, function);
    case SIM_CUTRACE:
        return is_cutrace(address, function);
    case SIM_DRAIN:
        return is_drain_thread() && is_cutrace(address, function);
    default:
        return true;
    }
}
