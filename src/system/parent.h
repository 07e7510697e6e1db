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
 * Opens the file of a path, or creates it, with flags and mode of open(2). The name itself is
 * treated as a directory on the way: a stranger's entry is neither followed nor opened. -1: errno
 * says why; ELOOP is a planted link, EACCES a planted file.
 */
int ct_parent_open_file(const char *path, int flags, mode_t mode);

/*
 * Whether an entry of a directory in which everybody may make entries (such as /tmp) belongs to
 * neither this user nor the directory's owner: the kernel's fs.protected_symlinks and
 * fs.protected_regular ask that, where they are switched on.
 */
bool ct_parent_is_planted(const struct stat *directory, const struct stat *entry);

#endif
