/* SPDX-License-Identifier: MIT */
/* Names of files with %p, %h, %q{VARIABLE} and %%, as nvprof has them, and %r for the rank. */
#ifndef FILE_PATTERN_H
#define FILE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* NULL: the pattern makes sense; otherwise the rule that it breaks. */
const char *file_pattern_check(const char *pattern);

/* Whether each process may have a name of its own. */
bool file_pattern_varies(const char *pattern);

/* The pattern filled in for a process. False: too long, or a variable is unset; that was said. */
bool file_pattern_expand(char *to, size_t size, const char *pattern, pid_t pid);

#endif
