/* SPDX-License-Identifier: MIT */
/* Where the library and the report tool are: in the build tree, or where they were installed. */
#ifndef INSTALLATION_H
#define INSTALLATION_H

#include <stdbool.h>

/* NULL: the file is not there, or not to be trusted. */
const char *installation_library(void);
const char *installation_report(void);

/*
 * The library as it can stand in LD_PRELOAD, where blanks and colons separate names: a link of
 * another name where its path has these. NULL: none could be made.
 */
const char *installation_preloadable(const char *library);
/* Removes that link, if there is one. */
void installation_tidy(void);

#endif
