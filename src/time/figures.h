/* SPDX-License-Identifier: MIT */
/*
 * From brackets around the self-timed kernel to a device's figures. No driver call is made here.
 */
#ifndef CT_FIGURES_H
#define CT_FIGURES_H

#include "base/base.h"
#include "time/estimate.h"

/*
 * CUPTI's duration of a kernel is longer than what the kernel itself sees between its first and its
 * last instruction, by this much on an H200, from 0.5 to 500 us kernels. What programs launch has
 * more in its bracket than this kernel, by what ct_figures_finish() adds. Only the difference of
 * the two counts: they were settled together.
 */
#define CT_FIGURES_OUTSIDE_NS 800

/* One launch of the kernel. */
struct ct_trial {
    int64_t raw_ns;     /* its bracket */
    int64_t inside_ns;  /* by the kernel's own stamps */
    int64_t gap_ns;     /* from the stop stamp before to its start stamp; negative: none */
    int64_t host_ns;    /* from the end of the start record to that of the launch: the GPU was told
                           of either by as much before it */
    bool in_time;       /* all of it was queued before the kernel could begin */
    unsigned following; /* records and operations queued after it */
};

/* The kernel's clock moves in steps of so many nanoseconds; 0: it does not move. */
uint64_t ct_figures_timer_step(const uint64_t *stamps, unsigned n);

/*
 * What a record takes on the GPU, from records in a row: the distances of their stamps, and how
 * long the host took for each. 0: the host was not faster, and what is seen are its own times. Both
 * are sorted.
 */
uint32_t ct_figures_record_ns(int64_t *gap_ns, int64_t *host_ns, unsigned n);

/*
 * From the trials that were queued behind other work: record_ns, bias_busy_ns, bias_ready_ns,
 * gap_busy_ns, uncertainty_ns.
 * False: too few were, or the figures are not plausible.
 */
bool ct_figures_busy(const struct ct_trial *trials, unsigned n, struct ct_calibration *out);
/* Trials that can serve for that. */
unsigned ct_figures_count_busy(const struct ct_trial *trials, unsigned n);

/* With bias_busy_ns known, from trials in an idle stream: submit_ns, idle_uncertainty_ns. */
bool ct_figures_idle(const struct ct_trial *trials, unsigned n, struct ct_calibration *out);

/* With all that and the floors known: what cannot be measured without a second witness. */
void ct_figures_finish(struct ct_calibration *out);

#endif
