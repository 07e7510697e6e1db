/* SPDX-License-Identifier: MIT */
/* The report tool: where it is, and whether it may be run. */
#ifndef CT_TOOL_H
#define CT_TOOL_H

#include "base/base.h"

/*
 * Looks for the tool, and remembers its file. To be called when CUDA starts: later changes of the
 * program to its directories, its root or its user do not matter then.
 */
void ct_tool_find(void);

/*
 * Path of the tool that was found, if the file is still there and the process still has its user
 * and root directory. NULL: *why says why not, for a line of the log.
 */
const char *ct_tool_path(const char **why);

#endif
