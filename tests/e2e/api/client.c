/* SPDX-License-Identifier: MIT */
/*
 * A program that uses cutrace/cutrace.h, built in several ways by api.sh, C++ among them:
 *
 *     client [PLUGIN]    has the plugin's function make the calls instead of its own
 *     client killed      ends by SIGKILL after cutrace_flush()
 *
 * With -DPLUGIN it is that plugin, with -DALONE a program without CUDA.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cutrace/cutrace.h"

static const char *said(int error)
{
    switch (error) {
    case 0:
        return "done";
    case ENOSYS:
        return "ENOSYS";
    case ENOENT:
        return "ENOENT";
    case ENODATA:
        return "ENODATA";
    case ECANCELED:
        return "ECANCELED";
    case EINVAL:
        return "EINVAL";
    default:
        return "?";
    }
}

#ifdef __cplusplus
extern "C"
#endif
    int
    api_set(int on);
int api_set(int on)
{
    int error = on ? cutrace_resume() : cutrace_pause();
    printf("%s: %s, recording %d\n", on ? "resume" : "pause", said(error), cutrace_is_recording());
    return error;
}

static void push(const char *name)
{
    errno = 77;
    int error = cutrace_range_push(name);
    printf("push: %s%s\n", said(error), errno == 77 ? "" : ", errno changed");
}

static void pop(void)
{
    errno = 77;
    int error = cutrace_range_pop();
    printf("pop: %s%s\n", said(error), errno == 77 ? "" : ", errno changed");
}

#if defined(ALONE)

int main(void)
{
    push("r");
    pop();
    pop();
    struct cutrace_kernel k;
    uint32_t cursor = 0;
    api_set(0);
    printf("flush: %s\n", said(cutrace_flush(1000)));
    printf("kernel: %s\n", said(cutrace_kernel("loud", &k)));
    printf("next: %s\n", said(cutrace_next_kernel(&cursor, &k)));
    return 0;
}

#elif !defined(PLUGIN)

#include <cuda.h>

static void must(CUresult r)
{
    if (r != CUDA_SUCCESS)
        raise(SIGABRT);
}

static void launch(CUmodule m, const char *name, int n)
{
    CUfunction f;
    uint64_t argument = 0;
    void *arguments[] = {&argument};
    must(cuModuleGetFunction(&f, m, name));
    for (int i = 0; i < n; i++)
        must(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    must(cuCtxSynchronize());
}

static void tell(const char *name)
{
    struct cutrace_kernel k;
    int error = cutrace_kernel(name, &k);
    printf("%s: %s\n", name, said(error));
    if (error)
        return;
    printf("  device %d calls %d timed %d\n", (int)k.device, (int)k.calls, (int)k.timed);
    printf("  least <= mean <= most: %d, all: %d\n",
           k.min_ns * k.timed <= k.total_ns && k.total_ns <= k.max_ns * k.timed,
           k.estimated_ns == k.total_ns);
}

int main(int argc, char **argv)
{
    int (*set)(int) = api_set;
    void *plugin = argc > 1 && strchr(argv[1], '/') ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (plugin)
        *(void **)&set = dlsym(plugin, "api_set");
    printf("flush: %s\n", said(cutrace_flush(30000)));
    set(0); /* before CUDA is there */
    CUcontext c;
    CUmodule m;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&c, 0));
    must(cuCtxSetCurrent(c));
    must(cuModuleLoadData(&m, "image"));
    launch(m, "quiet", 10);
    set(1);
    push("");
    push("both");
    push("loud ones");
    launch(m, "loud", 20);
    pop();
    launch(m, "soft", 3);
    pop();
    pop();
    set(0);
    launch(m, "loud", 7);
    printf("flush: %s\n", said(cutrace_flush(30000)));
    tell("loud");
    tell("quiet");
    struct cutrace_kernel k;
    for (uint32_t at = 0; cutrace_next_kernel(&at, &k) == 0;)
        printf("%s: device %d, %d calls\n", k.name, (int)k.device, (int)k.calls);
    if (argc > 1 && !strcmp(argv[1], "killed")) {
        fflush(stdout);
        raise(SIGKILL);
    }
    return 0;
}

#endif
