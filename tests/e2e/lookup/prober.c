/* SPDX-License-Identifier: MIT */
/*
 * prober WHAT [FILE]: looks things up in ways that depend on how dlsym is reached, and prints what
 * it gets. The same must be printed with cutrace.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define NAMES 200

void marker(void);

/* The old version by name, as programs linked before glibc 2.34 have it. */
#if defined(__x86_64__)
__asm__(".symver old_dlsym, dlsym@GLIBC_2.2.5");
#else
__asm__(".symver old_dlsym, dlsym@GLIBC_2.17");
#endif
extern void *old_dlsym(void *, const char *);

static void *open_file(const char *path, int mode)
{
    void *l = path ? dlopen(path, RTLD_NOW | mode) : NULL;
    if (!l) {
        fprintf(stderr, "%s\n", path ? dlerror() : "a file is needed");
        exit(2);
    }
    return l;
}

static int versions(void)
{
    void *handle = open_file("libc.so.6", 0);
    printf("old %d, new %d, dlvsym %d, nothing %d %d\n",
           old_dlsym(handle, "qsort") == dlsym(handle, "qsort"),
           dlsym(RTLD_DEFAULT, "qsort") != NULL,
           dlvsym(handle, "dlsym", "GLIBC_2.2.5") != NULL || sizeof(void *) != 8,
           old_dlsym(handle, "no such name") == NULL, dlsym(RTLD_DEFAULT, "no such name") == NULL);
    printf("error: %s\n", dlsym(handle, "no such name") ? "none" : dlerror());
    return 0;
}

/* Names that only look like CUDA's, and CUDA's own where there is no CUDA. */
static int strangers(void)
{
    static const char *const real[] = {"cuInit",           "cuLaunchKernel",   "cudaMalloc",
                                       "cuGetProcAddress", "cudaLaunchKernel", "cuMemcpyHtoD_v2",
                                       "cudaFree"};
    char name[64];
    unsigned found = 0;
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), i % 2 ? "cuStranger%u" : "cudaStranger%u", i);
        found += dlsym(RTLD_DEFAULT, name) != NULL;
    }
    printf("strangers: %u\n", found);
    for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
        printf("%s: %s %s\n", real[i], dlsym(RTLD_DEFAULT, real[i]) ? "found" : "not found",
               dlsym(RTLD_NEXT, real[i]) ? "found" : "not found");
    return 0;
}

static int done;

static void *look(void *unused)
{
    unsigned long n = 0;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED) || n < 1000) {
        if (!dlsym(RTLD_DEFAULT, "qsort") || dlsym(RTLD_DEFAULT, "cuNothing"))
            abort();
        n++;
    }
    return unused;
}

static int threads(const char *plugin)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, look, NULL);
    for (int i = 0; i < 10; i++)
        dlclose(open_file(plugin, RTLD_LOCAL));
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    puts("done");
    return 0;
}

/* A loader's variables, and a function, that have names of CUDA's. */
int (*cuDriverGetVersion)(int *);
int cuCtxGetDevice(void);

int cuCtxGetDevice(void)
{
    return 7;
}

static int own_names(const char *driver)
{
    int version = 0;
    printf("own function: %d\n", dlsym(RTLD_DEFAULT, "cuCtxGetDevice") == (void *)cuCtxGetDevice);
    *(void **)&cuDriverGetVersion = dlsym(open_file(driver, RTLD_LOCAL), "cuDriverGetVersion");
    printf("by own variable: %d", cuDriverGetVersion(&version));
    printf(", version %d\n", version);
    return 0;
}

/* With what it is linked with. */
static int again(const char *path)
{
    int devices = 0;
    for (int i = 0; i < 12; i++) {
        void *l = open_file(path, RTLD_LOCAL);
        devices += ((int (*)(void))dlsym(l, "plugin_cuda"))();
        dlclose(l);
    }
    printf("%d devices\n", devices);
    return 0;
}

/* Nobody keeps what the program has closed, whoever looked something up for it. */
static int unloads(const char *path)
{
    void *l = open_file(path, RTLD_LOCAL);
    ((void (*)(void))dlsym(l, "plugin_run"))();
    dlclose(l);
    puts(dlopen(path, RTLD_NOW | RTLD_NOLOAD) ? "still loaded" : "unloaded");
    return 0;
}

static int run_plugin(const char *path, const char *function, int mode)
{
    void *l = open_file(path, mode);
    void *f = dlsym(l, function);
    if (!f)
        return 2;
    if (!strcmp(function, "plugin_cuda"))
        printf("%d devices\n", ((int (*)(void))f)());
    else
        ((void (*)(void))f)();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : NULL;
    if (!strcmp(what, "chain"))
        return marker(), 0;
    if (!strcmp(what, "versions"))
        return versions();
    if (!strcmp(what, "strangers"))
        return strangers();
    if (!strcmp(what, "threads"))
        return threads(file);
    if (!strcmp(what, "unloads"))
        return unloads(file);
    if (!strcmp(what, "own"))
        return own_names(file);
    if (!strcmp(what, "again"))
        return again(file);
    if (!strcmp(what, "plugin"))
        return run_plugin(file, "plugin_run", RTLD_LOCAL);
    if (!strcmp(what, "deepbind"))
        return run_plugin(file, "plugin_cuda", RTLD_DEEPBIND);
    return 2;
}
