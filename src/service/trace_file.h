/* SPDX-License-Identifier: MIT */
/* The process's trace on disk: its name, and writing pieces that are ready. */
#ifndef CT_TRACE_FILE_H
#define CT_TRACE_FILE_H

#include "base/base.h"

/* After ct_profile_start(): begins the trace, if one is wanted. */
void ct_trace_file_start(void);

/* Takes the records so far, to be written next. Drain thread, in the round. */
void ct_trace_file_take(bool finished);

/* Writes ready pieces; opens the file the first time, after the profile's. Drain thread. */
void ct_trace_file_write(void);

/* In the child of a fork: the file is the parent's. */
void ct_trace_file_forget(void);

#endif
