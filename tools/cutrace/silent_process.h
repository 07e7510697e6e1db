/* SPDX-License-Identifier: MIT */
/*
 * Speaks where no process told that it has started CUDA. One may have without being able to
 * tell: in another PID or user namespace, or as another user, a process cannot reach the list.
 */
#ifndef SILENT_PROCESS_H
#define SILENT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Before the program starts. output: the pattern of its profiles' names. */
void silent_process_start(const char *output);
/* Names the profiles that were written since all the same; else says why there are none. */
void silent_process_say(pid_t program);
/* Names those profiles alone; false: there are none. */
bool silent_process_say_files(pid_t program);

#endif
