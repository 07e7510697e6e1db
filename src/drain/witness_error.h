/* SPDX-License-Identifier: MIT */
/*
 * By how much witnesses (launch/witness.h) come out too long: their brackets against their own
 * stamps. Drain thread.
 */
#ifndef CT_WITNESS_ERROR_H
#define CT_WITNESS_ERROR_H

#include "base/base.h"
#include "launch/witness.h"

struct ct_estimate;
struct ct_measured;

/* A kernel of the program, */
void ct_witness_see(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e);
/* and one of ours. */
void ct_witness_add(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e);

/* What the last one that was read took by its own stamps; 0: none was. */
uint32_t ct_witness_inside_ns(const struct ct_witness *w);

/*
 * By how much the program's late kernels come out too long, where a record takes the host so long;
 * negative: too short; 0: not known.
 */
int64_t ct_witness_excess_ns(const struct ct_witness *w, uint64_t host_record_ns);

/* What the last ones on a device told. */
struct ct_witnesses {
    uint32_t count; /* of those of that context; 0: none, or too few */
    int32_t excess_ns;
};
struct ct_witnesses ct_witnesses_of(uint32_t device);

/* In the child of a fork. */
void ct_witness_errors_forget(void);

#endif
