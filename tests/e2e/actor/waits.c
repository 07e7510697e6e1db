/* SPDX-License-Identifier: MIT */
/* A program of small kernels, some of them and then a wait, again and again. */
#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define KERNELS 20 /* of a step */
#define QUEUED 900 /* behind a gate */
#define UNGATED 20 /* steps before the first one with a gate */

static atomic_int gate;

struct waiter {
    CUstream stream; /* of the kernels */
    bool for_stream; /* what is waited for: that, or the context */
};

static void launch(const struct waiter *w, CUfunction f, uint64_t kernel_ns, int count)
{
    for (int i = 0; i < count; i++)
        MUST(actor_launch_with(f, w->stream, kernel_ns));
}

static void wait_for(const struct waiter *w)
{
    if (w->for_stream)
        MUST(cuStreamSynchronize(w->stream));
    else
        MUST(cuCtxSynchronize());
}

static void close_gate(CUstream stream)
{
    atomic_store(&gate, 0);
    MUST(actor_launch_with(actor_function("gate"), stream, (uint64_t)(uintptr_t)&gate));
}

/* Once all else was waited for. This is asked for, not waited for. */
static void queue_behind_a_gate(const struct waiter *w, CUfunction f, uint64_t kernel_ns)
{
    close_gate(w->stream);
    launch(w, f, kernel_ns, QUEUED);
    atomic_store(&gate, 1);
    while (cuStreamQuery(w->stream) == CUDA_ERROR_NOT_READY)
        actor_sleep_ms(1);
}

static void step(const struct waiter *w, CUfunction f, uint64_t kernel_ns, bool with_gate)
{
    launch(w, f, kernel_ns, KERNELS);
    wait_for(w);
    if (with_gate)
        queue_behind_a_gate(w, f, kernel_ns);
}

static void *call_once(void *unused)
{
    int version;
    MUST(cuDriverGetVersion(&version));
    return unused;
}

/* Another thread has made a call of the driver's. */
static void have_another_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_once, NULL) || pthread_join(thread, NULL))
        perror("thread");
}

/* What else is there all the time: a kernel in another stream, a capture; or was, before. */
static void begin(const char *what, CUfunction f, CUstream other)
{
    if (!strcmp(what, "beside"))
        close_gate(other);
    if (!strcmp(what, "capture"))
        MUST(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (!strcmp(what, "blocking"))
        MUST(actor_launch_with(f, other, 2000));
    if (!strcmp(what, "threads") || !strcmp(what, "shared"))
        have_another_thread();
    if (!strcmp(what, "late")) {
        atomic_store(&gate, 1);
        MUST(actor_launch_with(actor_function("gate"), other, (uint64_t)(uintptr_t)&gate));
        actor_sleep_ms(1100);
    }
    if (!strcmp(what, "unseen")) {
        MUST(cuProfilerStop());
        MUST(actor_launch_with(f, other, 2000));
        MUST(cuProfilerStart());
    }
}

static void renew(struct waiter *w)
{
    MUST(cuStreamDestroy(w->stream));
    w->stream = actor_stream();
}

static void *destroy(void *stream)
{
    while (!atomic_load(&gate))
        ;
    actor_sleep_ms(5);
    MUST(cuStreamDestroy(stream));
    return NULL;
}

/* Another thread's first call ends the stream while the context is waited for. */
static void have_it_destroyed(CUstream stream)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, destroy, stream)) {
        perror("thread");
        return;
    }
    actor_sleep_ms(2);
    atomic_store(&gate, 1);
    MUST(cuCtxSynchronize());
    pthread_join(thread, NULL);
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

static CUstream other_stream(const char *what)
{
    CUstream s;
    if (strcmp(what, "blocking") && strcmp(what, "unused") && strcmp(what, "threads"))
        return actor_stream();
    MUST(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    return s;
}

static bool is_in_default(const char *what)
{
    static const char *const those[] = {"context", "blocking", "unused",
                                        "threads", "capture",  "late"};
    for (unsigned i = 0; i < sizeof(those) / sizeof(those[0]); i++)
        if (!strcmp(what, those[i]))
            return true;
    return false;
}

static bool is_for_stream(const char *what)
{
    return !is_in_default(what) && strcmp(what, "created") && strcmp(what, "shared") &&
           strcmp(what, "destroyed");
}

/*
 * waits WHAT [STEPS [KERNEL_NS]]: for the context, with kernels in the default stream (context) or
 * in another one (created), with another thread there (shared), which may destroy that stream at
 * the end (destroyed); or for the stream of the kernels (stream), with 900 more behind a gate in
 * each step after some (gated), a new one for each step (new); with something else there (beside,
 * capture, unseen); with a blocking stream that was used or not, by one thread or with another one
 * (blocking, unused, threads); a second after a first kernel (late)
 */
int actor_waits(int argc, char **argv)
{
    const char *what = actor_word(argc, argv, 1, "context");
    long steps = actor_number(argc, argv, 2, 100);
    uint64_t kernel_ns = (uint64_t)actor_number(argc, argv, 3, 2000);
    actor_begin();
    CUfunction f = actor_function("spin");
    CUstream other = other_stream(what);
    struct waiter w = {is_in_default(what) ? CU_STREAM_LEGACY : actor_stream(),
                       is_for_stream(what)};
    begin(what, f, other);
    for (long i = 0; i < steps; i++) {
        step(&w, f, kernel_ns, !strcmp(what, "gated") && i >= UNGATED);
        if (!strcmp(what, "new"))
            renew(&w);
    }
    if (!strcmp(what, "destroyed"))
        have_it_destroyed(w.stream);
    end(what, other);
    printf("waits %s: %ld kernels\n", what, steps * KERNELS);
    return 0;
}
