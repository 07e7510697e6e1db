/* SPDX-License-Identifier: MIT */
/* Which ranks have come to a collective operation, by the numbers that their processes count. */
#ifndef CT_REPORT_ARRIVALS_H
#define CT_REPORT_ARRIVALS_H

#include <stddef.h>

#include "format/read.h"
#include "report/sinks/relation.h"

/* A communicator of a process. */
struct ct_arrival {
    uint32_t communicator, ranks, rank; /* as in struct ct_file_stuck */
    uint32_t process_rank;              /* plus one; 0: the process has none */
    uint32_t pid;
    uint32_t collective; /* of the newest operation, plus one */
    uint64_t called;     /* number of the newest operation called */
    uint64_t waits_in;   /* number of the one in flight; 0: none is */
};

/* All zero at first. */
struct ct_arrivals {
    struct ct_arrival *all;
    size_t count, size;
};

void ct_arrivals_add(struct ct_arrivals *a, const struct ct_summary *s);
/*
 * Notes the ranks that others wait for. Nothing is said of a communicator in which a rank is twice:
 * then processes are of several communicators that have the same number.
 */
void ct_arrivals_note(const struct ct_arrivals *a, struct ct_sink *sink);
void ct_arrivals_free(struct ct_arrivals *a);

#endif
