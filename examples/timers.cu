/* SPDX-License-Identifier: MIT */
/*
 * timers: a CPU timer and a GPU timer behind one interface, around the same kernels.
 *
 * A launch only queues. A CPU timer stopped right after it has measured the queueing; stopped after
 * a synchronisation it has measured the kernels and the way there and back. The GPU timer is two
 * events in the stream: it does not care when the host looks.
 */
#include "example.h"

#define ELEMENTS (1u << 22)
#define THREADS 256
#define KERNELS 10

KERNEL(iterate, float *data, unsigned int elements, int steps)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= elements)
        return;
    for (int step = 0; step < steps; step++)
        data[i] = data[i] * 0.5f + 1.0f;
}

struct timer {
    void (*start)(struct timer *timer);
    void (*stop)(struct timer *timer);
    double (*elapsed_ms)(struct timer *timer);
    double cpu_start_ms, cpu_stop_ms;
    cudaEvent_t gpu_start, gpu_stop; /* only of a GPU timer */
};

static void cpu_start(struct timer *timer)
{
    timer->cpu_start_ms = example_now_ms();
}

static void cpu_stop(struct timer *timer)
{
    timer->cpu_stop_ms = example_now_ms();
}

static double cpu_elapsed_ms(struct timer *timer)
{
    return timer->cpu_stop_ms - timer->cpu_start_ms;
}

static void gpu_start(struct timer *timer)
{
    CHECK(cudaEventRecord(timer->gpu_start, 0));
}

static void gpu_stop(struct timer *timer)
{
    CHECK(cudaEventRecord(timer->gpu_stop, 0));
}

static double gpu_elapsed_ms(struct timer *timer)
{
    float ms = 0;

    CHECK(cudaEventSynchronize(timer->gpu_stop));
    CHECK(cudaEventElapsedTime(&ms, timer->gpu_start, timer->gpu_stop));
    return ms;
}

static struct timer cpu_timer(void)
{
    struct timer timer = {cpu_start, cpu_stop, cpu_elapsed_ms, 0, 0, NULL, NULL};

    return timer;
}

static struct timer gpu_timer(void)
{
    struct timer timer = {gpu_start, gpu_stop, gpu_elapsed_ms, 0, 0, NULL, NULL};

    CHECK(cudaEventCreate(&timer.gpu_start));
    CHECK(cudaEventCreate(&timer.gpu_stop));
    return timer;
}

static void work(float *data)
{
    for (int i = 0; i < KERNELS; i++)
        LAUNCH(iterate, example_dim(example_blocks(ELEMENTS, THREADS), 1), example_dim(THREADS, 1),
               0, 0, data, ELEMENTS, 50);
}

static double measure_ms(struct timer *timer, float *data, int synchronise)
{
    double ms;

    CHECK(cudaDeviceSynchronize());
    timer->start(timer);
    work(data);
    if (synchronise)
        CHECK(cudaDeviceSynchronize());
    timer->stop(timer);
    ms = timer->elapsed_ms(timer);
    CHECK(cudaDeviceSynchronize());
    return ms;
}

/* x -> x / 2 + 1 ends at 2 whatever it started from. */
static int correct(const float *device_data)
{
    float *host = (float *)example_malloc(ELEMENTS * sizeof(float));
    int good = 1;

    CHECK(cudaMemcpy(host, device_data, ELEMENTS * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned int i = 0; i < ELEMENTS && good; i++)
        good = host[i] > 1.999f && host[i] < 2.001f;
    free(host);
    return good;
}

int main(void)
{
    float *data = (float *)example_device_malloc(ELEMENTS * sizeof(float));
    struct timer cpu = cpu_timer(), gpu = gpu_timer();
    int status;

    CHECK(cudaMemset(data, 0, ELEMENTS * sizeof(float)));
    work(data); /* loads the kernel */
    example_figure("CPU timer, no synchronisation:  %8.4f ms", measure_ms(&cpu, data, 0));
    example_figure("CPU timer, synchronised:        %8.4f ms", measure_ms(&cpu, data, 1));
    example_figure("GPU timer, no synchronisation:  %8.4f ms", measure_ms(&gpu, data, 0));
    example_figure("GPU timer, synchronised:        %8.4f ms", measure_ms(&gpu, data, 1));
    status = example_verdict("timers", correct(data));
    CHECK(cudaEventDestroy(gpu.gpu_start));
    CHECK(cudaEventDestroy(gpu.gpu_stop));
    CHECK(cudaFree(data));
    return status;
}
