/* SPDX-License-Identifier: MIT */
/* Distribution of host times for each API; the exact counters are the threads' (api_count.h). */
#ifndef CT_API_STATS_H
#define CT_API_STATS_H

#include "base/base.h"
#include "counts/buckets.h"
#include "cuda/api.h"
#include "drain/image.h"

struct ct_api_stats {
    uint64_t sampled; /* calls that the samples stand for */
    double square_ns2;
    struct ct_buckets *buckets;   /* NULL until the first sample */
    uint32_t first, last;         /* buckets that hold something, and those between */
    struct ct_list_extent listed; /* the buckets in the profile */
};

/* Counters of all threads, dead ones included. */
struct ct_api_totals {
    uint64_t calls;
    uint64_t timed;
    uint64_t errors;
    uint64_t total_ns; /* of all calls: an estimate where not all were timed */
    uint64_t min_ns;
    uint64_t max_ns;
};

struct ct_thread;

bool ct_api_stats_init(void);

/* Takes the samples that wait in a thread's ring. Drain thread. True: there were some. */
bool ct_api_stats_collect(struct ct_thread *t);
/* Drain thread: samples taken so far, and calls that these stand for. */
uint64_t ct_api_stats_collected(void);
uint64_t ct_api_stats_counted(void);
/* Adds a thread's counts since the last time to the totals. Drain thread. */
void ct_api_stats_sum_up(struct ct_thread *t);
/* Likewise for all threads that made calls of late; dozing ones were summed up before (awake.h). */
void ct_api_stats_sum_up_awake(void);
/* Keeps an ended thread's counters and zeroes them, so that its state can serve another. */
void ct_api_stats_retire(struct ct_thread *t);

/* Drain thread: as last summed up. */
struct ct_api_totals ct_api_totals(uint32_t api);
struct ct_api_stats *ct_api_stats(uint32_t api);

#endif
