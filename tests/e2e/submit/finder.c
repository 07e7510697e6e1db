/* SPDX-License-Identifier: MIT */
/*
 * finder newer           looks up and calls functions of a driver newer than cutrace
 * finder versioned       the runtime's functions by dlvsym
 * finder strangers PATH  functions of that library, which are called like CUDA's
 * finder namespace       the driver in a namespace of its own
 * finder runtime PATH    NVIDIA's runtime at PATH; FINDER_LINKED: the one linked in
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *p, const char *name)
{
    if (p)
        return p;
    fprintf(stderr, "%s was not found\n", name);
    exit(1);
}

static void *open_library(const char *name)
{
    return need(dlopen(name, RTLD_NOW | RTLD_LOCAL), name);
}

#define GET(library, fn) ((__typeof__(fn) *)need(dlsym(library, #fn), #fn))

typedef int next_launch(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                        uint64_t);
typedef int next_copy(uint64_t, uint64_t, uint64_t);
typedef int entangle(uint64_t);

static int newer(void)
{
    void *library = open_library("libcuda.so.1"), *launch, *copy, *other;
    __typeof__(cuGetProcAddress_v2) *get = GET(library, cuGetProcAddress_v2);
    printf("init %d\n", (int)GET(library, cuInit)(0));
    printf("results %d", (int)get("cuLaunchKernelNext", &launch, 13000, 0, NULL));
    printf(" %d", (int)get("cuMemcpyNextAsync", &copy, 13000, 0, NULL));
    printf(" %d\n", (int)get("cuQuantumEntangle", &other, 13000, 0, NULL));
    printf("same %d %d %d\n", launch == dlsym(library, "cuLaunchKernelNext"),
           copy == dlsym(library, "cuMemcpyNextAsync_v7"),
           other == dlsym(library, "cuQuantumEntangle"));
    printf("launch %d\n", ((next_launch *)need(launch, "launch"))(1, 20, 300, 4000, 50000, 600000,
                                                                  7000000, 80000000));
    printf("copy %d\n", ((next_copy *)need(copy, "copy"))(1, 2, 4));
    printf("other %d\n", ((entangle *)need(other, "other"))(42));
    printf("question %d\n", ((entangle *)need(dlsym(library, "cuGetNextLaunchQuery"), "q"))(43));
    library = open_library("libcudart.so.13");
    printf("runtime's %d\n",
           ((int (*)(int))need(dlsym(library, "cudaMemcpyNextAsync"), "runtime's"))(44));
    return 0;
}

static int versioned(void)
{
    void *library = open_library("libcudart.so.13"), *p;
    __typeof__(cudaMalloc) *allocate;
    __typeof__(cudaMemset) *set;
    need(allocate = (__typeof__(allocate))dlvsym(library, "cudaMalloc", "libcudart.so.13"),
         "malloc");
    need(set = (__typeof__(set))dlvsym(library, "cudaMemset", "libcudart.so.13"), "set");
    printf("another version %d\n", dlvsym(library, "cudaMemset", "libcudart.so.9") != NULL);
    printf("another library %d\n", dlvsym(RTLD_DEFAULT, "cudaMemset", "GLIBC_2.2.5") != NULL);
    printf("allocate %d\n", (int)allocate(&p, 4096));
    for (int i = 0; i < 7; i++)
        printf("set %d\n", (int)set(p, i, 4096));
    return 0;
}

struct stranger {
    const char *name;
    void (*function)(void);
};

static int strangers(const char *path)
{
    void *library = open_library(path);
    const struct stranger *s = need(dlsym(library, "strangers"), "strangers");
    for (; s->name; s++)
        printf("%s %s, versioned %s\n", s->name,
               dlsym(library, s->name) == (void *)s->function ? "found" : "another",
               dlvsym(library, s->name, "GLIBC_2.2.5") ? "found" : "not found");
    return 0;
}

static int in_namespace(void)
{
    int count = 0;
    void *library = need(dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW), "namespace");
    printf("init %d\n", (int)GET(library, cuInit)(0));
    printf("count %d", (int)GET(library, cuDeviceGetCount)(&count));
    printf(" %d\n", count);
    return 0;
}

static int use_runtime(__typeof__(cudaGetDeviceCount) *count,
                       __typeof__(cudaRuntimeGetVersion) *get, __typeof__(cudaGetLastError) *last)
{
    int devices = -1, version = -1;
    printf("version %d\n", (int)get(&version));
    printf("%d\n", version);
    printf("count %d\n", (int)count(&devices));
    printf("%d, last error %d\n", devices, (int)last());
    return 0;
}

#ifdef FINDER_LINKED
static int runtime(const char *path)
{
    (void)path;
    return use_runtime(cudaGetDeviceCount, cudaRuntimeGetVersion, cudaGetLastError);
}
#else
static int runtime(const char *path)
{
    void *library = open_library(path);
    return use_runtime(GET(library, cudaGetDeviceCount), GET(library, cudaRuntimeGetVersion),
                       GET(library, cudaGetLastError));
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "newer"))
        return newer();
    if (!strcmp(what, "versioned"))
        return versioned();
    if (!strcmp(what, "strangers"))
        return strangers(argc > 2 ? argv[2] : "");
    if (!strcmp(what, "namespace"))
        return in_namespace();
    if (!strcmp(what, "runtime"))
        return runtime(argc > 2 ? argv[2] : "");
    return 2;
}
