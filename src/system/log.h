/* SPDX-License-Identifier: MIT */
/*
 * The library's lines on stderr: each is written in one call that neither buffers nor allocates.
 * Never called on the launch path: events there are counted, and the drain thread or the exit tells
 * of them.
 */
#ifndef CT_LOG_H
#define CT_LOG_H

#include "base/base.h"

/* 0: nothing, 1: warnings, 2: also the library's own actions. */
void ct_log_set_level(unsigned level);
bool ct_log_says(unsigned level);
/* Lines begin with the rank from now on: the ranks of a job share a stderr. */
void ct_log_set_rank(uint32_t rank);
/*
 * Remembers which file stderr is. Nothing is written to a file that took its place later: the
 * program may have closed stderr and opened its data under that number.
 */
void ct_log_start(void);
bool ct_log_is_heard(void);
/* Writes "==PID== cutrace: abc" when level is high enough; b and c may be NULL. errno is kept. */
void ct_log(unsigned level, const char *a, const char *b, const char *c);

#endif
