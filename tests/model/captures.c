/* SPDX-License-Identifier: MIT */
/* A thread that asks a stream something while another one begins a capture of it. */
#include "system/spin.h"

#include "engine.h"

/* What waits would only look again: what it sees then, it may as well see at once. */
#define ct_spin_pause(tries) ((void)(tries), model_give_up())
#include "state/capture.c"
#undef ct_spin_pause

#include "subjects.h"

static atomic_bool captures;

static CUresult is_capturing(CUstream s, CUstreamCaptureStatus *status)
{
    (void)s;
    *status =
        atomic_load(&captures) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static void begin(void)
{
    ct_driver_real[CT_ID_cuStreamIsCapturing] = (ct_function)is_capturing;
    atomic_store(&ct_captures.begun, 0);
    atomic_store(&ct_captures.ended, 0);
    atomic_store(&ct_captures.open, 0);
    atomic_store(&asking, 0);
    atomic_store(&captures, false);
}

static void begin_capture(void)
{
    ct_capture_begins();
    atomic_store(&captures, true);
    ct_capture_begun(CUDA_SUCCESS);
}

static void ask(void)
{
    if (!ct_capture_ask_enter(NULL))
        return;
    MODEL_ASSERT(!atomic_load(&captures));
    ct_capture_ask_leave();
}

/* The records are between the question and the end; they may be captured if this says nothing. */
static void launch(void)
{
    uint32_t then = ct_captures_now();
    if (ct_stream_is_capturing(NULL))
        return;
    bool is_captured = atomic_load(&captures);
    MODEL_ASSERT(!is_captured || ct_captures_since(then));
}

static void none_asks(void)
{
    MODEL_ASSERT(!atomic_load(&asking));
}

const struct model subject_captures[] = {
    {"captures: a question", begin, {begin_capture, ask}, none_asks, NULL},
    {"captures: two begin", begin, {begin_capture, begin_capture, ask}, none_asks, NULL},
    {"captures: a launch", begin, {begin_capture, begin_capture, launch}, none_asks, NULL},
    {0},
};
