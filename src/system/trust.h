/* SPDX-License-Identifier: MIT */
/* Whether a stranger could have put a file where it is. */
#ifndef CT_TRUST_H
#define CT_TRUST_H

#include "base/base.h"

/*
 * Opens the file of an absolute path, with O_PATH and O_CLOEXEC. -1: it is not there, or a stranger
 * could have put it there or could exchange it. No strangers are root, this user, the owner of the
 * root directory, and those who could exchange the file `like`, which runs here already: its owner,
 * and the group that may write to its directory. Each directory, link and the file itself belongs
 * to one of these users, and nobody else may write there; a group of the owner's own number is
 * taken for the owner. In a directory where everybody may make entries (such as /tmp) a directory
 * of one of these users is trusted, but no file and no link: it may be a second name that a
 * stranger gave it.
 */
int ct_trust_open(const char *path, const char *like);

#endif
