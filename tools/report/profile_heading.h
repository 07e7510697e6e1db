/* SPDX-License-Identifier: MIT */
/* The lines above the table at the end of a program, as nvprof has them. */
#ifndef CT_REPORT_LIVE_H
#define CT_REPORT_LIVE_H

#include <stdint.h>

#include "report/host_memory.h"

#define CT_LIVE_PROCESSES 16 /* are named, the others counted */

/* One of the processes that the table is of; not made safe to print yet. */
struct ct_live_process {
    uint32_t pid;
    const char *command;
};

/* A line for each of the processes, of which only the first are given, and the application. */
void ct_live_heading(struct ct_string *lines,
                     const struct ct_live_process processes[CT_LIVE_PROCESSES], size_t count);

#endif
