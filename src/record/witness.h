/* SPDX-License-Identifier: MIT */
/*
 * A witness: a kernel of ours that knows how long it took. By how much kernels come out too long
 * that find the GPU idle differs between processes of one program on one host, for as long as they
 * live, and nothing but such a kernel on the program's own stream shows it (doc/accuracy.md). So
 * where a program has many short ones, now and then, when it has just waited for the GPU and
 * nothing else can be there, a few are launched into the stream that it waited for, one after the
 * other, with brackets like all others.
 */
#ifndef CT_WITNESS_H
#define CT_WITNESS_H

#include <stdatomic.h>

#include "base/base.h"
#include "record/selftimed.h"

struct ct_context;
struct ct_estimate;
struct ct_measured;
struct ct_thread;

enum ct_witness_state {
    CT_WITNESS_UNWANTED, /* until now there is nothing that it would be good for */
    CT_WITNESS_WANTED,
    CT_WITNESS_LOADED,
    CT_WITNESS_FAILED,
};

/* Of a context. */
struct ct_witness {
    _Atomic uint32_t state; /* enum ct_witness_state */
    /* Of the thread that launches them: one at a time. */
    struct ct_selftimed kernels;
    uint32_t groups; /* launched so far */
    uint32_t failures;
    uint32_t unread; /* launches whose stamps are on the device */
    uint64_t inside_ns;
    uint32_t inside_count;
    _Atomic uint64_t inside_mean_ps; /* between a kernel's stamps; 0: not known */
    /* Of the drain thread. */
    uint64_t late_kernels; /* short ones of the program */
    uint64_t total_ns;     /* what their brackets came out as */
    uint32_t count;
};

/* Launching thread, between a call that has waited for a stream or, NULL, its context and its end. */
void ct_witness_waited(struct ct_thread *t, CUstream stream);

/* In the child of a fork. */
void ct_witness_forget(void);

/* The rest: drain thread. */

/* A kernel of the program, */
void ct_witness_see(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e);
/* and one of ours. */
void ct_witness_add(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e);

/* By how much a kernel of ours was too long that came out as `time_ns`; 0: not known. */
int64_t ct_witness_too_long_ns(const struct ct_witness *w, int64_t time_ns);

/* By how much late kernels come out too long; negative: too short; 0: not known. */
int64_t ct_witness_excess_ns(const struct ct_witness *w);

#endif
