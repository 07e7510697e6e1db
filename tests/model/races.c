/* SPDX-License-Identifier: MIT */
/* Accesses that are not atomic: two to the same byte, one of them a store, must be ordered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define GRAINS 16384 /* of eight bytes; a power of two */

static struct grain {
    uintptr_t at;
    unsigned execution;
    uint16_t read[8][MODEL_THREADS], written[8][MODEL_THREADS]; /* clocks */
} grains[GRAINS];
static unsigned execution;

void races_begin(void)
{
    execution++;
}

static struct grain *grain(uintptr_t at)
{
    unsigned i = (unsigned)(at * 0x9e3779b97f4a7c15u >> 40) % GRAINS, tries = 0;
    while (grains[i].execution == execution && grains[i].at != at) {
        i = (i + 1) % GRAINS;
        if (++tries == GRAINS)
            abort();
    }
    if (grains[i].execution != execution) {
        memset(&grains[i], 0, sizeof(grains[i]));
        grains[i].execution = execution;
        grains[i].at = at;
    }
    return &grains[i];
}

static bool is_ordered(const uint16_t by_thread[MODEL_THREADS], const struct clocks *now)
{
    for (int t = 0; t < MODEL_THREADS; t++)
        if (t != model_self && by_thread[t] > now->at[t])
            return false;
    return true;
}

void races_access(const void *p, size_t bytes, bool writes)
{
    if (model_self < 0 || model_is_own(p))
        return;
    const struct clocks *now = memory_clocks(model_self);
    for (uintptr_t at = (uintptr_t)p; at < (uintptr_t)p + bytes; at++) {
        struct grain *g = grain(at / 8);
        bool ok =
            is_ordered(g->written[at % 8], now) && (!writes || is_ordered(g->read[at % 8], now));
        if (!ok) {
            char what[64];
            snprintf(what, sizeof(what), "a race at %p, %zu bytes", p, bytes);
            model_broken(what);
        }
        (writes ? g->written : g->read)[at % 8][model_self] = now->at[model_self];
    }
}
