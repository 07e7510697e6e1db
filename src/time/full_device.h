/* SPDX-License-Identifier: MIT */
/*
 * Kernels of other streams that leave a bracket's own no room on the device: its blocks wait for
 * the last of theirs. Drain thread only.
 */
#ifndef CT_FULL_DEVICE_H
#define CT_FULL_DEVICE_H

#include "base/base.h"
#include "time/measured.h"

/* Brackets that can be looked at together. */
#define CT_FULL_DEVICE_ROOM 4096

bool ct_full_device_init(void);

/*
 * Whether a kernel beside the latest of these may be missing, as brackets are read when they have
 * ended: false where a single stream is at work.
 */
bool ct_full_device_is_open(const struct ct_measured *measured, unsigned count);

/*
 * Sets filled_ns and filled_past of so many brackets, CT_FULL_DEVICE_ROOM at most. Kernels among
 * the first `settled` are remembered, the others come again.
 */
void ct_full_device_find(struct ct_measured *measured, unsigned count, unsigned settled);

#endif
