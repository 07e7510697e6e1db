/* SPDX-License-Identifier: MIT */
#include "launch/replica_launch.h"

#include "base/config.h"
#include "base/random.h"
#include "launch/replica_entry.h"
#include "launch/replica_sync.h"
#include "state/capture.h"

/* The replica's first launches are every other one of the graph's, later ones one in N. */
#define FIRST_ONES 16
#define FIRST_DISTANCE 2

/* With more launches in another stream than the one before, a graph's own time is not known. */
#define MOVED_ONE_IN 8

/* Random distances never fall in step with a period of the program's. */
static uint64_t distance(struct ct_replica *r)
{
    uint32_t n = ct_config.graph_nodes;
    if (n == 1)
        return 1;
    if (atomic_load_explicit(&r->replayed, memory_order_relaxed) <= FIRST_ONES)
        return FIRST_DISTANCE;
    return FIRST_DISTANCE + n / 2 + ct_random(&r->random) % n;
}

/* The stream of a launch; NULL: not known. */
static const struct ct_stream *stream_of(const struct ct_bracket *b)
{
    return b->state != CT_BRACKET_OFF ? b->stream : NULL;
}

/* A launch in another stream than the replica's waits; one into a capture runs nothing. */
static void wait_for_replica(const struct ct_replica *r, const struct ct_stream *known, CUstream s)
{
    CUevent done = ct_event(r->context, r->body.done_event);
    if ((known && known->id == r->stream_id) || ct_stream_is_capturing(s))
        return;
    for (unsigned i = 0; i < CT_RESTORE_TRIES; i++)
        if (CT_REAL(cuStreamWaitEvent)(s, done, 0) == CUDA_SUCCESS)
            return;
}

static bool is_captured(const struct ct_bracket *b)
{
    return b->state == CT_BRACKET_LOST && b->loss == CT_LOSS_CAPTURED;
}

static void count_launch(uint32_t i, const struct ct_stream *s)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    if (!ct_replica_sync_launched(r))
        ct_replica_drop(i, CT_REPLICA_LOST_CHANGED);
    r->moved += r->launches && r->stream_id != (s ? s->id : 0);
    r->stream_id = s ? s->id : 0;
    if (++r->launches < CT_REPLICA_LAUNCHES_BEFORE || !s ||
        ct_replica_phase_of(i) != CT_REPLICA_CLONED)
        return;
    r->context = ct_context(s->context);
    ct_replica_go_on(i, CT_REPLICA_CLONED, CT_REPLICA_WANTED);
}

static bool replay(uint32_t i, CUstream s)
{
    struct ct_replica *r = &ct_replicas->replica[i];
    if (!ct_replica_go_on(i, CT_REPLICA_READY, CT_REPLICA_LAUNCHING))
        return false;
    if (CT_REAL(cuGraphLaunch)(r->body.exec, s) != CUDA_SUCCESS) {
        ct_replica_drop(i, CT_REPLICA_LOST_REFUSED);
        ct_replica_set_phase(i, CT_REPLICA_READY);
        return false;
    }
    r->steady = r->moved <= r->launches / MOVED_ONE_IN;
    atomic_fetch_add_explicit(&r->replayed, 1, memory_order_relaxed);
    r->due = r->launches + distance(r);
    ct_replica_set_phase(i, CT_REPLICA_RUNNING);
    return true;
}

bool ct_replica_launch(struct ct_bracket *b, const struct ct_work *w)
{
    uint32_t i = ct_replica_find(w->graph);
    if (i == CT_REPLICAS || is_captured(b))
        return false;
    if (b->state != CT_BRACKET_OFF && !ct_replica_may_run(i)) {
        const struct ct_stream *s = stream_of(b);
        atomic_store_explicit(&ct_replicas->replica[i].row, b->row, memory_order_relaxed);
        ct_replicas->replica[i].launched_in = s ? s->id : 0;
    }
    bool made = b->state == CT_BRACKET_LOST && b->loss == CT_LOSS_INSIDE;
    if (made && !(made = replay(i, w->stream)))
        b->loss = CT_LOSS_EVENT_ERROR;
    if (!made && ct_replica_may_run(i))
        wait_for_replica(&ct_replicas->replica[i], stream_of(b), w->stream);
    count_launch(i, stream_of(b));
    return made;
}

void ct_replica_unseen_launch(CUgraphExec exec, CUstream s)
{
    uint32_t i = ct_replica_find(exec);
    if (i == CT_REPLICAS)
        return;
    if (ct_replica_may_run(i))
        wait_for_replica(&ct_replicas->replica[i], NULL, s);
    ct_replicas->replica[i].stream_id = 0;
}

bool ct_replica_pass_beside(CUgraphExec exec, const struct ct_stream *s)
{
    uint32_t i = ct_replica_find(exec);
    if (i == CT_REPLICAS)
        return true;
    if (s->id != ct_replicas->replica[i].stream_id && ct_replica_may_run(i))
        return false;
    count_launch(i, s);
    return true;
}
