/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libnccl.so.2: one process plays one rank of a communicator, and nothing is moved.
 * A call, or the ncclGroupEnd that closes the outermost group, launches for each communicator one
 * kernel in the stream that it was given first: 1 us, and 1 ns for every 64 bytes that its
 * operations have. It fails as NCCL does on what is no communicator. ncclBcast calls ncclBroadcast
 * through the global scope, as NCCL's own may. With SIM_NCCL_OLD there is no ncclCommCount.
 *
 * SIM_NCCL_JOB=FILE makes ranks of several processes meet there: a kernel takes until each rank of
 * the communicator, of which a process has one, has launched as many.
 */
#include <cuda.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
#define JOB_RANKS 64

struct ncclComm {
    unsigned magic;
    int ranks, rank;
    CUfunction kernel;
    struct job *job; /* NULL: nobody is waited for */
    uint64_t launched;
};

/* In the file that the ranks share. */
struct job {
    _Atomic uint64_t arrived[JOB_RANKS];
};

struct meeting {
    struct ncclComm *comm;
    uint64_t number;
    atomic_int is_over;
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

static struct job *open_job(int ranks)
{
    const char *name = getenv("SIM_NCCL_JOB");
    int fd = name && ranks <= JOB_RANKS ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    void *job = MAP_FAILED;
    if (fd >= 0 && !ftruncate(fd, sizeof(struct job)))
        job = mmap(NULL, sizeof(struct job), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return job == MAP_FAILED ? NULL : job;
}

EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    CUmodule module;
    (void)id;
    if (rank >= ranks || cuModuleLoadData(&module, "image") != CUDA_SUCCESS)
        return SIM_NCCL_INVALID_ARGUMENT;
    *comm = malloc(sizeof(**comm));
    **comm =
        (struct ncclComm){.magic = MAGIC, .ranks = ranks, .rank = rank, .job = open_job(ranks)};
    const char *kernel = (*comm)->job ? "gateDevKernel" : "spinDevKernel";
    return cuModuleGetFunction(&(*comm)->kernel, module, kernel) == CUDA_SUCCESS
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

EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    *rank = comm->rank;
    return ncclSuccess;
}

static void *meet(void *argument)
{
    struct meeting *m = argument;
    for (int i = 0; i < m->comm->ranks; i++)
        while (atomic_load(&m->comm->job->arrived[i]) < m->number)
            usleep(200);
    atomic_store(&m->is_over, 1);
    return NULL; /* the kernel may still look at it */
}

/* The address for which a kernel of the communicator waits. */
static uint64_t begin_meeting(struct ncclComm *comm)
{
    pthread_t t;
    struct meeting *m = calloc(1, sizeof(*m));
    *m = (struct meeting){.comm = comm, .number = ++comm->launched};
    atomic_fetch_add(&comm->job->arrived[comm->rank], 1);
    if (pthread_create(&t, NULL, meet, m))
        abort();
    pthread_detach(t);
    return (uint64_t)(uintptr_t)&m->is_over;
}

static bool launch(const struct launch *l)
{
    uint64_t argument = l->comm->job ? begin_meeting(l->comm) : 1000 + l->bytes / 64;
    void *arguments[] = {&argument};
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
