/* SPDX-License-Identifier: MIT */
/* Contexts that several threads meet at once: each gets one entry, and no entry serves two. */
#include "base/config.h"
#include "base/process.h"
#include "containers/intern.h"
#include "state/context.h"
#include "state/stream.h"
#include "subjects.h"

static char handles[3];
static struct ct_context *mine[2];

static CUresult current(CUcontext *out)
{
    *out = (CUcontext)&handles[0];
    return CUDA_SUCCESS;
}

static CUresult push(CUcontext c)
{
    (void)c;
    return CUDA_SUCCESS;
}

static CUresult device(CUdevice *out)
{
    *out = 0;
    return CUDA_SUCCESS;
}

static void begin(void)
{
    ct_driver_real[CT_ID_cuCtxGetCurrent] = (ct_function)current;
    ct_driver_real[CT_ID_cuCtxPopCurrent_v2] = (ct_function)current;
    ct_driver_real[CT_ID_cuCtxPushCurrent_v2] = (ct_function)push;
    ct_driver_real[CT_ID_cuCtxGetDevice] = (ct_function)device;
    ct_config.events = 64;
    ct_process_forget();
    ct_streams_init();
    ct_contexts_init();
    ct_device_index(0);
}

/* The first entry was another context's, which is forgotten. */
static void begin_again(void)
{
    begin();
    struct ct_context *c = ct_context_get((CUcontext)&handles[0]);
    atomic_store(&c->is_forgotten, true);
    atomic_store(&c->state, CT_CONTEXT_GONE);
}

static void meet(unsigned me, unsigned handle)
{
    mine[me] = ct_context_get((CUcontext)&handles[handle]);
    MODEL_ASSERT(mine[me] && mine[me]->handle == (CUcontext)&handles[handle]);
}

static void meet_one(void)
{
    meet(0, 1);
}

static void meet_one_too(void)
{
    meet(1, 1);
}

static void meet_another(void)
{
    meet(1, 2);
}

static void one_entry(void)
{
    MODEL_ASSERT(mine[0] == mine[1] && mine[0] == ct_context(0));
    MODEL_ASSERT(ct_context(1)->state == CT_CONTEXT_FREE);
}

static void two_entries(void)
{
    MODEL_ASSERT(mine[0] != mine[1]);
    MODEL_ASSERT(mine[0]->handle == (CUcontext)&handles[1]);
    MODEL_ASSERT(mine[1]->handle == (CUcontext)&handles[2]);
}

const struct model subject_contexts[] = {
    {"contexts: one, met by two", begin, {meet_one, meet_one_too}, one_entry, NULL},
    {"contexts: two", begin, {meet_one, meet_another}, two_entries, NULL},
    {"contexts: an entry used again", begin_again, {meet_one, meet_another}, two_entries, NULL},
    {0},
};
