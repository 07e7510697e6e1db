/* SPDX-License-Identifier: MIT */
/* Objects that have native code of stacks: which files they are of. */
#ifndef CT_NATIVE_OBJECTS_H
#define CT_NATIVE_OBJECTS_H

#include "stacks/native.h"
#include "system/elf.h"

/* Whether an address is in a segment of the object that is for code. */
bool ct_object_has_code(const struct ct_object *o, uintptr_t address);

/* Whether it is this library, or one of CUDA's that it stands before. */
bool ct_native_is_ours(const struct ct_object *o);

/*
 * Number of the object that has the address, and how far the address is from where the object's
 * addresses begin; code without an object has a number, too, and offset 0. 0: there is no room.
 */
uint32_t ct_native_object_of(uintptr_t address, uintptr_t *offset);

#endif
