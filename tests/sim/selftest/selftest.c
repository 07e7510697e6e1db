/* SPDX-License-Identifier: MIT */
#include "selftest.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Leaks are looked for by CUDASIM_LOG: the driver's own memory hangs on handles in mapped memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

CUcontext self_begin(void)
{
    CUcontext c;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
    return c;
}

CUfunction self_function(const char *name)
{
    CUmodule m;
    CUfunction f;
    OK(cuModuleLoadData(&m, "image"));
    OK(cuModuleGetFunction(&f, m, name));
    return f;
}

CUstream self_stream(unsigned flags)
{
    CUstream s;
    OK(cuStreamCreate(&s, flags));
    return s;
}

CUevent self_event(unsigned flags)
{
    CUevent e;
    OK(cuEventCreate(&e, flags));
    return e;
}

CUresult self_launch_with(CUfunction f, CUstream s, uint64_t argument)
{
    void *parameters[] = {&argument};
    return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, parameters, NULL);
}

CUresult self_launch(CUfunction f, CUstream s)
{
    return self_launch_with(f, s, 0);
}

void self_gate(CUstream s, int *gate)
{
    OK(self_launch_with(self_function("gate"), s, (uint64_t)(uintptr_t)gate));
}

void self_open(int *gate)
{
    atomic_store((_Atomic int *)gate, 1);
}

int64_t self_ns(CUevent from, CUevent to)
{
    float ms;
    OK(cuEventElapsedTime(&ms, from, to));
    return llround((double)ms * 1e6);
}

uint64_t self_count(const char *kind, const char *name)
{
    struct cudasim_truth t;
    cudasim_truth(kind, name, &t);
    return t.count;
}

struct task {
    void (*function)(void *);
    void *argument;
    CUcontext context;
};

static void *run(void *task)
{
    struct task *t = task;
    if (t->context)
        OK(cuCtxSetCurrent(t->context));
    t->function(t->argument);
    return NULL;
}

void self_in_thread(void (*function)(void *), void *argument)
{
    pthread_t thread;
    struct task t = {function, argument, NULL};
    OK(cuCtxGetCurrent(&t.context));
    ck_assert_int_eq(pthread_create(&thread, NULL, run, &t), 0);
    pthread_join(thread, NULL);
}

int main(void)
{
    Suite *s = suite_create("simulated driver");
    suite_add_tcase(s, self_time());
    suite_add_tcase(s, self_queues());
    suite_add_tcase(s, self_capture());
    suite_add_tcase(s, self_graphs());
    suite_add_tcase(s, self_conditions());
    suite_add_tcase(s, self_objects());
    suite_add_tcase(s, self_copies());
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
