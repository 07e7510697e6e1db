/* SPDX-License-Identifier: MIT */
/*
 * Stamps of events on a context's time line (gpu_clock.h), read against an anchor: an event of a
 * moment ago, kept from the context's pool. Drain thread.
 */
#ifndef CT_ANCHOR_H
#define CT_ANCHOR_H

#include "base/base.h"

struct ct_context;

/* The place of a completed event on the time line, which begins at the first event that is read. */
bool ct_anchor_read(struct ct_context *c, uint32_t event, uint64_t *ns);

/* Gives back an event that is no longer needed, unless it is to be the next anchor. */
void ct_anchor_give(struct ct_context *c, uint32_t event, uint64_t ns);

#endif
