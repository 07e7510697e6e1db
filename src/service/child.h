/* SPDX-License-Identifier: MIT */
/* A program that is run beside the host, which notices nothing of it. */
#ifndef CT_CHILD_H
#define CT_CHILD_H

#include "base/base.h"

#define CT_CHILD_ARGUMENTS 4
#define CT_CHILD_VARIABLES 9

struct ct_child {
    const char *program; /* absolute path */
    const char *argv[CT_CHILD_ARGUMENTS];
    const char *envp[CT_CHILD_VARIABLES];
    int descriptor; /* that the program inherits besides 0 to 2; -1: none */
};

/*
 * Runs the program and waits for its end, 10 s at most: then it is killed. True: its status was 0.
 * It begins with no signal blocked, and ends when the calling thread or its process does. The host
 * gets no SIGCHLD and no child that its waits find; signals reach the calling thread as ever.
 */
bool ct_child_run(const struct ct_child *child);

#endif
