/* SPDX-License-Identifier: MIT */
/* The process's user, group and root directory when this library was loaded. */
#ifndef CT_ORIGIN_H
#define CT_ORIGIN_H

#include "base/base.h"

/* To be called when the library is loaded; later calls are of no account. */
void ct_origin_remember(void);

/*
 * Whether the process still has the root directory, the user and the group that it was loaded with:
 * if not, a path may lead to another file, which somebody else has put there.
 */
bool ct_origin_is_same(void);

#endif
