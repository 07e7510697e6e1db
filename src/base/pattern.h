/* SPDX-License-Identifier: MIT */
/* A pattern of CUTRACE_KERNELS: a part of a name, a shell pattern or a regular expression. */
#ifndef CT_PATTERN_H
#define CT_PATTERN_H

#include "base/base.h"

/* An error of an expression is found here; anything else is a pattern. */
bool ct_pattern_is_one(const char *pattern, size_t len);
/*
 * A regular expression, which any of ^ $ . + ( [ | or a backslash makes of it, matches a part of
 * either name. A shell pattern with * or ? matches the mangled name, or the function's, from its
 * scope on or without. Anything else is a part of either name.
 */
bool ct_pattern_matches(const char *pattern, size_t len, const char *mangled, const char *spelled);

#endif
