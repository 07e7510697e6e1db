/* SPDX-License-Identifier: MIT */
/*
 * When devices and streams were busy: settled brackets on their way into the sweep. Drain thread.
 */
#ifndef CT_ACTIVITY_H
#define CT_ACTIVITY_H

#include "base/base.h"
#include "drain/sweep.h"
#include "state/stream.h"
#include "time/measured.h"

/* Adds an operation of that kind, whose duration is now known. */
void ct_activity_add(const struct ct_measured *m, uint32_t kind, uint64_t time_ns);

/* Works out the figures as they stand; the functions below return these until the next call. */
void ct_activity_project(void);

/* NULL: nothing is known of the device, or the stream. */
const struct ct_sweep_figures *ct_activity_of(uint32_t device);
const struct ct_stream_activity *ct_activity_of_stream(const struct ct_stream *s);

#endif
