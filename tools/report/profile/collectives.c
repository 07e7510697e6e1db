/* SPDX-License-Identifier: MIT */
#include "report/profile/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"

static void add(uint64_t *to, uint64_t more)
{
    *to = ct_merge_sum(*to, more);
}

static void add_row(struct ct_merged_collectives *c, const struct ct_file_collective *from)
{
    uint32_t key[] = {from->collective, from->datatype, from->ranks, from->octave};
    uint32_t at = ct_intern_add(&c->keys, key, sizeof(key));
    c->rows = ct_memory_grow(c->rows, &c->size, (size_t)at + 1, sizeof(*c->rows));
    struct ct_file_collective *to = &c->rows[at];
    to->collective = from->collective;
    to->datatype = from->datatype;
    to->ranks = from->ranks;
    to->octave = from->octave;
    if (from->timed && (!to->timed || from->min_ns < to->min_ns))
        to->min_ns = from->min_ns;
    if (from->timed && from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
    add(&to->calls, from->calls);
    add(&to->failed, from->failed);
    add(&to->captured, from->captured);
    add(&to->bytes, from->bytes);
    add(&to->timed, from->timed);
    add(&to->shared, from->shared);
    add(&to->timed_bytes, from->timed_bytes);
    add(&to->total_ns, from->total_ns);
}

void ct_collectives_add(struct ct_merged_collectives *c, const struct ct_summary *s)
{
    for (size_t i = 0; i < s->collectives_count; i++)
        add_row(c, &s->collectives[i]);
}

void ct_collectives_free(struct ct_merged_collectives *c)
{
    ct_intern_free(&c->keys);
    free(c->rows);
    memset(c, 0, sizeof(*c));
}
