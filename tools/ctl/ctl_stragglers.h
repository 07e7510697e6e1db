/* SPDX-License-Identifier: MIT */
/*
 * cutrace ctl --all stragglers: has profiles written twice, and shows the report "stragglers" of
 * the time between.
 */
#ifndef CTL_STRAGGLERS_H
#define CTL_STRAGGLERS_H

#include "cutrace/launcher_options.h"
#include "cutrace/link.h"

/* One process, whose steps have nothing to be compared with. Returns the exit status. */
int stragglers(const struct link *l, const struct options *o);
/* All processes that this user may ask; likewise. */
int stragglers_of_all(const struct options *o);

#endif
