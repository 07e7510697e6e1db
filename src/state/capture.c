/* SPDX-License-Identifier: MIT */
#include "state/capture.h"

#include "state/renewal.h"
#include "system/clock.h"
#include "system/spin.h"

/* Askers are waited for no longer: a question that hangs in the driver would hang the program. */
#define WAIT_NS_MOST 100000000

#define UNSEEN (1u << 31) /* a capture whose end nobody sees */

CT_READ_MOSTLY struct ct_captures ct_captures;
static _Atomic uint32_t asking;

static void let_askers_finish(void)
{
    if (!atomic_load(&asking))
        return;
    uint64_t since = ct_ticks();
    for (unsigned tries = 1;
         atomic_load(&asking) && ct_ticks_to_ns(ct_ticks() - since) < WAIT_NS_MOST; tries++)
        ct_spin_pause(tries);
}

static void begin_occasion(void)
{
    atomic_fetch_add(&ct_captures.begun, 1);
    let_askers_finish();
}

static void end_occasion(void)
{
    atomic_fetch_add(&ct_captures.ended, 1);
}

/* A capture whose beginning was not seen has not been counted. */
static void close_one(void)
{
    uint32_t open = atomic_load(&ct_captures.open);
    while (open % UNSEEN && !atomic_compare_exchange_weak(&ct_captures.open, &open, open - 1))
        ;
}

void ct_captures_unseen(void)
{
    atomic_fetch_or(&ct_captures.open, UNSEEN);
    ct_pass_renew();
}

void ct_capture_begins(void)
{
    atomic_fetch_add(&ct_captures.open, 1);
    ct_pass_renew();
    begin_occasion();
}

void ct_capture_begun(CUresult result)
{
    if (result != CUDA_SUCCESS)
        close_one();
    end_occasion();
}

/* After some errors the capture is over, after others not: then streams are asked from now on. */
void ct_capture_ended(CUresult result)
{
    if (result == CUDA_SUCCESS)
        close_one();
}

void ct_capture_spreads(struct ct_thread *t)
{
    t->capture_spreads = ct_captures_are_open();
    if (t->capture_spreads)
        begin_occasion();
}

void ct_capture_spread(struct ct_thread *t)
{
    if (t->capture_spreads)
        end_occasion();
}

/* An edge that says more than an order is refused by whoever has no room for that. */
static CUresult ask_nodes(CUstream handle, CUstreamCaptureStatus *status, const CUgraphNode **nodes,
                          size_t *count)
{
    const CUgraphEdgeData *edges;
    if (CT_HAS(cuStreamGetCaptureInfo_v3))
        return CT_REAL(cuStreamGetCaptureInfo_v3)(handle, status, NULL, NULL, nodes, &edges, count);
    if (CT_HAS(cuStreamGetCaptureInfo_v2))
        return CT_REAL(cuStreamGetCaptureInfo_v2)(handle, status, NULL, NULL, nodes, count);
    return CUDA_ERROR_NOT_SUPPORTED;
}

size_t ct_capture_nodes(CUstream handle, const CUgraphNode **nodes)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    size_t count = 0;
    CUresult r = ask_nodes(handle, &status, nodes, &count);
    return r == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? count : 0;
}

bool ct_stream_is_capturing(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CT_HAS(cuStreamIsCapturing) &&
           (CT_REAL(cuStreamIsCapturing)(handle, &status) != CUDA_SUCCESS ||
            status != CU_STREAM_CAPTURE_STATUS_NONE);
}

bool ct_capture_ask_enter(CUstream handle)
{
    atomic_fetch_add(&asking, 1);
    bool quiet = atomic_load(&ct_captures.begun) == atomic_load(&ct_captures.ended);
    if (quiet && !ct_stream_is_capturing(handle))
        return true;
    ct_capture_ask_leave();
    return false;
}

void ct_capture_ask_leave(void)
{
    atomic_fetch_sub(&asking, 1);
}
