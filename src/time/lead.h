/* SPDX-License-Identifier: MIT */
/*
 * When the GPU was told of an operation, seen from the stamps of its bracket: the host's four
 * stamps and the GPU's two on one clock. Brackets that show where the clocks are tie them together.
 */
#ifndef CT_LEAD_H
#define CT_LEAD_H

#include "base/base.h"
#include "time/estimate.h"
#include "time/gpu_clock.h"
#include "time/measured.h"
#include "time/op.h"

/* Times by the host's stamps alone; all that needs the GPU's is unknown. */
struct ct_bracket_times ct_lead_host_times(const struct ct_op *op);

/*
 * The GPU is told of an operation so long before its call returns, on a host on which a record
 * takes `host_record_ns` when nothing holds it up. The host's times in `t` count.
 */
uint64_t ct_lead_told_ns(uint64_t host_record_ns, const struct ct_bracket_times *t);

/* Records and operations that a bracket puts into its stream's queue. */
unsigned ct_lead_entries(const struct ct_op *op);

/*
 * A bracket that has been read, with its gap: sets lead, slack and the
 * queue's length, and pins the clocks together if it can. The brackets of a context have to come in
 * order.
 */
void ct_lead_find(struct ct_gpu_clock *clock, struct ct_measured *m);

/*
 * Brackets that others came into say nothing of the clocks by themselves. The first corrects the
 * tie if a start record was stamped before it was asked for; pins the clocks together by one of
 * which it is known that the stream had nothing to do.
 */
void ct_lead_correct(struct ct_gpu_clock *clock, const struct ct_measured *m);
void ct_lead_pin_idle(struct ct_gpu_clock *clock, const struct ct_measured *m, uint64_t idle_ns);

/* From when a queue with that behind a stop is long; 0: it is not. */
uint64_t ct_lead_long_ticks(const struct ct_pending *behind);

/*
 * Whether a stop that was stamped at `stop_ns` may have waited for the front end to take in a
 * submission behind it, of which the GPU was just being told. In a long queue that is part of the
 * bias.
 */
bool ct_lead_met_intake(const struct ct_gpu_clock *clock, uint64_t stop_ns,
                        const struct ct_pending *behind);

/* Whether it may have waited for this submission, whatever is before that. */
bool ct_lead_takes_in(const struct ct_gpu_clock *clock, uint64_t stop_ns, const struct ct_op *op);

/* A guess at the clocks by a bracket that has been read, before any has tied them. */
void ct_lead_guess(struct ct_gpu_clock *clock, const struct ct_measured *m);
/* A start record of a stream of which nobody knows whether it was idle: ct_gpu_clock_follow(). */
void ct_lead_follow(struct ct_gpu_clock *clock, const struct ct_measured *m);

/*
 * Where on the GPU's time line the operation ended, of which the duration has been estimated. The
 * rest of the bracket is a record behind it, and before it where it waited for the host.
 */
uint64_t ct_lead_end_ns(const struct ct_calibration *c, const struct ct_measured *m,
                        uint64_t time_ns);

#endif
