/* SPDX-License-Identifier: MIT */
#include "containers/chains.h"

#include <stdatomic.h>

#include "system/mem.h"

bool ct_chains_init(struct ct_chains *c, unsigned bits, uint32_t most)
{
    size_t chains = (size_t)1 << bits;
    uint32_t *links = ct_map((chains + most) * sizeof(*links));
    *c = (struct ct_chains){.first = links, .next = links + chains, .most = most, .bits = bits};
    return links != NULL;
}

/* Ordered for a thread that is interrupted here for good: a place is lost, but no chain. */
uint32_t ct_chains_take(struct ct_chains *c, uint64_t hash)
{
    uint32_t place = c->free ? c->free - 1 : c->met, *head = ct_chains_head(c, hash);
    if (place == c->most)
        return CT_CHAINS_NONE;
    if (c->free)
        c->free = c->next[place];
    else
        c->met++;
    atomic_signal_fence(memory_order_seq_cst);
    c->next[place] = *head;
    atomic_signal_fence(memory_order_seq_cst);
    *head = place + 1;
    return place;
}

void ct_chains_give(struct ct_chains *c, uint64_t hash, uint32_t place)
{
    uint32_t *link = ct_chains_head(c, hash);
    while (*link && *link != place + 1)
        link = &c->next[*link - 1];
    if (!*link)
        return;
    *link = c->next[place];
    atomic_signal_fence(memory_order_seq_cst);
    c->next[place] = c->free;
    atomic_signal_fence(memory_order_seq_cst);
    c->free = place + 1;
}
