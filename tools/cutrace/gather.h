/* SPDX-License-Identifier: MIT */
/* Merges the files that processes wrote under other names, as the given name was taken. */
#ifndef GATHER_H
#define GATHER_H

#include "list.h"

/*
 * Merges profiles that were to have one name; returns the number of profiles in the end. Profiles
 * stay as they are while a process goes on writing one of them, and if merging fails. paths: room
 * for all files of the list.
 */
size_t gather(const struct list *l, const char *report, const char **paths);
/* All profiles, or all traces, as they are. */
size_t gather_all(const struct list *l, bool traces, const char **paths);

/* Whether several of the profiles have ranks' numbers in their names. */
bool gather_has_ranks(const struct list *l);

#endif
