/* SPDX-License-Identifier: MIT */
/*
 * Counters and histograms of what ran so far, in the text forms that Prometheus reads.
 *
 * The number of series is bounded. A kernel, copy, set or graph has series of its own, which it
 * keeps, or is one of the others, which have theirs together: so no counter ever goes back. Who is
 * among the others and comes to more leaves there what it was counted for till then.
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

#define CT_METRICS_ROWS 64 /* with series of their own */

/*
 * Builds the text anew in `out`. Drain thread, while no figure changes, or a thread that has
 * stopped it. False: no memory.
 */
bool ct_metrics_text(struct ct_buffer *out, enum ct_metrics_form form,
                     const struct ct_process_info *process);

/* Processor time that metrics have cost, which is one of them. */
void ct_metrics_cost(uint64_t ns);

/* In the child of a fork. */
void ct_metrics_forget(void);

#endif
