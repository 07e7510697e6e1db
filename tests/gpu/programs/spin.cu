// SPDX-License-Identifier: MIT
//
// Kernels that spin for 0.5 to 500 us; the length is in the name, so that each is a row of its own.
//
//   spin busy|timers|events|idle|paused STREAMS [dependent]
//
// busy: queued back to back behind a longer kernel. timers: the same with an event of the program's
// before each, as where it times its own steps; events: with events that stamp no time. idle: the
// host waits for each launch (one in every stream) and pauses. paused: lengths at random, and up to
// 20 us of pause before each launch, so that a stream is now idle, now busy, now goes idle between
// two launches. dependent: the launches are programmatic dependent ones. Every run launches the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "global_ns.h"
#include "pause.h"
#include "runtime.h"

// %globaltimer advances in steps, of a microsecond on some devices: short kernels count cycles.
__device__ void wait(unsigned long long ns, unsigned long long cycles)
{
    if (cycles) {
        long long from = clock64();
        while (clock64() - from < (long long)cycles)
            ;
    } else {
        unsigned long long from = global_ns();
        while (global_ns() - from < ns)
            ;
    }
}

template <int NS> __global__ void spin(unsigned long long ns, unsigned long long cycles)
{
    wait(ns, cycles);
}

template <int NS> __global__ void opener()
{
    wait(NS, 0);
}

__global__ void measure(unsigned long long *out)
{
    unsigned long long ns = global_ns();
    long long from = clock64();

    wait(2000000, 0);
    out[0] = clock64() - from;
    out[1] = global_ns() - ns;
}

using Launch = void (*)(cudaStream_t);

static double cycles_per_ns = 1.98;
static bool dependent;

template <int NS> static void launch(cudaStream_t s)
{
    unsigned long long cycles = NS < 50000 ? (unsigned long long)(NS * cycles_per_ns) : 0;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    if (!dependent) {
        spin<NS><<<1, 32, 0, s>>>(NS, cycles);
        return;
    }
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.stream = s;
    config.attrs = &attribute;
    config.numAttrs = 1;
    RT(cudaLaunchKernelEx(&config, spin<NS>, (unsigned long long)NS, cycles));
}

// weight: how often of 34, in random order
static const struct {
    Launch launch;
    int ns, launches, weight;
} lengths[] = {{launch<500>, 500, 2000, 6},     {launch<1000>, 1000, 2000, 6},
               {launch<2000>, 2000, 2000, 6},   {launch<5000>, 5000, 2000, 6},
               {launch<10000>, 10000, 2000, 6}, {launch<50000>, 50000, 800, 3},
               {launch<500000>, 500000, 200, 1}};

static void find_clock()
{
    unsigned long long *out, host[2] = {};

    RT(cudaMalloc(&out, sizeof(host)));
    for (int i = 0; i < 100; i++) // till the clock is what it will be
        opener<2000000><<<1, 32>>>();
    measure<<<1, 1>>>(out);
    RT(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    if (host[0] && host[1])
        cycles_per_ns = (double)host[0] / host[1];
    RT(cudaFree(out));
}

// As few at once that a queue never fills and no launch ever waits.
static void queued(const std::vector<cudaStream_t> &streams, const std::vector<cudaEvent_t> &events)
{
    const int most = events.empty() ? 250 : 200;

    for (auto &l : lengths)
        for (int done = 0; done < l.launches; done += most) {
            for (auto s : streams)
                opener<100000><<<1, 32, 0, s>>>();
            for (int i = 0; i < most && done + i < l.launches; i++) {
                cudaStream_t s = streams[i % streams.size()];

                if (!events.empty())
                    RT(cudaEventRecord(events[i % events.size()], s));
                l.launch(s);
            }
            RT(cudaDeviceSynchronize());
        }
}

static void busy(const std::vector<cudaStream_t> &streams)
{
    queued(streams, {});
}

static void with_events(const std::vector<cudaStream_t> &streams, unsigned flags)
{
    std::vector<cudaEvent_t> events(200);

    for (auto &e : events)
        RT(cudaEventCreateWithFlags(&e, flags));
    queued(streams, events);
}

static void timers(const std::vector<cudaStream_t> &streams)
{
    with_events(streams, cudaEventDefault);
}

static void untimed(const std::vector<cudaStream_t> &streams)
{
    with_events(streams, cudaEventDisableTiming);
}

static void idle(const std::vector<cudaStream_t> &streams)
{
    for (auto &l : lengths)
        for (size_t done = 0; done < (size_t)l.launches / 2; done += streams.size()) {
            for (auto s : streams)
                l.launch(s);
            RT(cudaDeviceSynchronize());
            pause_ns(3000 + random_below(10000));
        }
}

static void paused(const std::vector<cudaStream_t> &streams)
{
    for (int i = 0; i < 6000; i++) {
        int at = random_below(34), k = 0;

        while (at >= lengths[k].weight)
            at -= lengths[k++].weight;
        pause_ns(random_below(20000));
        lengths[k].launch(streams[random_below(streams.size())]);
        if (i % 100 == 99)
            RT(cudaDeviceSynchronize());
    }
    RT(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*play)(const std::vector<cudaStream_t> &);
    } patterns[] = {{"busy", busy},
                    {"timers", timers},
                    {"events", untimed},
                    {"idle", idle},
                    {"paused", paused}};
    int count = argc > 2 ? atoi(argv[2]) : 1;

    dependent = argc > 3 && !strcmp(argv[3], "dependent");
    std::vector<cudaStream_t> streams(count > 0 ? count : 1);

    for (auto &s : streams)
        RT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    find_clock();
    for (auto &p : patterns)
        if (argc > 1 && !strcmp(argv[1], p.name)) {
            p.play(streams);
            RT(cudaDeviceSynchronize());
            printf("spin %s: done\n", p.name);
            return 0;
        }
    return 2;
}
