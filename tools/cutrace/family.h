/* SPDX-License-Identifier: MIT */
/*
 * The program's descendants that have started CUDA, and those between them and the program: a shell
 * or mpirun does not hand on the signal that ends it.
 */
#ifndef FAMILY_H
#define FAMILY_H

#include <sys/types.h>

/* Looks for such processes that are there now; those found before stay. */
void family_gather(pid_t program);
void family_signal(int signal);
/* Waits for the processes found to end; kills those that have not in time. */
void family_end(double patience_s);

#endif
