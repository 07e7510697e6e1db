/* SPDX-License-Identifier: MIT */
/*
 * Work in flight now, and things that wait, from memory of the library's own: no call of the
 * driver, no allocation. Whoever has the lock of the round, or has borrowed the drain thread's
 * data.
 */
#ifndef CT_IN_FLIGHT_H
#define CT_IN_FLIGHT_H

#include "base/base.h"
#include "cutrace/format_stuck.h"
#include "watch/limit.h"

#define CT_IN_FLIGHT 256 /* entries of a look; further ones are left out */

struct ct_in_flight {
    struct ct_file_stuck f; /* but for its strings; times are ns of CLOCK_MONOTONIC */
    const char *call, *node;
    uint32_t device;  /* index */
    uint32_t stack;   /* that launched it; 0: none */
    uint64_t key[2];  /* the same at each look at the same thing */
    uint64_t seen_ns; /* when it was last seen to stand */
    bool runs;        /* it has begun, as far as that is known */
    struct ct_usual usual;
};

/* The entries as of now, in an array that the next look overwrites. */
uint32_t ct_in_flight_look(struct ct_in_flight **all);

/* The usual time of a row. */
struct ct_usual ct_usual_of_row(uint32_t row);

/* Index of the entry of that stream's first operation or gate; `count`: there is none. */
uint32_t ct_in_flight_of_stream(const struct ct_in_flight *all, uint32_t count, uint64_t stream);

#endif
