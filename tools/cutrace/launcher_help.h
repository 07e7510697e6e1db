/* SPDX-License-Identifier: MIT */
#ifndef LAUNCHER_HELP_H
#define LAUNCHER_HELP_H

/* The answer to --help, on standard output. */
void help_print(void);
void help_print_ctl(void);

#endif
