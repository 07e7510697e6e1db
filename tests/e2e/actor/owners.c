/* SPDX-License-Identifier: MIT */
/* Parts about who owns a context, a module or memory: references, green contexts, peers. */
#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void launches(CUfunction f, CUstream s, int n)
{
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f, s));
}

static void say_state(void)
{
    unsigned flags;
    int active;
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active: %d\n", active);
}

/* What cannot be ended is not: each refusal comes while some of the work waits behind a gate. */
int actor_refused(int argc, char **argv)
{
    static char junk[64];
    static atomic_int gate;
    (void)argc;
    (void)argv;
    CUcontext c = actor_begin();
    CUfunction f = actor_function("kept");
    CUstream s = actor_stream();
    CUfunction gated = actor_function("gate");
    for (int i = 0; i < 20; i++) {
        atomic_store(&gate, 0);
        launches(f, NULL, 10);
        MUST(actor_launch_with(gated, s, (uint64_t)(uintptr_t)&gate));
        launches(f, s, 10);
        actor_say("destroy primary", cuCtxDestroy(c));
        actor_say("reset", cuDevicePrimaryCtxReset(99));
        actor_say("release", cuDevicePrimaryCtxRelease(99));
        actor_say("unload", cuModuleUnload((CUmodule)(void *)junk));
        actor_say("destroy stream", cuStreamDestroy((CUstream)(void *)junk));
        actor_say("destroy event", cuEventDestroy((CUevent)(void *)junk));
        say_state();
        atomic_store(&gate, 1);
        MUST(cuStreamSynchronize(s));
    }
    MUST(cuCtxSynchronize());
    return 0;
}

/* The primary context lives for as long as the program holds it, and not longer. */
int actor_retained(int argc, char **argv)
{
    CUcontext c, again, first = NULL;
    long rounds = actor_number(argc, argv, 1, 20);
    MUST(cuInit(0));
    for (long r = 0; r < rounds; r++) {
        say_state();
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuDevicePrimaryCtxRetain(&again, 0));
        MUST(cuCtxSetCurrent(c));
        first = first ? first : c;
        CUfunction f = actor_function_in(c, "held");
        CUstream s = actor_stream();
        launches(f, s, 25);
        actor_say("release", cuDevicePrimaryCtxRelease(0));
        say_state();
        launches(f, s, 25);
        MUST(cuStreamSynchronize(s));
        actor_say("last release", cuDevicePrimaryCtxRelease(0));
        say_state();
        actor_say("one too many", cuDevicePrimaryCtxRelease(0));
        printf("same context: %d\n", c == first && c == again);
    }
    return 0;
}

/* The last release ends its modules, too: the same handle stands for one kernel after the other. */
int actor_released(int argc, char **argv)
{
    CUcontext c;
    CUfunction first = NULL;
    long rounds = actor_number(argc, argv, 1, 20);
    MUST(cuInit(0));
    for (long r = 0; r < rounds; r++) {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        CUfunction f = actor_function_in(c, r % 2 ? "odd" : "even");
        first = first ? first : f;
        launches(f, NULL, 10);
        MUST(cuCtxSynchronize());
        MUST(cuDevicePrimaryCtxRelease(0));
        printf("same kernel: %d\n", f == first);
    }
    return 0;
}

static void *release(void *after_ms)
{
    actor_sleep_ms((unsigned)(uintptr_t)after_ms);
    MUST(cuDevicePrimaryCtxRelease(0));
    return NULL;
}

/* Two threads give it up at once, results not yet looked at; whose release ends it is not known. */
int actor_released_together(int argc, char **argv)
{
    pthread_t thread[2];
    CUcontext c;
    (void)argc;
    (void)argv;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
    MUST(cuCtxSetCurrent(c));
    launches(actor_function("held"), actor_stream(), 25);
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, release, (void *)(10 * i));
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    actor_sleep_ms(100);
    say_state();
    return 0;
}

static CUgreenCtx make_green(void)
{
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green;
    unsigned groups = 1;
    MUST(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    MUST(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 16));
    MUST(cuDevResourceGenerateDesc(&description, &part, 1));
    MUST(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

/* Two green contexts at a time come and go beside the primary one, results not yet looked at. */
int actor_greens(int argc, char **argv)
{
    long rounds = actor_number(argc, argv, 1, 20);
    actor_begin();
    CUfunction f = actor_function("greens"), plain = actor_function("plain");
    CUstream beside = actor_stream();
    for (long r = 0; r < rounds; r++) {
        CUgreenCtx green[2];
        CUstream s[3];
        CUcontext converted;
        for (int i = 0; i < 2; i++) {
            green[i] = make_green();
            MUST(cuGreenCtxStreamCreate(&s[i], green[i], CU_STREAM_NON_BLOCKING, 0));
        }
        MUST(cuCtxFromGreenCtx(&converted, green[0]));
        MUST(cuCtxPushCurrent(converted));
        s[2] = actor_stream();
        for (int i = 0; i < 3; i++)
            launches(f, s[i], 10);
        MUST(cuCtxPopCurrent(&converted));
        launches(plain, beside, 10);
        for (int i = 0; i < 3; i++)
            MUST(cuStreamDestroy(s[i]));
        actor_say("destroy", cuGreenCtxDestroy(green[0]));
        actor_say("destroy", cuGreenCtxDestroy(green[1]));
        launches(plain, beside, 10);
    }
    MUST(cuCtxSynchronize());
    return 0;
}

/* A green context is the last that holds the primary one, results not yet looked at. */
int actor_green_last(int argc, char **argv)
{
    CUstream s;
    (void)argc;
    (void)argv;
    actor_begin();
    CUfunction f = actor_function("greens");
    CUgreenCtx green = make_green();
    MUST(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    launches(f, NULL, 10);
    launches(f, s, 10);
    actor_say("release", cuDevicePrimaryCtxRelease(0));
    say_state();
    actor_say("destroy", cuGreenCtxDestroy(green));
    say_state();
    actor_sleep_ms(100);
    return 0;
}

/* A kernel of a library has one handle for all devices, which another one gets afterwards. */
int actor_libraries(int argc, char **argv)
{
    long rounds = actor_number(argc, argv, 1, 40);
    CUcontext c[2];
    CUkernel first = NULL;
    MUST(cuInit(0));
    for (int d = 0; d < 2; d++)
        MUST(cuDevicePrimaryCtxRetain(&c[d], d));
    for (long r = 0; r < rounds; r++) {
        CUlibrary l;
        CUkernel k;
        MUST(cuCtxSetCurrent(c[0]));
        MUST(cuLibraryLoadData(&l, "image", NULL, NULL, 0, NULL, NULL, 0));
        MUST(cuLibraryGetKernel(&k, l, r % 2 ? "odd" : "even"));
        first = first ? first : k;
        for (int i = 0; i < 10; i++) {
            MUST(cuCtxSetCurrent(c[i % 2]));
            MUST(actor_launch((CUfunction)k, NULL));
        }
        actor_say("unload", cuLibraryUnload(l));
        printf("same kernel: %d\n", k == first);
    }
    return 0;
}

/* ---- peers ---- */

#define BYTES 1024

static struct {
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory;
} side[2];

/* Everything goes from one device to the other and back, with either one current. */
static void exchange(int from, int current)
{
    int to = 1 - from;
    CUDA_MEMCPY3D_PEER whole = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = side[from].memory,
                                .srcContext = side[from].context,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = side[to].memory,
                                .dstContext = side[to].context,
                                .WidthInBytes = BYTES,
                                .Height = 1,
                                .Depth = 1};
    MUST(cuCtxSetCurrent(side[current].context));
    MUST(cuMemcpyPeerAsync(side[to].memory, side[to].context, side[from].memory, side[from].context,
                           BYTES, side[from].stream));
    MUST(cuMemcpyPeerAsync(side[to].memory, side[to].context, side[from].memory, side[from].context,
                           BYTES, side[to].stream));
    MUST(cuMemcpyPeer(side[to].memory, side[to].context, side[from].memory, side[from].context,
                      BYTES));
    MUST(cuMemcpy3DPeerAsync(&whole, side[from].stream));
    MUST(cuMemcpyDtoDAsync(side[to].memory, side[from].memory, BYTES, side[from].stream));
}

/* peers [ROUNDS]: two devices, set-device and copies between them in turns */
int actor_peers(int argc, char **argv)
{
    long rounds = actor_number(argc, argv, 1, 50);
    char pattern[BYTES], back[BYTES];
    MUST(cuInit(0));
    for (int d = 0; d < 2; d++) {
        MUST(cuDevicePrimaryCtxRetain(&side[d].context, d));
        MUST(cuCtxSetCurrent(side[d].context));
        side[d].stream = actor_stream();
        MUST(cuMemAlloc(&side[d].memory, BYTES));
    }
    for (long r = 0; r < rounds; r++) {
        memset(pattern, (int)r + 1, BYTES);
        MUST(cuMemcpyHtoD(side[0].memory, pattern, BYTES));
        MUST(cuCtxSetCurrent(side[r % 2].context));
        if (r % 4 == 1)
            actor_say("enable", cuCtxEnablePeerAccess(side[0].context, 0));
        exchange(0, (int)r % 2);
        MUST(cuStreamSynchronize(side[0].stream));
        exchange(1, (int)r / 2 % 2);
        MUST(cuStreamSynchronize(side[1].stream));
        MUST(cuMemcpyDtoH(back, side[0].memory, BYTES));
        printf("round %ld: %d\n", r, memcmp(pattern, back, BYTES));
        MUST(cuCtxSetCurrent(side[r % 2].context));
        if (r % 4 == 3)
            actor_say("disable", cuCtxDisablePeerAccess(side[0].context));
    }
    return 0;
}
