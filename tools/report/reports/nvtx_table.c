/* SPDX-License-Identifier: MIT */
/*
 * Report "nvtx": a line for each range of the program, ranges whose names differ in a number alone
 * are one.
 */
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/reports/nvtx_report.h"
#include "report/sinks/stage.h"

enum { SHARE, INSIDE, OWN, HOST, AVG, INSTANCES, DOMAIN, NAME, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [SHARE] = {"gpu_percent", "GPU(%)", CT_CELL_PERCENT, CT_FOLD_MOST, 2},
    [INSIDE] = {"gpu_ns", "GPU time", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [OWN] = {"gpu_own_ns", "Its own", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [HOST] = {"host_ns", "Host time", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [AVG] = {"host_avg_ns", "Host avg", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [INSTANCES] = {"instances", "Instances", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [DOMAIN] = {"domain", "Domain", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [NAME] = {"range", "Range", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"nvtx", "Ranges (NVTX)", columns, COLUMNS};

static int by_gpu_time(const void *a, const void *b)
{
    const struct ct_range_group *x = a, *y = b;
    if (x->gpu_ns != y->gpu_ns)
        return x->gpu_ns > y->gpu_ns ? -1 : 1;
    if (x->sum.total_ns != y->sum.total_ns)
        return x->sum.total_ns > y->sum.total_ns ? -1 : 1;
    return x->range < y->range ? -1 : x->range > y->range;
}

/* The time of all timed operations, in ranges and outside, ns. */
static uint64_t gpu_time_ns(const struct ct_merged *m)
{
    uint64_t all_ns = 0;
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        ct_merge_add_to(&all_ns, m->rows[i].sum.total_ns);
    return all_ns;
}

/* One range alone keeps the number in its name. */
static void spell_name(struct ct_string *name, const struct ct_merged *m,
                       const struct ct_range_group *group)
{
    const char *text = ct_merge_name(m, m->ranges.ranges[group->range].name);
    struct ct_string folded = {0};
    ct_string_clear(name);
    if (group->is_folded)
        ct_range_fold(&folded, text);
    ct_name_safe(name, group->is_folded ? folded.data : text);
    ct_string_free(&folded);
}

static void put(struct ct_sink *sink, const struct ct_merged *m, const struct ct_range_group *group,
                uint64_t all_ns)
{
    struct ct_string name = {0}, domain = {0};
    spell_name(&name, m, group);
    struct ct_cell cells[COLUMNS] = {
        [INSIDE] = ct_cell_count(group->gpu_ns),
        [OWN] = ct_cell_count(group->own_ns),
        [HOST] = ct_cell_count(group->sum.total_ns),
        [AVG] = ct_cell_count(group->sum.total_ns / group->sum.count),
        [INSTANCES] = ct_cell_count(group->sum.count),
        [DOMAIN] = ct_cell_given(&domain, m, m->ranges.ranges[group->range].domain),
        [NAME] = ct_cell_text(name.data),
    };
    if (all_ns)
        cells[SHARE] = ct_cell_number(100.0 * (double)group->gpu_ns / (double)all_ns);
    ct_sink_row(sink, cells);
    ct_string_free(&name);
    ct_string_free(&domain);
}

static void note_count(struct ct_sink *sink, uint64_t count, const char *text)
{
    char note[160];
    snprintf(note, sizeof(note), "%llu range%s %s", (unsigned long long)count,
             count == 1 ? "" : "s", text);
    if (count)
        ct_sink_note(sink, note);
}

int ct_report_nvtx(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_range_groups g;
    uint64_t all_ns = gpu_time_ns(in->m);
    ct_range_groups(&g, in->m, CT_GROUP_FOLDED);
    if (g.count)
        qsort(g.groups, g.count, sizeof(*g.groups), by_gpu_time);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < g.count; i++)
        put(sink, in->m, &g.groups[i], all_ns);
    note_count(sink, g.unclosed, "did not end and are not in it");
    ct_sink_end(sink);
    ct_range_groups_free(&g);
    return 0;
}

void ct_nvtx_table(FILE *out, const char *prefix, const struct ct_input *in)
{
    struct ct_look look = {.in = in, .prefix = prefix};
    struct ct_options limits = {.top = in->o->top};
    int status = 0;
    struct ct_sink *sink = ct_stage_open(ct_sink_table(out, &look), &limits, &status);
    ct_report_nvtx(in, sink);
    ct_sink_close(sink);
}
