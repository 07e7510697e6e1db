/* SPDX-License-Identifier: MIT */
/* Profiles of running processes, and a report of them that cutrace-report shows. */
#ifndef CTL_REPORT_H
#define CTL_REPORT_H

#include <stddef.h>

#include "cutrace/launcher_options.h"
#include "cutrace/link.h"

#define CTL_PATH_BYTES 32

/* All zero at first. They stay open until the report has been shown. */
struct ctl_profiles {
    char (*path)[CTL_PATH_BYTES];
    size_t count, size;
};

/* The processes that are asked. */
struct ctl_links {
    struct link *links;
    size_t count, size;
};

/* All that this user may ask; otherwise one line has said that there are none. */
bool ctl_find_all(struct ctl_links *all);

/*
 * Has the process write its profile, and adds that; `keep`: as it is now, whatever the process
 * writes later. False: there is none, and one line has said why.
 */
bool ctl_add_profile(struct ctl_profiles *p, const struct link *l, enum ct_ctl_command command,
                     bool keep);

/* Becomes the report, in the format of --format. Returns, with the exit status, where that fails.
 */
int ctl_show(const struct ctl_profiles *p, const struct options *o, const char *report);

#endif
