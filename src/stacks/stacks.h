/* SPDX-License-Identifier: MIT */
/*
 * Which stack, of Python or of native code, launched an operation, and sums of operations by row
 * and stack. The program's thread takes the stack and counts; the drain thread adds times.
 */
#ifndef CT_STACKS_H
#define CT_STACKS_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/config.h"
#include "stacks/tree.h"
#include "time/op.h"

#define CT_STACK_CELLS                                                                             \
    24576 /* pairs of row and stack; rows without room are counted by row alone */

struct ct_stack_cell {
    _Atomic uint64_t key;   /* row << 32 | stack; 0: free. Never changes again */
    _Atomic uint64_t count; /* operations that ran, each with those that it stands for */
    uint64_t timed;    /* of the drain thread, as is the next: those with a duration, likewise, */
    uint64_t total_ns; /* and its sum */
};

/* Why an operation that was looked at is in no stack; the texts are notes of the profile. */
#define CT_STACK_LOSSES(X)                                                                         \
    X(MANY, "Operations that are in no stack: there were too many of different stacks")            \
    X(GARBLED, "Operations that are in no stack: a frame did not read as one")                     \
    X(CELLS, "Operations that are in no stack: there were too many of different kinds")            \
    X(MODULES, "Modules that are left out of stacks: there were too many")

enum ct_stack_loss {
#define X(id, text) CT_STACK_LOST_##id,
    CT_STACK_LOSSES(X)
#undef X
        CT_STACK_LOSS_COUNT
};

extern bool ct_stacks_are_on; /* set once, before the first launch */

/* Without memory for them there are none, and all else goes on. */
void ct_stacks_init(enum ct_stack_kind kind);

/*
 * In the launching thread: the stack it is in, for which so many operations of a row are counted,
 * as often as they stand for others.
 */
CT_NOINLINE uint32_t ct_stack_of_launch(uint32_t row, uint64_t operations, double weight);

static inline uint32_t ct_stack_launched(uint32_t row, uint64_t operations, double weight)
{
    return ct_unlikely(ct_stacks_are_on) ? ct_stack_of_launch(row, operations, weight)
                                         : CT_STACK_NONE;
}

/* Whether one without a duration counts: others stand for the drawn, and the captured did not run.
 */
static inline bool ct_loss_is_in_stack(enum ct_loss loss)
{
    return loss != CT_LOSS_SAMPLED && loss != CT_LOSS_PROGRAMMATIC && loss != CT_LOSS_CAPTURED &&
           loss != CT_LOSS_EXCLUDED;
}

/*
 * The stack of the calling thread, or of what its range is from. One without Python frames has its
 * name in place of them, if the process has an interpreter. CT_STACK_NONE: there is none, or no
 * room.
 */
uint32_t ct_stack_take(void);

/* The newest frame of the calling thread; NULL: it runs no Python, or none that can be read. */
const void *ct_stack_frame(void);

/* Drain thread: such an operation, or a batch of them, took so long. */
CT_NOINLINE void ct_stack_timed(const struct ct_op *op, uint64_t time_ns);

/* For the profile: cells by their slots, which may be free (key 0). */
struct ct_stack_cell *ct_stack_cell(uint32_t slot); /* NULL: there are no more */
uint64_t ct_stacks_lost(enum ct_stack_loss loss);

/* Why no stacks are taken, once; NULL: they are, or nobody asked, or it has been said. */
const char *ct_stacks_take_refusal(void);

#endif
