/* SPDX-License-Identifier: MIT */
/*
 * A line on a terminal that says how far something is that takes longer than a second. It is drawn
 * on standard error, never on anything else than a terminal, and gone when the work is done.
 */
#ifndef CT_REPORT_PROGRESS_H
#define CT_REPORT_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Ready from ct_progress_start() to ct_progress_end(); many threads may report to it. */
struct ct_progress {
    pthread_mutex_t lock;
    int fd; /* of the terminal; -1: nothing is ever drawn */
    const char *what;
    const char *unit; /* plural: "files"; "bytes" are shown in larger units */
    uint64_t total;
    _Atomic uint64_t done;
    _Atomic uint64_t next_ns; /* when to draw again */
    uint64_t begin_ns;
    bool drawn;
};

void ct_progress_start(struct ct_progress *p, const char *what, const char *unit, uint64_t total);
void ct_progress_add(struct ct_progress *p, uint64_t more);
/* Takes the line away, for something to be printed there; the next one comes again. */
void ct_progress_hide(struct ct_progress *p);
void ct_progress_end(struct ct_progress *p);

/* As ct_progress_add(), at a given time of CLOCK_MONOTONIC, for tests. */
void ct_progress_add_at(struct ct_progress *p, uint64_t more, uint64_t now_ns);

#endif
