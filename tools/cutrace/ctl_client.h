/* SPDX-License-Identifier: MIT */
/* cutrace ctl PID COMMAND: an operator's questions to a running process. */
#ifndef CTL_CLIENT_H
#define CTL_CLIENT_H

/* Arguments behind "ctl", which is the first. Returns the exit status: 0, or 1 after one line. */
int ctl_main(int argc, char **argv);

#endif
