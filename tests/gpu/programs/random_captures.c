/* SPDX-License-Identifier: MIT */
/*
 * random_captures IMAGE FIRST COUNT
 *
 * COUNT random programs about stream capture, each from its number: three threads that act in turn,
 * streams of all kinds, captures in all modes begun here and ended there, forks and joins by
 * events, child graphs, conditional nodes, updates, launches within captures, and now and then a
 * call that a capture forbids; meanwhile one thread launches without a rest. It prints what each
 * call returned, what each graph is made of and what is in memory at the end; then how many
 * operations it has launched, which is what a profiler must have seen.
 */
#include "random_graphs.h"
#include "turns.h"

/* ---- what a capture may forbid ---- */

static CUresult ready(CUresult r)
{
    return r == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : r;
}

static void op_unsafe(struct world *w)
{
    int s = pick_stream(w, WORK), e = (int)pick(w, EVENTS), which = (int)pick(w, 6);
    CUdeviceptr p;
    CUresult r;

    if (w->care && pick(w, 3))
        return;
    if (which == 0)
        r = ready(cuEventQuery(w->event[e]));
    else if (which == 1)
        r = ready(cuStreamQuery(w->stream[s]));
    else if (which == 2)
        r = cuStreamSynchronize(w->stream[s]);
    else if (which == 3)
        r = cuEventSynchronize(w->event[e]);
    else if (which == 4)
        r = cuCtxSynchronize();
    else if ((r = cuMemAlloc(&p, 4096)) == CUDA_SUCCESS)
        r = cuMemFree(p);
    say(w, "unsafe", which, r);
}

/* A stream's context need not be the current one; the thread has none at all here. */
static void op_without_context(struct world *w)
{
    CHECK(cuCtxSetCurrent(NULL));
    op_launch(w);
    CHECK(cuCtxSetCurrent(driver.context));
}

static const struct {
    unsigned weight;
    void (*act)(struct world *);
} ops[] = {
    {30, op_launch},
    {6, op_set},
    {6, op_copy},
    {3, op_host},
    {6, op_record},
    {2, op_record_node},
    {6, op_wait},
    {6, op_fork},
    {6, op_begin},
    {2, op_begin_to_graph},
    {5, op_end},
    {2, op_mode},
    {3, op_ask},
    {2, op_create},
    {4, op_add_kernel},
    {3, op_add_child},
    {2, op_add_condition},
    {8, op_instantiate},
    {14, op_graph},
    {4, op_update},
    {4, op_set_params},
    {1, op_unsafe},
    {1, op_without_context},
    {3, op_bad_launch},
};

static void act(void *world)
{
    struct world *w = world;
    unsigned all = 0, i = 0;

    for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        all += ops[i].weight;
    unsigned at = pick(w, all);
    for (i = 0; at >= ops[i].weight; i++)
        at -= ops[i].weight;
    ops[i].act(w);
}

/* ---- one program ---- */

static void open_thread(void *world)
{
    (void)world;
    CHECK(cuCtxSetCurrent(driver.context));
}

/* What the thread has begun it ends, and leaves its mode as it was at first. */
static void close_thread(void *world)
{
    struct world *w = world;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

    CHECK(cuCtxSetCurrent(driver.context));
    for (int s = PER_THREAD; s < SPARE; s++)
        if (*of(w, w->owner, s) == w->self + 1 &&
            status_of(w->stream[s]) != CU_STREAM_CAPTURE_STATUS_NONE)
            end_capture(w, s);
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
}

static void open_world(struct world *w, unsigned long seed)
{
    memset(w, 0, sizeof(*w));
    w->random = (seed + 1) * 0x9e3779b97f4a7c15u;
    w->care = seed % 4 ? CAREFUL : 0;
    w->stream[PER_THREAD] = CU_STREAM_PER_THREAD;
    for (int s = BLOCKING; s < STREAMS; s++)
        CHECK(
            cuStreamCreate(&w->stream[s], s < APART ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    for (int e = 0; e < EVENTS; e++)
        CHECK(cuEventCreate(&w->event[e], e ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&w->last_graph, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < GRAPHS; i++)
        w->slot[i].captured_by = -1;
    CHECK(cuMemsetD32(driver.data, 0, STEPS * PART));
    CHECK(cuCtxSynchronize());
    atomic_store(&host_calls, 0);
}

static void close_world(struct world *w)
{
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(driver.host, driver.data, STEPS * PART * sizeof(int)));
    printf("memory %08x, %lu host calls\n", driver_sum(driver.host, STEPS * PART * sizeof(int)),
           atomic_load(&host_calls));
    for (int i = 0; i < EXECS; i++)
        if (w->exec[i].exec)
            CHECK(cuGraphExecDestroy(w->exec[i].exec));
    for (int i = 0; i < GRAPHS; i++) {
        let_go(w, &w->slot[i]);
        if (w->slot[i].graph)
            CHECK(cuGraphDestroy(w->slot[i].graph));
    }
    for (int e = 0; e < EVENTS; e++)
        CHECK(cuEventDestroy(w->event[e]));
    CHECK(cuEventDestroy(w->last_graph));
    for (int s = BLOCKING; s < STREAMS; s++)
        CHECK(cuStreamDestroy(w->stream[s]));
}

/* Launches are allowed beside any capture. */
static void *make_traffic(void *stream)
{
    CHECK(cuCtxSetCurrent(driver.context));
    for (int i = 0; i < TRAFFIC; i++)
        count(BESIDE, launch_at(BESIDE, driver.other + BYTES / 2, *(CUstream *)stream), false);
    return NULL;
}

static void play(unsigned long seed)
{
    static struct world w;
    struct turn turn[THREADS_IN_TURN] = {0};
    pthread_t beside;

    printf("program %lu\n", seed);
    open_world(&w, seed);
    pthread_create(&beside, NULL, make_traffic, &w.stream[TRAFFIC_STREAM]);
    for (int t = 0; t < THREADS_IN_TURN; t++) {
        turn_start(&turn[t]);
        turn_take(&turn[t], open_thread, &w);
    }
    for (w.step = 0; w.step < STEPS; w.step++) {
        w.self = (int)pick(&w, THREADS_IN_TURN);
        turn_take(&turn[w.self], act, &w);
    }
    for (w.self = 0; w.self < THREADS_IN_TURN; w.self++) {
        turn_take(&turn[w.self], close_thread, &w);
        turn_end(&turn[w.self]);
    }
    pthread_join(beside, NULL);
    close_world(&w);
}

/* All kernels once, so that none is loaded within a capture. */
static void warm_up(void)
{
    CHECK(cuModuleGetFunction(&function[BESIDE], driver.module, "_Z7mangledIiEvPT_j"));
    CHECK(cuModuleGetFunction(&function[COUNT_ONE], driver.module, "count_one"));
    CHECK(cuModuleGetFunction(&function[COUNT_TWO], driver.module, "count_two"));
    for (int kind = 0; kind < 3; kind++)
        count(kind, launch_at(kind, driver.data, NULL), false);
    CHECK(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    unsigned long first, programs;

    if (argc != 4)
        return 2;
    first = strtoul(argv[2], NULL, 10);
    programs = strtoul(argv[3], NULL, 10);
    driver_open(&driver, argv[1]);
    warm_up();
    for (unsigned long i = 0; i < programs; i++)
        play(first + i);
    for (int kind = 0; kind < KINDS; kind++)
        printf("sum %s: %lu and %lu captured\n", kinds[kind], atomic_load(&submitted[kind]),
               atomic_load(&captured[kind]));
    driver_close(&driver);
    return 0;
}
