/* SPDX-License-Identifier: MIT */
#include "report/profile_heading.h"

#include "report/names.h"

void ct_live_heading(struct ct_string *lines,
                     const struct ct_live_process processes[CT_LIVE_PROCESSES], size_t count)
{
    size_t shown = count < CT_LIVE_PROCESSES ? count : CT_LIVE_PROCESSES;
    for (size_t i = 0; i < shown; i++) {
        uint32_t pid = processes[i].pid;
        ct_string_printf(lines, "==%u== CUTRACE is profiling process %u, command: ", pid, pid);
        ct_name_safe(lines, processes[i].command);
        ct_string_put(lines, "\n");
    }
    if (count > shown)
        ct_string_printf(lines, "==%u== ... and %zu more processes\n", processes[0].pid,
                         count - shown);
    if (count) {
        ct_string_printf(lines, "==%u== Profiling application: ", processes[0].pid);
        ct_name_safe(lines, processes[0].command);
        ct_string_put(lines, "\n");
    }
}
