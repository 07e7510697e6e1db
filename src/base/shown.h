/* SPDX-License-Identifier: MIT */
/* What of somebody else's text may be written to a terminal, shared by library and tools. */
#ifndef CT_SHOWN_H
#define CT_SHOWN_H

#include <stddef.h>

/*
 * Bytes of the UTF-8 character at p when it can be written as it is; 0: it is none, or one that does
 * something else than being seen: a control character, one that changes the direction of the text
 * around it, or one without a width. Such bytes are written as "\x1b", one by one. Not for the
 * terminating NUL, which is a control character as well.
 */
size_t ct_shown(const char *p);

#endif
