/* SPDX-License-Identifier: MIT */
/* The profile of the run before, kept as summary.old.bin where this run's is given no name. */
#ifndef FORMER_H
#define FORMER_H

#include "options.h"

/* Before the program starts. */
void former_keep(const struct options *o);
/* When the program has ended: a run without a profile leaves everything as it was. */
void former_end(void);

#endif
