/* SPDX-License-Identifier: MIT */
/* cutrace ctl PID stuck, and --all stuck: has profiles written, and shows their report "stuck". */
#ifndef STUCK_H
#define STUCK_H

#include "cutrace/launcher_options.h"
#include "cutrace/link.h"

/* Shows one process. Returns the exit status. */
int stuck(const struct link *l, const struct options *o);
/* Shows all processes that this user may ask; likewise. */
int stuck_of_all(const struct options *o);

#endif
