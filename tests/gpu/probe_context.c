/* SPDX-License-Identifier: MIT */
/*
 * G7: what a thread without a context pays for cuThreadExchangeStreamCaptureMode and cuEventQuery:
 * is a primary context made, is device memory taken?
 */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static CUevent event;

static int context_is_active(void)
{
    unsigned int flags;
    int active = -1;

    cuDevicePrimaryCtxGetState(0, &flags, &active);
    return active;
}

static long used_mib(void)
{
    FILE *pipe =
        popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0", "r");
    long mib = -1;

    if (pipe && fscanf(pipe, "%ld", &mib) != 1)
        mib = -1;
    if (pipe)
        pclose(pipe);
    return mib;
}

static void *exchange(void *unused)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result = cuThreadExchangeStreamCaptureMode(&mode);
    CUcontext context = (CUcontext)1;

    (void)unused;
    cuCtxGetCurrent(&context);
    printf(
        "G7 answer: cuThreadExchangeStreamCaptureMode returned %d; context current after it: %s; "
        "primary context active: %d; memory used: %ld MiB\n",
        (int)result, context ? "yes" : "no", context_is_active(), used_mib());
    if (event)
        printf("G7 answer: cuEventQuery without a current context returned %d; primary context "
               "active: %d; memory used: %ld MiB\n",
               (int)cuEventQuery(event), context_is_active(), used_mib());
    return NULL;
}

static void in_thread(const char *when)
{
    pthread_t thread;

    printf("   %s: primary context active: %d, memory used: %ld MiB\n", when, context_is_active(),
           used_mib());
    pthread_create(&thread, NULL, exchange, NULL);
    pthread_join(thread, NULL);
}

int main(void)
{
    CUcontext context;

    if (cuInit(0) != CUDA_SUCCESS)
        return printf("   no driver\n"), 1;
    in_thread("after cuInit");
    if (cuCtxCreate(&context, NULL, 0, 0) != CUDA_SUCCESS)
        return 1;
    cuEventCreate(&event, CU_EVENT_DEFAULT);
    cuEventRecord(event, NULL);
    cuCtxSynchronize();
    in_thread("a context of the program's own exists");
    cuCtxDestroy(context);
    return 0;
}
