/* SPDX-License-Identifier: MIT */
#include "page/page_memory.h"

#include "page/json.h"
#include "report/reports/memory_report.h"
#include "report/reports/unified_report.h"

static void set_gpu(json_t *to, const struct ct_merged *m, uint32_t device)
{
    ct_json_count(to, "gpu", m->devices[device].sum.ordinal);
}

/* ---- allocations ---- */

static json_t *allocation_of(const struct ct_merged *m, const struct ct_file_memory *f)
{
    json_t *to = ct_json_object();
    ct_json_text(to, "memory", ct_allocation_name(f->kind));
    set_gpu(to, m, f->device);
    ct_json_count(to, "allocations", f->allocations);
    ct_json_count(to, "bytes", f->bytes);
    ct_json_count(to, "failed", f->failed);
    ct_json_count(to, "failed_most", f->failed_most_bytes);
    ct_json_count(to, "frees", f->frees);
    ct_json_count(to, "ended", f->ended);
    ct_json_count(to, "held", f->held);
    ct_json_count(to, "held_bytes", f->held_bytes);
    ct_json_count(to, "peak", f->peak_bytes);
    ct_json_count(to, "unseen_frees", f->unseen_frees);
    ct_json_count(to, "unknown_frees", f->unknown_frees);
    ct_json_count(to, "unfollowed", f->unfollowed);
    return to;
}

json_t *ct_page_allocations(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->allocated.memory_keys.count; i++)
        ct_json_append(all, allocation_of(m, &m->allocated.memory[i]));
    return all;
}

/* Blocks whose sizes are not listed have no size, no kind and no GPU. */
static json_t *block_of(const struct ct_merged *m, const struct ct_file_block *f)
{
    json_t *to = ct_json_object();
    ct_json_count(to, "blocks", f->count);
    ct_json_count(to, "bytes", ct_allocations_bytes(f));
    if (f->kind == CT_ALLOCATION_ON_DEVICE)
        return to;
    ct_json_text(to, "memory", ct_allocation_name(f->kind));
    ct_json_count(to, "size", f->bytes);
    set_gpu(to, m, f->device);
    return to;
}

json_t *ct_page_blocks(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->allocated.block_keys.count; i++)
        ct_json_append(all, block_of(m, &m->allocated.blocks[i]));
    return all;
}

/* ---- managed memory ---- */

static json_t *causes_of(const struct ct_file_unified *u)
{
    static const char *const texts[] = {
#define X(id, text) [CT_UNIFIED_CAUSE_##id] = text,
        CT_UNIFIED_CAUSES(X)
#undef X
    };
    json_t *all = ct_json_array();
    for (int i = 0; i < CT_UNIFIED_CAUSE_COUNT; i++)
        if (u->cause_bytes[i]) {
            json_t *cause = ct_json_array();
            ct_json_append_text(cause, texts[i]);
            ct_json_append_count(cause, u->cause_bytes[i]);
            ct_json_append(all, cause);
        }
    return all;
}

static void set_sizes(json_t *to, const struct ct_file_unified *u)
{
    ct_json_count(to, "bytes", u->bytes);
    ct_json_count(to, "min_bytes", u->min_bytes);
    ct_json_count(to, "max_bytes", u->max_bytes);
    ct_json_set(to, "causes", causes_of(u));
}

static void set_times(json_t *to, const struct ct_file_unified *u)
{
    ct_json_count(to, "timed", u->timed);
    ct_json_count(to, "total", u->total_ns);
    ct_json_count(to, "avg", u->total_ns / u->timed);
    ct_json_count(to, "min", u->min_ns);
    ct_json_count(to, "max", u->max_ns);
}

static json_t *managed_of(const struct ct_merged *m, const struct ct_file_unified *u)
{
    json_t *to = ct_json_object();
    ct_json_text(to, "kind", ct_unified_name(u->kind));
    ct_json_count(to, "count", u->count);
    if (u->kind == CT_UNIFIED_GPU_FAULTS)
        ct_json_count(to, "faults", u->faults);
    if (u->kind != CT_UNIFIED_CPU_FAULTS)
        set_gpu(to, m, u->device);
    if (u->bytes && u->count)
        set_sizes(to, u);
    if (u->timed)
        set_times(to, u);
    return to;
}

json_t *ct_page_managed(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->managed.keys.count; i++)
        ct_json_append(all, managed_of(m, &m->managed.rows[i]));
    return all;
}
