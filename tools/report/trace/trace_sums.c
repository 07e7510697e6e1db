/* SPDX-License-Identifier: MIT */
#include "report/trace/trace_sums.h"

#include <stdlib.h>

#include "report/profile/merged_hist.h"

static uint32_t sum_of(struct ct_trace_sums *s, uint32_t group, uint32_t row)
{
    uint32_t key[] = {group, row};
    uint32_t known = s->keys.count, at = ct_key_table_add(&s->keys, key, sizeof(key));
    s->at = ct_memory_grow(s->at, &s->size, (size_t)at + 1, sizeof(*s->at));
    if (at == known)
        s->at[at] = (struct ct_trace_sum){.row = row, .group = group, .figures.min_ns = UINT64_MAX};
    return at;
}

/* One look-up finds shape and row. */
static uint32_t count_launch(struct ct_trace_sums *s, const struct ct_trace_op *op, uint32_t group)
{
    uint32_t key[] = {group, op->row, (uint32_t)op->shape};
    uint32_t known = s->launch_keys.count, at = ct_key_table_add(&s->launch_keys, key, sizeof(key));
    s->launches =
        ct_memory_grow(s->launches, &s->launches_size, (size_t)at + 1, sizeof(*s->launches));
    if (at == known)
        s->launches[at] =
            (struct ct_trace_launches){.sum = sum_of(s, group, op->row), .shape = key[2]};
    s->launches[at].count++;
    return s->launches[at].sum;
}

static void add_stack(struct ct_trace_sums *s, uint32_t sum, uint32_t frame, uint64_t count,
                      uint64_t ns)
{
    uint32_t key[] = {sum, frame}, at = ct_key_table_add(&s->stack_keys, key, sizeof(key));
    s->stacks = ct_memory_grow(s->stacks, &s->stacks_size, (size_t)at + 1, sizeof(*s->stacks));
    s->stacks[at].sum = sum;
    s->stacks[at].frame = frame;
    ct_merge_add_to(&s->stacks[at].count, count);
    ct_merge_add_to(&s->stacks[at].total_ns, ns);
}

/* The first of several reasons counts, as in the process. */
static void add_marks(struct ct_file_row *to, uint32_t flags, uint64_t operations)
{
    if (flags & CT_TRACE_OP_BOUND)
        ct_merge_add_to(&to->marked, operations);
    if (flags & CT_TRACE_OP_OVERLAPPED)
        ct_merge_add_to(&to->overlapped, operations);
    else if (flags & CT_TRACE_OP_LEGACY_WAIT)
        ct_merge_add_to(&to->legacy_waits, operations);
}

/* Copies of a batch have a time together. */
void ct_trace_sums_add_to(struct ct_trace_sums *s, const struct ct_trace_op *op, uint32_t group)
{
    uint32_t at = count_launch(s, op, group);
    struct ct_trace_sum *sum = &s->at[at];
    struct ct_file_row *to = &sum->figures;
    uint64_t operations = ct_max(op->operations, 1), ns = op->end_ns - op->start_ns;
    uint64_t each_ns = ns / operations;
    ct_merge_add_to(&to->timed, operations);
    ct_merge_add_to(&to->total_ns, ns);
    to->min_ns = ct_min(to->min_ns, each_ns);
    to->max_ns = ct_max(to->max_ns, each_ns);
    to->square_ns2 += (double)each_ns * (double)each_ns * (double)operations;
    ct_merge_add_to(&to->bytes, op->bytes);
    ct_merge_add_to(&to->timed_bytes, op->bytes);
    add_marks(to, op->flags, operations);
    ct_merged_hist_add(&sum->hist, each_ns, operations);
    if (!op->shape)
        ct_sizes_add(&sum->sizes, op->bytes / operations, operations);
    if (s->with_stacks)
        add_stack(s, at, op->frame, operations, ns);
}

void ct_trace_sums_add(struct ct_trace_sums *s, const struct ct_trace_op *op)
{
    ct_trace_sums_add_to(s, op, s->per_stream ? (uint32_t)op->stream : 0);
}

void ct_trace_sums_call(struct ct_trace_sums *s, const struct ct_trace_call *call)
{
    uint64_t ns = call->end_ns - call->start_ns;
    s->calls = ct_memory_grow(s->calls, &s->calls_size, (size_t)call->api + 1, sizeof(*s->calls));
    for (; s->call_count <= call->api; s->call_count++)
        s->calls[s->call_count] = (struct ct_trace_call_sum){.figures.min_ns = UINT64_MAX};
    struct ct_trace_call_sum *sum = &s->calls[call->api];
    struct ct_file_api *to = &sum->figures;
    to->calls++;
    to->sampled++;
    to->errors += call->result != 0;
    ct_merge_add_to(&to->total_ns, ns);
    to->min_ns = ct_min(to->min_ns, ns);
    to->max_ns = ct_max(to->max_ns, ns);
    to->square_ns2 += (double)ns * (double)ns;
    ct_merged_hist_add(&sum->hist, ns, 1);
}

void ct_trace_sums_free(struct ct_trace_sums *s)
{
    for (uint32_t i = 0; i < s->call_count; i++)
        free(s->calls[i].hist.buckets);
    free(s->calls);
    for (uint32_t i = 0; i < s->keys.count; i++) {
        free(s->at[i].hist.buckets);
        free(s->at[i].sizes.hist.buckets);
    }
    free(s->at);
    free(s->launches);
    free(s->stacks);
    ct_key_table_free(&s->stack_keys);
    ct_key_table_free(&s->keys);
    ct_key_table_free(&s->launch_keys);
}
