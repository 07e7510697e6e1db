/* SPDX-License-Identifier: MIT */
/*
 * pipeline: produce -> transform -> consume over three streams, tied together by events.
 *
 * Each step of the pipeline runs in its own stream. An event recorded after a step, and
 * cudaStreamWaitEvent in the next stream, make the next step wait on the GPU; the host only queues.
 * The last part fans out: one producer, two transformers side by side, one consumer that waits for
 * both. These events never tell the time, so they are made without timing, which is cheaper; the
 * one the host waits for is made with blocking-sync, so the host sleeps instead of spinning.
 */
#include "example.h"

#define ELEMENTS (1u << 18)
#define THREADS 256
#define ITEMS 32
#define SLOTS 4

KERNEL(produce, float *data, unsigned int elements, int item)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        data[i] = (float)(i % 64 + (unsigned int)item);
}

KERNEL(transform, const float *in, float *out, unsigned int elements, float factor)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        out[i] = in[i] * factor + 1;
}

KERNEL(consume, const float *data, float *sum, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        sum[i] += data[i];
}

enum { PRODUCER, TRANSFORMER, CONSUMER, STREAMS };

struct pipeline {
    cudaStream_t stream[STREAMS];
    cudaEvent_t produced[SLOTS], transformed[SLOTS], consumed[SLOTS], fanned, done;
    float *raw[SLOTS], *cooked[SLOTS], *sum;
};

static dim3 grid(void)
{
    return example_dim(example_blocks(ELEMENTS, THREADS), 1);
}

static dim3 block(void)
{
    return example_dim(THREADS, 1);
}

/* One item through all three streams. A slot is used again once its last item was consumed. */
static void push(struct pipeline *p, int item)
{
    int slot = item % SLOTS;

    if (item >= SLOTS)
        CHECK(cudaStreamWaitEvent(p->stream[PRODUCER], p->consumed[slot], 0));
    LAUNCH(produce, grid(), block(), 0, p->stream[PRODUCER], p->raw[slot], ELEMENTS, item);
    CHECK(cudaEventRecord(p->produced[slot], p->stream[PRODUCER]));

    CHECK(cudaStreamWaitEvent(p->stream[TRANSFORMER], p->produced[slot], 0));
    LAUNCH(transform, grid(), block(), 0, p->stream[TRANSFORMER], p->raw[slot], p->cooked[slot],
           ELEMENTS, 2.0f);
    CHECK(cudaEventRecord(p->transformed[slot], p->stream[TRANSFORMER]));

    CHECK(cudaStreamWaitEvent(p->stream[CONSUMER], p->transformed[slot], 0));
    LAUNCH(consume, grid(), block(), 0, p->stream[CONSUMER], p->cooked[slot], p->sum, ELEMENTS);
    CHECK(cudaEventRecord(p->consumed[slot], p->stream[CONSUMER]));
}

/* One item to two transformers at once; the consumer takes both. The pipeline is empty before. */
static void fan(struct pipeline *p)
{
    LAUNCH(produce, grid(), block(), 0, p->stream[PRODUCER], p->raw[0], ELEMENTS, ITEMS);
    CHECK(cudaEventRecord(p->produced[0], p->stream[PRODUCER]));
    CHECK(cudaStreamWaitEvent(p->stream[TRANSFORMER], p->produced[0], 0));
    LAUNCH(transform, grid(), block(), 0, p->stream[TRANSFORMER], p->raw[0], p->cooked[0], ELEMENTS,
           2.0f);
    CHECK(cudaEventRecord(p->transformed[0], p->stream[TRANSFORMER]));
    LAUNCH(transform, grid(), block(), 0, p->stream[PRODUCER], p->raw[0], p->cooked[1], ELEMENTS,
           3.0f);
    CHECK(cudaEventRecord(p->fanned, p->stream[PRODUCER]));
    CHECK(cudaStreamWaitEvent(p->stream[CONSUMER], p->transformed[0], 0));
    CHECK(cudaStreamWaitEvent(p->stream[CONSUMER], p->fanned, 0));
    LAUNCH(consume, grid(), block(), 0, p->stream[CONSUMER], p->cooked[0], p->sum, ELEMENTS);
    LAUNCH(consume, grid(), block(), 0, p->stream[CONSUMER], p->cooked[1], p->sum, ELEMENTS);
}

static void finish(struct pipeline *p)
{
    CHECK(cudaEventRecord(p->done, p->stream[CONSUMER]));
    CHECK(cudaEventSynchronize(p->done));
}

static float expected(unsigned int i)
{
    float sum = 0, last = (float)(i % 64 + ITEMS);

    for (unsigned int item = 0; item < ITEMS; item++)
        sum += (float)(i % 64 + item) * 2 + 1;
    return sum + (last * 2 + 1) + (last * 3 + 1);
}

static int correct(const struct pipeline *p)
{
    float *host = (float *)example_malloc(ELEMENTS * sizeof(float));
    int good = 1;

    CHECK(cudaMemcpy(host, p->sum, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned int i = 0; i < ELEMENTS && good; i++)
        good = host[i] == expected(i);
    free(host);
    return good;
}

static void set_up(struct pipeline *p)
{
    unsigned int without_time = cudaEventDisableTiming;

    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaStreamCreateWithFlags(&p->stream[i], cudaStreamNonBlocking));
    for (int i = 0; i < SLOTS; i++) {
        CHECK(cudaEventCreateWithFlags(&p->produced[i], without_time));
        CHECK(cudaEventCreateWithFlags(&p->transformed[i], without_time));
        CHECK(cudaEventCreateWithFlags(&p->consumed[i], without_time));
        p->raw[i] = (float *)example_device_malloc(ELEMENTS * sizeof(float));
        p->cooked[i] = (float *)example_device_malloc(ELEMENTS * sizeof(float));
    }
    CHECK(cudaEventCreateWithFlags(&p->fanned, without_time));
    CHECK(cudaEventCreateWithFlags(&p->done, without_time | cudaEventBlockingSync));
    p->sum = (float *)example_device_malloc(ELEMENTS * sizeof(float));
    CHECK(cudaMemset(p->sum, 0, ELEMENTS * sizeof(float)));
    CHECK(cudaDeviceSynchronize()); /* the streams do not wait for the default stream */
}

static void tear_down(struct pipeline *p)
{
    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaStreamDestroy(p->stream[i]));
    for (int i = 0; i < SLOTS; i++) {
        CHECK(cudaEventDestroy(p->produced[i]));
        CHECK(cudaEventDestroy(p->transformed[i]));
        CHECK(cudaEventDestroy(p->consumed[i]));
        CHECK(cudaFree(p->raw[i]));
        CHECK(cudaFree(p->cooked[i]));
    }
    CHECK(cudaEventDestroy(p->fanned));
    CHECK(cudaEventDestroy(p->done));
    CHECK(cudaFree(p->sum));
}

int main(void)
{
    struct pipeline p;
    double start_ms;
    int status;

    set_up(&p);
    start_ms = example_now_ms();
    for (int item = 0; item < ITEMS; item++)
        push(&p, item);
    finish(&p);
    fan(&p);
    finish(&p);
    example_figure("pipeline: %d items in %.3f ms", ITEMS + 1, example_now_ms() - start_ms);
    status = example_verdict("pipeline", correct(&p));
    tear_down(&p);
    return status;
}
