/* SPDX-License-Identifier: MIT */
/* nccl: collectives of a communicator of every GPU there is (one will do). */
#include "library.h"
#include <nccl.h>

#define COUNT ((size_t)1 << 20)
#define MOST_GPUS 8

struct gpu {
    float *in, *out;
    cudaStream_t stream;
};

static void reduce_all(const ncclComm_t *comms, struct gpu *gpus, int n)
{
    for (int repeat = 0; repeat < 10; repeat++) {
        OK(ncclGroupStart());
        for (int i = 0; i < n; i++)
            OK(ncclAllReduce(gpus[i].in, gpus[i].out, COUNT, ncclFloat, ncclSum, comms[i],
                             gpus[i].stream));
        OK(ncclGroupEnd());
        OK(ncclGroupStart());
        for (int i = 0; i < n; i++)
            OK(ncclBroadcast(gpus[i].in, gpus[i].out, COUNT / 2, ncclFloat, 0, comms[i],
                             gpus[i].stream));
        OK(ncclGroupEnd());
    }
}

int main(void)
{
    ncclComm_t comms[MOST_GPUS];
    struct gpu gpus[MOST_GPUS];
    int n = 0;

    OK(cudaGetDeviceCount(&n));
    n = n > MOST_GPUS ? MOST_GPUS : n;
    for (int i = 0; i < n; i++) {
        OK(cudaSetDevice(i));
        gpus[i].in = library_floats(COUNT);
        gpus[i].out = library_floats(COUNT);
        OK(cudaStreamCreateWithFlags(&gpus[i].stream, cudaStreamNonBlocking));
    }
    OK(ncclCommInitAll(comms, n, NULL));
    reduce_all(comms, gpus, n);
    for (int i = 0; i < n; i++) {
        OK(cudaSetDevice(i));
        OK(cudaStreamSynchronize(gpus[i].stream));
        library_print("nccl", gpus[i].out, COUNT);
        OK(ncclCommDestroy(comms[i]));
    }
    return 0;
}
