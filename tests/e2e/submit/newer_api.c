/* SPDX-License-Identifier: MIT */
/*
 * newer_api ROUTE: calls what came after CUDA 13.0, found in one of many ways: "linked", "dlsym",
 * "suffix" and "base" (cuGetProcAddress_v2 by either name of a symbol), "entry" (the runtime's way
 * to the driver's), "runtime" (the runtime's own). Prints "done".
 */
#include "cuda/newer_api.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUED 900
#define BYTES 4096

/* X(name in `cu`, symbol, base name, since) */
#define CALLS(X)                                                                                   \
    X(host, cuLaunchHostFunc_v2, "cuLaunchHostFunc", 13020)                                        \
    X(copy, cuMemcpyWithAttributesAsync, "cuMemcpyWithAttributesAsync", 13020)                     \
    X(box, cuMemcpy3DWithAttributesAsync, "cuMemcpy3DWithAttributesAsync", 13020)                  \
    X(recapture, cuStreamBeginRecaptureToGraph, "cuStreamBeginRecaptureToGraph", 13030)

/* They may be missing: then they are not called. */
#pragma weak cuLaunchHostFunc_v2
#pragma weak cuMemcpyWithAttributesAsync
#pragma weak cuMemcpy3DWithAttributesAsync
#pragma weak cuStreamBeginRecaptureToGraph
#pragma weak cuStreamBeginCaptureToCig
#pragma weak cuStreamEndCaptureToCig

static struct {
#define X(name, symbol, base, since) __typeof__(symbol) *name;
    CALLS(X)
#undef X
} cu;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult check = call;                                                                     \
        if (check != CUDA_SUCCESS) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, (int)check);                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef int entry_point(const char *, void **, unsigned, unsigned long long, int *);

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

/* "cuName" is "cudaName". */
static void *of_runtime(const char *symbol)
{
    char name[96];
    snprintf(name, sizeof(name), "cuda%s", symbol + 2);
    return dlsym(open_library("libcudart.so.13"), name);
}

static void *ask(const char *route, const char *symbol, const char *base, int since, void *linked)
{
    void *p = NULL;
    if (!strcmp(route, "linked"))
        return linked;
    if (!strcmp(route, "dlsym"))
        return dlsym(open_library("libcuda.so.1"), symbol);
    if (!strcmp(route, "runtime"))
        return of_runtime(symbol);
    if (!strcmp(route, "entry"))
        ((entry_point *)of_runtime("cuGetDriverEntryPointByVersion"))(base, &p, (unsigned)since, 0,
                                                                      NULL);
    else
        CHECK(cuGetProcAddress_v2(!strcmp(route, "base") ? base : symbol, &p, since, 0, NULL));
    return p;
}

static void find(const char *route)
{
#define X(name, symbol, base, since)                                                               \
    cu.name = (__typeof__(cu.name))ask(route, #symbol, base, since, (void *)symbol);               \
    if (!cu.name) {                                                                                \
        fprintf(stderr, "no %s\n", #symbol);                                                       \
        exit(3);                                                                                   \
    }
    CALLS(X)
#undef X
}

static CUstream stream;
static CUfunction alpha;
static atomic_int gate;
static unsigned recaptured;

static void launch(void)
{
    CHECK(cuLaunchKernel(alpha, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void CUDA_CB wait_for_gate(void *unused)
{
    (void)unused;
    while (!atomic_load(&gate))
        usleep(100);
}

static void copies(void)
{
    static char from[BYTES];
    CUdeviceptr to, source = (CUdeviceptr)(uintptr_t)from;
    CUmemcpyAttributes a = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUDA_MEMCPY3D_BATCH_OP op = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
                                 .extent = {64, 4, 2}};
    CHECK(cuMemAlloc_v2(&to, BYTES));
    CHECK(cu.copy(to, source, BYTES, &a, stream));
    CHECK(cu.copy(to, source, BYTES, &a, stream));
    op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = source;
    op.dst.op.ptr.ptr = to;
    CHECK(cu.box(&op, 0, stream));
}

static CUresult CUDA_CB count(void *data, CUgraphNode node, const CUgraphNodeParams *original,
                              const CUgraphNodeParams *now, CUgraphRecaptureStatus status)
{
    (void)node;
    (void)original;
    (void)now;
    ++*(unsigned *)data;
    return status == CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}

/* A node that is not the program's own would fail it. */
static void capture_twice(bool by_runtime)
{
    CUgraph graph, again;
    CUgraphExec exec;
    void *const both[] = {(void *)count, &recaptured};
    CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch();
    launch();
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cu.recapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, graph,
                       by_runtime ? (CUgraphRecaptureCallback)(void *)both : count, &recaptured));
    launch();
    launch();
    CHECK(cuStreamEndCapture(stream, &again));
    if (again != graph || recaptured != 2)
        exit(4);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
}

static void capture_to_another_interface(void)
{
    int list = 0;
    CHECK(cuStreamBeginCaptureToCig(stream, (CUstreamCigCaptureParams *)&list));
    launch();
    CHECK(cuStreamEndCaptureToCig(stream));
}

/* More than a queue holds with what a profiler may add, as nothing completes meanwhile. */
static void launches_behind_a_gate(void)
{
    CHECK(cu.host(stream, wait_for_gate, NULL, 1));
    for (int i = 0; i < QUEUED; i++)
        launch();
    atomic_store(&gate, 1);
    CHECK(cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    const char *route = argc > 1 ? argv[1] : "linked";
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, "an image"));
    CHECK(cuModuleGetFunction(&alpha, module, "alpha"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    find(route);
    copies();
    capture_twice(!strcmp(route, "runtime"));
    capture_to_another_interface();
    CHECK(cuStreamSynchronize(stream));
    alarm(20);
    launches_behind_a_gate();
    puts("done");
    return 0;
}
