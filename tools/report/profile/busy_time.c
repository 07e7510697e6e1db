/* SPDX-License-Identifier: MIT */
#include "report/profile/busy_time.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"
#include "report/profile/view.h"

uint64_t ct_activity_span_ns(const struct ct_file_activity *a)
{
    return a->last_ns - a->first_ns;
}

uint64_t ct_activity_time_ns(const struct ct_file_activity *a)
{
    uint64_t span_ns = ct_activity_span_ns(a);
    uint64_t less_ns = ct_merge_sum(a->idle_ns[CT_IDLE_OFF], a->idle_ns[CT_IDLE_MEASURING]);
    return span_ns > less_ns ? span_ns - less_ns : 0;
}

uint64_t ct_activity_idle_ns(const uint64_t idle_ns[CT_FILE_IDLES])
{
    uint64_t ns = 0;
    for (int i = 0; i < CT_FILE_IDLES; i++)
        ct_merge_add_to(&ns, idle_ns[i]);
    return ns;
}

/* One process's times stay where they are; of several only the length of all is kept. */
static void add_span(struct ct_file_activity *to, const struct ct_file_activity *from)
{
    if (!to->operations) {
        to->first_ns = from->first_ns;
        to->last_ns = from->last_ns;
    } else if (from->operations) {
        to->last_ns = ct_merge_sum(ct_activity_span_ns(to), ct_activity_span_ns(from));
        to->first_ns = 0;
    }
}

void ct_activity_sum(struct ct_file_activity *to, const struct ct_file_activity *from)
{
    add_span(to, from);
    ct_merge_add_to(&to->operations, from->operations);
    ct_merge_add_to(&to->busy_ns, from->busy_ns);
    ct_merge_add_to(&to->compute_ns, from->compute_ns);
    ct_merge_add_to(&to->copy_ns, from->copy_ns);
    ct_merge_add_to(&to->both_ns, from->both_ns);
    ct_merge_add_to(&to->beside_ns, from->beside_ns);
    for (int i = 0; i < CT_FILE_IDLES; i++)
        ct_merge_add_to(&to->idle_ns[i], from->idle_ns[i]);
    ct_merge_add_to(&to->gaps, from->gaps);
    ct_merge_add_to(&to->misplaced_ns, from->misplaced_ns);
    ct_merge_add_to(&to->turns, from->turns);
    to->longest_gap_ns = ct_max(to->longest_gap_ns, from->longest_gap_ns);
}

static void add_device(struct ct_merged_activity *a, const struct ct_file_activity *from,
                       uint32_t device)
{
    uint32_t at = ct_key_table_add(&a->device_keys, &device, sizeof(device));
    a->devices = ct_memory_grow(a->devices, &a->devices_size, at + 1, sizeof(*a->devices));
    a->devices[at].device = device;
    ct_activity_sum(&a->devices[at], from);
}

static void add_gap(struct ct_merged_activity *a, const struct ct_file_gap *from, uint32_t device)
{
    uint32_t key[] = {device, from->octave}, at = ct_key_table_add(&a->gap_keys, key, sizeof(key));
    a->gaps = ct_memory_grow(a->gaps, &a->gaps_size, at + 1, sizeof(*a->gaps));
    struct ct_file_gap *to = &a->gaps[at];
    to->device = device;
    to->octave = from->octave;
    ct_merge_add_to(&to->count, from->count);
    for (int i = 0; i < CT_FILE_IDLES; i++)
        ct_merge_add_to(&to->idle_ns[i], from->idle_ns[i]);
}

static void add_transfer(struct ct_merged_activity *a, const struct ct_file_transfer *from,
                         uint32_t row)
{
    uint32_t key[] = {row, from->octave, from->from, from->to};
    uint32_t at = ct_key_table_add(&a->transfer_keys, key, sizeof(key));
    a->transfers = ct_memory_grow(a->transfers, &a->transfers_size, at + 1, sizeof(*a->transfers));
    struct ct_file_transfer *to = &a->transfers[at];
    to->row = row;
    to->octave = from->octave;
    to->from = from->from;
    to->to = from->to;
    ct_merge_add_to(&to->timed, from->timed);
    ct_merge_add_to(&to->bytes, from->bytes);
    ct_merge_add_to(&to->total_ns, from->total_ns);
}

void ct_activity_add(struct ct_merged_activity *a, const struct ct_summary *s,
                     const uint32_t *device_map, const uint32_t *row_map)
{
    for (size_t i = 0; i < s->activities_count; i++)
        add_device(a, &s->activities[i], device_map[s->activities[i].device]);
    for (size_t i = 0; i < s->gaps_count; i++)
        add_gap(a, &s->gaps[i], device_map[s->gaps[i].device]);
    for (size_t i = 0; i < s->transfers_count; i++)
        add_transfer(a, &s->transfers[i], row_map[s->transfers[i].row]);
}

/* The share of the timed durations that are in their place, 0 to 1. */
static double placed(const struct ct_merged_activity *a, uint32_t device)
{
    double busy_ns = 0, misplaced_ns = 0;
    for (uint32_t i = 0; i < a->device_keys.count; i++)
        if (ct_view_is_of(a->devices[i].device, device)) {
            busy_ns += (double)a->devices[i].busy_ns;
            misplaced_ns += (double)a->devices[i].misplaced_ns;
        }
    return misplaced_ns > 0 ? busy_ns / (busy_ns + misplaced_ns) : 1;
}

double ct_activity_coverage(const struct ct_merged *m, uint32_t device)
{
    double timed = 0, ran = 0;
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        const struct ct_file_row *row = &m->rows[i].sum;
        if (!ct_view_is_of(row->device, device))
            continue;
        timed += (double)row->timed;
        ran += (double)ct_view_calls(row) + (double)row->lost[CT_LOSS_EXCLUDED];
    }
    return ran > 0 ? timed / ran * placed(&m->activity, device) : 0;
}

void ct_activity_free(struct ct_merged_activity *a)
{
    ct_key_table_free(&a->device_keys);
    ct_key_table_free(&a->gap_keys);
    ct_key_table_free(&a->transfer_keys);
    free(a->devices);
    free(a->gaps);
    free(a->transfers);
    memset(a, 0, sizeof(*a));
}
