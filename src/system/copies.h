/* SPDX-License-Identifier: MIT */
/*
 * Other copies of this library in the process: of another path or version. The one that comes first
 * in the search order does the work, each other one passes everything through, and is passed by.
 */
#ifndef CT_COPIES_H
#define CT_COPIES_H

#include "base/base.h"
#include "system/elf.h"

/* Whether an object is this library or a copy of it. */
bool ct_is_copy(const struct ct_object *o);

/*
 * Whether this copy is not the first. Runs inside dlsym, possibly before anything is initialised:
 * no lock, no libc function.
 */
bool ct_stands_aside(void);

/* Whether the first copy, where it is not this one, says which others there are. */
bool ct_first_copy_tells(void);

/*
 * Past the copies: `found` is what the search for `name` behind this library found; if it is a
 * copy's, what comes behind the copies, else itself. NULL: nothing. As careful as
 * ct_stands_aside().
 */
void *ct_behind_copies(const char *name, void *found);

#endif
