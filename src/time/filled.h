/* SPDX-License-Identifier: MIT */
/*
 * Kernels of other streams that leave a bracket's own no room on the device: its blocks wait for
 * the last of theirs. Drain thread only.
 */
#ifndef CT_FILLED_H
#define CT_FILLED_H

#include "base/base.h"
#include "time/measured.h"

/* Brackets that can be looked at together. */
#define CT_FILLED_ROOM 4096

bool ct_filled_init(void);

/*
 * Whether a kernel beside the latest of these may be missing, as brackets are read when they have
 * ended: false where a single stream is at work.
 */
bool ct_filled_is_open(const struct ct_measured *measured, unsigned count);

/*
 * Sets filled_ns and filled_past of so many brackets, CT_FILLED_ROOM at most. Kernels among the
 * first `settled` are remembered, the others come again.
 */
void ct_filled_find(struct ct_measured *measured, unsigned count, unsigned settled);

#endif
