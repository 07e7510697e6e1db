/* SPDX-License-Identifier: MIT */
/*
 * One rank of a job that makes steps, each of a copy to the device, 22 kernels and an AllReduce,
 * until its time is over:
 *
 *     stepper SECONDS KERNELS_PERCENT LATE_US
 *
 * Its kernels take that much of their usual time, and its host does nothing for so long before a
 * step. SIM_NCCL_JOB, RANK and WORLD_SIZE as for a job.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "must.h"
#include "nccl/sim_nccl.h"

#define COPY_BYTES 2200000
#define LAYERS 20
#define LAYER_NS 3000000
#define LOSS_NS 5000000

static CUmodule module;
static CUstream stream;
static uint64_t percent;
static char batch[COPY_BYTES];

static void launch(const char *name, uint64_t ns)
{
    CUfunction f;
    uint64_t argument = ns * percent / 100;
    void *arguments[] = {&argument};
    MUST(cuModuleGetFunction(&f, module, name));
    MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
}

static void step(CUdeviceptr to, ncclComm_t comm)
{
    MUST(cuMemcpyHtoDAsync(to, batch, sizeof(batch), stream));
    for (int i = 0; i < LAYERS; i++)
        launch("spinLayer", LAYER_NS);
    launch("spinLoss", LOSS_NS);
    MUST(ncclAllReduce(NULL, NULL, 1 << 20, ncclFloat, ncclSum, comm, (cudaStream_t)stream));
    launch("spinUpdate", LAYER_NS);
    MUST(cuStreamSynchronize(stream));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    CUcontext c;
    CUdeviceptr to;
    ncclUniqueId id;
    ncclComm_t comm;
    if (argc != 4)
        return 2;
    double end = now() + atof(argv[1]);
    percent = (uint64_t)atoi(argv[2]);
    useconds_t late_us = (useconds_t)atoi(argv[3]);
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&c, 0));
    MUST(cuCtxSetCurrent(c));
    MUST(cuModuleLoadData(&module, "image"));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&to, sizeof(batch)));
    MUST(ncclGetUniqueId(&id));
    MUST(ncclCommInitRank(&comm, atoi(getenv("WORLD_SIZE")), id, atoi(getenv("RANK"))));
    while (now() < end) {
        if (late_us)
            usleep(late_us);
        step(to, comm);
    }
    _exit(0); /* the others may wait for it */
}
