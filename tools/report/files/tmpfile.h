/* SPDX-License-Identifier: MIT */
/*
 * A file that has no name, where the file system can have such a one: it goes with its last
 * descriptor, however the program ends, unless it is given a name.
 */
#ifndef CT_REPORT_UNNAMED_H
#define CT_REPORT_UNNAMED_H

#include <stdbool.h>

/* Opens one in the directory of `path`, to be read and written. -1: there can be none. */
int ct_unnamed_open(const char *path);

/* False: errno says why; EEXIST: something has that name, if only a symbolic link. */
bool ct_unnamed_link(int fd, const char *path);

#endif
