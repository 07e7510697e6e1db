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
#include "launch/selftimed.h"

#define CT_WITNESS_WAITING 64 /* whose own stamps, or brackets, are still to come, at most */
#define CT_WITNESS_REMEMBERED 96

struct ct_calibration;
struct ct_context;
struct ct_thread;

enum ct_witness_state {
    CT_WITNESS_UNWANTED, /* until now there is nothing that it would be good for */
    CT_WITNESS_WANTED,
    CT_WITNESS_LOADED,
    CT_WITNESS_FAILED,
};

/* Of a context. Witnesses have numbers, from 1. */
struct ct_witness {
    _Atomic uint32_t state; /* enum ct_witness_state */
    /* Of the thread that launches them: one at a time. */
    struct ct_selftimed kernels;
    uint64_t since_ticks; /* when they were loaded */
    uint32_t launched;    /* witnesses so far */
    uint32_t unread;      /* of these the last ones, whose stamps are still on the device */
    /* By number: that, in the upper half, and the ns between its own stamps. */
    _Atomic uint64_t inside[CT_WITNESS_WAITING];
    _Atomic uint32_t inside_ns; /* see ct_witness_inside_ns() */
    /* Of the drain thread. */
    const struct ct_calibration *by; /* the figures that they are held against */
    uint32_t late_kernels;           /* short ones of the program, as many as they stand for */
    struct {
        uint32_t number;
        uint32_t time_ns;
    } bracketed[CT_WITNESS_WAITING]; /* what their brackets came out as */
    int32_t error_ns[CT_WITNESS_REMEMBERED];
    uint32_t told;     /* witnesses that are, or were, among these */
    int64_t excess_ns; /* by how much they come out too long; 0: nothing is known yet */
};

/* A context's. A new use of its entry begins with none. */
struct ct_witness *ct_witness_of(const struct ct_context *c);
void ct_witness_begin(struct ct_context *c);

/*
 * Launching thread, between a call that has waited for a stream or, NULL, for a context, and its
 * end. No context: the current one.
 */
void ct_witness_waited(struct ct_thread *t, CUstream stream, CUcontext context);

/* Before a stream is destroyed: a group that another thread is at, perhaps in that stream, ends. */
void ct_witness_end_group(void);

/* In the child of a fork. */
void ct_witness_forget(void);

#endif
