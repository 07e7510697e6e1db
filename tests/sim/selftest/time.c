/* SPDX-License-Identifier: MIT */
/* Virtual time: what events read, and the order of streams. */
#include "selftest.h"

#include <unistd.h>

#define BRACKET_NS 2910 /* two timing events around an operation read so much more */
#define EVENT_NS 1280
#define LAUNCH_NS 1630
#define SMALL_NS 2000 /* of a kernel of one wave */

static int64_t bracket_of(CUfunction f, CUstream s, uint64_t argument)
{
    CUevent a = self_event(0), b = self_event(0);
    OK(cuEventRecord(a, s));
    OK(self_launch_with(f, s, argument));
    OK(cuEventRecord(b, s));
    OK(cuStreamSynchronize(s));
    return self_ns(a, b);
}

START_TEST(bracket_reads_the_duration)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1234,beta=56789,nothing=0");
    self_begin();
    CUstream s = self_stream(0);
    ck_assert_int_eq(bracket_of(self_function("alpha"), s, 0), BRACKET_NS + 1234);
    ck_assert_int_eq(bracket_of(self_function("beta"), s, 0), BRACKET_NS + 56789);
    ck_assert_int_eq(bracket_of(self_function("nothing"), s, 0), BRACKET_NS);
    ck_assert_int_eq(bracket_of(self_function("other"), s, 0), BRACKET_NS + SMALL_NS);
    ck_assert_int_eq(bracket_of(self_function("spin"), s, 777), BRACKET_NS + 777);
    ck_assert_int_eq(bracket_of(self_function("_Z6spinupm"), s, 778), BRACKET_NS + 778);
}
END_TEST

START_TEST(the_host_takes_no_time)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1234");
    self_begin();
    CUstream s = self_stream(0);
    CUevent a = self_event(0), b = self_event(0);
    CUfunction f = self_function("alpha");
    OK(cuEventRecord(a, s));
    OK(cuStreamSynchronize(s));
    usleep(20000);
    OK(self_launch(f, s));
    usleep(20000);
    OK(cuEventRecord(b, s));
    OK(cuEventSynchronize(b));
    ck_assert_int_eq(self_ns(a, b), BRACKET_NS + 1234);
}
END_TEST

/* The first kernel ends in the second slice: the record behind it begins with the third. */
START_TEST(the_device_may_be_another_process_s)
{
    cudasim_set("CUDASIM_SLICE_US", "10");
    cudasim_set("CUDASIM_KERNELS", "alpha=10000,beta=100");
    self_begin();
    CUstream s = self_stream(0);
    ck_assert_int_eq(bracket_of(self_function("alpha"), s, 0), 2 * 10000);
    ck_assert_int_eq(bracket_of(self_function("beta"), s, 0), BRACKET_NS + 100);
}
END_TEST

START_TEST(a_stop_serves_as_the_next_start)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1234,beta=56789");
    self_begin();
    CUstream s = self_stream(0);
    CUevent e[3];
    CUfunction f[2] = {self_function("alpha"), self_function("beta")};
    for (int i = 0; i < 3; i++) {
        e[i] = self_event(0);
        OK(cuEventRecord(e[i], s));
        if (i < 2)
            OK(self_launch(f[i], s));
    }
    OK(cuStreamSynchronize(s));
    ck_assert_int_eq(self_ns(e[0], e[1]), BRACKET_NS + 1234);
    ck_assert_int_eq(self_ns(e[1], e[2]), BRACKET_NS + 56789);
}
END_TEST

START_TEST(an_event_costs_what_it_times)
{
    self_begin();
    CUstream s = self_stream(0);
    CUevent a = self_event(0), b = self_event(0), untimed = self_event(CU_EVENT_DISABLE_TIMING);
    OK(cuEventRecord(a, s));
    OK(cuEventRecord(untimed, s));
    OK(cuEventRecord(b, s));
    OK(cuStreamSynchronize(s));
    ck_assert_int_eq(self_ns(a, b), EVENT_NS);
}
END_TEST

START_TEST(copies_and_sets_take_their_time)
{
    static char host[100000];
    CUdeviceptr p;
    CUevent e[4];
    self_begin();
    CUstream s = self_stream(0);
    OK(cuMemAlloc(&p, sizeof(host)));
    for (int i = 0; i < 4; i++)
        e[i] = self_event(0);
    OK(cuEventRecord(e[0], s));
    OK(cuMemcpyHtoDAsync(p, host, sizeof(host), s));
    OK(cuEventRecord(e[1], s));
    OK(cuMemcpyDtoDAsync(p, p, 3000, s));
    OK(cuEventRecord(e[2], s));
    OK(cuMemsetD8Async(p, 0, sizeof(host), s));
    OK(cuEventRecord(e[3], s));
    OK(cuStreamSynchronize(s));
    ck_assert_int_eq(self_ns(e[0], e[1]), BRACKET_NS + 1200 + 4000);
    ck_assert_int_eq(self_ns(e[1], e[2]), BRACKET_NS + 1200 + 2);
    ck_assert_int_eq(self_ns(e[2], e[3]), BRACKET_NS + 1000 + 40);
}
END_TEST

/* Two streams of a device wait for its engine, and nobody for another device's. */
START_TEST(copies_share_an_engine_of_their_device)
{
    const size_t bytes = 100000;
    CUcontext c;
    CUdeviceptr p;
    CUevent e[4][2];
    void *host;
    cudasim_set("CUDASIM_DEVICES", "2");
    cudasim_set("CUDASIM_COPY_ENGINES", "1");
    OK(cuInit(0));
    for (int i = 0; i < 4; i++) {
        OK(cuDevicePrimaryCtxRetain(&c, i / 2));
        OK(cuCtxSetCurrent(c));
        OK(cuMemAlloc(&p, bytes));
        OK(cuMemHostAlloc(&host, bytes, 0));
        CUstream s = self_stream(CU_STREAM_NON_BLOCKING);
        for (int k = 0; k < 2; k++)
            e[i][k] = self_event(0);
        OK(cuEventRecord(e[i][0], s));
        OK(cuMemcpyHtoDAsync(p, host, bytes, s));
        OK(cuEventRecord(e[i][1], s));
    }
    OK(cuCtxSynchronize());
    int64_t alone_ns = self_ns(e[2][0], e[2][1]), second_ns = self_ns(e[3][0], e[3][1]);
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(self_ns(e[0][0], e[0][1]), alone_ns);
    ck_assert_int_eq(self_ns(e[1][0], e[1][1]), second_ns);
    ck_assert_int_gt(second_ns, alone_ns);
}
END_TEST

/* ---- one stream and another ---- */

/* From the end of a long kernel in `first` to an event in `second` right behind. */
static int64_t lag(CUstream first, CUstream second)
{
    CUevent a = self_event(0), b = self_event(0);
    OK(cuCtxSynchronize());
    OK(self_launch_with(self_function("spin"), first, 50000));
    OK(cuEventRecord(a, first));
    OK(cuEventRecord(b, second));
    OK(cuCtxSynchronize());
    return self_ns(a, b);
}

START_TEST(the_legacy_stream_waits_and_is_waited_for)
{
    self_begin();
    CUstream blocking = self_stream(0), apart = self_stream(CU_STREAM_NON_BLOCKING);
    CUstream other = self_stream(0);
    ck_assert_int_eq(lag(blocking, NULL), EVENT_NS);
    ck_assert_int_eq(lag(NULL, blocking), EVENT_NS);
    ck_assert_int_eq(lag(CU_STREAM_PER_THREAD, CU_STREAM_LEGACY), EVENT_NS);
    const int64_t beside = -(LAUNCH_NS + 50000);
    ck_assert_int_eq(lag(apart, NULL), beside);
    ck_assert_int_eq(lag(NULL, apart), beside);
    ck_assert_int_eq(lag(blocking, other), beside);
}
END_TEST

START_TEST(a_stream_waits_for_an_event)
{
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    CUevent done = self_event(CU_EVENT_DISABLE_TIMING), a = self_event(0), b = self_event(0);
    OK(cuStreamWaitEvent(t, done, 0)); /* was never recorded */
    OK(self_launch_with(self_function("spin"), s, 50000));
    OK(cuEventRecord(done, s));
    OK(cuEventRecord(a, s));
    OK(cuStreamWaitEvent(t, done, 0));
    OK(cuEventRecord(b, t));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(self_ns(a, b), 0);
}
END_TEST

static void record_own(void *e)
{
    OK(cuEventRecord(e, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

START_TEST(each_thread_has_its_stream)
{
    self_begin();
    CUevent a = self_event(0), b = self_event(0);
    OK(self_launch_with(self_function("spin"), CU_STREAM_PER_THREAD, 50000));
    OK(cuEventRecord(a, CU_STREAM_PER_THREAD));
    self_in_thread(record_own, b);
    ck_assert_int_eq(self_ns(a, b), -(LAUNCH_NS + 50000));
}
END_TEST

/* ---- events ---- */

START_TEST(events_tell_what_they_can)
{
    float ms;
    int gate = 0;
    self_begin();
    CUstream s = self_stream(0);
    CUevent a = self_event(0), b = self_event(0), untimed = self_event(CU_EVENT_DISABLE_TIMING);
    OK(cuEventQuery(a));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, a, b));
    OK(cuEventRecord(a, s));
    OK(cuEventRecord(untimed, s));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, a, untimed));
    self_gate(s, &gate);
    OK(cuEventRecord(b, s));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(b));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    FAILS(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, a, b));
    self_open(&gate);
    OK(cuEventSynchronize(b));
    OK(cuEventQuery(b));
    OK(cuEventElapsedTime(&ms, a, b));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&a, CU_EVENT_INTERPROCESS));
}
END_TEST

START_TEST(a_stream_of_another_context)
{
    CUcontext other;
    self_begin();
    CUevent e = self_event(0);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    cuEventRecord(e, self_stream(0));
}
END_TEST

START_TEST(a_destroyed_event)
{
    self_begin();
    CUevent e = self_event(0);
    OK(cuEventDestroy(e));
    cuEventQuery(e);
}
END_TEST

START_TEST(a_destroyed_stream)
{
    self_begin();
    CUstream s = self_stream(0);
    OK(cuStreamDestroy(s));
    cuStreamQuery(s);
}
END_TEST

START_TEST(a_breach_may_be_survived)
{
    cudasim_set("CUDASIM_STRICT", "0");
    self_begin();
    CUevent e = self_event(0);
    OK(cuEventDestroy(e));
    ck_assert_uint_eq(cudasim_breaches(), 0);
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(e));
    ck_assert_uint_eq(cudasim_breaches(), 1);
}
END_TEST

TCase *self_time(void)
{
    TCase *t = tcase_create("time");
    tcase_add_test(t, bracket_reads_the_duration);
    tcase_add_test(t, the_host_takes_no_time);
    tcase_add_test(t, the_device_may_be_another_process_s);
    tcase_add_test(t, a_stop_serves_as_the_next_start);
    tcase_add_test(t, an_event_costs_what_it_times);
    tcase_add_test(t, copies_and_sets_take_their_time);
    tcase_add_test(t, copies_share_an_engine_of_their_device);
    tcase_add_test(t, the_legacy_stream_waits_and_is_waited_for);
    tcase_add_test(t, a_stream_waits_for_an_event);
    tcase_add_test(t, each_thread_has_its_stream);
    tcase_add_test(t, events_tell_what_they_can);
    tcase_add_exit_test(t, a_stream_of_another_context, 99);
    tcase_add_exit_test(t, a_destroyed_event, 99);
    tcase_add_exit_test(t, a_destroyed_stream, 99);
    tcase_add_test(t, a_breach_may_be_survived);
    return t;
}
