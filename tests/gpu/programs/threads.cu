/* SPDX-License-Identifier: MIT */
/*
 * threads: eight threads with four streams each, all launching, copying and setting at once; four
 * more streams are used by all threads together.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <pthread.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const int THREADS = 8, STREAMS = 4, ROUNDS = 400, ELEMENTS = 4096;
static cudaStream_t shared_streams[STREAMS];
static int *shared_data;

template <int step> __global__ void add(int *data)
{
    atomicAdd(data + blockIdx.x * blockDim.x + threadIdx.x, step);
}

static void one_round(int round, cudaStream_t *streams, int *data, int *host)
{
    for (int i = 0; i < STREAMS; i++) {
        add<1><<<ELEMENTS / 256, 256, 0, streams[i]>>>(data + i * ELEMENTS);
        add<2><<<ELEMENTS / 256, 256, 0, shared_streams[i]>>>(shared_data);
        OK(cudaMemcpyAsync(host + i * ELEMENTS, data + i * ELEMENTS, 512, cudaMemcpyDeviceToHost,
                           streams[i]));
        if (round % 4 == 0)
            OK(cudaMemsetAsync(data + i * ELEMENTS, 0, 256, streams[i]));
    }
}

static void *work(void *)
{
    cudaStream_t streams[STREAMS];
    int *data, *host;

    OK(cudaMalloc(&data, STREAMS * ELEMENTS * sizeof(int)));
    OK(cudaMemset(data, 0, STREAMS * ELEMENTS * sizeof(int)));
    OK(cudaDeviceSynchronize());
    OK(cudaHostAlloc(&host, STREAMS * ELEMENTS * sizeof(int), 0));
    for (int i = 0; i < STREAMS; i++)
        OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int round = 0; round < ROUNDS; round++)
        one_round(round, streams, data, host);
    for (int i = 0; i < STREAMS; i++) {
        OK(cudaStreamSynchronize(streams[i]));
        OK(cudaStreamDestroy(streams[i]));
    }
    OK(cudaFree(data));
    OK(cudaFreeHost(host));
    return NULL;
}

int main()
{
    pthread_t threads[THREADS];
    int sum;

    OK(cudaMalloc(&shared_data, ELEMENTS * sizeof(int)));
    OK(cudaMemset(shared_data, 0, ELEMENTS * sizeof(int)));
    for (int i = 0; i < STREAMS; i++)
        OK(cudaStreamCreateWithFlags(&shared_streams[i], cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&sum, shared_data + 17, sizeof(sum), cudaMemcpyDeviceToHost));
    printf("threads: %d of %d\n", sum, 2 * THREADS * STREAMS * ROUNDS);
    return 0;
}
