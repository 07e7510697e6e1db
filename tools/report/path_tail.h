/* SPDX-License-Identifier: MIT */
/* Ends of paths. */
#ifndef CT_REPORT_PATH_TAIL_H
#define CT_REPORT_PATH_TAIL_H

#include <string.h>

/*
 * The last parts of a path, behind a separator; all of the path where it has no more of them. Lines
 * of two runs are paired by it (stacks/line_pairs.c), and paths in tables are shortened to it
 * (sinks/short_paths.c). `separators`: "/" or, where paths may be of other systems, "/\\".
 */
static inline const char *ct_path_tail(const char *path, int parts, const char *separators)
{
    const char *at = path + strlen(path);
    while (at > path && (parts -= strchr(separators, at[-1]) != NULL) > 0)
        at--;
    return at;
}

#endif
