/* SPDX-License-Identifier: MIT */
/* The program's environment: the launcher's own, and the variables by which the library comes in.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "launcher_options.h"

/* Where profiles are to go, as the pattern that processes are given; NULL before it is made. */
const char *environment_output(void);
/* list: the value of CUTRACE_RUN; NULL: there is no list. */
char **environment_make(const struct options *o, const char *library, const char *list);

#endif
