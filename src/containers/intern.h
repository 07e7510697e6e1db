/* SPDX-License-Identifier: MIT */
/* Strings that live as long as the process: one copy of each, CT_INTERN_BYTES in all. */
#ifndef CT_INTERN_H
#define CT_INTERN_H

#include "base/base.h"

#define CT_INTERN_BYTES ((size_t)64 << 20)

/* The copy of a string of len bytes; NULL: memory is out, or CT_INTERN_BYTES are. */
const char *ct_intern(const char *s, size_t len);

#endif
