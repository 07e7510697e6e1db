/* SPDX-License-Identifier: MIT */
/* Parts about contexts, streams, modules and events that go away or are not current. */
#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static CUstream stream_in(CUcontext c)
{
    MUST(cuCtxPushCurrent(c));
    CUstream s = actor_stream();
    MUST(cuCtxPopCurrent(&c));
    return s;
}

/* Two devices; each stream is used with the other device's context current, too */
int actor_devices(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 100);
    CUcontext c[2];
    CUfunction f[2];
    CUstream s[2];
    CUlibrary library;
    CUkernel kernel;
    MUST(cuInit(0));
    MUST(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "shared"));
    for (int d = 0; d < 2; d++) {
        MUST(cuDevicePrimaryCtxRetain(&c[d], d));
        f[d] = actor_function_in(c[d], d ? "on_one" : "on_zero");
        s[d] = stream_in(c[d]);
    }
    for (long i = 0; i < n; i++) {
        MUST(cuCtxSetCurrent(c[i % 2]));
        MUST(actor_launch(f[0], s[0]));
        MUST(actor_launch(f[1], s[1]));
        MUST(actor_launch((CUfunction)kernel, s[1]));
    }
    for (int d = 0; d < 2; d++) {
        MUST(cuCtxSetCurrent(c[1 - d]));
        actor_say("synchronise", cuStreamSynchronize(s[d]));
    }
    return 0;
}

/* Streams of a green context, used with and without it being current */
int actor_green(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 100);
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUcontext converted;
    CUstream s;
    unsigned groups = 1;
    actor_begin();
    CUfunction f = actor_function("greens");
    MUST(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    MUST(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 16));
    MUST(cuDevResourceGenerateDesc(&description, &part, 1));
    MUST(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MUST(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    for (long i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuCtxFromGreenCtx(&converted, green));
    MUST(cuCtxPushCurrent(converted));
    for (long i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuCtxPopCurrent(&converted));
    MUST(cuStreamDestroy(s));
    actor_say("destroy", cuGreenCtxDestroy(green));
    MUST(actor_launch(f, NULL));
    MUST(cuCtxSynchronize());
    return 0;
}

/* reset [ROUNDS [LAUNCHES]]: the primary context is reset with results not yet looked at */
int actor_reset(int argc, char **argv)
{
    long rounds = actor_number(argc, argv, 1, 30), n = actor_number(argc, argv, 2, 50);
    CUcontext first = NULL, c;
    MUST(cuInit(0));
    for (long r = 0; r < rounds; r++) {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        first = first ? first : c;
        MUST(cuCtxSetCurrent(c));
        CUfunction f = actor_function_in(c, "again");
        CUstream s = actor_stream();
        for (long i = 0; i < n; i++)
            MUST(actor_launch(f, i % 2 ? s : NULL));
        actor_say("reset", cuDevicePrimaryCtxReset(0));
        printf("same context: %d\n", c == first);
    }
    return 0;
}

/* recreate [ROUNDS [LAUNCHES]]: a context is destroyed, and another gets its address */
int actor_recreate(int argc, char **argv)
{
    long rounds = actor_number(argc, argv, 1, 30), n = actor_number(argc, argv, 2, 50);
    CUcontext first = NULL, c;
    MUST(cuInit(0));
    for (long r = 0; r < rounds; r++) {
        MUST(cuCtxCreate(&c, NULL, 0, 0));
        first = first ? first : c;
        CUfunction f = actor_function_in(c, "again");
        CUstream s = actor_stream();
        for (long i = 0; i < n; i++)
            MUST(actor_launch(f, i % 2 ? s : NULL));
        if (r % 2)
            actor_sleep_ms(1);
        actor_say("destroy", cuCtxDestroy(c));
        printf("same context: %d\n", c == first);
    }
    return 0;
}

/* The default stream and another one in turns, in a context of the first device, which then goes */
int actor_turns(int argc, char **argv)
{
    CUcontext c;
    MUST(cuInit(0));
    for (int device = 0; device < 2; device++) {
        long n = device ? 1 : actor_number(argc, argv, 1, 50);
        MUST(cuCtxCreate(&c, NULL, 0, device));
        CUfunction f = actor_function_in(c, device ? "on_one" : "on_zero");
        CUstream s;
        MUST(cuStreamCreate(&s, CU_STREAM_DEFAULT));
        for (long i = 0; i < n; i++) {
            MUST(actor_launch(f, s));
            MUST(actor_launch(f, NULL));
        }
        MUST(cuCtxSynchronize());
        MUST(cuCtxDestroy(c));
    }
    return 0;
}

/* The same handle stands for one kernel after the other */
int actor_unload(int argc, char **argv)
{
    long rounds = actor_number(argc, argv, 1, 40);
    CUfunction first = NULL;
    actor_begin();
    CUstream s = actor_stream();
    for (long r = 0; r < rounds; r++) {
        CUmodule m;
        CUfunction f;
        MUST(cuModuleLoadData(&m, "image"));
        MUST(cuModuleGetFunction(&f, m, r % 2 ? "odd" : "even"));
        first = first ? first : f;
        for (int i = 0; i < 10; i++)
            MUST(actor_launch(f, s));
        actor_say("unload", cuModuleUnload(m));
        printf("same function: %d\n", f == first);
    }
    return 0;
}

static atomic_int gate;

/* A stream is destroyed with work pending, and its handle comes back for another stream */
int actor_stream_gone(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 20);
    actor_begin();
    CUfunction gated = actor_function("gate"), f = actor_function("kernel");
    for (long r = 0; r < n; r++) {
        CUstream s = actor_stream();
        atomic_store(&gate, 0);
        MUST(actor_launch_with(gated, s, (uint64_t)(uintptr_t)&gate));
        for (int i = 0; i < 10; i++)
            MUST(actor_launch(f, s));
        actor_say("destroy", cuStreamDestroy(s));
        atomic_store(&gate, 1);
        actor_say("synchronise", cuCtxSynchronize());
    }
    return 0;
}

/* The program's own events are recorded, waited for and destroyed while work is pending */
int actor_events_gone(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 50);
    actor_begin();
    CUfunction gated = actor_function("gate"), f = actor_function("kernel");
    CUstream a = actor_stream(), b = actor_stream();
    for (long r = 0; r < n; r++) {
        CUevent e;
        atomic_store(&gate, 0);
        MUST(cuEventCreate(&e, r % 2 ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
        MUST(actor_launch_with(gated, a, (uint64_t)(uintptr_t)&gate));
        MUST(cuEventRecord(e, a));
        MUST(cuStreamWaitEvent(b, e, 0));
        for (int i = 0; i < 5; i++)
            MUST(actor_launch(f, b));
        printf("query %d\n", (int)cuEventQuery(e));
        atomic_store(&gate, 1);
        actor_say("synchronise", cuCtxSynchronize());
        actor_say("destroy", cuEventDestroy(e));
    }
    return 0;
}
