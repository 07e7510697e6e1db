/* SPDX-License-Identifier: MIT */
/* Whether a file is one that a stranger could not have put where it is. */
#ifndef CT_TRUST_H
#define CT_TRUST_H

#include "base/base.h"

/*
 * Opens what an absolute path leads to, with O_PATH and O_CLOEXEC. -1: it is not there, or a
 * stranger could have put it there or could exchange it. No strangers are root, this user, the
 * owner of the root directory, and who could exchange the file `like`, which runs here already: its
 * owner, and the group that may write to its directory. Each directory, link and the file itself
 * belongs to one of the users, and nobody else may write there; a group of the owner's own number
 * is taken for the owner. In a directory where everybody may make entries of his own (such as /tmp)
 * a directory of one of them is trusted, but no file and no link, which may be a second name that a
 * stranger gave it.
 */
int ct_trust_open(const char *path, const char *like);

#endif
