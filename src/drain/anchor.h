/* SPDX-License-Identifier: MIT */
/*
 * Stamps of events on a context's time line (gpu_clock.h), read against an anchor: an event of a
 * moment ago, kept from the context's pool. Of the drain thread.
 */
#ifndef CT_ANCHOR_H
#define CT_ANCHOR_H

#include "base/base.h"

struct ct_context;

/* Where a completed event is on the time line; the first one asked for is where that begins. */
bool ct_anchor_read(struct ct_context *c, uint32_t event, uint64_t *ns);

/* Gives an event back that is done with, unless it is to be the next anchor. */
void ct_anchor_give(struct ct_context *c, uint32_t event, uint64_t ns);

#endif
