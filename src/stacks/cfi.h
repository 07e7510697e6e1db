/* SPDX-License-Identifier: MIT */
/*
 * Call frame information: the tables (.eh_frame, found by .eh_frame_hdr) by which exceptions find
 * their way. Objects have them by the processor's ABI, with frame pointers or without. Reads
 * mapped segments of the object alone; allocates nothing.
 */
#ifndef CT_CFI_H
#define CT_CFI_H

#include "stacks/unwind.h"
#include "system/elf.h"

/*
 * The rule at an address in a loaded object's code; CHAIN where no table tells of the address, BAD
 * where one tells something that a rule cannot hold. The object must not be unloaded meanwhile.
 */
struct ct_unwind ct_cfi_rule(const struct ct_object *o, uintptr_t address);

#endif
