/* SPDX-License-Identifier: MIT */
/*
 * A file that gets its name when it is whole: at any moment there is the old file, or all of the
 * new. Until then it stands beside its place, and goes when the program is interrupted.
 */
#ifndef CT_REPORT_PARTIAL_H
#define CT_REPORT_PARTIAL_H

#include <stdbool.h>

/*
 * A name for the file meanwhile, "PATH.PID.<16 digits>.part", which nobody can guess and
 * has put something there. SIGHUP, SIGINT and SIGTERM remove it and end the program, unless they
 * were ignored. One at a time.
 */
const char *ct_partial_begin(const char *path);

/* Gives it its name. False: errno says why, and it is removed. */
bool ct_partial_keep(const char *path);

/* Removes it; errno stays. */
void ct_partial_drop(void);

#endif
