/* SPDX-License-Identifier: MIT */
/*
 * Allocates of each kind and frees some of it. "reset": ends the context afterwards, and then frees
 * what went with it; "dlsym": what dlsym gives for functions that others patch must be the driver's
 * own.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t result = (call);                                                               \
        if (result != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, (int)result);                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *const patched[] = {
#define CT_UNWRAPPED(name, reason) #name,
#include "cuda/unwrapped.def"
};

static int look_up(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof(patched) / sizeof(patched[0]); i++) {
        void *scopes[] = {driver, RTLD_DEFAULT};
        for (int k = 0; k < 2; k++) {
            Dl_info info = {0};
            void *p = strncmp(patched[i], "cu", 2) ? NULL : dlsym(scopes[k], patched[i]);
            if (p && (!dladdr(p, &info) || !strstr(info.dli_fname, "libcuda.so.1"))) {
                fprintf(stderr, "%s is of %s\n", patched[i], info.dli_fname);
                return 1;
            }
        }
    }
    return !driver;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void *p[8], *none = NULL;
    size_t pitch;
    char *own = aligned_alloc(4096, 8192);
    for (int i = 0; i < 3; i++)
        CHECK(cudaMalloc(&p[i], 1000));
    CHECK(cudaMalloc(&p[3], 50000));
    CHECK(cudaFree(p[0]));
    CHECK(cudaFree(none));
    if (cudaMalloc(&none, (size_t)1 << 50) == cudaSuccess ||
        cudaMalloc(&none, (size_t)1 << 51) == cudaSuccess)
        return 2;
    CHECK(cudaMallocPitch(&p[4], &pitch, 100, 10));
    CHECK(cudaMallocManaged(&p[5], 4096, cudaMemAttachGlobal));
    CHECK(cudaMallocHost(&p[6], 2048));
    CHECK(cudaFreeHost(p[6]));
    CHECK(cudaHostRegister(own, 8192, 0));
    CHECK(cudaMallocAsync(&p[7], 300, 0));
    CHECK(cudaFreeAsync(p[7], 0));
    CHECK(cudaMallocAsync(&p[7], 700, 0));
    CHECK(cudaDeviceSynchronize());
    printf("pitch %zu\n", pitch);
    if (!strcmp(what, "dlsym"))
        return look_up();
    if (!strcmp(what, "reset")) {
        CHECK(cudaDeviceReset());
        return cudaFree(p[1]) == cudaSuccess;
    }
    return 0;
}
