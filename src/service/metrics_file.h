/* SPDX-License-Identifier: MIT */
/*
 * Metrics as a file of this process in a directory that the node exporter's textfile collector
 * reads. The file is written beside its place and then given its name, every few seconds and once
 * at the end, and stays: the next process removes files that nobody has written for an hour.
 */
#ifndef CT_METRICS_FILE_H
#define CT_METRICS_FILE_H

#include "base/base.h"

void ct_metrics_file_start(void);

/* Builds the text from the figures as they stand. Drain thread, while no figure changes. */
void ct_metrics_file_take(void *unused);
/* Writes the text that was taken. */
void ct_metrics_file_write(void);
/* Whether it is time to take and write a text. */
bool ct_metrics_file_is_due(uint64_t now_ns);

#endif
