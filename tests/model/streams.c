/* SPDX-License-Identifier: MIT */
/*
 * The stop event that a launch may begin its bracket with, while the drain thread is about to give
 * it back; and an entry that becomes another stream's under the eyes of a thread that knew it.
 */
#include "drain/harvest.c"

#include "subjects.h"

#define BRACKETS 5

static struct ct_thread launching;
static bool is_shared;
static char handles[CT_STREAMS_LISTED + 3];

static CUresult current(CUcontext *out)
{
    *out = (CUcontext)handles;
    return CUDA_SUCCESS;
}

static void begin_streams(void)
{
    ct_driver_real[CT_ID_cuCtxGetCurrent] = (ct_function)current;
    ct_driver_real[CT_ID_cuCtxPushCurrent_v2] = (ct_function)current;
    ct_streams_init();
    ct_contexts_init();
    *ct_context(0) = (struct ct_context){.handle = (CUcontext)handles, .state = CT_CONTEXT_LIVE};
    launching.number = 1;
    launching.last_stream = NULL;
}

/* Its stop events are not asked: the stream is known to be busy. */
static void begin_brackets(void)
{
    begin_streams();
    ct_stream_created((CUstream)&handles[1], CU_STREAM_NON_BLOCKING, 0);
    struct ct_stream *s = ct_stream(0);
    for (uint32_t i = 0; i < BRACKETS; i++) {
        atomic_fetch_add(&s->opened, 1);
        ct_stream_recorded(s, &launching, i, false, false);
    }
    atomic_store(&s->busy_until, UINT64_MAX);
    atomic_store(&s->done, 1);
    s->last_stop_sequence = BRACKETS;
    ct_contexts[0].state = CT_CONTEXT_GONE; /* nothing is given back to its pool */
    is_shared = false;
}

static void launch(void)
{
    uint64_t ticks;
    struct ct_stream *s = ct_stream(0);
    atomic_fetch_add(&s->opened, 1);
    is_shared = ct_stream_spares_start(s, &launching, &ticks) == CT_OP_SHARED_START;
}

static void harvest_all(void)
{
    struct ct_stream *s = ct_stream(0);
    for (unsigned i = 2; i <= BRACKETS; i++)
        let_go(s, &(struct ct_op){.operations = 1});
    rest(s);
}

static void not_both(void)
{
    MODEL_ASSERT(!is_shared || ct_stream(0)->last_stop_sequence);
}

static void begin_entries(void)
{
    begin_streams();
    for (unsigned i = 0; i <= CT_STREAMS_LISTED; i++)
        ct_stream_created((CUstream)&handles[1 + i], CU_STREAM_NON_BLOCKING, 0);
    launching.last_stream = ct_stream(CT_STREAMS_LISTED);
    ct_stream_gone(CT_STREAMS_LISTED);
}

static void create_another(void)
{
    ct_stream_created((CUstream)&handles[CT_STREAMS_LISTED + 2], CU_STREAM_NON_BLOCKING, 0);
}

static void launch_in_first(void)
{
    struct ct_stream *s = ct_stream_get(&launching, (CUstream)&handles[1]);
    MODEL_ASSERT(s == ct_stream(0));
}

static void used_again(void)
{
    MODEL_ASSERT(ct_streams_count() == CT_STREAMS_LISTED + 1);
}

const struct model subject_streams[] = {
    {"streams: a start that is shared", begin_brackets, {launch, harvest_all}, not_both, NULL},
    {"streams: an entry used again",
     begin_entries,
     {create_another, launch_in_first},
     used_again,
     NULL},
    {0},
};
