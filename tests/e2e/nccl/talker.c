/* SPDX-License-Identifier: MIT */
/*
 * A program that uses NCCL: linked with it, or with LATE by dlopen and dlsym, as some frameworks
 * do. It plays one part; what it prints is the same with and without cutrace.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "nccl/sim_nccl.h"

#define RANKS 4
#define MIB ((size_t)1 << 20)

static struct {
#define X(fn, parameters) ncclResult_t(*fn) parameters;
    SIM_NCCL_FUNCTIONS(X)
#undef X
} nccl;

#ifdef LATE
static void find_nccl(void)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library || dlsym(RTLD_DEFAULT, "ncclAllReduce")) {
        fprintf(stderr, "%s\n", library ? "found where it is not" : dlerror());
        exit(1);
    }
#define X(fn, parameters) nccl.fn = (ncclResult_t(*) parameters)dlsym(library, #fn);
    SIM_NCCL_FUNCTIONS(X)
#undef X
}
#else
static void find_nccl(void)
{
#define X(fn, parameters) nccl.fn = fn;
    SIM_NCCL_FUNCTIONS(X)
#undef X
}
#endif

static ncclComm_t comm, other;
static CUstream one, two;

static ncclComm_t make_comm(int ranks)
{
    ncclUniqueId id;
    ncclComm_t c;
    MUST(nccl.ncclGetUniqueId(&id));
    MUST(nccl.ncclCommInitRank(&c, ranks, id, 0));
    return c;
}

static void reduce(size_t bytes, ncclComm_t c, CUstream s)
{
    MUST(nccl.ncclAllReduce(NULL, NULL, bytes / 4, ncclFloat, ncclSum, c, s));
}

/* Each operation by itself. */
static void each(void)
{
    for (int i = 0; i < 10; i++)
        reduce(MIB, comm, one);
    reduce(16 * MIB, comm, one);
    for (int i = 0; i < 3; i++)
        MUST(nccl.ncclAllGather(NULL, NULL, MIB / 4, ncclBfloat16, comm, one));
    MUST(nccl.ncclReduceScatter(NULL, NULL, MIB, ncclInt8, ncclSum, comm, one));
    MUST(nccl.ncclBroadcast(NULL, NULL, MIB, ncclInt8, 0, comm, one));
    MUST(nccl.ncclBcast(NULL, MIB, ncclInt8, 0, comm, one));
    MUST(nccl.ncclReduce(NULL, NULL, MIB, ncclInt8, ncclSum, 0, comm, NULL));
    MUST(nccl.ncclSend(NULL, MIB, ncclInt8, 1, comm, one));
    MUST(nccl.ncclRecv(NULL, MIB, ncclInt8, 1, comm, one));
}

static void all_to_all(bool is_even)
{
    MUST(nccl.ncclGroupStart());
    for (int i = 0; i < RANKS; i++) {
        MUST(nccl.ncclSend(NULL, MIB / (is_even || i ? 1 : 2), ncclInt8, i, comm, one));
        MUST(nccl.ncclRecv(NULL, MIB, ncclInt8, i, comm, one));
    }
    MUST(nccl.ncclGroupEnd());
}

static void groups(void)
{
    MUST(nccl.ncclGroupStart()); /* one kernel for three */
    reduce(MIB, comm, one);
    MUST(nccl.ncclGroupStart());
    reduce(2 * MIB, comm, two);
    MUST(nccl.ncclGroupEnd());
    MUST(nccl.ncclBroadcast(NULL, NULL, MIB, ncclInt8, 0, comm, one));
    MUST(nccl.ncclGroupEnd());
    all_to_all(true);
    all_to_all(false);
    MUST(nccl.ncclGroupStart());
    MUST(nccl.ncclGroupEnd());
    MUST(nccl.ncclGroupStart()); /* a ring */
    MUST(nccl.ncclSend(NULL, MIB, ncclInt8, 1, comm, one));
    MUST(nccl.ncclRecv(NULL, MIB, ncclInt8, 3, comm, one));
    MUST(nccl.ncclGroupEnd());
}

/* Two communicators in two streams, and then in one. */
static void comms(void)
{
    for (int i = 0; i < 2; i++) {
        MUST(nccl.ncclGroupStart());
        reduce(MIB, comm, one);
        reduce(MIB, other, i ? one : two);
        MUST(nccl.ncclGroupEnd());
    }
}

static void captured(void)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    reduce(MIB, comm, one);
    reduce(MIB, comm, one);
    MUST(cuStreamEndCapture(one, &graph));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        MUST(cuGraphLaunch(exec, one));
    reduce(MIB, comm, one);
    MUST(cuGraphDestroy(graph));
    MUST(cuStreamSynchronize(one));
    MUST(cuGraphExecDestroy(exec));
}

static void failures(void)
{
    errno = 77;
    printf("%d", (int)nccl.ncclAllReduce(NULL, NULL, 1, ncclFloat, ncclSum, NULL, one));
    MUST(nccl.ncclGroupStart());
    printf(" %d", (int)nccl.ncclBroadcast(NULL, NULL, 1, ncclFloat, 0, NULL, one));
    printf(" %d", (int)nccl.ncclGroupEnd());
    reduce(MIB, comm, one);
    printf(" %d\n", errno);
}

static const struct {
    const char *name;
    void (*play)(void);
} parts[] = {{"each", each},
             {"groups", groups},
             {"comms", comms},
             {"captured", captured},
             {"failures", failures}};

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    find_nccl();
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    comm = make_comm(RANKS);
    other = make_comm(2);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (argc > 1 && !strcmp(argv[1], parts[i].name))
            parts[i].play();
    MUST(cuCtxSynchronize());
    MUST(nccl.ncclCommDestroy(comm));
    MUST(nccl.ncclCommDestroy(other));
    MUST(cuStreamDestroy_v2(one));
    MUST(cuStreamDestroy_v2(two));
    puts("done");
    return 0;
}
