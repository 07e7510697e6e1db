/* SPDX-License-Identifier: MIT */
/*
 * What the host pays for a launch, and for the driver calls that a bracket is made of: prints lines
 * "NAME nanoseconds ticks cycles instructions", medians over bursts of calls. Ticks are those of
 * the time stamp counter, cycles and instructions those of the thread in user mode, where the
 * machine lets us count them. Where it does not, cycles are of the processor's pace before and
 * behind a burst, which additions that wait for each other tell, and instructions "-"; the first
 * line, "cycles counted" or "cycles paced", says which. The word "calls" adds the driver calls:
 * under a profiler they are what it makes of them.
 */
#include <cuda.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BURST 200 /* a stream has room for five times as many */
#define BURSTS 301
#define WARM_NS 1.2e9  /* a budget's first second is another one */
#define ADDITIONS 2048 /* less than a microsecond of them */

static CUcontext context;
static CUstream stream, busy;
static CUfunction empty, spin;
static CUevent event;
static int counters[2] = {-1, -1}; /* cycles, instructions */

static const char image[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                            ".visible .entry launch_cost()\n{\nret;\n}\n"
                            ".visible .entry launch_cost_spin()\n{\n"
                            ".reg .u64 %t<3>;\n.reg .pred %p;\n"
                            "mov.u64 %t0, %globaltimer;\n"
                            "again:\nmov.u64 %t1, %globaltimer;\nsub.u64 %t2, %t1, %t0;\n"
                            "setp.lt.u64 %p, %t2, 1000000;\n@%p bra again;\nret;\n}\n";

static void check(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    fprintf(stderr, "launch_cost: %s: %d\n", what, (int)r);
    exit(1);
}
#define CHECK(call) check(call, #call)

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#endif
}

static void open_counters(void)
{
    static const uint64_t what[] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
    for (int i = 0; i < 2; i++) {
        struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
                                    .size = sizeof(a),
                                    .config = what[i],
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
        counters[i] = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
    }
}

static double counted(int i)
{
    uint64_t n = 0;
    if (counters[i] < 0 || read(counters[i], &n, sizeof(n)) != sizeof(n))
        return -1;
    return (double)n;
}

#if defined(__x86_64__)
#define ADD "add %1, %0\n"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n"
#endif

/* Each waits for the one before, and takes a cycle on any processor. */
static void add(void)
{
    uint64_t sum = 0, one = 1;
    for (int i = 0; i < ADDITIONS; i += 8)
        __asm__ volatile(ADD ADD ADD ADD ADD ADD ADD ADD : "+r"(sum) : "r"(one));
}

/* Cycles of a tick: the better of a few, as an interruption only makes them fewer. */
static double pace(void)
{
    double best = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t begin = ticks();
        add();
        double here = ADDITIONS / (double)(ticks() - begin);
        best = here > best ? here : best;
    }
    return best;
}

static void launch(void)
{
    cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void stamps(void)
{
    volatile uint64_t t = ticks();
    t = ticks() - t;
}

static void get_current(void)
{
    CUcontext c;
    cuCtxGetCurrent(&c);
}

static void is_capturing(void)
{
    CUstreamCaptureStatus status;
    cuStreamIsCapturing(stream, &status);
}

static void exchange_mode(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&mode);
    cuThreadExchangeStreamCaptureMode(&mode);
}

static void query_idle(void)
{
    cuStreamQuery(stream);
}

static void query_busy(void)
{
    cuStreamQuery(busy);
}

static void query_event(void)
{
    cuEventQuery(event);
}

static void record(void)
{
    cuEventRecord(event, stream);
}

/* What is asked of a busy stream needs one: a millisecond of work is more than a burst takes. */
static void get_busy(void)
{
    for (int i = 0; i < 3; i++)
        CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, busy, NULL, NULL));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, BURSTS, sizeof(*v), compare);
    return v[BURSTS / 2] / BURST;
}

static void print(const char *name, double v[4][BURSTS])
{
    printf("%s", name);
    for (int i = 0; i < 4; i++) {
        double figure = median(v[i]);
        if (figure < 0)
            printf(" -");
        else
            printf(" %.1f", figure);
    }
    printf("\n");
}

static void burst(void (*call)(void), double v[4][BURSTS], int at)
{
    bool is_counted = counters[0] >= 0;
    double before = is_counted ? 0 : pace(), cycles = counted(0), instructions = counted(1);
    double begin_ns = now_ns();
    uint64_t begin = ticks();
    for (int i = 0; i < BURST; i++)
        call();
    v[1][at] = (double)(ticks() - begin);
    v[0][at] = now_ns() - begin_ns;
    v[2][at] = is_counted ? counted(0) - cycles : v[1][at] * (before + pace()) / 2;
    v[3][at] = instructions < 0 ? -1 : counted(1) - instructions;
}

static void measure(const char *name, void (*call)(void), double warm_ns)
{
    static double v[4][BURSTS];
    double end = now_ns() + warm_ns;
    for (int i = 0; i<BURSTS; i += now_ns()> end) {
        if (call == query_busy)
            get_busy();
        burst(call, v, i);
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuStreamSynchronize(busy));
    }
    print(name, v);
}

static void set_up(void)
{
    CUdevice device;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&empty, module, "launch_cost"));
    CHECK(cuModuleGetFunction(&spin, module, "launch_cost_spin"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*call)(void);
    } calls[] = {{"two-stamps", stamps},
                 {"cuCtxGetCurrent", get_current},
                 {"cuStreamIsCapturing", is_capturing},
                 {"mode-twice", exchange_mode},
                 {"cuStreamQuery-idle", query_idle},
                 {"cuStreamQuery-busy", query_busy},
                 {"cuEventQuery-done", query_event},
                 {"cuEventRecord", record}};
    set_up();
    open_counters();
    printf("cycles %s\n", counters[0] >= 0 ? "counted" : "paced");
    measure("launch", launch, WARM_NS);
    for (unsigned i = 0;
         argc > 1 && !strcmp(argv[1], "calls") && i < sizeof(calls) / sizeof(*calls); i++)
        measure(calls[i].name, calls[i].call, 0);
    return 0;
}
