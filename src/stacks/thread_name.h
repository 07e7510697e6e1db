/* SPDX-License-Identifier: MIT */
/* A stack for threads that run no Python: one frame with the thread's name, which says its role. */
#ifndef CT_STACK_THREAD_NAME_H
#define CT_STACK_THREAD_NAME_H

#include "base/base.h"
#include "base/text.h"

#define CT_STACK_BACKWARD "[autograd: backward]"

struct ct_thread;

/* The calling thread's; CT_STACK_NONE: there is no room. It asks the kernel now and then. */
uint32_t ct_stack_of_name(struct ct_thread *t);

/*
 * The frame for a name: "[thread XLA_gpu]". Numbers that tell threads of one role apart are left
 * out; those of PyTorch's backward pass are CT_STACK_BACKWARD.
 */
void ct_stack_name_add(struct ct_text *t, const char *name);

#endif
