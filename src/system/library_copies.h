/* SPDX-License-Identifier: MIT */
/*
 * Other copies of this library in the process, from another path or of another version. The copy
 * that comes first in the search order does the work; each other one passes calls through.
 */
#ifndef CT_LIBRARY_COPIES_H
#define CT_LIBRARY_COPIES_H

#include "base/base.h"
#include "system/elf.h"

/* Whether an object is this library or a copy of it. */
bool ct_is_copy(const struct ct_object *o);

/*
 * Whether another copy comes first. Runs inside dlsym, possibly before anything is initialised: no
 * lock, no libc function.
 */
bool ct_stands_aside(void);

/* Whether the first copy is another one and says which copies there are. */
bool ct_first_copy_tells(void);

/*
 * `found` is the address that a search for `name` behind this library gave. Returns it, or where it
 * is a copy's the next address of `name` behind the copies. NULL: there is none. As careful as
 * ct_stands_aside().
 */
void *ct_behind_copies(const char *name, void *found);

#endif
