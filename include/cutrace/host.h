/* SPDX-License-Identifier: MIT */
/*
 * Agreement between the library and the report tool at exit. The tool is started with
 * CT_HOST_VARIABLE, the number of the process that waits for it. If the tool can see that process,
 * it ends when the process has ended, or after CT_HOST_LONGEST_S, and sends CT_HOST_WATCHED to its
 * parent, which holds the host's memory as long as it is there, and may end before the tool then.
 */
#ifndef CUTRACE_HOST_H
#define CUTRACE_HOST_H

#include <signal.h>

#define CT_HOST_VARIABLE "CUTRACE_HOST"
#define CT_HOST_WATCHED SIGUSR1
#define CT_HOST_LONGEST_S 10

#endif
