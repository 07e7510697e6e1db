/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions without malloc: . [] * + ? | () ^ $ and a backslash before any of these.
 * One that would take too long, or nests too deep, matches nothing.
 */
#ifndef CT_EXPRESSION_H
#define CT_EXPRESSION_H

#include "base/base.h"

/* Whether the len bytes are one. */
bool ct_expression_is_one(const char *expression, size_t len);
/* Whether it matches any part of the text. */
bool ct_expression_finds(const char *expression, size_t len, const char *text);

#endif
