/* SPDX-License-Identifier: MIT */
/*
 * CUTRACE_BRACKETS=FILE: FILE.<pid> gets every bracket with all that is known of it, for work on
 * the estimator (doc/accuracy.md). tests/gpu/brackets.py reads it. Drain thread.
 */
#ifndef CT_JOURNAL_H
#define CT_JOURNAL_H

#include "base/base.h"

/* An entry as in the file, in the byte order of the machine. */
struct ct_journal_entry {
    uint32_t row; /* index into the rows of summary.bin, or CT_ROW_WITNESS */
    uint32_t stream;
    uint32_t context;
    uint32_t flags; /* enum ct_op_flag */
    uint64_t sequence;
    uint64_t start_ns; /* on the GPU's time line */
    uint64_t raw_ns;
    uint64_t gap_ns;       /* CT_GAP_UNKNOWN: nothing before */
    uint64_t open_ticks;   /* host ticks before the start record */
    uint64_t call_ticks;   /* before the call */
    uint64_t done_ticks;   /* after it */
    uint64_t closed_ticks; /* after the stop record */
    double ns_per_tick;
    int64_t lead_ns; /* see struct ct_bracket_times */
    uint32_t long_queue;
    uint32_t unused;
    uint64_t time_ns; /* the estimated duration */
    uint64_t doubt_ns;
    uint32_t block_registers;
    uint32_t parameter_bytes;
    int64_t witness_ns; /* taken off a late kernel; of a witness: see ct_witness_inside_ns() */
};

/* Creates the file path.<pid>; false: that failed. */
bool ct_journal_open(const char *path);
bool ct_journal_is_open(void);
void ct_journal_add(const struct ct_journal_entry *e);
/* Writes the entries that are still in memory. */
void ct_journal_flush(void);
/* In the child of a fork: the file is the parent's. */
void ct_journal_forget(void);

#endif
