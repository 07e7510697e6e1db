/* SPDX-License-Identifier: MIT */
/* The process as a profile and a trace name it. Set once, before the drain thread runs. */
#ifndef CT_PROCESS_INFO_H
#define CT_PROCESS_INFO_H

#include "base/base.h"
#include "base/rank.h"

struct ct_process_info {
    const char *command;
    const char *program; /* the command's first word */
    const char *host;
    uint64_t start_unix_ns;
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t driver_version;
    struct ct_rank rank;
};

#endif
