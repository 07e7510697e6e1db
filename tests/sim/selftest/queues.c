/* SPDX-License-Identifier: MIT */
/* What is pending: gates, depth, host functions; and what the environment makes fail. */
#include "selftest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 1021

START_TEST(work_waits_behind_a_gate)
{
    int gate = 0;
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    self_gate(s, &gate);
    OK(self_launch(self_function("behind"), s));
    OK(self_launch(self_function("beside"), t));
    OK(cuStreamSynchronize(t));
    ck_assert_uint_eq(cudasim_pending(), 2);
    ck_assert_uint_eq(self_count("kernel", "behind"), 0);
    ck_assert_uint_eq(self_count("kernel", "beside"), 1);
    self_open(&gate);
    OK(cuStreamSynchronize(s));
    ck_assert_uint_eq(cudasim_pending(), 0);
    ck_assert_uint_eq(self_count("kernel", "behind"), 1);
}
END_TEST

START_TEST(a_value_is_waited_for)
{
    static uint32_t value[2];
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)&value[0], q = (CUdeviceptr)(uintptr_t)&value[1];
    OK(cuStreamWaitValue32(s, p, 5, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue32(s, q, 9, 0));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    OK(cuStreamWriteValue32(t, p, 4, 0));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    CUstreamBatchMemOpParams write = {
        .writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, p, {6}, 0, 0}};
    OK(cuStreamBatchMemOp(t, 1, &write, 0));
    OK(cuStreamSynchronize(s));
    ck_assert_uint_eq(value[1], 9);
}
END_TEST

struct filler {
    CUfunction function;
    CUstream stream;
    CUevent event;
    int bound;
    atomic_int accepted;
};

static void *fill(void *filler)
{
    struct filler *f = filler;
    while (f->accepted < f->bound) {
        OK(f->event && f->accepted % 2 ? cuEventRecord(f->event, f->stream)
                                       : self_launch(f->function, f->stream));
        atomic_fetch_add(&f->accepted, 1);
    }
    return NULL;
}

static void wait_until_it_stalls(struct filler *f)
{
    for (int i = 0; i < 1000 && f->accepted < DEPTH; i++)
        usleep(5000);
    usleep(50000);
}

/* Launches alone, and with an event record each: both count. */
START_TEST(a_stream_takes_so_many)
{
    int gate = 0;
    pthread_t thread;
    self_begin();
    struct filler f = {.stream = self_stream(0), .bound = DEPTH + 10};
    f.function = self_function("kernel");
    f.event = _i ? self_event(0) : NULL;
    self_gate(f.stream, &gate);
    ck_assert_int_eq(pthread_create(&thread, NULL, fill, &f), 0);
    wait_until_it_stalls(&f);
    ck_assert_int_eq(f.accepted, DEPTH);
    self_open(&gate);
    pthread_join(thread, NULL);
    OK(cuCtxSynchronize());
    ck_assert_int_eq(f.accepted, f.bound);
}
END_TEST

static void CUDA_CB note(void *place)
{
    atomic_fetch_add((atomic_int *)place, 1);
}

static void CUDA_CB note_callback(CUstream s, CUresult r, void *place)
{
    (void)s;
    OK(r);
    note(place);
}

START_TEST(host_functions_run_in_order)
{
    static atomic_int calls;
    int gate = 0;
    self_begin();
    CUstream s = self_stream(0);
    self_gate(s, &gate);
    OK(cuLaunchHostFunc(s, note, &calls));
    OK(cuStreamAddCallback(s, note_callback, &calls, 0));
    usleep(20000);
    ck_assert_int_eq(calls, 0);
    self_open(&gate);
    OK(cuStreamSynchronize(s));
    ck_assert_int_eq(calls, 2);
}
END_TEST

static void CUDA_CB open_gate(void *gate)
{
    self_open(gate);
}

START_TEST(a_host_function_opens_another_streams_gate)
{
    static int gate;
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    self_gate(s, &gate);
    OK(cuLaunchHostFunc(t, open_gate, &gate));
    OK(cuStreamSynchronize(s));
}
END_TEST

START_TEST(destroying_a_stream_lets_it_finish)
{
    int gate = 0;
    self_begin();
    CUstream s = self_stream(0);
    CUevent e = self_event(0);
    self_gate(s, &gate);
    OK(cuEventRecord(e, s));
    OK(cuStreamDestroy(s));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(e));
    self_open(&gate);
    OK(cuEventSynchronize(e));
    ck_assert_uint_eq(self_count("kernel", "gate"), 1);
}
END_TEST

static int64_t real_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

START_TEST(latency_delays_completion)
{
    cudasim_set("CUDASIM_LATENCY_US", "50000");
    self_begin();
    CUfunction f = self_function("kernel");
    int64_t before = real_ns();
    OK(self_launch(f, NULL));
    OK(cuCtxSynchronize());
    ck_assert_int_ge(real_ns() - before, 50000000);
}
END_TEST

START_TEST(time_can_be_real)
{
    cudasim_set("CUDASIM_REAL_TIME", "1");
    self_begin();
    CUfunction f = self_function("spin");
    int64_t before = real_ns();
    for (int i = 0; i < 10; i++)
        OK(self_launch_with(f, NULL, 2000000));
    OK(cuCtxSynchronize());
    ck_assert_int_ge(real_ns() - before, 20000000);
}
END_TEST

/* Launches are 5 us apart, and complete 12 us after that, or one after the other. */
START_TEST(time_can_be_the_launches)
{
    static const char *const settings[] = {"CUDASIM_LATENCY_US", "CUDASIM_REAL_TIME"};
    CUevent e;
    cudasim_set(settings[_i], _i ? "1" : "12");
    cudasim_set("CUDASIM_HOST_NS", "5000");
    self_begin();
    CUfunction f = self_function("spin");
    OK(cuEventCreate(&e, 0));
    OK(self_launch_with(f, NULL, 12000 - 1630 - 1280));
    OK(cuEventRecord(e, NULL));
    for (int i = 0; i < 3; i++) {
        FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(e));
        OK(self_launch_with(f, NULL, 100000000));
    }
    OK(cuEventQuery(e));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    OK(cuCtxSynchronize());
    OK(cuStreamQuery(NULL));
}
END_TEST

/* ---- failures ---- */

START_TEST(the_nth_call_fails)
{
    cudasim_set("CUDASIM_FAIL", "cuLaunchKernel:2:2,cuMemsetD8Async:3-4:700,cuEventCreate:1");
    self_begin();
    CUfunction f = self_function("kernel");
    CUdeviceptr p;
    CUevent e;
    OK(self_launch(f, NULL));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, self_launch(f, NULL));
    OK(self_launch(f, NULL));
    ck_assert_uint_eq(self_count("kernel", "kernel"), 2);
    OK(cuMemAlloc(&p, 100));
    for (int i = 1; i <= 5; i++)
        FAILS(i == 3 || i == 4 ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS,
              cuMemsetD8Async(p, 0, 100, NULL));
    FAILS(CUDA_ERROR_UNKNOWN, cuEventCreate(&e, 0));
    OK(cuEventCreate(&e, 0));
}
END_TEST

START_TEST(a_sticky_error_stays)
{
    cudasim_set("CUDASIM_FAIL", "cuLaunchKernel:1:719:sticky");
    self_begin();
    CUfunction f = self_function("kernel");
    CUcontext c;
    FAILS(CUDA_ERROR_LAUNCH_FAILED, self_launch(f, NULL));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, self_launch(f, NULL));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuCtxGetCurrent(&c));
    ck_assert_uint_eq(self_count("kernel", NULL), 0);
}
END_TEST

START_TEST(a_slow_call_is_slow)
{
    cudasim_set("CUDASIM_SLOW", "cuLaunchKernel:30000");
    self_begin();
    CUfunction f = self_function("kernel");
    int64_t before = real_ns();
    OK(self_launch(f, NULL));
    ck_assert_int_ge(real_ns() - before, 30000000);
}
END_TEST

static atomic_int returned;

static void *synchronise(void *unused)
{
    cuCtxSynchronize();
    returned = 1;
    return unused;
}

START_TEST(a_hanging_call_hangs)
{
    pthread_t thread;
    cudasim_set("CUDASIM_HANG", "cuCtxSynchronize:1");
    self_begin();
    ck_assert_int_eq(pthread_create(&thread, NULL, synchronise, NULL), 0);
    usleep(50000);
    ck_assert_int_eq(returned, 0);
    OK(self_launch(self_function("kernel"), NULL)); /* other threads are not in its way */
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(what_is_not_modelled_says_so)
{
    CUtexObject t;
    self_begin();
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(0, 0, 0, 0, 0));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuTexObjectCreate(&t, NULL, NULL, NULL));
}
END_TEST

TCase *self_queues(void)
{
    TCase *t = tcase_create("queues and failures");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, work_waits_behind_a_gate);
    tcase_add_test(t, a_value_is_waited_for);
    tcase_add_loop_test(t, a_stream_takes_so_many, 0, 2);
    tcase_add_test(t, host_functions_run_in_order);
    tcase_add_test(t, a_host_function_opens_another_streams_gate);
    tcase_add_test(t, destroying_a_stream_lets_it_finish);
    tcase_add_test(t, latency_delays_completion);
    tcase_add_test(t, time_can_be_real);
    tcase_add_loop_test(t, time_can_be_the_launches, 0, 2);
    tcase_add_test(t, the_nth_call_fails);
    tcase_add_test(t, a_sticky_error_stays);
    tcase_add_test(t, a_slow_call_is_slow);
    tcase_add_test(t, a_hanging_call_hangs);
    tcase_add_test(t, what_is_not_modelled_says_so);
    return t;
}
