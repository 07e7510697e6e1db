/* SPDX-License-Identifier: MIT */
/*
 * The ranges of traces, each with its place among those of its thread and its operations: an
 * operation is in each range that its thread had open when it was called for. Memory is for ranges
 * and for calls in them.
 */
#ifndef CT_REPORT_SPANS_H
#define CT_REPORT_SPANS_H

#include "report/report_options.h"
#include "report/trace/open_ranges.h"

struct ct_span {
    uint32_t file;
    uint32_t thread;
    uint32_t label;
    bool is_pushed; /* and popped; otherwise it was started and ended */
    bool has_ended;
    uint32_t level;  /* number of pushed ranges around it */
    uint32_t parent; /* the nearest of these, plus one; 0: none */
    uint32_t outer;  /* the newest of any kind that was open, likewise */
    uint32_t children;
    uint64_t children_ns;
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t ops;
    uint64_t first_ns; /* where the first operation begins, and the last one to end does so */
    uint64_t last_ns;
};

struct ct_spans {
    struct ct_timeline tl;
    struct ct_span *at; /* in the order of their starts */
    size_t count;
    size_t size;
};

/* Takes an operation, and the spans that it is in, the newest first. */
typedef void ct_spans_take(void *user, const struct ct_event *op, const uint32_t *spans,
                           size_t count);

/* take: NULL, or is called for each operation, also those that are in none. */
void ct_spans_read(struct ct_spans *s, const struct ct_options *o, ct_spans_take *take, void *user);
void ct_spans_free(struct ct_spans *s);

#endif
