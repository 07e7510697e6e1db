/* SPDX-License-Identifier: MIT */
/* Parts that queue much in one stream. */
#include "actor.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic uint32_t gate;

static void CUDA_CB wait_for_gate(void *unused)
{
    (void)unused;
    while (!atomic_load(&gate))
        actor_sleep_ms(1);
}

/* The simulated driver takes a launch in a twentieth of the time that a real one needs. */
static void launch_in_real_time(CUfunction f, CUstream s, unsigned ns)
{
    uint64_t end_ns = actor_now_ns() + ns;
    MUST(actor_launch(f, s));
    while (actor_now_ns() < end_ns)
        ;
}

static void close_gate(const char *how, CUstream s)
{
    atomic_store(&gate, 0);
    if (!strcmp(how, "value"))
        MUST(cuStreamWaitValue32(s, (CUdeviceptr)(uintptr_t)&gate, 1, CU_STREAM_WAIT_VALUE_GEQ));
    else if (!strcmp(how, "host"))
        MUST(cuLaunchHostFunc(s, wait_for_gate, NULL));
    else
        MUST(actor_launch_with(actor_function("gate"), s, (uint64_t)(uintptr_t)&gate));
}

/*
 * depth kernel|value|host [QUEUED [BEFORE [ROUNDS]]]: so much is queued behind a gate that the
 * program opens when all is queued
 */
int actor_depth(int argc, char **argv)
{
    long queued = actor_number(argc, argv, 2, 900), before = actor_number(argc, argv, 3, 0);
    actor_begin();
    CUfunction f = actor_function("queued");
    CUstream s = actor_stream();
    for (long i = 0; i < before; i++)
        launch_in_real_time(f, s, 3000);
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

/* ahead [LAUNCHES]: nothing but launches; the device is behind by CUDASIM_LATENCY_US */
int actor_ahead(int argc, char **argv)
{
    actor_begin();
    CUfunction f = actor_function("bound");
    CUstream s = actor_stream();
    for (long i = actor_number(argc, argv, 1, 20000); i--;)
        launch_in_real_time(f, s, 5000);
    actor_say("synchronise", cuStreamSynchronize(s));
    return 0;
}
