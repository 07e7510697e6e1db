/* SPDX-License-Identifier: MIT */
/* When a bracket began and ended on the GPU, from its events or from substitutes for a start. */
#ifndef CT_STAMPS_H
#define CT_STAMPS_H

#include "state/stream.h"
#include "time/measured.h"

/*
 * Sets start, stop, raw duration and gap of a bracket that is complete and the next of its stream.
 * Drain thread, with the context current. CT_LOSS_COUNT: all well; otherwise the reason of a loss.
 */
enum ct_loss ct_stamps_read(const struct ct_stream *s, const struct ct_op *op,
                            struct ct_measured *m);

#endif
