/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libnccl.so.2: one process plays one rank of a communicator, and nothing is moved.
 * A call, or the ncclGroupEnd that closes the outermost group, launches for each communicator one
 * kernel in the stream that it was given first: 1 us, and 1 ns for every 64 bytes that its
 * operations have. It fails as NCCL does on what is no communicator. ncclBcast calls ncclBroadcast
 * through the global scope, as NCCL's own may. With SIM_NCCL_OLD there is no ncclCommCount.
 */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "nccl/sim_nccl.h"

/* NCCL marks its calls. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define PUSH(name) nvtxRangePushA(name)
#define POP() nvtxRangePop()
#else
#define PUSH(name) (void)0
#define POP() (void)0
#endif

#define MAGIC 0x6c63636e
#define COMMS 8 /* in one group */

struct ncclComm {
    unsigned magic;
    int ranks;
    CUfunction kernel;
};

struct launch {
    struct ncclComm *comm;
    cudaStream_t stream;
    uint64_t bytes;
};

static __thread struct launch queued[COMMS];
static __thread int queue, depth;

#define EXPORT __attribute__((visibility("default")))

EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    *id = (ncclUniqueId){{0}};
    return ncclSuccess;
}

EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    CUmodule module;
    (void)id;
    if (rank >= ranks || cuModuleLoadData(&module, "image") != CUDA_SUCCESS)
        return SIM_NCCL_INVALID_ARGUMENT;
    *comm = malloc(sizeof(**comm));
    **comm = (struct ncclComm){.magic = MAGIC, .ranks = ranks};
    return cuModuleGetFunction(&(*comm)->kernel, module, "spinDevKernel") == CUDA_SUCCESS
               ? ncclSuccess
               : ncclInternalError;
}

EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    comm->magic = 0;
    free(comm);
    return ncclSuccess;
}

#ifndef SIM_NCCL_OLD
EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    PUSH("ncclCommCount");
    *count = comm->ranks;
    POP();
    return ncclSuccess;
}
#endif

static bool launch(const struct launch *l)
{
    uint64_t duration_ns = 1000 + l->bytes / 64;
    void *arguments[] = {&duration_ns};
    return cuLaunchKernel(l->comm->kernel, 1, 1, 1, 32, 1, 1, 0, (CUstream)l->stream, arguments,
                          NULL) == CUDA_SUCCESS;
}

static ncclResult_t launch_all(void)
{
    bool ok = true;
    for (int i = 0; i < queue; i++)
        ok = launch(&queued[i]) && ok;
    queue = 0;
    return ok ? ncclSuccess : SIM_NCCL_UNHANDLED_CUDA_ERROR;
}

static ncclResult_t add(ncclComm_t comm, uint64_t bytes, cudaStream_t stream)
{
    int i = 0;
    if (!comm || comm->magic != MAGIC)
        return SIM_NCCL_INVALID_ARGUMENT;
    while (i < queue && queued[i].comm != comm)
        i++;
    if (i == queue)
        queued[queue++] = (struct launch){comm, stream, 0};
    queued[i].bytes += bytes;
    return depth ? ncclSuccess : launch_all();
}

static uint64_t bytes_of(size_t count, ncclDataType_t type)
{
    static const int bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return count * (uint64_t)bytes[type];
}

EXPORT ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

EXPORT ncclResult_t ncclGroupEnd(void)
{
    return --depth ? ncclSuccess : launch_all();
}

EXPORT ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)from, (void)to, (void)op;
    PUSH("ncclAllReduce");
    ncclResult_t r = add(comm, bytes_of(count, type), stream);
    POP();
    return r;
}

EXPORT ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type,
                                  int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)from, (void)to, (void)root;
    return add(comm, bytes_of(count, type), stream);
}

EXPORT ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root,
                              ncclComm_t comm, cudaStream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

EXPORT ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)from, (void)to, (void)op, (void)root;
    return add(comm, bytes_of(count, type), stream);
}

EXPORT ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                                  ncclComm_t comm, cudaStream_t stream)
{
    (void)from, (void)to;
    return add(comm, comm ? bytes_of(count, type) * (uint64_t)comm->ranks : 0, stream);
}

EXPORT ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                                      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    (void)from, (void)to, (void)op;
    return add(comm, comm ? bytes_of(count, type) * (uint64_t)comm->ranks : 0, stream);
}

/* What is received comes while something is sent. */
EXPORT ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                             ncclComm_t comm, cudaStream_t stream)
{
    (void)from, (void)peer;
    return add(comm, bytes_of(count, type), stream);
}

EXPORT ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                             cudaStream_t stream)
{
    (void)to, (void)count, (void)type, (void)peer;
    return add(comm, 0, stream);
}
