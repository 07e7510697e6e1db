/* SPDX-License-Identifier: MIT */
/*
 * The error of witnesses (launch/witness.h): their brackets against their own stamps. Drain thread.
 */
#ifndef CT_WITNESS_ERROR_H
#define CT_WITNESS_ERROR_H

#include "base/base.h"
#include "launch/witness.h"

struct ct_estimate;
struct ct_measured;

/* A kernel of the program has its estimate: enough late short ones have witnesses wanted. */
void ct_witness_see(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e);
/* A witness has its estimate. */
void ct_witness_add(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e);

/* The duration of the witness read last, by its own stamps; 0: none was read. */
uint32_t ct_witness_inside_ns(const struct ct_witness *w);

/*
 * By how much the program's late kernels come out too long, where a record takes the host
 * `host_record_ns`; negative: too short; 0: not known.
 */
int64_t ct_witness_excess_ns(const struct ct_witness *w, uint64_t host_record_ns);

/* The witnesses of the latest context on a device that had enough. */
struct ct_witnesses {
    uint32_t count; /* witnesses of that context; 0: none, or too few */
    int32_t excess_ns;
};
struct ct_witnesses ct_witnesses_of(uint32_t device);

#endif
