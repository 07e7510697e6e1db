/* SPDX-License-Identifier: MIT */
#include "driver/model.h"

#include <stdlib.h>

CUresult sim_cuEventCreate(CUevent *out, unsigned int flags)
{
    CUcontext c;
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!out || (flags & ~known) ||
        ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = sim_need_context(&c);
    if (r != CUDA_SUCCESS)
        return r;
    CUevent e = sim_take(SIM_EVENT);
    if (!e)
        return CUDA_ERROR_OUT_OF_MEMORY;
    e->context = c;
    e->flags = flags;
    *out = e;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy_v2(CUevent e)
{
    CUresult r = sim_check(SIM_EVENT, e);
    if (r == CUDA_SUCCESS) {
        free(e->leaves);
        sim_give(SIM_EVENT, e);
    }
    return r;
}

CUresult sim_cuEventDestroy(CUevent e)
{
    return sim_cuEventDestroy_v2(e);
}

/* Into a capture an external record goes as a node, another one as a mark. */
static CUresult record(CUevent e, CUstream handle, bool external)
{
    CUstream s;
    CUresult r = sim_check(SIM_EVENT, e);
    if (r == CUDA_SUCCESS)
        r = sim_stream_of(handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    if (s->context != e->context) {
        sim_breach("event recorded in a stream of another context");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (s->capture && !external)
        return sim_capture_record(e, s);
    struct sim_work w = {.kind = SIM_WORK_RECORD, .event = e};
    return sim_submit(s, &w);
}

CUresult sim_cuEventRecord(CUevent e, CUstream stream)
{
    return record(e, stream, false);
}

CUresult sim_cuEventRecordWithFlags(CUevent e, CUstream stream, unsigned int flags)
{
    if (flags > CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    return record(e, stream, flags == CU_EVENT_RECORD_EXTERNAL);
}

static CUresult may_look(CUevent e)
{
    CUresult r = sim_check(SIM_EVENT, e);
    if (r == CUDA_SUCCESS && e->captured)
        return sim_capture_look(e);
    return r == CUDA_SUCCESS ? sim_unsafe() : r;
}

static bool is_done(CUevent e)
{
    return !e->recorded || sim_reached(&e->mark) || sim_graph_has_passed(e);
}

CUresult sim_cuEventQuery(CUevent e)
{
    CUresult r = may_look(e);
    if (r != CUDA_SUCCESS)
        return r;
    return is_done(e) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static bool mark_reached(void *mark)
{
    return sim_reached(mark);
}

CUresult sim_cuEventSynchronize(CUevent e)
{
    CUresult r = may_look(e);
    if (r != CUDA_SUCCESS || !e->recorded)
        return r;
    struct sim_mark m = e->mark;
    int64_t stamp_ns = e->stamp_ns;
    sim_wait_until(mark_reached, &m);
    if (stamp_ns > sim_self.host_ns)
        sim_self.host_ns = stamp_ns;
    return CUDA_SUCCESS;
}

static CUresult timed(CUevent e)
{
    CUresult r = sim_check(SIM_EVENT, e);
    if (r == CUDA_SUCCESS && e->captured)
        r = CUDA_ERROR_CAPTURED_EVENT;
    if (r == CUDA_SUCCESS && (!e->recorded || (e->flags & CU_EVENT_DISABLE_TIMING)))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r;
}

CUresult sim_cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    CUresult r = timed(from);
    if (r == CUDA_SUCCESS)
        r = timed(to);
    if (r == CUDA_SUCCESS && from->context != to->context)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r != CUDA_SUCCESS)
        return r;
    if (!is_done(from) || !is_done(to))
        return CUDA_ERROR_NOT_READY;
    *ms = (float)((double)(to->stamp_ns - from->stamp_ns) / 1e6);
    return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to)
{
    return sim_cuEventElapsedTime(ms, from, to);
}
