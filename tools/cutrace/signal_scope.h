/* SPDX-License-Identifier: MIT */
/*
 * Was a signal sent to the launcher alone, or to its process group, so that the program has it as
 * well? The kernel does not say. A witness does: another process of the group, which takes note of
 * every signal it gets.
 */
#ifndef SIGNAL_SCOPE_H
#define SIGNAL_SCOPE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* To be called with all signals blocked. Without a witness each counts as the launcher's alone. */
void signal_scope_start(void);
void signal_scope_end(void);
bool signal_scope_is(pid_t process);

/* Whether the group has got a signal that the launcher has just taken. */
bool signal_scope_saw(int signal);

#endif
