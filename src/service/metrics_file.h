/* SPDX-License-Identifier: MIT */
/*
 * Metrics as a file of this process in a directory that the node exporter's textfile collector
 * reads. It is written beside its place and then given its name, every few seconds and once at the
 * end, and stays: files that nobody has written for an hour are removed by who comes next.
 */
#ifndef CT_METRICS_FILE_H
#define CT_METRICS_FILE_H

#include "base/base.h"

void ct_metrics_file_start(void);

/* The text as figures stand. Drain thread, while no figure changes. */
void ct_metrics_file_take(void *unused);
/* Writes what was taken. */
void ct_metrics_file_write(void);
/* Whether it is time for both. */
bool ct_metrics_file_is_due(uint64_t now_ns);

void ct_metrics_file_forget(void);

#endif
