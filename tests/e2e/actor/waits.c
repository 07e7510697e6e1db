/* SPDX-License-Identifier: MIT */
/* A program of small kernels, some of them and then a wait, again and again. */
#include "actor.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define KERNELS 20 /* of a step */

static atomic_int gate;

struct waiter {
    CUstream stream; /* of the kernels */
    bool for_stream; /* what is waited for: that, or the context */
};

static void step(const struct waiter *w, CUfunction f, uint64_t kernel_ns)
{
    for (int i = 0; i < KERNELS; i++)
        MUST(actor_launch_with(f, w->stream, kernel_ns));
    if (w->for_stream)
        MUST(cuStreamSynchronize(w->stream));
    else
        MUST(cuCtxSynchronize());
}

/* What else is there all the time: nothing, a kernel in another stream, or a capture. */
static void begin(const char *what, CUstream other)
{
    if (!strcmp(what, "beside"))
        MUST(actor_launch_with(actor_function("gate"), other, (uint64_t)(uintptr_t)&gate));
    if (!strcmp(what, "capture"))
        MUST(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
}

static void end(const char *what, CUstream other)
{
    CUgraph g;
    atomic_store(&gate, 1);
    if (!strcmp(what, "capture"))
        MUST(cuStreamEndCapture(other, &g));
    else
        MUST(cuStreamSynchronize(other));
}

/*
 * waits context|created|stream|beside|capture [STEPS [KERNEL_NS]]: for the context, with kernels in
 * the default stream or in another one, or for the stream of the kernels
 */
int actor_waits(int argc, char **argv)
{
    const char *what = actor_word(argc, argv, 1, "context");
    long steps = actor_number(argc, argv, 2, 100);
    uint64_t kernel_ns = (uint64_t)actor_number(argc, argv, 3, 2000);
    actor_begin();
    CUfunction f = actor_function("spin");
    CUstream other = actor_stream();
    struct waiter w = {strcmp(what, "context") ? actor_stream() : CU_STREAM_LEGACY,
                       strcmp(what, "context") && strcmp(what, "created")};
    begin(what, other);
    for (long i = 0; i < steps; i++)
        step(&w, f, kernel_ns);
    end(what, other);
    printf("waits %s: %ld kernels\n", what, steps * KERNELS);
    return 0;
}
