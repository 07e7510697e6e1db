/* SPDX-License-Identifier: MIT */
/*
 * A long report's output leaves the page cache on the way. Gigabytes of it would drive out other
 * programs' pages, and memory that nobody has used for a while can take ten times as long to fill
 * as the pages that came back just now: a virtual machine has to ask its host for it.
 */
#ifndef CT_REPORT_WRITTEN_H
#define CT_REPORT_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All zero at first. */
struct ct_written {
    size_t bytes; /* that nothing was done about yet */
    off_t passed; /* all others */
    bool is_left; /* to the kernel */
};

/* To be called after so many more bytes went to the file. */
void ct_written_add(struct ct_written *w, int fd, size_t bytes);

#endif
