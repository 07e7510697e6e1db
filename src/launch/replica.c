/* SPDX-License-Identifier: MIT */
#include "launch/replica.h"

#include <errno.h>
#include <time.h>

#include "base/config.h"
#include "launch/replica_entry.h"
#include "state/thread.h"
#include "system/cancel.h"
#include "time/gpu_clock.h"

CT_PROCESS struct ct_replicas *ct_replicas;
CT_PROCESS_READ bool ct_replicas_are_on;

bool ct_replicas_init(void)
{
    ct_replicas_are_on = false;
    if (!ct_config.graph_nodes)
        return true;
    ct_replicas = ct_map(sizeof(*ct_replicas));
    ct_replicas_are_on = ct_replicas != NULL;
    return ct_replicas_are_on;
}

uint64_t ct_replicas_lost(enum ct_replica_loss why)
{
    return ct_replicas ? atomic_load_explicit(&ct_replicas->lost[why], memory_order_relaxed) : 0;
}

bool ct_replica_is_due(CUgraphExec exec, const struct ct_stream *s)
{
    uint32_t i = ct_replica_find(exec);
    if (i == CT_REPLICAS || ct_replica_phase_of(i) != CT_REPLICA_READY ||
        ct_replica_is_dropped(i) || ct_replica_is_outdated(i))
        return false;
    const struct ct_replica *r = &ct_replicas->replica[i];
    return r->launches >= r->due && s->id == r->stream_id && ct_context(s->context) == r->context &&
           !r->stale && ct_replica_is_synced(r) && !ct_replicas_are_resting() &&
           !ct_replicas_are_stopped();
}

/* ---- memory that the program needs ---- */

/* So long a replica that runs is waited for: it may run for ever. */
#define NAP_NS 1000000
#define NAPS 100

static bool is_through(const struct ct_replica *r, enum ct_replica_phase before)
{
    const struct timespec nap = {0, NAP_NS};
    CUresult result = CUDA_SUCCESS;
    if (before != CT_REPLICA_RUNNING)
        return true;
    for (unsigned naps = 0; naps < NAPS; naps++) {
        result = CT_REAL(cuEventQuery)(ct_event(r->context, r->body.done_event));
        if (result != CUDA_ERROR_NOT_READY)
            break;
        nanosleep(&nap, NULL);
    }
    return result == CUDA_SUCCESS;
}

/* Times of one that is running are lost. One that is being read is through, and soon ended. */
static bool give_up(uint32_t i, struct ct_thread *t)
{
    CUcontext outer;
    const struct ct_replica *r = &ct_replicas->replica[i];
    enum ct_replica_phase before = ct_replica_phase_of(i);
    if ((before != CT_REPLICA_READY && before != CT_REPLICA_RUNNING) ||
        !ct_replica_go_on(i, before, CT_REPLICA_ENDING))
        return false;
    bool entered = ct_context_enter(r->context, &outer), ends = entered && is_through(r, before);
    if (ends)
        ct_replica_end(i, ct_thread_events(t, r->context));
    else
        ct_replica_set_phase(i, before);
    if (entered)
        ct_context_leave(r->context, outer);
    return ends;
}

bool ct_replicas_give_up(CUresult result)
{
    CUstreamCaptureMode mode;
    struct ct_thread *t = ct_thread_current;
    bool any = false;
    if (result != CUDA_ERROR_OUT_OF_MEMORY || !ct_replicas_are_on || !t ||
        !ct_replicas_have_memory() || !ct_relaxed_enter(&mode))
        return false;
    ct_replicas_stop();
    int saved_errno = errno, cancel = ct_cancel_disable();
    for (uint32_t i = 0; i < CT_REPLICAS; i++)
        any |= give_up(i, t);
    ct_cancel_restore(cancel);
    errno = saved_errno;
    ct_relaxed_leave(mode);
    if (any)
        ct_replica_lose(CT_REPLICA_LOST_GIVEN_UP);
    return any;
}
