/* SPDX-License-Identifier: MIT */
/* What the simulated device says it ran, written as nvprof would. */
#ifndef TRUTH_H
#define TRUTH_H

/*
 * The table's rows of GPU activities, made from a file of CUDASIM_TRUTH by a formatter of its own.
 * graph: the name of the row of graphs. The caller frees.
 */
char *truth_table(const char *path, const char *graph);

/* The rows of GPU activities in what cutrace-report printed. The caller frees. */
char *truth_activities(const char *report);

#endif
