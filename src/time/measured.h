/* SPDX-License-Identifier: MIT */
/* A bracket whose events have been read, until its operation has a duration. */
#ifndef CT_MEASURED_H
#define CT_MEASURED_H

#include "base/base.h"
#include "time/estimate.h"
#include "time/op.h"
#include "time/place.h"

struct ct_measured {
    struct ct_op op;
    struct ct_bracket_times times;
    struct ct_estimate estimate; /* of those of a round that is settled */
    uint64_t start_ns;           /* on the context's time line */
    uint64_t stop_ns;
    uint64_t read_ticks; /* when the events were read */
    uint32_t device;
    int32_t priority;   /* of its stream: less is more */
    uint64_t stream_id; /* the entry may be another stream's soon */
    bool fills_device;  /* a kernel that leaves no room for others' blocks until its last ones */
    bool is_placed;     /* start and stop are those of its place, and the bracket was longer: */
    struct ct_place place;
    uint64_t bracket_ns;
    uint64_t long_ticks; /* from when its queue has CT_LONG_QUEUE entries behind it; 0: never */
};

#endif
