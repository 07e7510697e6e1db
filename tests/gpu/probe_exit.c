/* SPDX-License-Identifier: MIT */
/*
 * G10: what an exit handler sees of the driver, by when it was registered. As a program: handlers
 * registered before cuInit, right after it and after the first context; as a library loaded by
 * the driver (CUDA_INJECTION64_PATH): a handler registered inside cuInit, of whatever program.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static CUresult (*query)(CUevent);
static CUresult (*current)(CUcontext *);
static CUevent event;

/* Bound early: at exit a look-up might find less. */
static void bind(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);

    query = (CUresult(*)(CUevent))dlsym(handle, "cuEventQuery");
    current = (CUresult(*)(CUcontext *))dlsym(handle, "cuCtxGetCurrent");
}

static void report(const char *when)
{
    const char *label = getenv("PROBE_EXIT_LABEL");
    CUcontext context = NULL;
    CUresult result = current ? current(&context) : CUDA_ERROR_NOT_FOUND;

    printf("G10 answer: %s handler registered %s: cuCtxGetCurrent %d%s",
           label ? label : "driver API", when, (int)result,
           result == CUDA_ERROR_DEINITIALIZED ? " (DEINITIALIZED)" : "");
    if (event)
        printf(", cuEventQuery %d", (int)query(event));
    printf("\n");
    fflush(stdout);
}

#ifdef AS_LIBRARY

static void inside(void)
{
    report("inside cuInit");
}

int InitializeInjection(void);
int InitializeInjection(void)
{
    bind();
    atexit(inside);
    return 1;
}

#else

static void before(void)
{
    report("before cuInit");
}

static void after(void)
{
    report("right after cuInit");
}

static void late(void)
{
    report("after the first context");
}

__attribute__((destructor)) static void destructor(void)
{
    report("as a destructor");
}

int main(void)
{
    CUcontext context;

    bind();
    atexit(before);
    if (cuInit(0) != CUDA_SUCCESS)
        return 1;
    atexit(after);
    cuCtxCreate(&context, NULL, 0, 0);
    cuEventCreate(&event, CU_EVENT_DEFAULT);
    cuEventRecord(event, NULL);
    atexit(late);
    return 0;
}

#endif
