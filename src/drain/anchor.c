/* SPDX-License-Identifier: MIT */
#include "drain/anchor.h"

#include "state/context.h"
#include "time/gpu_clock.h"

#define ANCHOR_NS 50000000u
#define ANCHOR_LOST_NS 400000000u    /* the step of the float is 30 ns there */
#define BEGIN_NS ((uint64_t)1 << 40) /* room for stamps before the first one that is read */

bool ct_anchor_read(struct ct_context *c, uint32_t event, uint64_t *ns)
{
    struct ct_gpu_clock *clock = &c->clock;
    int64_t distance_ns = 0;
    *ns = BEGIN_NS;
    if (!clock->has_anchor)
        return true;
    if (!ct_elapsed_ns(c, clock->anchor, event, &distance_ns))
        return false;
    *ns = clock->anchor_ns + (uint64_t)distance_ns;
    return true;
}

void ct_anchor_give(struct ct_context *c, uint32_t event, uint64_t ns)
{
    struct ct_gpu_clock *clock = &c->clock;
    if (clock->has_anchor && ns < clock->anchor_ns + ANCHOR_NS) {
        ct_event_give(c, event);
        return;
    }
    if (clock->has_anchor) {
        ct_event_give(c, clock->anchor);
        if (ns > clock->anchor_ns + ANCHOR_LOST_NS)
            ct_gpu_clock_forget_pins(clock);
    }
    clock->has_anchor = true;
    clock->anchor = event;
    clock->anchor_ns = ns;
}
