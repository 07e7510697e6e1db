/* SPDX-License-Identifier: MIT */
/* The launcher's messages: one line each, on standard error or in the log file. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where lines go from now on: a descriptor of ours, or -1 for nowhere. Standard error at first. */
void complain_to(int fd);
/* The descriptor that lines go to, for a child's standard streams; -1: nowhere. */
int complain_where(void);

/* The descriptor that lines went to before there was a log; without one, where they go. */
int complain_where_else(void);

/*
 * "cutrace: " and the formatted text. Bytes of arguments that a terminal would obey are shown as
 * numbers, line ends included: one call is one line.
 */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line behind "==pid== " instead, as nvprof does while a program runs. */
void complain_of(pid_t pid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The word as a shell would want it: quoted where it has to be. Cut when it does not fit. */
const char *complain_quoted(const char *word, char *room, size_t size);

#endif
