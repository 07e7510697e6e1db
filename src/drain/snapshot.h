/* SPDX-License-Identifier: MIT */
/* The payload of a profile (cutrace/format.h) from the figures as they stand. */
#ifndef CT_SNAPSHOT_H
#define CT_SNAPSHOT_H

#include "base/base.h"
#include "base/mem.h"
#include "base/rank.h"

struct ct_process_info {
    const char *command;
    const char *program; /* its first word */
    const char *host;
    uint64_t start_unix_ns;
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t driver_version;
    struct ct_rank rank;
};

/*
 * Builds the payload into `out`, which the caller keeps for the next time. Drain thread, or a
 * thread that has stopped it. False: memory is out.
 */
bool ct_snapshot(struct ct_buffer *out, const struct ct_process_info *process, bool finished);

#endif
