/* SPDX-License-Identifier: MIT */
#ifndef HELP_H
#define HELP_H

/* The answer to --help, on standard output. */
void help_print(void);
void help_print_ctl(void);

#endif
