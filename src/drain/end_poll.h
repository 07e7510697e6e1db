/* SPDX-License-Identifier: MIT */
/*
 * Operations whose end is not stamped, because that would hold up other streams (connections.h). An
 * event that stamps nothing stands behind them and holds nothing up. The drain thread asks for it,
 * round after round: the end is between the last time when it was not complete and the first time
 * when it was, by the host's clock, which is tied to the GPU's. Where the next operation's start
 * was stamped in between, the end was there at the latest, and mostly just there.
 */
#ifndef CT_END_POLL_H
#define CT_END_POLL_H

#include "state/stream.h"
#include "time/measured.h"

/*
 * Sets where the operation begins, on the time line, and how far off that may be. Drain thread,
 * with the context current. CT_LOSS_COUNT, or the reason why the start is not known.
 */
enum ct_loss ct_end_poll_start(const struct ct_stream *s, struct ct_measured *m,
                               uint64_t *doubt_ns);

/*
 * The duration of an operation that was found complete at `seen_ticks`; its start has been read.
 * Sets the stop to where a record behind it would have been stamped. CT_LOSS_COUNT: all well;
 * otherwise the reason why it has no time. Drain thread, with the context current.
 */
enum ct_loss ct_end_poll_duration(struct ct_measured *m, const struct ct_pending *p,
                                  uint64_t seen_ticks, struct ct_estimate *e);

#endif
