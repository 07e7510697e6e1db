/* SPDX-License-Identifier: MIT */
/* The report tool: where it is, and whether it may be run. */
#ifndef CT_TOOL_H
#define CT_TOOL_H

#include "base/base.h"

/*
 * Looks for it, and remembers what was found. To be called when CUDA starts: what the program does
 * later to its directories, its root or its user does not matter then.
 */
void ct_tool_find(void);

/*
 * Path of what was found, if that is still there and the process is still who and where it was.
 * NULL: *why says why not, for a line of the log.
 */
const char *ct_tool_path(const char **why);

#endif
