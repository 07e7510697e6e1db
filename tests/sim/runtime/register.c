/* SPDX-License-Identifier: MIT */
/* What nvcc's start-up code registers, loaded when it is first used: as libraries, whose kernels are
 * the same in all contexts, where the driver has them; else as modules, one for each device. */
#include "runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 16

struct image {
    struct image *next;
    const void *wrapper;
    CUlibrary library;
    CUmodule modules[DEVICES];
};

struct item {
    struct item *next;
    struct image *image;
    const void *host; /* stub or shadow variable */
    const char *name;
    bool is_variable;
};

static struct image *images;
static struct item *items;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(struct image *image, const void *host, const char *name, bool is_variable)
{
    struct item *i = malloc(sizeof(*i));
    *i = (struct item){items, image, host, name, is_variable};
    pthread_mutex_lock(&lock);
    i->next = items;
    items = i;
    pthread_mutex_unlock(&lock);
}

static const struct item *find(const void *host, bool is_variable)
{
    const struct item *i;
    pthread_mutex_lock(&lock);
    for (i = items; i; i = i->next)
        if (i->host == host && i->is_variable == is_variable)
            break;
    pthread_mutex_unlock(&lock);
    return i;
}

static cudaError_t library_of(struct image *image, CUlibrary *out)
{
    cudaError_t r = cudaSuccess;
    pthread_mutex_lock(&lock);
    if (!image->library)
        r = DRV(cuLibraryLoadData, &image->library, image->wrapper, NULL, NULL, 0, NULL, NULL, 0);
    pthread_mutex_unlock(&lock);
    *out = image->library;
    return r;
}

static cudaError_t module_of(struct image *image, CUmodule *out)
{
    CUdevice device = 0;
    cudaError_t r = DRV(cuCtxGetDevice, &device);
    pthread_mutex_lock(&lock);
    if (r == cudaSuccess && !image->modules[device])
        r = DRV(cuModuleLoadData, &image->modules[device], image->wrapper);
    pthread_mutex_unlock(&lock);
    *out = image->modules[device];
    return r;
}

static bool has_libraries(void)
{
    return RT_VERSION >= 12000 && rt_driver()->cuLibraryLoadData;
}

cudaError_t rt_function_of(const void *stub, CUfunction *out)
{
    const struct item *i = find(stub, false);
    CUlibrary library;
    CUmodule module;
    CUkernel kernel = NULL;
    if (!i)
        return cudaErrorInvalidDeviceFunction;
    cudaError_t r = rt_need_context();
    if (r != cudaSuccess)
        return r;
    if (!has_libraries()) {
        r = module_of(i->image, &module);
        return r == cudaSuccess ? DRV(cuModuleGetFunction, out, module, i->name) : r;
    }
    r = library_of(i->image, &library);
    if (r == cudaSuccess)
        r = DRV(cuLibraryGetKernel, &kernel, library, i->name);
    *out = (CUfunction)kernel;
    return r;
}

cudaError_t rt_symbol_of(const void *shadow, CUdeviceptr *out, size_t *bytes)
{
    const struct item *i = find(shadow, true);
    CUlibrary library;
    CUmodule module;
    if (!i)
        return cudaErrorInvalidSymbol;
    cudaError_t r = rt_need_context();
    if (r != cudaSuccess)
        return r;
    if (has_libraries()) {
        r = library_of(i->image, &library);
        return r == cudaSuccess ? DRV(cuLibraryGetGlobal, out, bytes, library, i->name) : r;
    }
    r = module_of(i->image, &module);
    return r == cudaSuccess ? DRV(cuModuleGetGlobal, out, bytes, module, i->name) : r;
}

void rt_forget_modules(void)
{
    pthread_mutex_lock(&lock);
    for (struct image *i = images; i; i = i->next)
        memset(i->modules, 0, sizeof(i->modules));
    pthread_mutex_unlock(&lock);
}

/* ---- the interface to nvcc's output, which no public header declares ---- */

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    struct image *i = calloc(1, sizeof(*i));
    i->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    i->next = images;
    images = i;
    pthread_mutex_unlock(&lock);
    return (void **)i;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle; /* at exit, when the driver may have ended already */
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int limit, uint3 *thread, uint3 *block, dim3 *block_dim,
                                   dim3 *grid_dim, int *warp_bytes)
{
    (void)device, (void)limit, (void)thread, (void)block;
    (void)block_dim, (void)grid_dim, (void)warp_bytes;
    add((struct image *)handle, host, name, false);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *address, const char *name,
                              int external, size_t bytes, int constant, int global)
{
    (void)address, (void)external, (void)bytes, (void)constant, (void)global;
    add((struct image *)handle, host, name, true);
}

EXPORT char __cudaInitModule(void **handle)
{
    (void)handle;
    return rt_need_driver() == cudaSuccess;
}

static __thread struct {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
} configuration;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                            struct CUstream_st *stream)
{
    configuration.grid = grid;
    configuration.block = block;
    configuration.shared_bytes = shared_bytes;
    configuration.stream = stream;
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                              void *stream)
{
    *grid = configuration.grid;
    *block = configuration.block;
    *shared_bytes = configuration.shared_bytes;
    *(cudaStream_t *)stream = configuration.stream;
    return cudaSuccess;
}
