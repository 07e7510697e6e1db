/* SPDX-License-Identifier: MIT */
/* The profiles whose nvprof output is in data/, as summary files. */
#ifndef CT_GOLDEN_PROFILES_H
#define CT_GOLDEN_PROFILES_H

#include "build_file.h"

/* All of them, and a NULL. */
extern const char *const ct_profile_names[];

/* Fills a started file with the profile of that name; false: there is none. */
bool ct_profile_fill(struct ct_build *b, const char *name);

/* Profiles of files of their own. */
void ct_fill_steps(struct ct_build *b);

#endif
