/* SPDX-License-Identifier: MIT */
/*
 * The kernels by which a profiler measures the device: what src/launch/selftimed_ptx.c says they do.
 * They are no truth, and a stream in which one was the first work is the profiler's own.
 */
#include "driver/sim.h"

#include <string.h>

#define CLOCK_MHZ 1980
#define THREADS 32 /* each writes to a place of its own; nothing is known of other shapes */
#define OUTSIDE_NS 800 /* of the duration, before the first and after the last instruction */

bool sim_is_selftimed(const char *kernel)
{
    return !strncmp(kernel, "cutrace_selftimed", strlen("cutrace_selftimed"));
}

static bool is_read(const char *kernel)
{
    return !strcmp(kernel, "cutrace_selftimed_read");
}

bool sim_selftimed_is_shaped(const char *kernel, const struct sim_launch *l)
{
    return l->grid[0] == 1 && l->block[0] == (is_read(kernel) ? 1 : THREADS);
}

int64_t sim_selftimed_ns(const char *kernel, const struct sim_launch *l)
{
    return is_read(kernel) ? 2000 : (int64_t)(l->argument * 1000 / CLOCK_MHZ) + OUTSIDE_NS;
}

static uint64_t *stamps_of(const struct sim_launch *l)
{
    return sim_global_of(&l->function->module->globals, "stamps")->memory;
}

/* With the context current: the stamps are memory of the context. */
void sim_selftimed_submit(struct sim_work *w)
{
    stamps_of(&w->launch);
}

void sim_selftimed_perform(const struct sim_work *w)
{
    const struct sim_launch *l = &w->launch;
    uint64_t *stamps = stamps_of(l);
    if (is_read(w->name)) {
        uint64_t *to = (uint64_t *)(uintptr_t)l->argument;
        to[0] = (uintptr_t)stamps;
        memcpy(to + 1, stamps, 16 * l->second);
        return;
    }
    stamps[2 * l->second] = (uint64_t)(w->end_ns - w->duration_ns + OUTSIDE_NS / 2);
    stamps[2 * l->second + 1] = (uint64_t)(w->end_ns - OUTSIDE_NS / 2);
}
