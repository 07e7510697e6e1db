/* SPDX-License-Identifier: MIT */
/*
 * Kernels' names as people write them, for patterns: the library has no demangler. Scopes, the
 * function and its template's arguments are spelt, parameters are not; a scope that the mangled
 * name only refers back to is left out.
 */
#ifndef CT_PLAIN_NAME_H
#define CT_PLAIN_NAME_H

#include "base/text.h"

/* "at::native::reduce<512, float>" of its mangled form; what is not mangled stays as it is. */
void ct_plain_name(struct ct_text *t, const char *mangled);

#endif
