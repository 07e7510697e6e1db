/* SPDX-License-Identifier: MIT */
/* An operation as a wrapper knows it from its call's arguments. */
#ifndef CT_WORK_H
#define CT_WORK_H

#include "base/base.h"
#include "cuda/api.h"
#include "time/op.h"

/* A kind of work that has no rows in any table: a launch of launch/witness.h. */
#define CT_WORK_WITNESS UINT32_MAX

struct ct_work {
    uint32_t kind;   /* enum ct_row_kind, CT_WORK_WITNESS; 0: not an operation after all */
    uint32_t detail; /* copies: enum ct_direction */
    bool programmatic;
    bool mixed;          /* one direction of a batch that has several */
    uint32_t op_flags;   /* CT_OP_WAITED_FOR, and the memories of a copy */
    CUfunction function; /* kernels */
    CUgraphExec graph;   /* graphs */
    CUstream stream;     /* never NULL */
    uint64_t bytes;
    uint64_t operations;   /* copies of a batch; otherwise 1 */
    struct ct_shape shape; /* kernels */
};

#endif
