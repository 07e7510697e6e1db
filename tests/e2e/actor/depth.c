/* SPDX-License-Identifier: MIT */
/* Parts that queue much in one stream. */
#include "actor.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST_STREAMS 8

static _Atomic uint64_t gate;

static void CUDA_CB wait_for_gate(void *unused)
{
    (void)unused;
    while (!atomic_load(&gate))
        actor_sleep_ms(1);
}

/* Of another interface, which lets a wait come before the signal. */
static void wait_for_semaphore(CUstream s)
{
    static CUexternalSemaphore semaphore;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = {.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC,
                                             .handle.nvSciSyncObj = (const void *)&gate};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p = {.params.fence.value = 1};
    if (!semaphore)
        MUST(cuImportExternalSemaphore(&semaphore, &d));
    MUST(cuWaitExternalSemaphoresAsync(&semaphore, &p, 1, s));
}

/* In another stream, which closes it for who waits for its event. */
static void wait_for_event(CUstream s, const char *kind)
{
    static CUstream other;
    static CUevent e;
    if (!e) {
        other = actor_stream_of(kind);
        MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    }
    MUST(cuLaunchHostFunc(other, wait_for_gate, NULL));
    MUST(cuEventRecord(e, other));
    MUST(cuStreamWaitEvent(s, e, 0));
}

static void close_gate(const char *how, CUstream s)
{
    atomic_store(&gate, 0);
    if (!strcmp(how, "value"))
        MUST(cuStreamWaitValue32(s, (CUdeviceptr)(uintptr_t)&gate, 1, CU_STREAM_WAIT_VALUE_GEQ));
    else if (!strcmp(how, "host"))
        MUST(cuLaunchHostFunc(s, wait_for_gate, NULL));
    else if (!strcmp(how, "semaphore"))
        wait_for_semaphore(s);
    else if (!strcmp(how, "event"))
        wait_for_event(s, "created");
    else if (!strcmp(how, "event of default"))
        wait_for_event(s, "legacy");
    else
        MUST(actor_launch_with(actor_function("gate"), s, (uint64_t)(uintptr_t)&gate));
}

/*
 * depth kernel|value|host|semaphore|event|"event of default" [QUEUED [BEFORE [ROUNDS [done|running
 * [STREAM]]]]]: so much is queued behind a gate that the program opens when all is queued; what
 * came before is done when the gate is, or is not
 */
int actor_depth(int argc, char **argv)
{
    long queued = actor_number(argc, argv, 2, 900), before = actor_number(argc, argv, 3, 0);
    actor_begin();
    CUfunction f = actor_function("queued");
    CUstream s = actor_stream_of(actor_word(argc, argv, 6, "created"));
    for (long i = 0; i < before; i++)
        MUST(actor_launch(f, s));
    if (strcmp(actor_word(argc, argv, 5, "done"), "running"))
        MUST(cuStreamSynchronize(s));
    for (long r = actor_number(argc, argv, 4, 1); r--;) {
        close_gate(actor_word(argc, argv, 1, "kernel"), s);
        for (long i = 0; i < queued; i++)
            MUST(actor_launch(f, s));
        atomic_store(&gate, 1);
        actor_say("synchronise", cuStreamSynchronize(s));
    }
    return 0;
}

/*
 * ahead [LAUNCHES [NS [STREAMS]]]: nothing but launches, of kernels that take so long, in so many
 * streams in turn; how far the device is behind is said by CUDASIM_LATENCY_US or CUDASIM_REAL_TIME,
 * and how fast the host is by CUDASIM_HOST_NS
 */
int actor_ahead(int argc, char **argv)
{
    long launches = actor_number(argc, argv, 1, 20000);
    uint64_t ns = (uint64_t)actor_number(argc, argv, 2, 1500);
    long streams = actor_number(argc, argv, 3, 1);
    CUstream stream[MOST_STREAMS];
    if (streams < 1 || streams > MOST_STREAMS)
        return 2;
    actor_begin();
    CUfunction f = actor_function("spin");
    for (long i = 0; i < streams; i++)
        stream[i] = actor_stream();
    for (long i = 0; i < launches; i++)
        MUST(actor_launch_with(f, stream[i % streams], ns));
    for (long i = 0; i < streams; i++)
        actor_say("synchronise", cuStreamSynchronize(stream[i]));
    return 0;
}
