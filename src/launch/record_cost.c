/* SPDX-License-Identifier: MIT */
#include "launch/record_cost.h"

#include "state/capture.h"
#include "system/clock.h"
#include "time/figures.h"
#include "time/gpu_clock.h"

#define WARM_UP 8 /* the first records take host and GPU longer */
#define STEPS (CT_RECORD_COST_EVENTS - WARM_UP)

static bool take_all(struct ct_record_cost *r, struct ct_context *c, struct ct_event_cache *cache)
{
    bool ok = true;
    for (unsigned i = 0; i < CT_RECORD_COST_EVENTS; i++)
        ok = (r->event[i] = ct_cache_take(c, cache)) != CT_EVENT_NONE && ok;
    return ok;
}

static void give_all(struct ct_record_cost *r, struct ct_context *c, struct ct_event_cache *cache)
{
    for (unsigned i = 0; i < CT_RECORD_COST_EVENTS; i++)
        if (r->event[i] != CT_EVENT_NONE)
            ct_cache_give(c, cache, r->event[i]);
}

static bool record_all(struct ct_record_cost *r, const struct ct_context *c, CUstream stream)
{
    for (unsigned i = 0; i < CT_RECORD_COST_EVENTS; i++) {
        r->ticks[i] = ct_ticks();
        if (CT_REAL(cuEventRecord)(ct_event(c, r->event[i]), stream) != CUDA_SUCCESS)
            return false;
    }
    return true;
}

/* Making events takes longest: so that comes before captures are kept from beginning. */
bool ct_record_cost_submit(struct ct_record_cost *r, struct ct_context *c,
                           const struct ct_stream *s, struct ct_event_cache *cache)
{
    if (!ct_stream_is_idle(s))
        return false;
    bool ok = take_all(r, c, cache);
    if (ok && (ok = ct_capture_ask_enter(s->handle))) {
        ok = record_all(r, c, s->handle);
        ct_capture_ask_leave();
    }
    if (!ok)
        give_all(r, c, cache);
    return ok;
}

CUevent ct_record_cost_last(const struct ct_record_cost *r, const struct ct_context *c)
{
    return ct_event(c, r->event[CT_RECORD_COST_EVENTS - 1]);
}

uint32_t ct_record_cost_read(const struct ct_record_cost *r, const struct ct_context *c)
{
    int64_t gap_ns[STEPS], host_ns[STEPS];
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned at = WARM_UP + i;
        host_ns[i] = (int64_t)ct_ticks_to_ns(r->ticks[at] - r->ticks[at - 1]);
        if (!ct_elapsed_ns(c, r->event[at - 1], r->event[at], &gap_ns[i]))
            return 0;
    }
    return ct_figures_record_ns(gap_ns, host_ns, STEPS);
}

void ct_record_cost_end(struct ct_record_cost *r, struct ct_context *c)
{
    for (unsigned i = 0; i < CT_RECORD_COST_EVENTS; i++)
        if (r->event[i] != CT_EVENT_NONE)
            ct_event_give(c, r->event[i]);
}
