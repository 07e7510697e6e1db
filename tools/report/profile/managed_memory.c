/* SPDX-License-Identifier: MIT */
#include "report/profile/managed_memory.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"

static void add_row(struct ct_file_unified *to, const struct ct_file_unified *from)
{
    if (from->bytes)
        ct_merge_widen(&to->min_bytes, &to->max_bytes, !to->bytes, from->min_bytes,
                       from->max_bytes);
    if (from->timed)
        ct_merge_widen(&to->min_ns, &to->max_ns, !to->timed, from->min_ns, from->max_ns);
    if (from->count)
        ct_merge_widen(&to->first_address, &to->last_address, !to->count, from->first_address,
                       from->last_address);
    ct_merge_add_to(&to->count, from->count);
    ct_merge_add_to(&to->faults, from->faults);
    ct_merge_add_to(&to->bytes, from->bytes);
    for (int i = 0; i < CT_FILE_UNIFIED_CAUSES; i++)
        ct_merge_add_to(&to->cause_bytes[i], from->cause_bytes[i]);
    ct_merge_add_to(&to->timed, from->timed);
    ct_merge_add_to(&to->total_ns, from->total_ns);
}

void ct_managed_memory_add(struct ct_managed_memory *m, const struct ct_summary *s,
                           const uint32_t *device_map)
{
    for (size_t i = 0; i < s->unified_count; i++) {
        const struct ct_file_unified *from = &s->unified[i];
        uint32_t device = from->kind == CT_UNIFIED_CPU_FAULTS ? 0 : device_map[from->device];
        uint32_t key[] = {device, from->kind}, at = ct_key_table_add(&m->keys, key, sizeof(key));
        m->rows = ct_memory_grow(m->rows, &m->size, (size_t)at + 1, sizeof(*m->rows));
        m->rows[at].device = device;
        m->rows[at].kind = from->kind;
        add_row(&m->rows[at], from);
    }
}

const struct ct_file_unified *ct_managed_memory_find(const struct ct_managed_memory *m,
                                                     uint32_t device, enum ct_unified kind)
{
    for (uint32_t i = 0; i < m->keys.count; i++)
        if (m->rows[i].device == device && m->rows[i].kind == (uint32_t)kind)
            return &m->rows[i];
    return NULL;
}

void ct_managed_memory_free(struct ct_managed_memory *m)
{
    ct_key_table_free(&m->keys);
    free(m->rows);
    memset(m, 0, sizeof(*m));
}
