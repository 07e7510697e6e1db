/* SPDX-License-Identifier: MIT */
/* The profile's sections on stacks; behind those of the rows. Of who takes snapshots. */
#ifndef CT_STACK_SECTIONS_H
#define CT_STACK_SECTIONS_H

void ct_stack_sections_add(void);

#endif
