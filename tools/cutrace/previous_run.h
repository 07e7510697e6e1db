/* SPDX-License-Identifier: MIT */
/* The profile of the run before, kept as summary.old.bin where this run's is given no name. */
#ifndef PREVIOUS_RUN_H
#define PREVIOUS_RUN_H

#include "launcher_options.h"

/* Before the program starts. */
void previous_run_keep(const struct options *o);
/* When the program has ended: a run without a profile leaves everything as it was. */
void previous_run_end(void);

#endif
