/* SPDX-License-Identifier: MIT */
/*
 * client_driver ROUTE: a program of the driver API that comes by its functions in one of many ways.
 * With CLIENT_LINKED it is linked with the driver, which is the route then.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CALL(name to ask for, symbol): the symbols of CUDA 11 */
#define CALLS(CALL)                                                                                \
    CALL(cuInit, cuInit)                                                                           \
    CALL(cuDeviceGet, cuDeviceGet)                                                                 \
    CALL(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                                       \
    CALL(cuCtxSetCurrent, cuCtxSetCurrent)                                                         \
    CALL(cuModuleLoadData, cuModuleLoadData)                                                       \
    CALL(cuModuleGetFunction, cuModuleGetFunction)                                                 \
    CALL(cuStreamCreate, cuStreamCreate)                                                           \
    CALL(cuStreamSynchronize, cuStreamSynchronize)                                                 \
    CALL(cuMemAlloc, cuMemAlloc_v2)                                                                \
    CALL(cuMemcpyHtoD, cuMemcpyHtoD_v2)                                                            \
    CALL(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                                                  \
    CALL(cuMemcpyDtoD, cuMemcpyDtoD_v2)                                                            \
    CALL(cuMemsetD32, cuMemsetD32_v2)                                                              \
    CALL(cuLaunchKernel, cuLaunchKernel)                                                           \
    CALL(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel)

static struct {
#define CALL(name, symbol) __typeof__(symbol) *name;
    CALLS(CALL)
#undef CALL
} cu;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult check = call;                                                                     \
        if (check != CUDA_SUCCESS) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, (int)check);                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#ifdef CLIENT_LINKED
static void find(const char *route)
{
    (void)route;
#define CALL(name, symbol) cu.name = symbol;
    CALLS(CALL)
#undef CALL
}
#else

typedef CUresult get_v1(const char *, void **, int, cuuint64_t);
typedef CUresult get_v2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
/* cudaGetDriverEntryPoint, cudaGetDriverEntryPointByVersion */
typedef int entry_point(const char *, void **, unsigned long long, int *);
typedef int entry_point_by_version(const char *, void **, unsigned, unsigned long long, int *);

static void need(const void *p, const char *name)
{
    if (p)
        return;
    fprintf(stderr, "%s was not found\n", name);
    exit(1);
}

static void *library, *scope;
static get_v1 *first;
static get_v2 *second;
static entry_point *entry;
static entry_point_by_version *entry_by_version;
static cuuint64_t flags;
static const char *suffix = "";

static void *by_symbol(const char *symbol)
{
    char name[64];
    snprintf(name, sizeof(name), "%s%s", symbol, suffix);
    void *p = dlsym(scope, name);
    return p ? p : dlsym(scope, symbol);
}

static void *look_up(const char *name, const char *symbol)
{
    void *p = NULL;
    if (second)
        CHECK(second(name, &p, 12000, flags, NULL));
    else if (first)
        CHECK(first(name, &p, 11080, flags));
    else if (entry)
        CHECK(entry(name, &p, flags, NULL));
    else if (entry_by_version)
        CHECK(entry_by_version(name, &p, 12000, flags, NULL));
    else
        p = by_symbol(symbol);
    need(p, name);
    return p;
}

static void *get(void *from, const char *name)
{
    void *p = dlsym(from, name);
    need(p, name);
    return p;
}

static void *open_library(const char *name, int mode)
{
    void *l = dlopen(name, RTLD_NOW | mode);
    need(l, name);
    return l;
}

static void choose(const char *route)
{
    bool local = !strcmp(route, "dlsym-local");
    library = open_library("libcuda.so.1", local ? RTLD_LOCAL : RTLD_GLOBAL);
    scope = !strcmp(route, "dlsym-default") ? RTLD_DEFAULT : library;
    if (strstr(route, "-ptds")) {
        flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        suffix = "_ptsz";
    }
    if (!strncmp(route, "first", 5))
        first = (get_v1 *)get(library, "cuGetProcAddress");
    else if (!strncmp(route, "second", 6))
        second = (get_v2 *)get(library, "cuGetProcAddress_v2");
    else if (!strcmp(route, "entry"))
        entry = (entry_point *)get(open_library("libcudart.so.13", 0), "cudaGetDriverEntryPoint");
    else if (!strcmp(route, "entry-by-version"))
        entry_by_version = (entry_point_by_version *)get(open_library("libcudart.so.13", 0),
                                                         "cudaGetDriverEntryPointByVersion");
}

static void find(const char *route)
{
    choose(route);
    if (!strcmp(route, "second-own")) /* found by itself */
        second = (get_v2 *)look_up("cuGetProcAddress", "cuGetProcAddress_v2");
#define CALL(name, symbol) cu.name = (__typeof__(cu.name))look_up(#name, #symbol);
    CALLS(CALL)
#undef CALL
}
#endif

static void work(CUfunction alpha, CUfunction beta, CUstream stream)
{
    static char host[65536];
    CUdeviceptr p, q;
    CHECK(cu.cuMemAlloc(&p, sizeof(host)));
    CHECK(cu.cuMemAlloc(&q, sizeof(host)));
    for (unsigned i = 1; i <= 30; i++) {
        CHECK(cu.cuLaunchKernel(alpha, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        CHECK(cu.cuLaunchKernel(beta, i, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
        CHECK(cu.cuMemcpyHtoD(p, host, 100 * i));
        CHECK(cu.cuMemcpyDtoHAsync(host, p, 200 * i, stream));
        CHECK(cu.cuMemcpyDtoD(q, p, 300 * i));
        CHECK(cu.cuMemsetD32(q, i, 50 * i));
    }
    CHECK(cu.cuLaunchCooperativeKernel(beta, 1, 1, 1, 32, 1, 1, 0, stream, NULL));
    CHECK(cu.cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction alpha, beta;
    CUstream stream;
    find(argc > 1 ? argv[1] : "linked");
    CHECK(cu.cuInit(0));
    CHECK(cu.cuDeviceGet(&device, 0));
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cu.cuCtxSetCurrent(context));
    CHECK(cu.cuModuleLoadData(&module, "image"));
    CHECK(cu.cuModuleGetFunction(&alpha, module, "alpha"));
    CHECK(cu.cuModuleGetFunction(&beta, module, "beta"));
    CHECK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    work(alpha, beta, stream);
    CHECK(cu.cuStreamSynchronize(NULL));
    puts("done");
    return 0;
}
