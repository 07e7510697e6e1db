/* SPDX-License-Identifier: MIT */
/* --per: one report for each GPU, process, rank, host, stream or range, as one relation. */
#ifndef CT_REPORT_PER_H
#define CT_REPORT_PER_H

#include "report/reports.h"

/* The report of in->m by GPU. */
int ct_per_gpu(const struct ct_input *in, struct ct_sink *sink);

/*
 * The report of the options' files, by process, rank or host as the files name them; in->m is NULL.
 * Into the sink, or without one as nvprof prints it.
 */
int ct_per_files(const struct ct_input *in, struct ct_sink *sink, FILE *out);

/*
 * Profiles that are no files of their own. By stream each is of one, which it has as its only one,
 * or of none if nothing ran.
 */
struct ct_part {
    const char *file; /* that it was made of */
    struct ct_summary summary;
    const struct ct_merged_sizes *sizes; /* of its rows */
    const char *range;                   /* that its rows were launched in; NULL: it has none */
    uint32_t range_number;               /* the order of ranges; those of one are of one group */
};

struct ct_parts {
    struct ct_part *at;
    size_t count;
    size_t size;
    char *notes; /* sentences about all of them, a line each */
};

/* As ct_per_files(), of profiles that are no files; also without --per, and by GPU. */
int ct_per_parts(const struct ct_input *in, struct ct_sink *sink, const struct ct_parts *parts,
                 FILE *out);

/* Devices of m by their numbers, as indices; to be freed. */
uint32_t *ct_per_devices(const struct ct_merged *m);

#endif
