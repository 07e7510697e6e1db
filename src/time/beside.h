/* SPDX-License-Identifier: MIT */
/*
 * Other streams beside a bracket. The GPU's front end serves one stream after the other: the stamps
 * of the others tell when it was with them. Drain thread only.
 */
#ifndef CT_BESIDE_H
#define CT_BESIDE_H

#include "base/base.h"
#include "time/measured.h"

/* Brackets that can be looked at together. */
#define CT_BESIDE_ROOM 4096

bool ct_beside_init(void);

/* A bracket that has begun then and has not ended yet: it was beside those that have. */
void ct_beside_running(uint32_t stream, uint32_t context, uint64_t start_ns);

/*
 * Whether others may have stamped beside the latest of these, which is not known until their
 * brackets have ended as well: false where a single stream is at work.
 */
bool ct_beside_is_open(const struct ct_measured *measured, unsigned count);

/*
 * Sets beside, beside_start, after_other_ns, held_ns, stalled, filled_ns and filled_past of so many
 * brackets, CT_BESIDE_ROOM at most. The latest of the first `settled` are remembered, the others
 * come again; those that run are not.
 */
void ct_beside_find(struct ct_measured *measured, unsigned count, unsigned settled);
/*
 * How long after its start stamp another stream's stop kept the front end from the operation of one
 * of those, whose lead is known by now; 0: none did.
 */
uint64_t ct_beside_taken_ns(const struct ct_measured *m);

#endif
