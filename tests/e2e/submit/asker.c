/* SPDX-License-Identifier: MIT */
/*
 * Stands between a program and cutrace: whose are the functions of CUDA's that it is given? Each
 * must be cutrace's, or the driver's for a name that cutrace leaves alone. Says so at the end.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef __aarch64__
#define BASE_VERSION "GLIBC_2.17"
#else
#define BASE_VERSION "GLIBC_2.2.5"
#endif

typedef void *lookup_fn(void *, const char *);

static unsigned asked, ours, drivers, wrong;
static __typeof__(cuGetProcAddress_v2) *next_get;

static bool is_left_alone(const char *symbol)
{
    static const char *const names[] = {
#define CT_UNWRAPPED(name, reason) #name,
#include "cuda/unwrapped.def"
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(names[i], symbol))
            return true;
    return false;
}

static void judge(const char *name, void *p)
{
    Dl_info info;
    asked++;
    if (!p)
        return;
    const char *file = dladdr(p, &info) ? strrchr(info.dli_fname, '/') : NULL;
    if (file && !strcmp(file, "/libcutrace.so")) {
        ours++;
    } else if (file && !strcmp(file, "/libcuda.so.1") && info.dli_sname &&
               is_left_alone(info.dli_sname)) {
        drivers++;
    } else {
        wrong++;
        fprintf(stderr, "asker: %s is of %s\n", name, file ? file + 1 : "nobody");
    }
}

static CUresult get(const char *name, void **p, int version, cuuint64_t flags,
                    CUdriverProcAddressQueryResult *status)
{
    CUresult r = next_get(name, p, version, flags, status);
    judge(name, p ? *p : NULL);
    if (!strcmp(name, "cuGetProcAddress") && version >= 12000 && p && *p)
        *p = (void *)get; /* what is asked by its own result is judged as well */
    return r;
}

static lookup_fn *next(void)
{
    static lookup_fn *found;
    if (!found) {
        lookup_fn *own = (lookup_fn *)dlvsym(RTLD_NEXT, "dlsym", BASE_VERSION);
        found = (lookup_fn *)own(RTLD_NEXT, "dlsym");
    }
    return found;
}

void *dlsym(void *restrict handle, const char *restrict name)
{
    if (strncmp(name, "cu", 2) || handle == RTLD_NEXT || handle == RTLD_DEFAULT)
        return next()(handle, name);
    void *p = next()(handle, name);
    if (strncmp(name, "cuda", 4))
        judge(name, p);
    if (p && !strcmp(name, "cuGetProcAddress_v2")) {
        next_get = (__typeof__(next_get))p;
        return (void *)get;
    }
    return p;
}

__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "asker: %u asked, %u ours, %u the driver's, %u wrong\n", asked, ours, drivers,
            wrong);
}
