/* SPDX-License-Identifier: MIT */
#include "counts/transfer.h"

#include "system/mem.h"

static unsigned octave_of(uint64_t bytes)
{
    return ct_min(ct_octave(bytes), CT_TRANSFER_OCTAVES - 1);
}

void ct_transfer_add(struct ct_transfers **all, const struct ct_op *op, uint64_t time_ns)
{
    if (ct_unlikely(!*all) && !(*all = ct_map(sizeof(**all))))
        return;
    struct ct_transfer *t = &(*all)->kind[ct_op_from(op->flags)][ct_op_to(op->flags)]
                                         [octave_of(op->bytes / op->operations)];
    t->timed += op->operations;
    t->bytes += op->bytes;
    t->total_ns += time_ns;
}
