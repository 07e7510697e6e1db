/* SPDX-License-Identifier: MIT */
/* A running process with the library in it, and the questions that it answers (cutrace/ctl.h). */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "cutrace/ctl.h"

#define LINK_NAME_BYTES 64

struct link {
    pid_t pid;
    char name[LINK_NAME_BYTES]; /* of its socket, without the NUL in front */
    char key[CT_CTL_KEY_DIGITS];
};

enum link_result {
    LINK_ANSWERED,
    LINK_ENDED,  /* the process has, or listens no more */
    LINK_FAILED, /* the reason has been said */
};

/* Whether the process can be asked by this user; nothing is said. */
bool link_listens(pid_t pid);

/* False: there is nobody to ask, and one line has said why. */
bool link_find(struct link *l, pid_t pid);

/*
 * One question and its answer. *profile: the process's profile, open for reading and the caller's
 * to close, or -1; NULL: no profile is wanted.
 */
enum link_result link_ask(const struct link *l, enum ct_ctl_command command,
                          struct ct_ctl_answer *answer, int *profile);

#endif
