/* SPDX-License-Identifier: MIT */
/* nsys's command lines, for who types them and for scripts: profile, stats and export. */
#ifndef NSYS_OPTIONS_H
#define NSYS_OPTIONS_H

#include <stdbool.h>

/*
 * `cutrace profile ...` becomes the launcher's own command line in *argc and *argv, which is never
 * freed. False: an option is refused, which has been said.
 */
bool nsys_profile(int *argc, char ***argv);

/* `cutrace stats ...` and `cutrace export ...`: reports of a file. Returns the exit status. */
int nsys_stats(int argc, char **argv, const char *report);
int nsys_export(int argc, char **argv, const char *report);

#endif
