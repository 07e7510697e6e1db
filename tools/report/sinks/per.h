/* SPDX-License-Identifier: MIT */
/* --per: one report for each GPU, process, rank or host, as one relation. */
#ifndef CT_REPORT_PER_H
#define CT_REPORT_PER_H

#include "report/reports.h"

/* The report of in->m by GPU. */
int ct_per_gpu(const struct ct_input *in, struct ct_sink *sink);

/*
 * The report of the options' files by what they say of their process; in->m is NULL. Into the sink,
 * or without one as nvprof prints it.
 */
int ct_per_files(const struct ct_input *in, struct ct_sink *sink, FILE *out);

/* Devices of m by their numbers, as indices; to be freed. */
uint32_t *ct_per_devices(const struct ct_merged *m);

#endif
