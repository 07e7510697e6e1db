/* SPDX-License-Identifier: MIT */
/* Stream capture: what is legal in and beside one. */
#include "selftest.h"

static CUstreamCaptureStatus status_of(CUstream s)
{
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(s, &status));
    return status;
}

static void begin(CUstream s, CUstreamCaptureMode mode)
{
    OK(cuStreamBeginCapture(s, mode));
}

static void end(CUstream s)
{
    CUgraph g;
    OK(cuStreamEndCapture(s, &g));
    ck_assert_ptr_nonnull(g);
    OK(cuGraphDestroy(g));
}

static void end_invalid(CUstream s)
{
    CUgraph g;
    ck_assert_int_eq(status_of(s), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &g));
    ck_assert_ptr_null(g);
    ck_assert_int_eq(status_of(s), CU_STREAM_CAPTURE_STATUS_NONE);
}

static void set_mode(CUstreamCaptureMode mode)
{
    OK(cuThreadExchangeStreamCaptureMode(&mode));
}

START_TEST(captured_work_does_not_run)
{
    self_begin();
    CUstream s = self_stream(0);
    CUfunction f = self_function("kernel");
    ck_assert_int_eq(status_of(s), CU_STREAM_CAPTURE_STATUS_NONE);
    begin(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    ck_assert_int_eq(status_of(s), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(self_launch(f, s));
    end(s);
    ck_assert_uint_eq(self_count("kernel", NULL), 0);
    OK(self_launch(f, s));
    ck_assert_uint_eq(self_count("kernel", NULL), 1);
}
END_TEST

/* ---- calls that are unsafe beside a capture ---- */

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static const struct {
    CUstreamCaptureMode capture, thread;
    int same_thread, invalidates;
} unsafe[] = {
    {GLOBAL, GLOBAL, 1, 1},  {GLOBAL, LOCAL, 1, 1},  {GLOBAL, RELAXED, 1, 0},
    {LOCAL, GLOBAL, 1, 1},   {LOCAL, LOCAL, 1, 1},   {LOCAL, RELAXED, 1, 0},
    {RELAXED, GLOBAL, 1, 0}, {RELAXED, LOCAL, 1, 0}, {RELAXED, RELAXED, 1, 0},
    {GLOBAL, GLOBAL, 0, 1},  {GLOBAL, LOCAL, 0, 0},  {GLOBAL, RELAXED, 0, 0},
    {LOCAL, GLOBAL, 0, 0},   {LOCAL, LOCAL, 0, 0},   {LOCAL, RELAXED, 0, 0},
    {RELAXED, GLOBAL, 0, 0}, {RELAXED, LOCAL, 0, 0}, {RELAXED, RELAXED, 0, 0},
};

struct query {
    CUevent event;
    CUstreamCaptureMode mode;
    CUresult expected;
};

static void query(void *query)
{
    struct query *q = query;
    set_mode(q->mode);
    FAILS(q->expected, cuEventQuery(q->event));
    set_mode(GLOBAL);
}

START_TEST(asking_an_event_beside_a_capture)
{
    self_begin();
    CUstream s = self_stream(0);
    struct query q = {self_event(0), unsafe[_i].thread, CUDA_SUCCESS};
    if (unsafe[_i].invalidates)
        q.expected = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    OK(cuEventRecord(q.event, s));
    begin(s, unsafe[_i].capture);
    if (unsafe[_i].same_thread)
        query(&q);
    else
        self_in_thread(query, &q);
    if (unsafe[_i].invalidates)
        end_invalid(s);
    else
        end(s);
}
END_TEST

static CUresult allocate(CUstream s)
{
    CUdeviceptr p;
    (void)s;
    return cuMemAlloc(&p, 100);
}

static CUresult copy(CUstream s)
{
    static char host[100];
    CUdeviceptr p;
    set_mode(RELAXED);
    OK(cuMemAlloc(&p, sizeof(host)));
    set_mode(GLOBAL);
    (void)s;
    return cuMemcpyHtoD(p, host, sizeof(host));
}

static CUresult load(CUstream s)
{
    CUmodule m;
    (void)s;
    return cuModuleLoadData(&m, "image");
}

static CUresult synchronise_other(CUstream s)
{
    (void)s;
    set_mode(RELAXED);
    CUstream other = self_stream(CU_STREAM_NON_BLOCKING);
    set_mode(GLOBAL);
    return cuStreamSynchronize(other);
}

static CUresult synchronise(CUstream s)
{
    return cuStreamSynchronize(s);
}

static CUresult ask_stream(CUstream s)
{
    return cuStreamQuery(s);
}

static CUresult (*const forbidden[])(CUstream) = {allocate,    load,       synchronise_other,
                                                  synchronise, ask_stream, copy};

START_TEST(forbidden_in_a_global_capture)
{
    self_begin();
    CUstream s = self_stream(CU_STREAM_NON_BLOCKING);
    begin(s, GLOBAL);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, forbidden[_i](s));
    end_invalid(s);
}
END_TEST

static CUresult get_id(CUstream s)
{
    unsigned long long id;
    return cuStreamGetId(s, &id);
}

static CUresult get_device(CUstream s)
{
    CUdevice d;
    return cuStreamGetDevice(s, &d);
}

static CUresult (*const never[])(CUstream) = {get_id, get_device, synchronise, ask_stream};

/* As measured: some questions to the capturing stream itself are wrong in any mode. */
START_TEST(forbidden_even_if_relaxed)
{
    self_begin();
    CUstream s = self_stream(0);
    begin(s, RELAXED);
    set_mode(RELAXED);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, never[_i](s));
    end_invalid(s);
}
END_TEST

START_TEST(an_invalid_capture_takes_nothing)
{
    self_begin();
    CUstream s = self_stream(0);
    CUfunction f = self_function("kernel");
    begin(s, RELAXED);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, self_launch(f, s));
    end_invalid(s);
    OK(self_launch(f, s));
}
END_TEST

/* ---- the legacy stream ---- */

START_TEST(asking_the_legacy_stream_is_harmless)
{
    CUstreamCaptureStatus status;
    self_begin();
    CUstream s = self_stream(0);
    begin(s, RELAXED);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(NULL, &status));
    ck_assert_int_eq(status_of(s), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end(s);
}
END_TEST

START_TEST(using_the_legacy_stream_invalidates)
{
    self_begin();
    CUfunction f = self_function("kernel");
    CUstream s = self_stream(0), apart = self_stream(CU_STREAM_NON_BLOCKING);
    begin(apart, RELAXED);
    OK(self_launch(f, NULL));
    end(apart);
    begin(s, RELAXED);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, self_launch(f, NULL));
    end_invalid(s);
}
END_TEST

START_TEST(the_legacy_stream_cannot_capture)
{
    CUgraph g;
    self_begin();
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, GLOBAL));
    begin(CU_STREAM_PER_THREAD, GLOBAL);
    end(CU_STREAM_PER_THREAD);
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(CU_STREAM_PER_THREAD, &g));
}
END_TEST

/* ---- several streams ---- */

START_TEST(streams_join_and_come_back)
{
    size_t count = 0;
    CUgraph g;
    CUgraphNode n[3];
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    CUevent fork = self_event(0), join = self_event(0);
    CUfunction f = self_function("kernel");
    begin(s, GLOBAL);
    OK(self_launch(f, s));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    ck_assert_int_eq(status_of(t), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(self_launch(f, t));
    OK(cuEventRecord(join, t));
    OK(cuStreamWaitEvent(s, join, 0));
    OK(self_launch(f, s));
    OK(cuStreamEndCapture(s, &g));
    ck_assert_int_eq(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuGraphGetNodes(g, NULL, &count));
    ck_assert_uint_eq(count, 3);
    OK(cuGraphGetNodes(g, n, &count));
    OK(cuGraphNodeGetDependencies(n[2], NULL, NULL, &count));
    ck_assert_uint_eq(count, 2); /* the launch in t, and the first one in s */
    FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(join));
}
END_TEST

START_TEST(streams_must_come_back)
{
    CUgraph g;
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    CUevent fork = self_event(0);
    CUfunction f = self_function("kernel");
    begin(s, GLOBAL);
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(self_launch(f, t));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(s, &g));
    ck_assert_int_eq(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
}
END_TEST

START_TEST(captures_do_not_mix)
{
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    CUevent outside = self_event(0), inside = self_event(0);
    OK(cuEventRecord(outside, s));
    begin(s, RELAXED);
    FAILS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(s, outside, 0));
    end_invalid(s);
    begin(s, RELAXED);
    begin(t, RELAXED);
    OK(cuEventRecord(inside, s));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(t, inside, 0));
    end_invalid(s);
    end_invalid(t);
}
END_TEST

struct ending {
    CUstream stream;
    CUresult expected;
};

static void end_as_expected(void *ending)
{
    struct ending *x = ending;
    CUgraph g;
    FAILS(x->expected, cuStreamEndCapture(x->stream, &g));
}

START_TEST(another_thread_may_end_a_relaxed_one_only)
{
    self_begin();
    CUstream s = self_stream(0);
    struct ending x = {s, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD};
    begin(s, LOCAL);
    self_in_thread(end_as_expected, &x);
    end(s);
    begin(s, RELAXED);
    x.expected = CUDA_SUCCESS;
    self_in_thread(end_as_expected, &x);
    ck_assert_int_eq(status_of(s), CU_STREAM_CAPTURE_STATUS_NONE);
}
END_TEST

START_TEST(streams_of_two_contexts)
{
    CUgraph g;
    CUcontext second;
    cudasim_set("CUDASIM_DEVICES", "2");
    CUcontext first = self_begin();
    CUstream s = self_stream(0);
    CUfunction f = self_function("kernel");
    CUevent fork = self_event(0);
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxSetCurrent(second));
    CUstream t = self_stream(0);
    OK(cuCtxSetCurrent(first));
    begin(s, GLOBAL);
    OK(self_launch(f, s));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    ck_assert_int_eq(status_of(t), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamEndCapture(s, &g));
    ck_assert_int_eq(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
}
END_TEST

START_TEST(a_capture_ends_with_its_stream)
{
    self_begin();
    CUstream s = self_stream(0), t = self_stream(0);
    CUevent fork = self_event(0);
    begin(s, GLOBAL);
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(cuStreamDestroy(s));
    ck_assert_int_eq(status_of(t), CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(a_captured_event_has_no_time)
{
    float ms;
    self_begin();
    CUstream s = self_stream(0);
    CUevent a = self_event(0), b = self_event(0);
    OK(cuEventRecord(a, s));
    OK(cuEventRecord(b, s));
    OK(cuEventElapsedTime(&ms, a, b));
    begin(s, RELAXED);
    OK(cuEventRecord(b, s));
    FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventElapsedTime(&ms, a, b));
    end(s);
}
END_TEST

START_TEST(a_captured_event_is_not_asked)
{
    self_begin();
    CUstream s = self_stream(0);
    CUevent e = self_event(0);
    begin(s, RELAXED);
    OK(cuEventRecord(e, s));
    set_mode(RELAXED);
    FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(e));
    end_invalid(s);
    FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(e));
}
END_TEST

START_TEST(a_mode_is_exchanged)
{
    CUstreamCaptureMode mode = RELAXED;
    self_begin();
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, GLOBAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, RELAXED);
}
END_TEST

TCase *self_capture(void)
{
    TCase *t = tcase_create("capture");
    tcase_add_test(t, captured_work_does_not_run);
    tcase_add_loop_test(t, asking_an_event_beside_a_capture, 0, sizeof(unsafe) / sizeof(unsafe[0]));
    tcase_add_loop_test(t, forbidden_in_a_global_capture, 0,
                        sizeof(forbidden) / sizeof(forbidden[0]));
    tcase_add_loop_test(t, forbidden_even_if_relaxed, 0, sizeof(never) / sizeof(never[0]));
    tcase_add_test(t, an_invalid_capture_takes_nothing);
    tcase_add_test(t, asking_the_legacy_stream_is_harmless);
    tcase_add_test(t, using_the_legacy_stream_invalidates);
    tcase_add_test(t, the_legacy_stream_cannot_capture);
    tcase_add_test(t, streams_join_and_come_back);
    tcase_add_test(t, streams_must_come_back);
    tcase_add_test(t, captures_do_not_mix);
    tcase_add_test(t, another_thread_may_end_a_relaxed_one_only);
    tcase_add_test(t, streams_of_two_contexts);
    tcase_add_test(t, a_capture_ends_with_its_stream);
    tcase_add_test(t, a_captured_event_has_no_time);
    tcase_add_test(t, a_captured_event_is_not_asked);
    tcase_add_test(t, a_mode_is_exchanged);
    return t;
}
