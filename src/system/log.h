/* SPDX-License-Identifier: MIT */
/*
 * What the library says on stderr: single lines, each once, written in one call that neither
 * buffers nor allocates. Never called on the launch path: what happens there is counted and said
 * by the drain thread or at exit.
 */
#ifndef CT_LOG_H
#define CT_LOG_H

#include "base/base.h"

/* 0: nothing, 1: warnings, 2: also what the library does. */
void ct_log_set_level(unsigned level);
bool ct_log_says(unsigned level);
/* Lines begin with it from now on: the ranks of a job share a stderr. */
void ct_log_set_rank(uint32_t rank);
/*
 * Remembers what stderr is. Nothing is said to what took its place later: a descriptor that was
 * closed may have come to mean a file of the program's data.
 */
void ct_log_start(void);
bool ct_log_is_heard(void);
/* "==PID== cutrace: a b c" when level is high enough; parts may be NULL. errno is kept. */
void ct_log(unsigned level, const char *a, const char *b, const char *c);

#endif
