/* SPDX-License-Identifier: MIT */
#include "report/stacks/line_sums.h"

#include <stdlib.h>

static void enter(struct ct_line_sum *l, const struct ct_call *call)
{
    ct_launched_add(&l->own, &call->own);
    if (!l->open++)
        ct_launched_add(&l->all, &call->all);
}

/* Leaves the calls that the next one of the walk is not in. */
static void leave(struct ct_line_sum *l, const struct ct_calls *c, uint32_t at, uint32_t next)
{
    for (; at != c->call[next].parent; at = c->call[at].parent)
        if (c->call[at].row == CT_CALL_FRAME)
            l[c->call[at].line].open--;
}

static int by_time(const void *a, const void *b)
{
    const struct ct_line_sum *x = a, *y = b;
    if (x->all.ns != y->all.ns)
        return x->all.ns > y->all.ns ? -1 : 1;
    if (x->own.ns != y->own.ns)
        return x->own.ns > y->own.ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Lines without a launch have no time, and so are the last. */
static int by_launches(const void *a, const void *b)
{
    const struct ct_line_sum *x = a, *y = b;
    if (!x->all.count != !y->all.count)
        return x->all.count ? -1 : 1;
    return by_time(a, b);
}

struct ct_line_sums ct_line_sums_of(const struct ct_calls *c, const struct ct_merged *m)
{
    size_t count = m->stacks.line_keys.count;
    struct ct_line_sums sums = {.at = ct_memory_array(count, sizeof(*sums.at))};
    for (uint32_t i = 0; i < count; i++)
        sums.at[i].index = i;
    for (uint32_t at = c->call[CT_CALL_ROOT].first, next; at; at = next) {
        if (c->call[at].row == CT_CALL_FRAME)
            enter(&sums.at[c->call[at].line], &c->call[at]);
        next = ct_calls_next(c, at);
        leave(sums.at, c, at, next);
    }
    qsort(sums.at, count, sizeof(*sums.at), by_launches);
    while (sums.count < count && sums.at[sums.count].all.count)
        sums.count++;
    return sums;
}
