/* SPDX-License-Identifier: MIT */
/*
 * Work of PyTorch's backward pass by the line of its forward pass. With emit_nvtx() an operation's
 * range has the number that its autograd node will get, "aten::mm, seq = 12", and the node's range
 * has it as well, "MmBackward0, seq = 12", in a thread of the engine's that runs no Python. The
 * last forward range with a number is from the line that made the node.
 *
 * A number counts within its thread alone. One that two threads have used is joined with neither.
 */
#ifndef CT_STACK_BACKWARD_H
#define CT_STACK_BACKWARD_H

#include "base/base.h"

struct ct_origin;

#define CT_BACKWARD_BITS 15 /* so many forward operations back are known, as a power */

/* False: memory is out. */
bool ct_backward_init(void);

/*
 * The calling thread pushes a range: its name has so many bytes, and ", seq = N" may follow. True:
 * it is of a backward node, and *origin what its work is from, where that is known.
 */
bool ct_backward_begins(const char *name, uint32_t bytes, struct ct_origin *origin);

#endif
