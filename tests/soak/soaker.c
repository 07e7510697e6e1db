/* SPDX-License-Identifier: MIT */
/*
 * soaker LAUNCHES WARM_UP: eight threads that launch so many kernels together, and copy, set,
 * capture, and launch graphs beside that; make and destroy streams, contexts and graphs, reset
 * devices, end and are followed by others. Says what it did, to be compared with the profile, and
 * what it held after WARM_UP percent of its launches: at least, at most, at the end.
 */
#include "soaker.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORKERS 8
#define KERNELS 32
#define STREAMS 4
#define BYTES 256
#define FILL_STREAMS 2000
#define FILL_EVENTS 70000
#define FILL_THREADS (2 * WORKERS) /* each worker's, and the one that follows it */
#define FILL_LAUNCHES 40000

/* Launches between two of the rarer things, all powers of two. */
#define EVERY_WAIT 1024
#define EVERY_STREAM 4096
#define EVERY_GRAPH 32768
#define EVERY_RESET 65536
#define EVERY_CONTEXT 131072
#define EVERY_LIFE 524288

/* What is counted, and how it is told. */
#define COUNTS_OF(X)                                                                               \
    X(LAUNCHED, "launched")                                                                        \
    X(FILLED, "filled")                                                                            \
    X(IN_CONTEXTS, "in_contexts")                                                                  \
    X(IN_RESETS, "in_resets")                                                                      \
    X(CAPTURED, "captured")                                                                        \
    X(GRAPHS, "graphs")                                                                            \
    X(COPIES, "copies")                                                                            \
    X(SETS, "sets")                                                                                \
    X(STREAMS_MADE, "streams")                                                                     \
    X(THREADS, "threads")
enum count {
#define X(id, name) id,
    COUNTS_OF(X)
#undef X
        COUNTS
};
static const char *const count_names[COUNTS] = {
#define X(id, name) name,
    COUNTS_OF(X)
#undef X
};

/* A worker outlives its threads, each of which makes the next. */
struct worker {
    unsigned number;
    uint32_t random;
    _Atomic uint64_t left; /* launches; the watching thread reads it */
    uint64_t count[COUNTS];
    uint64_t kernel[KERNELS];
    CUstream stream[STREAMS];
    CUgraphExec exec;
    CUdeviceptr memory;
    char host[BYTES];
};

static CUcontext context;
static CUfunction kernels[KERNELS], in_graph;
static CUstream shared[STREAMS];
static struct worker workers[WORKERS + FILL_THREADS]; /* the last of them only fill */
static pthread_barrier_t filled;
static sem_t through;

void soak_must(CUresult r, const char *call, const char *file, int line)
{
    if (r == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s = %d\n", file, line, call, (int)r);
    exit(3);
}

static CUresult launch(CUfunction f, CUstream s)
{
    return cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, s, NULL, NULL);
}

static uint32_t draw(struct worker *w, uint32_t below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(w->random >> 8) * below >> 24);
}

/* Mostly a stream of its own; now and then one that others use, or a default one. */
static CUstream some_stream(struct worker *w)
{
    uint32_t which = draw(w, 64);
    if (which == 0)
        return draw(w, 2) ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
    return which < 8 ? shared[which % STREAMS] : w->stream[which % STREAMS];
}

static void beside(struct worker *w, CUstream s)
{
    switch (draw(w, 4)) {
    case 0:
        MUST(cuMemcpyHtoDAsync(w->memory, w->host, BYTES, s));
        w->count[COPIES]++;
        break;
    case 1:
        MUST(cuMemcpyDtoHAsync(w->host, w->memory, BYTES, s));
        w->count[COPIES]++;
        break;
    case 2:
        MUST(cuMemsetD8Async(w->memory, 3, BYTES, s));
        w->count[SETS]++;
        break;
    default:
        MUST(cuGraphLaunch(w->exec, s));
        w->count[GRAPHS]++;
    }
}

static CUstream new_stream(struct worker *w, unsigned flags)
{
    CUstream s;
    MUST(cuStreamCreate(&s, flags));
    w->count[STREAMS_MADE]++;
    return s;
}

/* With what it was given still to do. */
static void replace_stream(struct worker *w)
{
    CUstream *s = &w->stream[draw(w, STREAMS)];
    MUST(cuStreamDestroy(*s));
    *s = new_stream(w, draw(w, 2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
}

/* No blocking stream captures: the others use the legacy stream. */
static void replace_graph(struct worker *w)
{
    CUgraph g;
    CUstream s = new_stream(w, CU_STREAM_NON_BLOCKING);
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < 5; i++, w->count[CAPTURED]++)
        MUST(launch(in_graph, s));
    MUST(cuStreamEndCapture(s, &g));
    MUST(cuStreamDestroy(s));
    MUST(cuCtxSynchronize()); /* it may be running */
    if (w->exec)
        MUST(cuGraphExecDestroy(w->exec));
    MUST(cuGraphInstantiate(&w->exec, g, 0));
    MUST(cuGraphDestroy(g));
}

static void work_a_little(struct worker *w, const char *name, enum count count)
{
    CUmodule m;
    CUfunction f;
    MUST(cuModuleLoadData(&m, "image"));
    MUST(cuModuleGetFunction(&f, m, name));
    CUstream s = new_stream(w, CU_STREAM_DEFAULT);
    for (int i = 0; i < 50; i++, w->count[count]++)
        MUST(launch(f, i % 8 ? s : NULL));
}

/* Nobody but the worker uses that device. */
static void reset(struct worker *w)
{
    CUcontext c;
    MUST(cuDevicePrimaryCtxRetain(&c, 1 + (CUdevice)w->number));
    MUST(cuCtxSetCurrent(c));
    work_a_little(w, "reset", IN_RESETS);
    MUST(cuDevicePrimaryCtxReset(1 + (CUdevice)w->number));
    MUST(cuCtxSetCurrent(context));
}

static void visit(struct worker *w)
{
    CUcontext c;
    MUST(cuCtxCreate(&c, NULL, 0, 0));
    work_a_little(w, "visit", IN_CONTEXTS);
    MUST(cuCtxDestroy(c));
}

static void rare(struct worker *w)
{
    if (w->left % EVERY_WAIT)
        return;
    MUST(cuStreamSynchronize(w->stream[draw(w, STREAMS)]));
    if (w->left % EVERY_STREAM == 0)
        replace_stream(w);
    if (w->left % EVERY_GRAPH == 0)
        replace_graph(w);
    if (w->left % EVERY_RESET == 0)
        reset(w);
    if (w->left % EVERY_CONTEXT == 0)
        visit(w);
}

static void work_once(struct worker *w)
{
    uint32_t k = draw(w, KERNELS);
    CUstream s = some_stream(w);
    MUST(launch(kernels[k], s));
    w->kernel[k]++;
    w->count[LAUNCHED]++;
    w->left--;
    if (draw(w, 16) == 0)
        beside(w, s);
}

static void *live(void *arg);

static void be_followed(struct worker *w)
{
    pthread_t t;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    if (pthread_create(&t, &attr, live, w))
        exit(4);
    pthread_attr_destroy(&attr);
}

static void *live(void *arg)
{
    struct worker *w = arg;
    MUST(cuCtxSetCurrent(context));
    w->count[THREADS]++;
    while (w->left) {
        work_once(w);
        rare(w);
        if (w->left % EVERY_LIFE == 0)
            break;
    }
    if (w->left)
        be_followed(w);
    else
        sem_post(&through);
    return NULL;
}

/*
 * Tables with an end are filled at once: the list of streams in the profile, and the events that
 * the simulated device lets rest after their end.
 */
static void fill(struct worker *w)
{
    CUstream s;
    CUevent e;
    for (int i = 0; i < FILL_STREAMS; i++, w->count[FILLED]++) {
        s = new_stream(w, CU_STREAM_NON_BLOCKING);
        MUST(launch(in_graph, s));
        MUST(cuStreamDestroy(s));
    }
    for (int i = 0; i < FILL_EVENTS; i++) {
        MUST(cuEventCreate(&e, CU_EVENT_DEFAULT));
        MUST(cuEventDestroy(e));
    }
}

/* As many contexts as there may be at once later, when each uses what one before it did. */
static void fill_contexts(void)
{
    CUcontext c, made[WORKERS];
    for (unsigned i = 0; i < WORKERS; i++) {
        MUST(cuDevicePrimaryCtxRetain(&c, 1 + (CUdevice)i));
        MUST(cuCtxSetCurrent(c));
        work_a_little(&workers[i], "reset", IN_RESETS);
        MUST(cuCtxCreate(&made[i], NULL, 0, 0));
        work_a_little(&workers[i], "visit", IN_CONTEXTS);
        MUST(cuCtxPopCurrent(&c));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        MUST(cuCtxDestroy(made[i]));
        MUST(cuDevicePrimaryCtxReset(1 + (CUdevice)i));
    }
    MUST(cuCtxSetCurrent(context));
}

static void *fill_thread(void *arg)
{
    struct worker *w = arg;
    MUST(cuCtxSetCurrent(context));
    while (w->left)
        work_once(w);
    pthread_barrier_wait(&filled);
    return NULL;
}

/* As many threads as there may be at once later. */
static void fill_threads(void)
{
    pthread_t thread[FILL_THREADS];
    pthread_barrier_init(&filled, NULL, FILL_THREADS);
    for (int i = 0; i < FILL_THREADS; i++)
        if (pthread_create(&thread[i], NULL, fill_thread, &workers[WORKERS + i]))
            exit(4);
    for (int i = 0; i < FILL_THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void make_worker(struct worker *w, unsigned number, uint64_t launches)
{
    *w = (struct worker){.number = number, .random = 7919 * number, .left = launches};
    MUST(cuMemAlloc(&w->memory, BYTES));
    for (int s = 0; s < STREAMS; s++)
        w->stream[s] = new_stream(w, s % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    replace_graph(w);
}

static void begin(uint64_t launches)
{
    CUmodule m;
    char name[32];
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&m, "image"));
    MUST(cuModuleGetFunction(&in_graph, m, "in_graph"));
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof(name), "soak_%d", i);
        MUST(cuModuleGetFunction(&kernels[i], m, name));
    }
    sem_init(&through, 0, 0);
    for (int i = 0; i < STREAMS; i++)
        MUST(cuStreamCreate(&shared[i], CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < WORKERS + FILL_THREADS; i++)
        make_worker(&workers[i], i, i < WORKERS ? launches / WORKERS : FILL_LAUNCHES);
    fill(&workers[0]);
    fill_contexts();
    fill_threads();
    for (unsigned i = 0; i < WORKERS; i++)
        be_followed(&workers[i]);
}

static uint64_t now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}

static void widen(struct soak_holds *least, struct soak_holds *most, const struct soak_holds *h)
{
#define WIDEN(field)                                                                               \
    least->field = h->field < least->field ? h->field : least->field;                              \
    most->field = h->field > most->field ? h->field : most->field;
    WIDEN(memory_kib)
    WIDEN(descriptors)
    WIDEN(threads)
#undef WIDEN
}

static void say_held(const char *when, const struct soak_holds *h)
{
    printf("%s_kib %ld\n%s_descriptors %ld\n%s_threads %ld\n", when, h->memory_kib, when,
           h->descriptors, when, h->threads);
}

static uint64_t launches_left(void)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < WORKERS; i++)
        left += workers[i].left;
    return left;
}

/* Looks until the last worker is through. The memory may grow until no more are `left_warm`. */
static void watch(uint64_t left_warm)
{
    uint64_t warm_s = 0;
    bool warm = false;
    struct soak_holds first = {0}, least = {0}, most = {0};
    for (unsigned done = 0; done < WORKERS;) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec += 1;
        done += sem_timedwait(&through, &t) == 0;
        struct soak_holds h = soak_look();
        if (done == 0 && !warm && launches_left() <= left_warm) {
            warm = true;
            warm_s = now_s();
            first = least = most = h;
        }
        if (warm)
            widen(&least, &most, &h);
    }
    printf("watched %lu\n", warm ? (unsigned long)(now_s() - warm_s) : 0ul);
    say_held("first", &first);
    say_held("least", &least);
    say_held("most", &most);
}

static void tell(void)
{
    uint64_t count[COUNTS] = {0}, kernel[KERNELS] = {0};
    for (unsigned i = 0; i < WORKERS + FILL_THREADS; i++) {
        for (int j = 0; j < COUNTS; j++)
            count[j] += workers[i].count[j];
        for (int j = 0; j < KERNELS; j++)
            kernel[j] += workers[i].kernel[j];
    }
    for (int j = 0; j < COUNTS; j++)
        printf("%s %lu\n", count_names[j], (unsigned long)count[j]);
    for (int j = 0; j < KERNELS; j++)
        printf("soak_%d %lu\n", j, (unsigned long)kernel[j]);
}

/* What is left when the last thread has ended; it may take that a moment. */
static void say_last(void)
{
    struct soak_holds h = soak_look();
    for (int i = 0; i < 1000 && h.threads > 2; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        h = soak_look();
    }
    say_held("last", &h);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    uint64_t launches = strtoull(argv[1], NULL, 10);
    begin(launches);
    watch(launches - launches / 100 * strtoull(argv[2], NULL, 10));
    say_last();
    tell();
    return 0;
}
