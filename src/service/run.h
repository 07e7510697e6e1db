/* SPDX-License-Identifier: MIT */
/* Tells the launcher, where there is one, of this process's steps (cutrace/run.h). */
#ifndef CT_RUN_H
#define CT_RUN_H

#include "base/base.h"
#include "cutrace/run.h"

/*
 * Adds a record to the launcher's list. Where that cannot be done, as in another PID namespace, the
 * process prints its table itself. errno is kept.
 */
void ct_run_tell(enum ct_run_kind kind, const char *wanted, const char *path);

/* Whether a process of the run has told the launcher of that name. errno is kept. */
bool ct_run_has(const char *path);

#endif
