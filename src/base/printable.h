/* SPDX-License-Identifier: MIT */
/* Which bytes of a foreign text may be written to a terminal, shared by library and tools. */
#ifndef CT_PRINTABLE_H
#define CT_PRINTABLE_H

#include <stddef.h>

/*
 * Length of the UTF-8 character at p if it can be written as it is. 0: there is none, or it does
 * more than being seen: control characters, those that change the direction of the text around
 * them, those without a width. Such bytes are written as "\x1b", one by one. Not for the
 * terminating NUL, which is a control character as well.
 */
size_t ct_printable(const char *p);

#endif
