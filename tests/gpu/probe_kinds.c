/* SPDX-License-Identifier: MIT */
/*
 * What differs between streams and processes of one program on one host: brackets of kernels that
 * note the GPU's clock at their begin and end, in an idle stream and queued, and the distance of
 * records in a row. Prints a line for each of so many streams, twice; run it several times.
 *
 *   probe_kinds [streams]
 *
 * submission: what an idle stream's bracket has beyond the kernel, the host's launch call, and what
 * comes after the GPU was told of the start record; queued: beyond the kernel; record: from stamp
 * to stamp; host: the lower quartile of what a record takes there.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TRIALS 300
#define QUEUED 40 /* in a batch, of which the inner ones count */
#define BATCHES 6
#define RECORDS 100
#define AFTER_TOLD 0.3 /* of a record: ct_after_told() */
#define PAUSE_NS 20000 /* after which a stream counts as idle */
#define AHEAD_NS 400000
#define STREAMS 32
#define CHECK(call) check(call, #call)

static const char image[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                            ".visible .entry spin(.param .u64 to, .param .u64 ns)\n{\n"
                            ".reg .u64 %t<6>;\n.reg .pred %p;\n"
                            "ld.param.u64 %t4, [to];\nld.param.u64 %t5, [ns];\n"
                            "mov.u64 %t0, %globaltimer;\n"
                            "again:\nmov.u64 %t1, %globaltimer;\nsub.u64 %t2, %t1, %t0;\n"
                            "setp.lt.u64 %p, %t2, %t5;\n@%p bra again;\n"
                            "st.global.u64 [%t4], %t0;\nst.global.u64 [%t4+8], %t1;\nret;\n}\n";

static CUfunction spin;
static CUdeviceptr stamps;
static CUevent events[2 * TRIALS];
static CUstream streams[STREAMS];

static void check(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)r);
    exit(r == CUDA_ERROR_NO_DEVICE ? 77 : 1);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void launch(CUstream s, int slot, uint64_t ns)
{
    CUdeviceptr to = stamps + 16 * (CUdeviceptr)slot;
    void *arguments[] = {&to, &ns};
    CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
}

static double elapsed_ns(int from, int to)
{
    float ms;
    CHECK(cuEventElapsedTime(&ms, events[from], events[to]));
    return (double)ms * 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Stamps come in steps: the mean of the middle half tells more than the median. */
static double middle(double *v, int n)
{
    double sum = 0;
    qsort(v, (size_t)n, sizeof(*v), compare);
    for (int i = n / 4; i < n - n / 4; i++)
        sum += v[i];
    return sum / (n - n / 4 - n / 4);
}

static double quartile(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), compare);
    return v[n / 4];
}

/* Of slots 0 to n - 1. */
static void read_spans(double *span_ns, int n)
{
    static uint64_t h[2 * TRIALS];
    CHECK(cuMemcpyDtoH(h, stamps, sizeof(*h) * 2 * (size_t)n));
    for (int i = 0; i < n; i++)
        span_ns[i] = (double)(h[2 * i + 1] - h[2 * i]);
}

static void trial(CUstream s, int i, double *record_ns, double *launch_ns)
{
    double begin = now_ns();
    CHECK(cuEventRecord(events[2 * i], s));
    double recorded = now_ns();
    launch(s, i, 5000);
    double launched = now_ns();
    CHECK(cuEventRecord(events[2 * i + 1], s));
    CHECK(cuStreamSynchronize(s));
    record_ns[i] = recorded - begin;
    launch_ns[i] = launched - recorded;
    for (double until = now_ns() + PAUSE_NS; now_ns() < until;)
        ;
}

static double submission(CUstream s, double *host_ns)
{
    static double record_ns[TRIALS], launch_ns[TRIALS], span_ns[TRIALS], rest_ns[TRIALS];
    for (int i = 0; i < TRIALS; i++)
        trial(s, i, record_ns, launch_ns);
    read_spans(span_ns, TRIALS);
    for (int i = 0; i < TRIALS; i++)
        rest_ns[i] =
            elapsed_ns(2 * i, 2 * i + 1) - span_ns[i] - launch_ns[i] - AFTER_TOLD * record_ns[i];
    *host_ns = quartile(record_ns, TRIALS);
    return middle(rest_ns, TRIALS);
}

static double queued(CUstream s)
{
    static double rest_ns[BATCHES * QUEUED], span_ns[QUEUED];
    int n = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        launch(s, QUEUED, AHEAD_NS);
        for (int i = 0; i < QUEUED; i++) {
            CHECK(cuEventRecord(events[2 * i], s));
            launch(s, i, 3000);
            CHECK(cuEventRecord(events[2 * i + 1], s));
        }
        CHECK(cuStreamSynchronize(s));
        read_spans(span_ns, QUEUED);
        for (int i = 2; i < QUEUED - 10; i++)
            rest_ns[n++] = elapsed_ns(2 * i, 2 * i + 1) - span_ns[i];
    }
    return middle(rest_ns, n);
}

static double record(CUstream s)
{
    double gap_ns[RECORDS];
    launch(s, QUEUED, AHEAD_NS);
    for (int i = 0; i < RECORDS; i++)
        CHECK(cuEventRecord(events[i], s));
    CHECK(cuStreamSynchronize(s));
    for (int i = 3; i < RECORDS - 1; i++)
        gap_ns[i - 3] = elapsed_ns(i, i + 1);
    return middle(gap_ns, RECORDS - 4);
}

static void set_up(int count)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&spin, module, "spin"));
    CHECK(cuMemAlloc(&stamps, 16 * (TRIALS + 1)));
    for (int i = 0; i < 2 * TRIALS; i++)
        CHECK(cuEventCreate(&events[i], CU_EVENT_DEFAULT));
    for (int i = 0; i < count; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    if (count < 1 || count > STREAMS)
        return 2;
    set_up(count);
    for (int i = 0; i < 2 * count; i++) {
        CUstream s = streams[i % count];
        double host_ns;
        launch(s, 0, 2000);
        CHECK(cuStreamSynchronize(s));
        double idle_ns = submission(s, &host_ns), queued_ns = queued(s), gap_ns = record(s);
        printf("stream %2d of %d: submission %5.0f queued %5.0f record %5.0f host %5.0f\n",
               i % count + 1, count, idle_ns, queued_ns, gap_ns, host_ns);
    }
    return 0;
}
