/* SPDX-License-Identifier: MIT */
/* Work of many streams that runs side by side, in ways in which programs have it. */
#include "actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MOST 128
#define COPY_BYTES 300000

struct lane {
    CUstream stream;
    CUevent join;
    CUdeviceptr device;
    void *host;
};

struct pattern {
    struct lane lane[STREAMS_MOST];
    long lanes;
    CUfunction kernel;
    uint64_t ns;
    CUstream main;
    CUevent fork;
};

static void launch(struct pattern *p, const struct lane *l)
{
    MUST(actor_launch_with(p->kernel, l->stream, p->ns));
}

static void turns(struct pattern *p)
{
    for (long i = 0; i < p->lanes; i++)
        launch(p, &p->lane[i]);
}

static void fork_join(struct pattern *p)
{
    MUST(cuEventRecord(p->fork, p->main));
    for (long i = 0; i < p->lanes; i++) {
        struct lane *l = &p->lane[i];
        MUST(cuStreamWaitEvent(l->stream, p->fork, 0));
        launch(p, l);
        MUST(cuEventRecord(l->join, l->stream));
        MUST(cuStreamWaitEvent(p->main, l->join, 0));
    }
}

static void pipeline(struct pattern *p)
{
    for (long i = 0; i < p->lanes; i++) {
        struct lane *l = &p->lane[i];
        MUST(cuMemcpyHtoDAsync(l->device, l->host, COPY_BYTES, l->stream));
        launch(p, l);
        MUST(cuMemcpyDtoHAsync(l->host, l->device, COPY_BYTES, l->stream));
    }
}

static void begin_lane(struct lane *l)
{
    l->stream = actor_stream();
    MUST(cuEventCreate(&l->join, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&l->device, COPY_BYTES));
    MUST(cuMemHostAlloc(&l->host, COPY_BYTES, 0));
}

/* overlap turns|fork-join|pipeline STREAMS ROUNDS KERNEL_NS: prints the microseconds it took */
int actor_overlap(int argc, char **argv)
{
    static struct pattern p;
    const char *how = actor_word(argc, argv, 1, "turns");
    long rounds = actor_number(argc, argv, 3, 10);
    void (*round)(struct pattern *) = !strcmp(how, "fork-join")  ? fork_join
                                      : !strcmp(how, "pipeline") ? pipeline
                                                                 : turns;
    p.lanes = actor_number(argc, argv, 2, 16);
    p.ns = (uint64_t)actor_number(argc, argv, 4, 2000000);
    if (p.lanes > STREAMS_MOST)
        return 2;
    actor_begin();
    p.kernel = actor_function("spin");
    p.main = actor_stream();
    MUST(cuEventCreate(&p.fork, CU_EVENT_DISABLE_TIMING));
    for (long i = 0; i < p.lanes; i++)
        begin_lane(&p.lane[i]);
    MUST(actor_launch_with(p.kernel, p.main, 1000));
    MUST(cuCtxSynchronize());
    uint64_t begun_ns = actor_now_ns();
    for (long i = 0; i < rounds; i++)
        round(&p);
    MUST(cuCtxSynchronize());
    printf("%llu\n", (unsigned long long)(actor_now_ns() - begun_ns) / 1000);
    return 0;
}
