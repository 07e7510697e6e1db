/* SPDX-License-Identifier: MIT */
/* The end of the program: one file, one table, and where to look next. */
#ifndef FINISH_H
#define FINISH_H

#include <sys/types.h>

#include "launcher_options.h"

void finish(const struct options *o, const char *report, pid_t pid);

/* Prints a profile's table instead of running anything. Returns only if no report can be run. */
void finish_import(const struct options *o, const char *report);

#endif
