/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's stack of native code, by the tables of the loaded objects (cfi.h). The rule
 * of each return address is kept in a table: a walk that has been made before takes no lock, makes
 * no call, and reads nothing but that table and the thread's own stack.
 */
#ifndef CT_NATIVE_H
#define CT_NATIVE_H

#include "base/base.h"
#include "stacks/unwind.h"

#define CT_NATIVE_DEPTH 2048 /* frames of a stack, from the innermost */
#define CT_NATIVE_OBJECTS 1024

/* An object whose code is in stacks; the texts live on. */
struct ct_native_object {
    const char *path;     /* as far as it is known; "": code that is in none */
    const char *build_id; /* hexadecimal digits; "": it has none */
};

/* False: memory is out. */
bool ct_native_init(void);

/*
 * A number for the calling thread's stack, from the call of CUDA's outwards; 0: it is garbled, or
 * not on the thread's own stack.
 */
uint64_t ct_native_mark(void);

/* The node (tree.h) of that stack; CT_STACK_NONE: there is no room, or it is garbled. */
uint32_t ct_native_read(void);

/* How many there are; from 1 to that. */
uint32_t ct_native_objects(void);
const struct ct_native_object *ct_native_object(uint32_t number);

/*
 * For tests: a walk from any frame, within bounds. Gives the mark, and in `to` the addresses from
 * the innermost outwards; no more than `most`, nor are they counted in the mark.
 */
uint64_t ct_native_walk(struct ct_native_frame frame, const struct ct_stack_bounds *bounds,
                        uintptr_t *to, uint32_t most, uint32_t *count);

#endif
