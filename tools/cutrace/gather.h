/* SPDX-License-Identifier: MIT */
/* Makes one file of those that processes wrote because the name they were given was taken. */
#ifndef GATHER_H
#define GATHER_H

#include "list.h"

/*
 * The profiles there are in the end, by merging those that were to have one name; their number. Not
 * while a process goes on writing one of these, and not if merging fails: then they stay as they
 * are. paths: room for all of the list.
 */
size_t gather(const struct list *l, const char *report, const char **paths);
/* All profiles, or all traces, as they are. */
size_t gather_all(const struct list *l, bool traces, const char **paths);

/* Whether several of the profiles are named after the ranks they are of. */
bool gather_has_ranks(const struct list *l);

#endif
