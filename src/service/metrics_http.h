/* SPDX-License-Identifier: MIT */
/*
 * Metrics over HTTP. Served by the drain thread between its rounds, which waits for no client: few
 * at a time, each with a short request and a limit of time, and when all places are taken the
 * client that has been there longest makes room.
 */
#ifndef CT_METRICS_HTTP_H
#define CT_METRICS_HTTP_H

#include "base/base.h"

void ct_metrics_http_start(void);

/* Whether it is time to look for clients. Drain thread, in `tend`, as the next function. */
bool ct_metrics_http_is_due(uint64_t now_ns);
void ct_metrics_http_tend(uint64_t now_ns);

/* In the child of a fork: the parent listens. */
void ct_metrics_http_forget(void);

#endif
