/* SPDX-License-Identifier: MIT */
/* Who makes a call: the program, or cutrace for a purpose of its own. */
#ifndef SIM_CALLER_H
#define SIM_CALLER_H

#include <stdbool.h>

enum sim_caller { SIM_ANYBODY, SIM_PROGRAM, SIM_CUTRACE, SIM_DRAIN };

/* The name of a caller in a rule; false: there is none of that name. */
bool sim_caller_named(const char *name, enum sim_caller *caller);

/* Whether the call of `function` that returns to `address` is that caller's. */
bool sim_caller_is(enum sim_caller caller, const void *address, const char *function);

#endif
