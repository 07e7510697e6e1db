/* SPDX-License-Identifier: MIT */
/* The process's profile: its name, and keeping it up to date. */
#ifndef CT_PROFILE_H
#define CT_PROFILE_H

#include "base/base.h"

/* Remembers what the profile says of the process. */
void ct_profile_start(uint32_t driver_version);

/* Takes the figures as they stand, in memory. Drain thread. */
void ct_profile_take(bool finished);

/* Writes what was taken last; opens the file the first time. Drain thread. */
void ct_profile_write(void);

/* Path under which another process can read the profile; NULL: there is none. */
const char *ct_profile_path(void);
/* Whether the profile is in a file that stays. */
bool ct_profile_is_kept(void);

/* In the child of a fork: the file is the parent's. */
void ct_profile_forget(void);

#endif
