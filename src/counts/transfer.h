/* SPDX-License-Identifier: MIT */
/* A row's copies by the kinds of memory they are between, and by size. For the drain thread. */
#ifndef CT_TRANSFER_H
#define CT_TRANSFER_H

#include "base/base.h"
#include "time/op.h"

#define CT_TRANSFER_OCTAVES 48 /* the last one also has all larger copies */

struct ct_transfer {
    uint64_t timed;
    uint64_t bytes;
    uint64_t total_ns;
};

struct ct_transfers {
    struct ct_transfer kind[CT_MEMORY_COUNT][CT_MEMORY_COUNT][CT_TRANSFER_OCTAVES];
};

/* Adds a timed copy, or a batch, whose copies have equal shares. *all: NULL until there is one. */
void ct_transfer_add(struct ct_transfers **all, const struct ct_op *op, uint64_t time_ns);

#endif
