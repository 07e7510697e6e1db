/* SPDX-License-Identifier: MIT */
/* What a program puts into a stream between two of its kernels. */
#include "actor.h"

#include <string.h>

#define QUEUED 12
#define QUEUED_NS 500000
#define EVENTS 20

/* Longer than what is queued. */
static void wait_for_another(CUstream s)
{
    CUstream other = actor_stream();
    CUevent e;
    MUST(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    MUST(actor_launch_with(actor_function("spin"), other, 40 * QUEUED_NS));
    MUST(cuEventRecord(e, other));
    MUST(cuStreamWaitEvent(s, e, 0));
}

/* The program's own, one before each kernel, as timers of a training step are. */
static void with_events(CUfunction f, CUstream s, const char *kind)
{
    unsigned flags = strcmp(kind, "untimed") ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
    bool has_flags = !strcmp(kind, "event-flags");
    for (int i = 0; i < EVENTS; i++) {
        CUevent e;
        MUST(cuEventCreate(&e, flags));
        MUST(has_flags ? cuEventRecordWithFlags(e, s, 0) : cuEventRecord(e, s));
        MUST(actor_launch_with(f, s, 1000));
    }
}

/* order wait|event|event-flags|untimed [STREAM]: kernels of 1 us after it, behind longer ones */
int actor_order(int argc, char **argv)
{
    actor_begin();
    const char *what = actor_word(argc, argv, 1, "wait");
    CUstream s = actor_stream_of(actor_word(argc, argv, 2, "created"));
    CUfunction before = actor_function("spin_before"), after = actor_function("spin_after");
    for (int i = 0; i < QUEUED; i++)
        MUST(actor_launch_with(before, s, QUEUED_NS));
    if (!strcmp(what, "wait"))
        wait_for_another(s);
    else
        with_events(after, s, what);
    MUST(actor_launch_with(after, s, 1000));
    MUST(cuCtxSynchronize());
    return 0;
}
