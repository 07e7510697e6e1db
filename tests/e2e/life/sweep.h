/* SPDX-License-Identifier: MIT */
/*
 * Many runs of the actor's part "tour", each with another fault, with and without cutrace. A fault
 * is a line of variables, NAME=VALUE, for the simulated driver or for cutrace.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "stage.h"

/* What is loaded beside cutrace; below the build tree. NULL: nothing. */
extern const char *sweep_preload;

/* A fault more. */
void sweep_add(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned sweep_count(void);
const char *sweep_line(unsigned i);

/* Plays it without cutrace: once and without a fault, or with each of the faults. */
void sweep_play_bare(void);
void sweep_play_bare_each(const char *jobs);
void sweep_drop_bare(void);

/*
 * Plays all faults with cutrace, so many at a time, and compares with the runs without: output,
 * stderr, exit status; and every operation is in the profile. Where cutrace was short of memory it
 * may say so instead.
 */
void sweep_play(const char *jobs);
/* Whether the i-th fault came to pass. */
bool sweep_came(unsigned i);
/* Forgets the faults; says on stdout, and returns, how many came to pass. */
unsigned long sweep_end(const char *what);

/* CUTRACE_TEST_FAULTS=all */
bool sweep_whole(void);

#endif
