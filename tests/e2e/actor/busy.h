/* SPDX-License-Identifier: MIT */
/* What the parts "busy" and "crowd" tell of their progress, in a file that outlives them. */
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
        /* Of cutrace's thread, where it is looked at: */
        uint64_t waited_ns; /* for a processor, as far as that is over */
        uint64_t ran_ns;    /* when it was last seen to have run */
    } entry[BUSY_ENTRIES];
};

#endif
