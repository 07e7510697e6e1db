/* SPDX-License-Identifier: MIT */
/* What a driver of tomorrow adds to the simulated one: functions nobody here has heard of. */
#include <stdint.h>
#include <string.h>

#include "common/entry_points.h"

int cuLaunchKernelNext(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                       uint64_t g, uint64_t h);
int cuMemcpyNextAsync_v7(uint64_t a, uint64_t b, uint64_t c);
int cuQuantumEntangle(uint64_t a);
int cuGetNextLaunchQuery(uint64_t a);
void *__real_sim_entry_point(const char *name, int version, uint64_t flags, int driver_version,
                             int *status);
void *__wrap_sim_entry_point(const char *name, int version, uint64_t flags, int driver_version,
                             int *status);

/* Eight arguments: the last two lie on the stack. */
int cuLaunchKernelNext(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                       uint64_t g, uint64_t h)
{
    return (int)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h);
}

int cuMemcpyNextAsync_v7(uint64_t a, uint64_t b, uint64_t c)
{
    return (int)(a ^ b ^ c);
}

int cuQuantumEntangle(uint64_t a)
{
    return (int)a;
}

int cuGetNextLaunchQuery(uint64_t a)
{
    return (int)a;
}

void *__wrap_sim_entry_point(const char *name, int version, uint64_t flags, int driver_version,
                             int *status)
{
    *status = SIM_FOUND;
    if (!strcmp(name, "cuLaunchKernelNext"))
        return (void *)(uintptr_t)cuLaunchKernelNext;
    if (!strcmp(name, "cuMemcpyNextAsync"))
        return (void *)(uintptr_t)cuMemcpyNextAsync_v7;
    if (!strcmp(name, "cuQuantumEntangle"))
        return (void *)(uintptr_t)cuQuantumEntangle;
    return __real_sim_entry_point(name, version, flags, driver_version, status);
}
