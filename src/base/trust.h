/* SPDX-License-Identifier: MIT */
/* Whether a file is one that a stranger could not have put where it is. */
#ifndef CT_TRUST_H
#define CT_TRUST_H

#include <sys/types.h>

#include "base/base.h"

/*
 * Opens what an absolute path leads to, with O_PATH and O_CLOEXEC. -1: it is not there, or somebody
 * else than root, this user, the user `also` and the owner of the root directory could have put it
 * there or could exchange it: each directory, link and the file itself belongs to one of them, and
 * nobody else may write there; a group of the owner's own number is taken for the owner. In a
 * directory where everybody may make entries of his own (such as
 * /tmp) a directory of one of them is trusted, but no file and no link, which may be a second name
 * that a stranger gave it.
 */
int ct_trust_open(const char *path, uid_t also);

#endif
