/* SPDX-License-Identifier: MIT */
#include "report/profile/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"

static void add_row(struct ct_merged_collectives *c, const struct ct_file_collective *from)
{
    uint32_t key[] = {from->collective, from->datatype, from->ranks, from->octave};
    uint32_t at = ct_key_table_add(&c->keys, key, sizeof(key));
    c->rows = ct_memory_grow(c->rows, &c->size, (size_t)at + 1, sizeof(*c->rows));
    struct ct_file_collective *to = &c->rows[at];
    to->collective = from->collective;
    to->datatype = from->datatype;
    to->ranks = from->ranks;
    to->octave = from->octave;
    if (from->timed)
        ct_merge_widen(&to->min_ns, &to->max_ns, !to->timed, from->min_ns, from->max_ns);
    ct_merge_add_to(&to->calls, from->calls);
    ct_merge_add_to(&to->failed, from->failed);
    ct_merge_add_to(&to->captured, from->captured);
    ct_merge_add_to(&to->bytes, from->bytes);
    ct_merge_add_to(&to->timed, from->timed);
    ct_merge_add_to(&to->shared, from->shared);
    ct_merge_add_to(&to->timed_bytes, from->timed_bytes);
    ct_merge_add_to(&to->total_ns, from->total_ns);
}

void ct_collectives_add(struct ct_merged_collectives *c, const struct ct_summary *s)
{
    for (size_t i = 0; i < s->collectives_count; i++)
        add_row(c, &s->collectives[i]);
}

void ct_collectives_free(struct ct_merged_collectives *c)
{
    ct_key_table_free(&c->keys);
    free(c->rows);
    memset(c, 0, sizeof(*c));
}
