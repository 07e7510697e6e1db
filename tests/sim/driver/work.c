/* SPDX-License-Identifier: MIT */
/* What each kind of work takes and does. */
#include "driver/sim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The bandwidths (bytes per ns) and fixed costs of README.md, "Virtual time". */
#define COPY_FIXED_NS 1200
#define COPY_PEER_RATE 200
#define COPY_DEVICE_RATE 1500
#define SET_FIXED_NS 1000
#define SET_RATE 2500
#define KERNEL_FIXED_NS 1500
#define KERNEL_WAVE_NS 500
#define WARPS_AT_ONCE (132 * 64)

bool sim_name_starts(const char *kernel, const char *word)
{
    if (kernel[0] == '_' && kernel[1] == 'Z')
        for (kernel += 2; *kernel >= '0' && *kernel <= '9';)
            kernel++;
    return !strncmp(kernel, word, strlen(word));
}

bool sim_reads_argument(const char *kernel)
{
    return sim_name_starts(kernel, "spin") || sim_name_starts(kernel, "gate") ||
           sim_name_starts(kernel, "countdown") || sim_is_selftimed(kernel);
}

int64_t sim_copy_ns(const char *direction, uint64_t bytes)
{
    uint64_t rate = COPY_DEVICE_RATE;
    if (strchr(direction, 'H'))
        rate = (uint64_t)sim_settings.link_rate;
    else if (strchr(direction, 'P'))
        rate = COPY_PEER_RATE;
    return (int64_t)(COPY_FIXED_NS + bytes / rate);
}

int64_t sim_set_ns(uint64_t bytes)
{
    return (int64_t)(SET_FIXED_NS + bytes / SET_RATE);
}

int64_t sim_kernel_ns(const char *name, const struct sim_launch *l)
{
    int64_t set = sim_control_kernel_ns(name);
    if (set >= 0)
        return set;
    if (sim_name_starts(name, "spin"))
        return (int64_t)l->argument;
    if (sim_is_selftimed(name))
        return sim_selftimed_ns(name, l);
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t warps = blocks * ((threads + 31) / 32);
    return (int64_t)(KERNEL_FIXED_NS +
                     KERNEL_WAVE_NS * ((warps + WARPS_AT_ONCE - 1) / WARPS_AT_ONCE));
}

static uint64_t read_value(const struct sim_work *w)
{
    if (w->value.bytes == 4)
        return atomic_load_explicit((_Atomic uint32_t *)w->value.address, memory_order_acquire);
    return atomic_load_explicit((_Atomic uint64_t *)w->value.address, memory_order_acquire);
}

static bool value_reached(const struct sim_work *w)
{
    uint64_t now = read_value(w), want = w->value.value;
    switch (w->value.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return w->value.bytes == 4 ? (int32_t)(now - want) >= 0 : (int64_t)(now - want) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == want;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & want) != 0;
    default:
        return ~(now | want) != 0;
    }
}

static bool kernel_gate_open(const struct sim_work *w)
{
    if (sim_name_starts(w->name, "hang"))
        return false;
    if (!sim_name_starts(w->name, "gate") || !w->launch.argument)
        return true;
    return atomic_load_explicit((_Atomic int *)(uintptr_t)w->launch.argument,
                                memory_order_acquire) != 0;
}

bool sim_work_gate_open(const struct sim_work *w)
{
    if (w->kind == SIM_WORK_KERNEL)
        return kernel_gate_open(w);
    if (w->kind == SIM_WORK_WAIT_VALUE)
        return value_reached(w);
    if (w->kind == SIM_WORK_GRAPH)
        for (size_t i = 0; i < w->plan->count; i++)
            if (!sim_work_gate_open(&w->plan->works[i]))
                return false;
    return true;
}

static void copy_rect(const struct sim_rect *r)
{
    for (size_t z = 0; z < r->depth; z++)
        for (size_t y = 0; y < r->height; y++)
            memmove(r->to + z * r->to_slice + y * r->to_pitch,
                    r->from + z * r->from_slice + y * r->from_pitch, r->width);
}

static void copy(struct sim_work *w)
{
    if (!w->copy.rects)
        copy_rect(&w->copy.rect);
    for (size_t i = 0; w->copy.rects && i < w->copy.count; i++)
        copy_rect(&w->copy.rects[i]);
}

static void fill_row(char *to, const struct sim_fill *f)
{
    if (f->element_bytes == 1)
        memset(to, (int)f->value, f->width);
    else if (f->element_bytes == 2)
        for (size_t i = 0; i < f->width; i++)
            ((uint16_t *)to)[i] = (uint16_t)f->value;
    else
        for (size_t i = 0; i < f->width; i++)
            ((uint32_t *)to)[i] = f->value;
}

static void fill(const struct sim_fill *f)
{
    for (size_t y = 0; y < f->height; y++)
        fill_row(f->to + y * f->pitch, f);
}

static void write_value(const struct sim_work *w)
{
    if (w->value.bytes == 4)
        atomic_store_explicit((_Atomic uint32_t *)w->value.address, (uint32_t)w->value.value,
                              memory_order_release);
    else
        atomic_store_explicit((_Atomic uint64_t *)w->value.address, w->value.value,
                              memory_order_release);
}

static void add_truth(const struct sim_work *w, const char *kind)
{
    if (!w->is_profilers)
        sim_truth_add(kind, w->name, w->duration_ns, w->bytes);
}

static void perform(struct sim_work *w, const char *kernel, const char *copy_kind,
                    const char *set_kind)
{
    if (w->kind == SIM_WORK_KERNEL) {
        add_truth(w, kernel);
        if (sim_is_selftimed(w->name))
            sim_selftimed_perform(w);
    } else if (w->kind == SIM_WORK_COPY) {
        copy(w);
        add_truth(w, copy_kind);
    } else if (w->kind == SIM_WORK_SET) {
        fill(&w->fill);
        add_truth(w, set_kind);
    } else if (w->kind == SIM_WORK_PREFETCH) {
        add_truth(w, "prefetch");
    } else if (w->kind == SIM_WORK_WRITE_VALUE) {
        write_value(w);
    } else if (w->kind == SIM_WORK_FREE) {
        sim_memory_free(w->memory, SIM_DEVICE);
    }
}

void sim_work_perform_in_graph(struct sim_work *w)
{
    perform(w, "graphkernel", "graphcopy", "graphset");
}

void sim_work_perform(struct sim_work *w)
{
    if (w->kind == SIM_WORK_BATCH) {
        for (size_t i = 0; i < w->plan->count; i++)
            sim_work_perform(&w->plan->works[i]);
        return;
    }
    if (w->kind != SIM_WORK_GRAPH) {
        perform(w, "kernel", "copy", "set");
        return;
    }
    sim_truth_add("graph", w->name, w->duration_ns, 0);
    for (size_t i = 0; !w->plan->has_host_work && i < w->plan->count; i++)
        sim_work_perform_in_graph(&w->plan->works[i]);
}

void sim_plan_release(struct sim_plan *p)
{
    if (!p || --p->references)
        return;
    for (size_t i = 0; i < p->count; i++)
        sim_work_drop(&p->works[i]);
    free(p->works);
    free(p);
}

void sim_work_drop(struct sim_work *w)
{
    if (w->kind == SIM_WORK_COPY)
        free(w->copy.rects);
    else if (w->kind == SIM_WORK_GRAPH || w->kind == SIM_WORK_BATCH)
        sim_plan_release(w->plan);
    w->kind = SIM_WORK_EMPTY;
}

struct sim_work sim_work_clone(const struct sim_work *w)
{
    struct sim_work c = *w;
    if (w->kind == SIM_WORK_GRAPH)
        c.plan->references++;
    if (w->kind == SIM_WORK_COPY && w->copy.rects) {
        c.copy.rects = malloc(w->copy.count * sizeof(*c.copy.rects));
        memcpy(c.copy.rects, w->copy.rects, w->copy.count * sizeof(*c.copy.rects));
    }
    return c;
}
