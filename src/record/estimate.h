/* SPDX-License-Identifier: MIT */
/*
 * From a raw bracket to the duration of the operation inside it.
 *
 * A bracket holds more than the operation: the GPU's front end takes a constant time between the
 * start stamp and the operation's start, and between its end and the stop stamp (bias_busy_ns).
 * Where the stream was idle, the start stamp was also taken before the host had even submitted the
 * operation: then the host's time in the call, less what the front end overlaps with it
 * (submit_ns), is not the operation's. Derivation and figures: doc/internals.md.
 */
#ifndef CT_ESTIMATE_H
#define CT_ESTIMATE_H

#include "base/base.h"

/* Figures of a device, in nanoseconds. */
struct ct_calibration {
    uint32_t source;              /* enum ct_calibration_source */
    uint32_t bias_busy_ns;        /* bracket minus duration on a busy stream */
    uint32_t gap_busy_ns;         /* longest gap between two brackets on a busy stream */
    uint32_t submit_ns;           /* UINT32_MAX: nothing of the host's time is ever in a bracket */
    uint32_t uncertainty_ns;      /* half of the 5..95 % range of single brackets, busy stream */
    uint32_t idle_uncertainty_ns; /* the same in an idle stream */
    uint32_t copy_floor_ns;       /* shortest bracket of a 4-byte copy to the device; 0: unknown */
    uint32_t set_floor_ns;        /* shortest bracket of a 4-byte set; 0: unknown */
};

#define CT_GAP_UNKNOWN UINT64_MAX

/* Figures for a device by its name; source NONE and zeros for unknown devices. */
const struct ct_calibration *ct_calibration_of(const char *device_name);

/*
 * gap_ns: from the previous stop stamp on the stream to this start stamp, CT_GAP_UNKNOWN: there
 * was none. host_ns: the host's time from the end of the start record to the stop record.
 * subtract_host: false for calls that return only when the operation is done, whose host time is
 * the operation's.
 */
uint64_t ct_estimate_ns(const struct ct_calibration *c, uint64_t raw_ns, uint64_t gap_ns,
                        uint64_t host_ns, bool subtract_host);

#endif
