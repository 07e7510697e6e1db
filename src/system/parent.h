/* SPDX-License-Identifier: MIT */
/* The directory that a file is to be created in, reached without help from strangers. */
#ifndef CT_PARENT_H
#define CT_PARENT_H

#include <sys/stat.h>

#include "base/base.h"

/*
 * Opens the directory of the last name in a path, with O_PATH. Symbolic links on the way are
 * followed but for those that a stranger planted. -1: errno says why. *name is the last name, in
 * the path.
 */
int ct_parent_open(const char *path, const char **name);

/*
 * Opens what a path names, or creates it, with flags and mode as of open(2). As of a directory on
 * the way, so of the name itself: what a stranger planted there is neither followed nor opened. -1:
 * errno says why; ELOOP is a planted link, EACCES a planted file.
 */
int ct_parent_open_file(const char *path, int flags, mode_t mode);

/*
 * Whether somebody put an entry into a directory in which everybody may (such as /tmp) who is
 * neither this user nor the directory's owner: what fs.protected_symlinks and fs.protected_regular
 * ask where they are switched on.
 */
bool ct_parent_is_planted(const struct stat *directory, const struct stat *entry);

#endif
