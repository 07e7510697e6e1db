/* SPDX-License-Identifier: MIT */
/*
 * Counters and histograms of operations so far, in the text forms that Prometheus reads.
 *
 * The number of series is bounded. A kernel, copy, set or graph has series of its own, which it
 * keeps, or is one of the others, which share theirs: so no counter ever goes back. A row that
 * leaves the others for series of its own leaves its counts so far with the others.
 */
#ifndef CT_EXPOSITION_H
#define CT_EXPOSITION_H

#include "base/base.h"
#include "output/snapshot.h"
#include "system/mem.h"

enum ct_metrics_form {
    CT_METRICS_CLASSIC,     /* Prometheus's text format 0.0.4, which the node exporter reads, too */
    CT_METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
};

#define CT_METRICS_ROWS 64 /* rows with series of their own */

/*
 * Builds the text anew in `out`. Drain thread, while no figure changes, or a thread that has
 * stopped the drain thread. False: no memory.
 */
bool ct_metrics_text(struct ct_buffer *out, enum ct_metrics_form form,
                     const struct ct_process_info *process);

/* Adds processor time that metrics have cost, which is one of the metrics. */
void ct_metrics_cost(uint64_t ns);

#endif
