/* SPDX-License-Identifier: MIT */
/* How the runtime comes by the driver, and by a context. */
#include "runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct rt_driver drivers[2]; /* by the default stream meant */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaError_t found = cudaErrorInsufficientDriver;

typedef CUresult get_v2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
typedef CUresult get_v1(const char *, void **, int, cuuint64_t);

struct source {
    void *library;
    get_v2 *v2;
    get_v1 *v1;
};

/* Drivers before 11.3 are asked symbol by symbol. */
static void *by_symbol(const struct source *s, const char *symbol, bool per_thread)
{
    char name[96];
    void *p = NULL;
    for (int i = 0; per_thread && !p && i < 2; i++) {
        strcpy(name, symbol);
        p = dlsym(s->library, strcat(name, i ? "_ptds" : "_ptsz"));
    }
    return p ? p : dlsym(s->library, symbol);
}

static void *ask(const struct source *s, const char *name, const char *symbol, int version,
                 bool per_thread)
{
    void *p = NULL;
    cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                  : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    if (s->v2)
        return s->v2(name, &p, version, flags, NULL) == CUDA_SUCCESS ? p : NULL;
    if (s->v1)
        return s->v1(name, &p, 11030, flags) == CUDA_SUCCESS ? p : NULL;
    return by_symbol(s, symbol, per_thread);
}

static void fill(const struct source *s, struct rt_driver *d, bool per_thread)
{
#define CALL(name, symbol) LATER(name, symbol, RT_VERSION < 12000 ? RT_VERSION : 12000)
#define LATER(name, symbol, version)                                                               \
    d->name = (__typeof__(d->name))ask(s, #name, #symbol, version, per_thread);
#include "runtime/driver_calls.def"
}

static void find(void)
{
    struct source s = {.library = dlopen("libcuda.so.1", RTLD_NOW)};
    if (!s.library)
        return;
    if (RT_VERSION >= 12000)
        s.v2 = (get_v2 *)dlsym(s.library, "cuGetProcAddress_v2");
    s.v1 = (get_v1 *)dlsym(s.library, "cuGetProcAddress");
    fill(&s, &drivers[0], false);
    fill(&s, &drivers[1], true);
    if (drivers[0].cuInit)
        found = (cudaError_t)drivers[0].cuInit(0);
}

const struct rt_driver *rt_driver(void)
{
    return &drivers[rt_self.per_thread];
}

cudaError_t rt_need_driver(void)
{
    pthread_once(&once, find);
    return found;
}

cudaError_t rt_need_context(void)
{
    CUcontext current = NULL;
    cudaError_t r = rt_need_driver();
    if (r == cudaSuccess)
        r = DRV(cuCtxGetCurrent, &current);
    if (r != cudaSuccess || current)
        return r;
    r = DRV(cuDevicePrimaryCtxRetain, &current, rt_self.device);
    return r == cudaSuccess ? DRV(cuCtxSetCurrent, current) : r;
}
