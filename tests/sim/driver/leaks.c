/* SPDX-License-Identifier: MIT */
/* What the program left open at its end. What goes with its owner, or is the driver's, is not. */
#include "driver/sim.h"

static bool context_is_open(const struct CUctx_st *c)
{
    return c->primary ? c->references > 0 : !c->green;
}

static bool is_open(enum sim_type type, void *object)
{
    switch (type) {
    case SIM_CONTEXT:
        return context_is_open(object);
    case SIM_STREAM:
        return ((CUstream)object)->kind == SIM_STREAM_PLAIN && !((CUstream)object)->doomed;
    case SIM_MODULE:
        return !((CUmodule)object)->library;
    case SIM_GRAPH:
        return !((CUgraph)object)->owned_by_node;
    case SIM_FUNCTION:
    case SIM_KERNEL:
    case SIM_NODE:
    case SIM_MEMORY_POOL:
        return false;
    default:
        return true;
    }
}

struct tally {
    enum sim_type type;
    unsigned count;
};

static bool count_open(void *object, void *tally)
{
    struct tally *t = tally;
    t->count += is_open(t->type, object);
    return false;
}

void sim_log_open_things(void)
{
    for (enum sim_type type = 0; type < SIM_TYPES; type++) {
        struct tally t = {type, 0};
        sim_each(type, count_open, &t);
        if (t.count)
            sim_log("open at exit: %s: %u", sim_type_name(type), t.count);
    }
    for (struct sim_capture *c = sim_captures; c; c = c->next)
        sim_log("open at exit: capture %llu", (unsigned long long)c->id);
    if (sim_self.depth)
        sim_log("open at exit: %d contexts pushed by thread %u", sim_self.depth, sim_self.id);
}
