/* SPDX-License-Identifier: MIT */
/*
 * Off-stream stamps: an event without timing in the program's stream, a stream of ours that waits
 * for it and records the timing event. Are they cheaper than events in the program's stream, as
 * true, and safe? A stream that waits may share a hardware channel with a stream of the program and
 * hold it up. CUDA_DEVICE_MAX_CONNECTIONS, which is the number of channels, is read once: run this
 * for each.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call) check((call), #call, __LINE__)

static const int LAUNCHES = 300, LOOPS = 31, PAIRS = 100;
static const double PATIENCE_US = 1e5;

static void check(cudaError_t e, const char *call, int line)
{
    if (e == cudaSuccess)
        return;
    printf("line %d: %s: %s\n", line, call, cudaGetErrorName(e));
    exit(1);
}

__global__ void spin(unsigned long long ns)
{
    unsigned long long start, now;

    if (!ns)
        return;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

__global__ void gate(volatile int *flag)
{
    while (!*flag)
        ;
}

static double now_us()
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static double quantile(std::vector<double> values, double q)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[(size_t)(q * (values.size() - 1))];
}

static cudaStream_t new_stream(int high)
{
    cudaStream_t stream;
    int least, greatest;

    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, high ? greatest : least));
    return stream;
}

enum how { PLAIN, ON_BOTH, ON_STOP, OFF_BOTH, OFF_STOP, HOWS };
static const char *const how_names[] = {"plain", "two on-stream", "one on-stream", "two off-stream",
                                        "one off-stream"};

struct stamps {
    cudaStream_t own;    /* ours: it waits for the program's, and records */
    cudaEvent_t untimed; /* a wait is for the newest record at its time: one event will do */
    std::vector<cudaEvent_t> start, stop;
};

static struct stamps new_stamps(int high)
{
    struct stamps s;

    s.own = new_stream(high);
    CHECK(cudaEventCreateWithFlags(&s.untimed, cudaEventDisableTiming));
    s.start.resize(LAUNCHES);
    s.stop.resize(LAUNCHES);
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK(cudaEventCreate(&s.start[i]));
        CHECK(cudaEventCreate(&s.stop[i]));
    }
    return s;
}

static void off_stream(const struct stamps *s, cudaStream_t stream, cudaEvent_t timed)
{
    CHECK(cudaEventRecord(s->untimed, stream));
    CHECK(cudaStreamWaitEvent(s->own, s->untimed, 0));
    CHECK(cudaEventRecord(timed, s->own));
}

static void launch(const struct stamps *s, enum how how, cudaStream_t stream, int i,
                   unsigned long long ns)
{
    if (how == ON_BOTH)
        CHECK(cudaEventRecord(s->start[i], stream));
    if (how == OFF_BOTH)
        off_stream(s, stream, s->start[i]);
    spin<<<1, 32, 0, stream>>>(ns);
    if (how == ON_BOTH || how == ON_STOP)
        CHECK(cudaEventRecord(s->stop[i], stream));
    if (how == OFF_BOTH || how == OFF_STOP)
        off_stream(s, stream, s->stop[i]);
}

/* What a kernel takes back to back, and the host's time in its calls. */
static void show_cost(const struct stamps *s, cudaStream_t stream)
{
    static const unsigned long long lengths[] = {0, 2500, 20000};

    printf("  cost: us a kernel (host's ns in the calls), kernels back to back\n");
    for (int how = PLAIN; how < HOWS; how++) {
        printf("    %-16s", how_names[how]);
        for (unsigned long long ns : lengths) {
            std::vector<double> whole, host;

            for (int k = 0; k < LOOPS; k++) {
                double start = now_us(), queued;

                for (int i = 0; i < LAUNCHES; i++)
                    launch(s, (enum how)how, stream, i, ns);
                queued = now_us();
                CHECK(cudaDeviceSynchronize());
                whole.push_back((now_us() - start) / LAUNCHES);
                host.push_back((queued - start) / LAUNCHES * 1e3);
            }
            printf("  %4.1f us: %6.2f (%5.0f)", ns / 1e3, quantile(whole, 0.5),
                   quantile(host, 0.5));
        }
        printf("\n");
    }
}

/* Too much in each bracket of 5 us kernels; with one stamp from the stop before. */
static std::vector<double> excesses(const struct stamps *s, enum how how, cudaStream_t stream,
                                    int idle)
{
    std::vector<double> found;
    int count = 100, both = how == ON_BOTH || how == OFF_BOTH;

    for (int k = 0; k < 10; k++) {
        if (!idle)
            spin<<<1, 32, 0, stream>>>(400000);
        for (int i = 0; i < count; i++) {
            launch(s, how, stream, i, 5000);
            if (idle)
                CHECK(cudaDeviceSynchronize());
        }
        CHECK(cudaDeviceSynchronize());
        for (int i = 1; i < count; i++) {
            float ms = 0;

            CHECK(cudaEventElapsedTime(&ms, both ? s->start[i] : s->stop[i - 1], s->stop[i]));
            found.push_back(ms * 1e3 - 5);
        }
    }
    return found;
}

static void show_truth(const struct stamps *s, cudaStream_t stream)
{
    printf("  bracket of a 5 us kernel less 5 us: median (5 to 95 %%), us\n");
    for (int how = ON_BOTH; how < HOWS; how++)
        for (int idle = 0; idle < 2; idle++) {
            std::vector<double> e;

            if (idle && (how == ON_STOP || how == OFF_STOP))
                continue;
            e = excesses(s, (enum how)how, stream, idle);
            printf("    %-16s %s  %6.2f (%.2f to %.2f)\n", how_names[how], idle ? "idle" : "busy",
                   quantile(e, 0.5), quantile(e, 0.05), quantile(e, 0.95));
        }
}

static void show_overlap(struct stamps *each, const cudaStream_t *streams)
{
    double plain = 0;

    printf("  overlap: us for two 100 us kernels in two streams\n");
    for (int how = PLAIN; how < HOWS; how++) {
        std::vector<double> loops;

        for (int k = 0; k < 7; k++) {
            double start = now_us();

            for (int i = 0; i < PAIRS; i++) {
                launch(&each[0], (enum how)how, streams[0], i, 100000);
                launch(&each[1], (enum how)how, streams[1], i, 100000);
            }
            CHECK(cudaDeviceSynchronize());
            loops.push_back((now_us() - start) / PAIRS);
        }
        if (how == PLAIN)
            plain = quantile(loops, 0.5);
        printf("    %-16s %7.1f  x%.2f\n", how_names[how], quantile(loops, 0.5),
               quantile(loops, 0.5) / plain);
    }
}

/*
 * The first of the program's streams is behind a gate. How many of the others get their kernel
 * done, when each stream's work is followed by a stamp?
 */
static int free_streams(const std::vector<cudaStream_t> &streams, const std::vector<stamps> &ours,
                        int *flag)
{
    double end;
    int complete = 0;

    *(volatile int *)flag = 0;
    for (size_t i = 0; i < streams.size(); i++) {
        if (i)
            spin<<<1, 32, 0, streams[i]>>>(1000);
        else
            gate<<<1, 1, 0, streams[i]>>>(flag);
        if (!ours.empty())
            off_stream(&ours[i % ours.size()], streams[i], ours[i % ours.size()].stop[i]);
    }
    for (end = now_us() + PATIENCE_US; now_us() < end && complete < (int)streams.size() - 1;) {
        complete = 0;
        for (size_t i = 1; i < streams.size(); i++)
            complete += cudaStreamQuery(streams[i]) == cudaSuccess;
    }
    *(volatile int *)flag = 1;
    CHECK(cudaDeviceSynchronize());
    return complete;
}

/* Several times: which channel a stream gets is the driver's affair. Prints least and most. */
static void show_free(const char *name, const std::vector<cudaStream_t> &streams,
                      const std::vector<stamps> &ours, int *flag)
{
    int least = (int)streams.size(), most = 0;

    for (int k = 0; k < 3; k++) {
        int n = free_streams(streams, ours, flag);

        least = std::min(least, n);
        most = std::max(most, n);
    }
    printf("    %-44s %2d to %2d of %zu\n", name, least, most, streams.size() - 1);
}

static void show_gates(int count, int *flag)
{
    std::vector<cudaStream_t> streams;
    std::vector<stamps> before, each, high, none;

    before.push_back(new_stamps(0));
    for (int i = 0; i < count; i++)
        streams.push_back(new_stream(0));
    for (int i = 0; i < count; i++)
        each.push_back(new_stamps(0));
    for (int i = 0; i < count; i++)
        high.push_back(new_stamps(1));
    printf("  %d streams of the program, one behind a gate: others that are free\n", count);
    show_free("without us", streams, none, flag);
    show_free("one stream of ours, older than theirs", streams, before, flag);
    show_free("one stream of ours, younger", streams, {each[0]}, flag);
    show_free("one stream of ours, of high priority", streams, {high[0]}, flag);
    show_free("a stream of ours for each", streams, each, flag);
    show_free("a stream of ours for each, of high priority", streams, high, flag);
}

int main()
{
    const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    struct stamps both[2];
    cudaStream_t streams[2];
    cudaFuncAttributes attributes;
    int *flag;

    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("off-stream stamps, CUDA_DEVICE_MAX_CONNECTIONS %s\n",
           connections ? connections : "unset");
    CHECK(cudaFuncGetAttributes(&attributes, spin));
    CHECK(cudaFuncGetAttributes(&attributes, gate));
    CHECK(cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped));
    for (int i = 0; i < 2; i++)
        streams[i] = new_stream(0);
    for (int i = 0; i < 2; i++)
        both[i] = new_stamps(0);
    show_cost(&both[0], streams[0]);
    show_truth(&both[0], streams[0]);
    show_overlap(both, streams);
    for (int count : {2, 8, 64})
        show_gates(count, flag);
    return 0;
}
