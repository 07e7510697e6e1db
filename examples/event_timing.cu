/* SPDX-License-Identifier: MIT */
/*
 * event_timing: the program's own events around one kernel, around five, and in another stream.
 *
 * A pair of events costs time on the GPU, so around one short kernel they mostly measure
 * themselves; around five the share is smaller. The pair in another stream does not enclose the
 * kernels at all: a stream orders only its own work.
 */
#include "example.h"

#define ELEMENTS (1u << 20)
#define THREADS 256

KERNEL(scale, float *data, float factor, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        data[i] *= factor;
}

struct setting {
    float *data;
    cudaStream_t work, other;
    cudaEvent_t start, stop;
};

static void launch(struct setting *s, int kernels)
{
    for (int i = 0; i < kernels; i++)
        LAUNCH(scale, example_dim(example_blocks(ELEMENTS, THREADS), 1), example_dim(THREADS, 1), 0,
               s->work, s->data, 2.0f, ELEMENTS);
}

/* Kernels go to the working stream, the events to `events`. */
static float bracket_ms(struct setting *s, int kernels, cudaStream_t events)
{
    float ms = 0;

    CHECK(cudaEventRecord(s->start, events));
    launch(s, kernels);
    CHECK(cudaEventRecord(s->stop, events));
    CHECK(cudaStreamSynchronize(s->work));
    CHECK(cudaEventSynchronize(s->stop));
    CHECK(cudaEventElapsedTime(&ms, s->start, s->stop));
    return ms;
}

static int correct(const float *data, float expected)
{
    for (unsigned int i = 0; i < ELEMENTS; i++)
        if (data[i] != expected)
            return 0;
    return 1;
}

static int check(struct setting *s, int doublings)
{
    float *host = (float *)example_malloc(ELEMENTS * sizeof(float));
    float expected = 1;
    int status;

    for (int i = 0; i < doublings; i++)
        expected *= 2;
    CHECK(cudaMemcpy(host, s->data, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
    status = example_verdict("event_timing", correct(host, expected));
    free(host);
    return status;
}

static void set_up(struct setting *s)
{
    float *host = (float *)example_malloc(ELEMENTS * sizeof(float));

    for (unsigned int i = 0; i < ELEMENTS; i++)
        host[i] = 1;
    s->data = (float *)example_device_malloc(ELEMENTS * sizeof(float));
    CHECK(cudaMemcpy(s->data, host, ELEMENTS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaStreamCreateWithFlags(&s->work, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&s->other, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&s->start));
    CHECK(cudaEventCreate(&s->stop));
    free(host);
}

int main(void)
{
    struct setting s;
    int status;

    set_up(&s);
    launch(&s, 1); /* loads the kernel */
    CHECK(cudaStreamSynchronize(s.work));
    example_figure("around nothing:         %8.4f ms", bracket_ms(&s, 0, s.work));
    example_figure("around one kernel:      %8.4f ms", bracket_ms(&s, 1, s.work));
    example_figure("around five kernels:    %8.4f ms", bracket_ms(&s, 5, s.work));
    example_figure("five, in another stream:%8.4f ms", bracket_ms(&s, 5, s.other));
    status = check(&s, 1 + 1 + 5 + 5);
    CHECK(cudaEventDestroy(s.start));
    CHECK(cudaEventDestroy(s.stop));
    CHECK(cudaStreamDestroy(s.work));
    CHECK(cudaStreamDestroy(s.other));
    CHECK(cudaFree(s.data));
    return status;
}
