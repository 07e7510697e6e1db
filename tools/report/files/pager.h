/* SPDX-License-Identifier: MIT */
/* $PAGER, or less. Who stops reading has seen enough: that is no failure. */
#ifndef CT_REPORT_PAGER_H
#define CT_REPORT_PAGER_H

#include <stdbool.h>

/*
 * Starts the pager: standard output goes from here on to the pager if one is wanted and there is
 * one, and a reader of standard output that goes away ends the program with status 0.
 */
void ct_pager_start(bool wanted);

/* Waits until the user leaves the pager; standard output has been closed before. */
void ct_pager_wait(void);

#endif
