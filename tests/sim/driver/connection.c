/* SPDX-License-Identifier: MIT */
/*
 * Connections: a context's queues to the device, which its streams share. Each takes in its entries
 * in the order of their submission. One that has to wait holds up those behind it, whatever their
 * streams: a kernel until the one before it in its stream has ended, a record that stamps the time
 * likewise, and until it has stamped. Records without a stamp and copies hold nothing up. A stream
 * that has work ahead stays where it is; another one comes to the connection that is free soonest.
 */
#include "driver/sim.h"

#include <stdlib.h>

#define USUAL 8

static unsigned count(void)
{
    static unsigned n;
    const char *setting = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    if (!n)
        n = setting ? (unsigned)atoi(setting) : USUAL;
    if (!n || n > SIM_CONNECTIONS)
        n = n ? SIM_CONNECTIONS : USUAL;
    return n;
}

static unsigned soonest(CUcontext c)
{
    unsigned best = 0;
    for (unsigned i = 1; i < count(); i++)
        if (c->connection_ns[i] < c->connection_ns[best])
            best = i;
    return best;
}

static bool is_timed(const struct sim_work *w)
{
    return w->kind == SIM_WORK_RECORD && !(w->event->flags & CU_EVENT_DISABLE_TIMING);
}

static bool is_carried(const struct sim_work *w)
{
    return w->kind == SIM_WORK_KERNEL || w->kind == SIM_WORK_GRAPH || is_timed(w);
}

/* When an entry begins that could at start_ns, were the connection its stream's alone. */
int64_t sim_connection_begin(CUstream s, const struct sim_work *w, int64_t start_ns)
{
    if (!sim_settings.host_clock || !is_carried(w))
        return start_ns;
    if (s->first == NULL)
        s->connection = soonest(s->context);
    int64_t free_ns = s->context->connection_ns[s->connection];
    return start_ns > free_ns ? start_ns : free_ns;
}

void sim_connection_end(CUstream s, const struct sim_work *w, int64_t begun_ns, int64_t end_ns)
{
    if (sim_settings.host_clock && is_carried(w))
        s->context->connection_ns[s->connection] = is_timed(w) ? end_ns : begun_ns;
}
