/* SPDX-License-Identifier: MIT */
/*
 * probe_capture PTX
 *
 * G6: does another thread's cuEventQuery end a capture? Both threads' modes in all combinations.
 * G9: which of the calls that a bracket needs are legal on the capturing thread.
 */
#include "programs/driver.h"
#include <pthread.h>

static const char *const mode_names[] = {"GLOBAL", "THREAD_LOCAL", "RELAXED"};
static struct driver driver;
static CUevent old_event; /* recorded and finished before any capture */
static CUstream capturing, beside;

static const char *name_of(CUresult result)
{
    const char *name = "?";

    cuGetErrorName(result, &name);
    return name + (strncmp(name, "CUDA_ERROR_", 11) ? 0 : 11);
}

struct question {
    CUstreamCaptureMode mode;
    CUresult query, create, elapsed;
};

static void *ask(void *argument)
{
    struct question *q = argument;
    CUstreamCaptureMode mode = q->mode;
    CUevent event;
    float ms;

    CHECK(cuCtxSetCurrent(driver.context));
    CHECK(cuThreadExchangeStreamCaptureMode(&mode));
    q->query = cuEventQuery(old_event);
    q->elapsed = cuEventElapsedTime(&ms, old_event, old_event);
    q->create = cuEventCreate(&event, CU_EVENT_DEFAULT);
    return NULL;
}

static void other_thread(int capture_mode, int thread_mode)
{
    struct question q = {(CUstreamCaptureMode)thread_mode, CUDA_SUCCESS, CUDA_SUCCESS,
                         CUDA_SUCCESS};
    CUgraph graph = NULL;
    CUresult end;
    pthread_t thread;

    CHECK(cuStreamBeginCapture(capturing, (CUstreamCaptureMode)capture_mode));
    driver_launch(driver.add_one, driver.data, capturing);
    pthread_create(&thread, NULL, ask, &q);
    pthread_join(thread, NULL);
    end = cuStreamEndCapture(capturing, &graph);
    if (graph)
        cuGraphDestroy(graph);
    printf("G6 answer: capture %-12s drain thread %-12s cuEventQuery %s, cuEventElapsedTime %s, "
           "cuEventCreate %s; the capture ends with %s\n",
           mode_names[capture_mode], mode_names[thread_mode], name_of(q.query), name_of(q.elapsed),
           name_of(q.create), name_of(end));
}

enum { CALLS = 18 };
static const char *const call_names[CALLS] = {
    "cuEventCreate",           "cuEventQuery (old)",
    "cuEventRecord (beside)",  "cuStreamGetCtx",
    "cuStreamIsCapturing",     "cuStreamGetId",
    "cuFuncGetName",           "cuPointerGetAttribute",
    "cuCtxGetCurrent",         "cuEventRecord (capturing)",
    "cuStreamGetDevice",       "cuStreamGetFlags",
    "cuStreamGetPriority",     "cuFuncGetAttribute",
    "cuEventQuery (captured)", "cuEventElapsedTime (captured)",
    "cuStreamQuery (beside)",  "cuGraphInstantiate"};

/* An event that was last recorded in the capture. */
static CUevent captured_event(void)
{
    CUevent event;

    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(event, capturing));
    return event;
}

static CUresult instantiate(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUresult result;

    CHECK(cuGraphCreate(&graph, 0));
    result = cuGraphInstantiate(&exec, graph, 0);
    if (result == CUDA_SUCCESS)
        CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    return result;
}

static CUresult do_call(int which)
{
    CUevent event;
    CUcontext context;
    CUstreamCaptureStatus status;
    CUdevice device;
    unsigned long long id;
    unsigned int type;
    const char *name;
    float ms;
    int value;

    switch (which) {
    case 0:
        return cuEventCreate(&event, CU_EVENT_DEFAULT);
    case 1:
        return cuEventQuery(old_event);
    case 2:
        return cuEventRecord(old_event, beside);
    case 3:
        return cuStreamGetCtx(capturing, &context);
    case 4:
        return cuStreamIsCapturing(capturing, &status);
    case 5:
        return cuStreamGetId(capturing, &id);
    case 6:
        return cuFuncGetName(&name, driver.scale);
    case 7:
        return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, driver.data);
    case 8:
        return cuCtxGetCurrent(&context);
    case 9:
        cuEventCreate(&event, CU_EVENT_DEFAULT);
        return cuEventRecord(event, capturing);
    case 10:
        return cuStreamGetDevice(capturing, &device);
    case 11:
        return cuStreamGetFlags(capturing, &type);
    case 12:
        return cuStreamGetPriority(capturing, &value);
    case 13:
        return cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, driver.scale);
    case 14:
        return cuEventQuery(captured_event());
    case 15:
        return cuEventElapsedTime(&ms, old_event, captured_event());
    case 16:
        return cuStreamQuery(beside);
    default:
        return instantiate();
    }
}

/* Each call in a capture of its own, so that a broken one blames only itself. */
static void same_thread(int capture_mode, int relaxed)
{
    printf("G9 answer: capture %-12s thread %s:", mode_names[capture_mode],
           relaxed ? "put in RELAXED" : "as it is");
    for (int i = 0; i < CALLS; i++) {
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        CUgraph graph = NULL;
        CUresult result, end;

        CHECK(cuStreamBeginCapture(capturing, (CUstreamCaptureMode)capture_mode));
        driver_launch(driver.add_one, driver.data, capturing);
        if (relaxed)
            CHECK(cuThreadExchangeStreamCaptureMode(&mode));
        result = do_call(i);
        if (relaxed)
            CHECK(cuThreadExchangeStreamCaptureMode(&mode));
        end = cuStreamEndCapture(capturing, &graph);
        if (graph)
            cuGraphDestroy(graph);
        if (result != CUDA_SUCCESS || end != CUDA_SUCCESS)
            printf(" %s gives %s, capture %s;", call_names[i], name_of(result), name_of(end));
        CHECK(cuStreamSynchronize(beside));
        CHECK(cuEventRecord(old_event, beside));
        CHECK(cuStreamSynchronize(beside));
    }
    printf(" all others succeed\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    driver_open(&driver, argv[1]);
    CHECK(cuStreamCreate(&capturing, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&old_event, CU_EVENT_DEFAULT));
    driver_launch(driver.add_one, driver.data, beside);
    CHECK(cuEventRecord(old_event, beside));
    CHECK(cuStreamSynchronize(beside));
    for (int capture = 0; capture < 3; capture++)
        for (int thread = 0; thread < 3; thread++)
            other_thread(capture, thread);
    for (int capture = 0; capture < 3; capture++)
        for (int relaxed = 0; relaxed < 2; relaxed++)
            same_thread(capture, relaxed);
    driver_close(&driver);
    return 0;
}
