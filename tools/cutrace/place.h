/* SPDX-License-Identifier: MIT */
/* Where the library and the report tool are: in the build tree, or where they were installed. */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>

/* NULL: the file is not there, or not to be trusted. */
const char *place_library(void);
const char *place_report(void);

/*
 * The library as it can stand in LD_PRELOAD, where blanks and colons separate names: a link of
 * another name where its path has these. NULL: none could be made.
 */
const char *place_preloadable(const char *library);
/* Removes that link, if there is one. */
void place_tidy(void);

#endif
