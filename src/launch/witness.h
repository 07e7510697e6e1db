/* SPDX-License-Identifier: MIT */
/*
 * A witness: a kernel of ours that knows how long it took. Kernels that find the GPU idle come out
 * too long, by an error that differs between processes of one program on one host, for as long as
 * they live; only such a kernel on the program's own stream shows it (doc/accuracy.md). So where a
 * program has many short kernels of that kind, a few witnesses are launched now and then, when the
 * program has just waited for the GPU and nothing else can be there: into the stream that it waited
 * for, one after the other, with brackets like all others.
 */
#ifndef CT_WITNESS_H
#define CT_WITNESS_H

#include <stdatomic.h>

#include "base/base.h"
#include "launch/selftimed.h"

#define CT_WITNESS_WAITING 64 /* witnesses at most whose own stamps, or brackets, are to come */
#define CT_WITNESS_REMEMBERED 96

struct ct_calibration;
struct ct_context;
struct ct_thread;

enum ct_witness_state {
    CT_WITNESS_UNWANTED, /* the program has had too few short kernels for them */
    CT_WITNESS_WANTED,
    CT_WITNESS_LOADED,
    CT_WITNESS_FAILED,
};

/* The witnesses of a context, numbered from 1. */
struct ct_witness {
    _Atomic uint32_t state; /* enum ct_witness_state */
    /* The launching thread's: one thread at a time. */
    struct ct_selftimed kernels;
    uint64_t since_ticks; /* when the kernels were loaded */
    uint32_t launched;    /* witnesses so far */
    uint32_t unread;      /* the last ones, whose stamps are still on the device */
    /* By number: the number in the upper half, below it the ns between the witness's own stamps. */
    _Atomic uint64_t inside[CT_WITNESS_WAITING];
    _Atomic uint32_t inside_ns; /* see ct_witness_inside_ns() */
    /* The drain thread's. */
    const struct ct_calibration *by; /* the figures that the errors are from */
    uint32_t late_kernels;           /* the program's short ones, with all that they stand for */
    struct {
        uint32_t number;
        uint32_t time_ns;
    } bracketed[CT_WITNESS_WAITING]; /* durations by their brackets */
    int32_t error_ns[CT_WITNESS_REMEMBERED];
    uint32_t told;     /* errors so far; the newest are kept above */
    int64_t excess_ns; /* trimmed mean of the errors; 0: not known yet */
};

/* The witnesses of a context; none when its entry is used anew (_begin). */
struct ct_witness *ct_witness_of(const struct ct_context *c);
void ct_witness_begin(struct ct_context *c);

/*
 * Launching thread, at the end of a call that has waited for a stream or, NULL, for a context.
 * `context` NULL: the current one.
 */
void ct_witness_waited(struct ct_thread *t, CUstream stream, CUcontext context);

/* Before a stream is destroyed: waits for a group that another thread launches, perhaps there. */
void ct_witness_end_group(void);

#endif
