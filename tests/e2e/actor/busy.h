/* SPDX-License-Identifier: MIT */
/* What the part "busy" tells of its progress, in a file that outlives it. */
#ifndef BUSY_H
#define BUSY_H

#include <stdatomic.h>
#include <stdint.h>

#define BUSY_ENTRIES 65536

struct busy_page {
    _Atomic uint64_t entries;      /* written below; the newest is entries - 1 */
    _Atomic uint64_t worst_gap_ns; /* by how much a sleeping thread was late, at worst */
    struct {
        uint64_t ns; /* CLOCK_MONOTONIC */
        uint64_t complete;
    } entry[BUSY_ENTRIES];
};

#endif
