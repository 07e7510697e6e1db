/* SPDX-License-Identifier: MIT */
/* A process on the simulated device that lives until it is told to end, and `cutrace ctl` of it. */
#ifndef SERVED_H
#define SERVED_H

#include "rig.h"

extern struct served {
    pid_t pid;
    char number[16];
    struct rig rig; /* what it says */
    int to;         /* what it is told */
} served;

/* In namespaces of its own (CLONE_NEWUSER ...), if any; variable: NAME=value, or NULL. */
void served_in(int namespaces, const char *variable);
void served_with(const char *variable);
void served_start(void);
/* A line of the actor's, which is done on return. */
void served_tell(const char *line);
/* Its exit status. */
int served_dismiss(void);

struct stage_run served_ctl(const char *pid, const char *command);
void served_expect_done(const char *command);
/* One line on stderr that holds the text, and status 1. */
void served_expect_refusal(const char *pid, const char *command, const char *text);
void served_expect_status(const char *text);

#endif
