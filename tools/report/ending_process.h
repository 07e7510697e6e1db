/* SPDX-License-Identifier: MIT */
/* The process whose table is printed when it ends. */
#ifndef CT_REPORT_ENDING_PROCESS_H
#define CT_REPORT_ENDING_PROCESS_H

/*
 * Ends this process when the one that waits for it has ended, or waits too long (cutrace/host.h).
 * Nothing, where nobody does or the kernel cannot tell: then the parent sees to it.
 */
void ct_host_watch(void);

#endif
