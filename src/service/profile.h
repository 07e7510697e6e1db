/* SPDX-License-Identifier: MIT */
/* The process's profile: its name, and keeping it up to date. */
#ifndef CT_PROFILE_H
#define CT_PROFILE_H

#include "base/base.h"
#include "output/snapshot.h"

/* Remembers the facts that the profile states about the process. */
void ct_profile_start(uint32_t driver_version);

const struct ct_process_info *ct_profile_process(void);
/* The file that the profile is in, or was to be in. Drain thread, when it was written once. */
const char *ct_profile_name(void);

/* Takes the figures as they stand, in memory. Drain thread. */
void ct_profile_take(bool finished);

/* Writes the figures that were taken last; opens the file the first time. Drain thread. */
void ct_profile_write(void);

/* Path under which a child can read the profile; NULL: there is none. */
const char *ct_profile_path(void);
/* The descriptor that such a child has to inherit; -1: none. */
int ct_profile_descriptor(void);
/* The profile's own descriptor, in a file or in memory; -1: there is none. Drain thread. */
int ct_profile_open_descriptor(void);
/* Whether the profile is in a file that stays. */
bool ct_profile_is_kept(void);

/* In the child of a fork: the file is the parent's. */
void ct_profile_forget(void);

#endif
