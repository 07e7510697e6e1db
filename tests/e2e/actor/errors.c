/* SPDX-License-Identifier: MIT */
/* Parts that make CUDA fail; every return code, and errno, is printed. */
#include "actor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void say(const char *call, CUresult r)
{
    int number = errno;
    if (strlen(call) > 60)
        printf("%.60s... = %d, errno %d\n", call, (int)r, number);
    else
        printf("%s = %d, errno %d\n", call, (int)r, number);
}
#define SAY(call)                                                                                  \
    do {                                                                                           \
        errno = 77;                                                                                \
        CUresult r_ = call;                                                                        \
        say(#call, r_);                                                                            \
    } while (0)

static char junk[64]; /* its address never was a handle */
#define JUNK(type) ((type)(void *)junk)

static void before_init(void)
{
    CUcontext c;
    CUdevice d;
    int n;
    SAY(cuDeviceGet(&d, 0));
    SAY(cuCtxGetCurrent(&c));
    SAY(cuDriverGetVersion(&n));
    SAY(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuInit(1));
    SAY(cuInit(0));
}

static void without_context(void)
{
    CUstream s;
    CUevent e;
    CUdeviceptr p;
    CUmodule m;
    SAY(cuStreamCreate(&s, 0));
    SAY(cuEventCreate(&e, 0));
    SAY(cuMemAlloc(&p, 100));
    SAY(cuModuleLoadData(&m, "image"));
    SAY(cuCtxSynchronize());
    SAY(cuMemcpyHtoD(0, junk, 10));
    SAY(cuMemsetD8(0, 0, 10));
    SAY(cuLaunchKernel(JUNK(CUfunction), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(cuCtxPopCurrent(NULL));
    SAY(cuCtxPushCurrent(JUNK(CUcontext)));
    SAY(cuCtxDestroy(JUNK(CUcontext)));
    SAY(cuProfilerStart());
}

static void devices(void)
{
    CUcontext c;
    CUdevice d;
    int n;
    SAY(cuDeviceGet(&d, 99));
    SAY(cuDeviceGet(&d, -1));
    SAY(cuDevicePrimaryCtxRetain(&c, 99));
    SAY(cuDevicePrimaryCtxRelease(0));
    SAY(cuDevicePrimaryCtxRelease(99));
    SAY(cuDevicePrimaryCtxReset(99));
    SAY(cuDeviceGetAttribute(&n, (CUdevice_attribute)100000, 0));
    SAY(cuCtxCreate(&c, NULL, 0, 99));
}

static void modules(void)
{
    CUmodule m;
    CUfunction f;
    CUlibrary l;
    CUkernel k;
    SAY(cuModuleLoad(&m, "/nonexistent/file"));
    SAY(cuModuleLoadData(&m, NULL));
    SAY(cuModuleLoadData(&m, "image"));
    SAY(cuModuleGetFunction(&f, m, "missing_function"));
    SAY(cuModuleGetFunction(&f, JUNK(CUmodule), "f"));
    SAY(cuModuleUnload(JUNK(CUmodule)));
    SAY(cuLibraryLoadData(&l, "image", NULL, NULL, 0, NULL, NULL, 0));
    SAY(cuLibraryGetKernel(&k, l, "missing_kernel"));
    SAY(cuLibraryGetKernel(&k, JUNK(CUlibrary), "k"));
    SAY(cuLibraryUnload(JUNK(CUlibrary)));
}

static void launches(CUfunction f, CUstream s)
{
    CUlaunchConfig config = {.gridDimX = 0, .blockDimX = 1, .hStream = s};
    SAY(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(JUNK(CUfunction), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(f, 1, 1, 1, 2000, 1, 1, 0, s, NULL, NULL));
    SAY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 1u << 30, s, NULL, NULL));
    SAY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, JUNK(CUstream), NULL, NULL));
    SAY(cuLaunchKernelEx(NULL, f, NULL, NULL));
    SAY(cuLaunchKernelEx(&config, f, NULL, NULL));
    SAY(cuLaunchCooperativeKernel(f, 0, 1, 1, 1, 1, 1, 0, s, NULL));
    SAY(cuLaunchHostFunc(s, NULL, NULL));
    SAY(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    SAY(cuStreamSynchronize(s));
}

static void memory(CUstream s)
{
    CUdeviceptr p = 0;
    size_t n;
    SAY(cuMemAlloc(&p, (size_t)1 << 50));
    SAY(cuMemAlloc(&p, 0));
    SAY(cuMemAlloc(&p, 4096));
    SAY(cuMemFree((CUdeviceptr)(uintptr_t)junk));
    SAY(cuMemHostUnregister(junk));
    SAY(cuMemHostRegister(junk, sizeof(junk), 0));
    SAY(cuMemHostRegister(junk, sizeof(junk), 0));
    SAY(cuMemHostUnregister(junk));
    SAY(cuMemcpyHtoD(p, junk, sizeof(junk)));
    SAY(cuMemcpyHtoD(p, junk, 0));
    SAY(cuMemcpyHtoDAsync(p, junk, sizeof(junk), JUNK(CUstream)));
    SAY(cuMemcpyDtoHAsync(junk, p, sizeof(junk), s));
    SAY(cuMemcpy2D(&(CUDA_MEMCPY2D){0}));
    SAY(cuMemsetD8Async(p, 1, 0, s));
    SAY(cuMemsetD8Async(p, 1, 10, JUNK(CUstream)));
    SAY(cuMemGetAddressRange(&p, &n, (CUdeviceptr)(uintptr_t)junk));
    SAY(cuStreamSynchronize(s));
}

static void streams_and_events(CUfunction f, CUstream s)
{
    CUevent a, b;
    CUstream t;
    float ms;
    static atomic_int gate;
    SAY(cuStreamCreate(&t, 1000));
    SAY(cuStreamDestroy(JUNK(CUstream)));
    SAY(cuStreamDestroy(NULL));
    SAY(cuStreamQuery(JUNK(CUstream)));
    SAY(cuStreamWaitEvent(s, JUNK(CUevent), 0));
    SAY(cuEventCreate(&a, 1000));
    SAY(cuEventCreate(&a, CU_EVENT_DEFAULT));
    SAY(cuEventCreate(&b, CU_EVENT_DEFAULT));
    SAY(cuEventElapsedTime(&ms, a, b));
    SAY(cuEventRecord(a, JUNK(CUstream)));
    SAY(cuEventRecord(JUNK(CUevent), s));
    SAY(cuEventQuery(a));
    SAY(actor_launch_with(f, s, (uint64_t)(uintptr_t)&gate));
    SAY(cuEventRecord(a, s));
    SAY(cuEventQuery(a));
    SAY(cuStreamQuery(s));
    atomic_store(&gate, 1);
    SAY(cuStreamSynchronize(s));
    SAY(cuEventQuery(a));
    SAY(cuEventDestroy(JUNK(CUevent)));
    SAY(cuEventDestroy(a));
    SAY(cuEventDestroy(b));
}

static void captures(CUfunction f, CUstream s)
{
    CUgraph g = NULL;
    CUgraphExec x;
    CUstream t = actor_stream();
    CUevent e;
    CUdeviceptr p;
    SAY(cuMemAlloc(&p, 4096));
    SAY(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    SAY(cuStreamEndCapture(s, &g));
    SAY(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SAY(actor_launch(f, s));
    SAY(cuStreamSynchronize(s));
    SAY(actor_launch(f, s));
    SAY(cuStreamEndCapture(s, &g));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    SAY(cuMemcpyDtoH(junk, p, sizeof(junk)));
    SAY(cuStreamEndCapture(s, &g));
    SAY(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SAY(cuMemcpyDtoH(junk, p, sizeof(junk)));
    SAY(actor_launch(f, s));
    SAY(cuEventRecord(e, s));
    SAY(cuEventQuery(e));
    SAY(cuStreamWaitEvent(t, e, 0));
    SAY(actor_launch(f, t));
    SAY(cuStreamEndCapture(t, &g));
    SAY(cuStreamEndCapture(s, &g));
    SAY(cuGraphInstantiate(&x, JUNK(CUgraph), 0));
    SAY(cuGraphLaunch(JUNK(CUgraphExec), s));
    SAY(cuGraphExecDestroy(JUNK(CUgraphExec)));
}

int actor_errors(int argc, char **argv)
{
    CUcontext c;
    (void)argc;
    (void)argv;
    before_init();
    without_context();
    devices();
    SAY(cuDevicePrimaryCtxRetain(&c, 0));
    SAY(cuCtxSetCurrent(c));
    modules();
    CUfunction f = actor_function("kernel");
    CUstream s = actor_stream();
    launches(f, s);
    memory(s);
    streams_and_events(actor_function("gate"), s);
    captures(f, s);
    SAY(cuCtxSynchronize());
    return 0;
}

/* sticky [CALLS]: goes on whatever is returned; every code is printed */
int actor_sticky(int argc, char **argv)
{
    static char host[256];
    long n = actor_number(argc, argv, 1, 400);
    CUdeviceptr p;
    CUevent e;
    actor_begin();
    CUfunction f = actor_function("kernel");
    CUstream s = actor_stream();
    MUST(cuMemAlloc(&p, sizeof(host)));
    MUST(cuEventCreate(&e, CU_EVENT_DEFAULT));
    for (long i = 0; i < n; i++) {
        SAY(actor_launch(f, s));
        SAY(cuMemcpyHtoDAsync(p, host, sizeof(host), s));
        SAY(cuMemsetD8Async(p, 0, sizeof(host), NULL));
        SAY(cuEventRecord(e, s));
        SAY(cuEventSynchronize(e));
        SAY(cuStreamSynchronize(s));
        SAY(actor_launch(f, NULL));
    }
    SAY(cuCtxSynchronize());
    return 0;
}
