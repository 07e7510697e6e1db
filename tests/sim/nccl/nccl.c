/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libnccl.so.2: one process plays one rank of a communicator, and nothing is moved.
 * A call, or the ncclGroupEnd that closes the outermost group, launches for each communicator one
 * kernel in the stream that it was given first: 1 us, and 1 ns for every 64 bytes that its
 * operations have. It fails as NCCL does on what is no communicator. ncclBcast calls ncclBroadcast
 * through the global scope, as NCCL's own may. With SIM_NCCL_OLD there is no ncclCommCount.
 *
 * SIM_NCCL_JOB=FILE makes ranks of several processes meet there: a kernel takes until each rank of
 * the communicator, of which a process has one, has launched as many. With CUDASIM_HOST_CLOCK its
 * time is known when it is launched, as other kernels' is: a call returns when each rank has said
 * when its kernel will begin.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cudasim.h"
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
#define JOB_NUMBERS 4 /* no rank is further ahead of another */

struct ncclComm {
    unsigned magic;
    int ranks, rank;
    CUfunction kernel;
    struct job *job; /* NULL: nobody is waited for */
    bool has_clock;
    uint64_t launched;
};

/* In the file that the ranks share. */
struct job {
    _Atomic uint64_t arrived[JOB_RANKS];
    _Atomic uint64_t begins_ns[JOB_RANKS][JOB_NUMBERS]; /* with CUDASIM_HOST_CLOCK */
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
    const char *clock = getenv("CUDASIM_HOST_CLOCK");
    (*comm)->has_clock = clock && atoi(clock);
    const char *kernel = !(*comm)->job        ? "spinDevKernel"
                         : (*comm)->has_clock ? "spin_ncclDevKernel_AllReduce"
                                              : "gateDevKernel";
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

/* When the stream comes to a kernel that is launched now. */
static uint64_t begin_of(cudaStream_t stream)
{
    struct timespec t;
    cudasim_end_fn *end = (cudasim_end_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_stream_end");
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, end_ns = end(stream);
    return end_ns > now_ns ? end_ns : now_ns;
}

/* Until the last rank's begins. */
static uint64_t wait_ns(struct ncclComm *comm, cudaStream_t stream)
{
    uint64_t number = ++comm->launched, own_ns = begin_of(stream), last_ns = own_ns;
    atomic_store(&comm->job->begins_ns[comm->rank][number % JOB_NUMBERS], own_ns);
    atomic_store(&comm->job->arrived[comm->rank], number);
    for (int i = 0; i < comm->ranks; i++) {
        while (atomic_load(&comm->job->arrived[i]) < number)
            usleep(100);
        uint64_t ns = atomic_load(&comm->job->begins_ns[i][number % JOB_NUMBERS]);
        last_ns = ns > last_ns ? ns : last_ns;
    }
    return last_ns - own_ns;
}

static uint64_t argument_of(const struct launch *l)
{
    uint64_t ns = 1000 + l->bytes / 64;
    if (!l->comm->job)
        return ns;
    return l->comm->has_clock ? ns + wait_ns(l->comm, l->stream) : begin_meeting(l->comm);
}

static bool launch(const struct launch *l)
{
    uint64_t argument = argument_of(l);
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
