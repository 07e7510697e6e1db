/* SPDX-License-Identifier: MIT */
/* Names of a process's files: by a pattern, and apart from those of its relatives. */
#ifndef CT_NAMING_H
#define CT_NAMING_H

#include "base/base.h"
#include "format/write.h"

#define CT_NAMING_BYTES 4096

/* Remembers the working directory and the host: the program may change both. */
void ct_naming_start(void);
const char *ct_naming_host(void);

/* False: the pattern makes no sense, or the path is too long. */
bool ct_naming_expand(char path[CT_NAMING_BYTES], const char *pattern);
/*
 * Whether the ranks of a job would get one name from the pattern, without meaning to share the
 * file: then the rank belongs in the name.
 */
bool ct_naming_needs_rank(const char *pattern);

/* summary.bin -> summary<name>; false: the path is too long. */
bool ct_naming_extend(char path[CT_NAMING_BYTES], const char *name);

/*
 * Claims the file, see ct_file_claim(). With by_rank the rank is put before the extension. A file
 * that a living process writes, or that was written in this run, is an ancestor's, a sibling's, or
 * this process's before an exec: then our name gets the pid. `path` is set to the name.
 */
enum ct_file_error ct_naming_open(struct ct_file *f, char path[CT_NAMING_BYTES], const char *wanted,
                                  bool by_rank, const char *magic);

#endif
