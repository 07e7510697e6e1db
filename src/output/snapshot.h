/* SPDX-License-Identifier: MIT */
/* The payload of a profile (cutrace/format.h) from the figures as they stand. */
#ifndef CT_SNAPSHOT_H
#define CT_SNAPSHOT_H

#include "base/base.h"
#include "base/process_info.h"
#include "system/mem.h"

/*
 * Builds the payload into `out`, which the caller keeps for the next time. Drain thread, or a
 * thread that has stopped the drain thread. False: memory is out.
 */
bool ct_snapshot(struct ct_buffer *out, const struct ct_process_info *process, bool finished);

#endif
