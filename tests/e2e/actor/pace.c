/* SPDX-License-Identifier: MIT */
/* A program whose pace is the host's, in ways that advice should tell apart. */
#include "actor.h"

#include <stdio.h>
#include <string.h>

/* Like work of the program's own between launches; a sleep could be any length. */
static void work_for(uint64_t us)
{
    uint64_t end_ns = actor_now_ns() + us * 1000;
    while (actor_now_ns() < end_ns)
        ;
}

#define KERNELS 200
#define COPY_BYTES 300000

/* Kernels in two streams and copies in a third one, all begun at once. */
static int side_by_side(CUfunction f, long n, uint64_t kernel_ns)
{
    CUstream s[] = {actor_stream(), actor_stream(), actor_stream()};
    CUdeviceptr p;
    void *host;
    MUST(cuMemAlloc(&p, COPY_BYTES));
    MUST(cuMemHostAlloc(&host, COPY_BYTES, 0));
    for (long i = 0; i < n; i++) {
        MUST(actor_launch_with(f, s[0], kernel_ns));
        MUST(actor_launch_with(f, s[1], 3 * kernel_ns));
        MUST(cuMemcpyHtoDAsync(p, host, COPY_BYTES, s[2]));
        MUST(cuMemcpyDtoHAsync(host, p, COPY_BYTES, s[2]));
    }
    for (int i = 0; i < 3; i++)
        MUST(cuStreamSynchronize(s[i]));
    return 0;
}

/*
 * pace launches|kernels|waits|beside [LAUNCHES [KERNEL_NS [WORK_US]]]: one after the other, each
 * waited for, or side by side; with work of the host's own after each. kernels: as launches, of 200
 * kernels in turn
 */
int actor_pace(int argc, char **argv)
{
    const char *how = actor_word(argc, argv, 1, "launches");
    long n = actor_number(argc, argv, 2, 1000);
    uint64_t kernel_ns = (uint64_t)actor_number(argc, argv, 3, 1000);
    uint64_t work_us = (uint64_t)actor_number(argc, argv, 4, 0);
    actor_begin();
    CUfunction f[KERNELS];
    long kernels = strcmp(how, "kernels") ? 1 : KERNELS;
    for (long i = 0; i < kernels; i++) {
        char name[32];
        snprintf(name, sizeof(name), i ? "spin%ld" : "spin", i);
        f[i] = actor_function(name);
    }
    if (!strcmp(how, "beside"))
        return side_by_side(f[0], n, kernel_ns);
    CUstream s = actor_stream();
    for (long i = 0; i < n; i++) {
        MUST(actor_launch_with(f[i % kernels], s, kernel_ns));
        if (!strcmp(how, "waits"))
            MUST(cuStreamSynchronize(s));
        work_for(work_us);
    }
    MUST(cuStreamSynchronize(s));
    return 0;
}
