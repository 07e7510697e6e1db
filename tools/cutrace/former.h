/* SPDX-License-Identifier: MIT */
/* The profile of the run before, which is kept as summary.old.bin when this one has no name. */
#ifndef FORMER_H
#define FORMER_H

#include "options.h"

/* Before the program starts. */
void former_keep(const struct options *o);
/* When it has ended: a run without a profile leaves everything as it was. */
void former_end(void);

#endif
