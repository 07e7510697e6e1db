/* SPDX-License-Identifier: MIT */
#include "counts/buckets.h"

#include "containers/arena.h"

_Static_assert(CT_HIST_STEPS % CT_BUCKETS_PART == 0, "the last part of an octave is a whole one");

static CT_PROCESS struct ct_arena arena;

/* Stands for every histogram that could not be kept. */
static struct ct_buckets none;

static void *take(size_t bytes)
{
    return ct_arena_take(&arena, bytes, SIZE_MAX);
}

static uint64_t *part_of(struct ct_buckets **b, uint32_t bucket)
{
    if (!*b && !(*b = take(sizeof(**b))))
        return NULL;
    struct ct_buckets_octave **octave = &(*b)->octave[bucket / CT_HIST_STEPS];
    if (!*octave && !(*octave = take(sizeof(**octave))))
        return NULL;
    uint64_t **part = &(*octave)->part[bucket % CT_HIST_STEPS / CT_BUCKETS_PART];
    if (!*part)
        *part = take(CT_BUCKETS_PART * sizeof(**part));
    return *part;
}

bool ct_buckets_add(struct ct_buckets **b, uint64_t ns, uint64_t n)
{
    uint32_t bucket = ct_hist_bucket(ns);
    uint64_t *part = *b == &none ? NULL : part_of(b, bucket);
    if (!part) {
        ct_buckets_drop(b);
        return false;
    }
    part[bucket % CT_BUCKETS_PART] += n;
    return true;
}

void ct_buckets_drop(struct ct_buckets **b)
{
    *b = &none;
}
