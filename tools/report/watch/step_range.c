/* SPDX-License-Identifier: MIT */
#include "report/watch/step_range.h"

#include <math.h>
#include <string.h>

#include "report/host_memory.h"
#include "report/watch/step_count.h"

#define NCCL_DOMAIN "NCCL" /* of the ranges with which NCCL marks its own calls */
#define ALL 0.8            /* of the time; shorter ones are parts of steps */
#define FEWEST 5           /* steps: with less anything fits */

void ct_step_ranges_add(struct ct_step_ranges *r, struct ct_key_table *names,
                        const struct ct_summary *s, double sign)
{
    for (size_t i = 0; i < s->ranges_count; i++) {
        const struct ct_file_range *f = &s->ranges[i];
        if (f->parent || !strcmp(ct_summary_text(s, f->domain), NCCL_DOMAIN))
            continue;
        uint32_t name = ct_key_table_text(names, ct_summary_text(s, f->name));
        r->at = ct_memory_grow(r->at, &r->size, (size_t)name + 1, sizeof(*r->at));
        r->at[name].count += sign * (double)f->count;
        r->at[name].ns += sign * (double)f->total_ns;
    }
}

void ct_step_ranges_negate(struct ct_step_ranges *r)
{
    for (size_t i = 0; i < r->size; i++)
        r->at[i] = (struct ct_step_range){-r->at[i].count, -r->at[i].ns};
}

struct ct_step_range ct_step_range_of(const struct ct_step_ranges *r, uint32_t name)
{
    return name < r->size ? r->at[name] : (struct ct_step_range){0};
}

bool ct_step_range_fits(const struct ct_step_range *r, double steps, double window_ns)
{
    return r->count >= 1 && steps >= FEWEST &&
           fabs(r->count - steps) <= CT_STEP_TOLERANCE * steps + 1 &&
           r->ns / r->count >= ALL * window_ns / steps;
}
