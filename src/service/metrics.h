/* SPDX-License-Identifier: MIT */
/* CUTRACE_METRICS: figures for monitors of many programs while they run. */
#ifndef CT_PRELOAD_METRICS_H
#define CT_PRELOAD_METRICS_H

#include "base/base.h"

void ct_metrics_start(void);

/* Called together with the profile's functions: see ct_drain_start(). */
void ct_metrics_take(bool finished);
void ct_metrics_write(void);
void ct_metrics_tend(void);

/* In the child of a fork. */
void ct_metrics_drop(void);

#endif
