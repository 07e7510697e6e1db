/* SPDX-License-Identifier: MIT */
/*
 * Answers `cutrace ctl` from outside (cutrace/ctl.h). A listening socket in the abstract space, no
 * file and no thread: the drain thread looks at it ten times a second and never waits for a client.
 */
#ifndef CT_CTL_SERVER_H
#define CT_CTL_SERVER_H

#include "base/base.h"

/* After the drain thread has been started. Never an error: without a socket nobody is answered. */
void ct_ctl_open(void);

/* Drain thread, between rounds. */
void ct_ctl_look(void);

/* When the drain thread has ended, and in the child of a fork, where the socket is the parent's. */
void ct_ctl_close(void);

#endif
