/* SPDX-License-Identifier: MIT */
/* nsys's reports of ranges, with its columns. */
#include "report/reports/nvtx_report.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/profile/merged_hist.h"

#define COLUMN(text, ...)                                                                          \
    {                                                                                              \
        text, text, __VA_ARGS__                                                                    \
    }

enum { SHARE, TOTAL, INSTANCES, AVG, MED, MIN, MAX, DEVIATION, STYLE, RANGE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [SHARE] = COLUMN("Time (%)", CT_CELL_NUMBER, CT_FOLD_SUM, 1),
    [TOTAL] = COLUMN("Total Time (ns)", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [INSTANCES] = COLUMN("Instances", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [AVG] = COLUMN("Avg (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),
    [MED] = COLUMN("Med (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),
    [MIN] = COLUMN("Min (ns)", CT_CELL_COUNT, CT_FOLD_LEAST, 0),
    [MAX] = COLUMN("Max (ns)", CT_CELL_COUNT, CT_FOLD_MOST, 0),
    [DEVIATION] = COLUMN("StdDev (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),
    [STYLE] = COLUMN("Style", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [RANGE] = COLUMN("Range", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation range_sum = {"nvtx_sum", "NVTX Range Summary (nvtx_sum)", columns,
                                             COLUMNS};

enum {
    K_RANGE,
    K_STYLE,
    K_PID,
    K_TID,
    K_RANGES,
    K_KERNELS,
    K_TOTAL,
    K_AVG,
    K_MED,
    K_MIN,
    K_MAX,
    K_DEVIATION,
    K_NAME,
    K_COLUMNS
};

static const struct ct_column kern_columns[K_COLUMNS] = {
    [K_RANGE] = COLUMN("NVTX Range", CT_CELL_NAME, CT_FOLD_NONE, 0),
    [K_STYLE] = COLUMN("Style", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [K_PID] = COLUMN("PID", CT_CELL_COUNT, CT_FOLD_NONE, 0),
    [K_TID] = COLUMN("TID", CT_CELL_COUNT, CT_FOLD_NONE, 0),
    [K_RANGES] = COLUMN("NVTX Inst", CT_CELL_COUNT, CT_FOLD_NONE, 0),
    [K_KERNELS] = COLUMN("Kern Inst", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [K_TOTAL] = COLUMN("Total Time (ns)", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [K_AVG] = COLUMN("Avg (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),
    [K_MED] = COLUMN("Med (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),
    [K_MIN] = COLUMN("Min (ns)", CT_CELL_COUNT, CT_FOLD_LEAST, 0),
    [K_MAX] = COLUMN("Max (ns)", CT_CELL_COUNT, CT_FOLD_MOST, 0),
    [K_DEVIATION] = COLUMN("StdDev (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),
    [K_NAME] = COLUMN("Kernel Name", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation kern_sum = {
    "nvtx_kern_sum", "NVTX Range Kernel Summary (nvtx_kern_sum)", kern_columns, K_COLUMNS};

/* "domain:range", the default domain's without a name, as nsys does. */
static void spell_range(struct ct_string *out, const struct ct_merged *m,
                        const struct ct_range_group *group)
{
    const struct ct_file_range *r = &m->ranges.ranges[group->range];
    ct_string_clear(out);
    ct_name_safe(out, ct_merge_name(m, r->domain));
    ct_string_put(out, ":");
    ct_name_safe(out, ct_merge_name(m, r->name));
}

static const char *style_of(const struct ct_merged *m, const struct ct_range_group *group)
{
    static const char *const styles[] = {
#define X(id, text) text,
        CT_RANGE_STYLES(X)
#undef X
    };
    uint32_t style = m->ranges.ranges[group->range].style;
    return style < CT_RANGE_STYLE_COUNT ? styles[style] : "unknown";
}

static struct ct_cell median(const struct ct_range_group *group)
{
    const struct ct_file_range *sum = &group->sum;
    if (sum->min_ns == sum->max_ns)
        return ct_cell_number((double)sum->min_ns);
    if (!group->hist->count)
        return ct_cell_none();
    return ct_cell_number(
        (double)ct_merged_hist_quantile(group->hist, 0.5, sum->min_ns, sum->max_ns));
}

/* Durations in the histogram may be fewer than all: the mean is that of all. */
static double deviation(const struct ct_file_range *sum)
{
    double share = (double)sum->sampled / (double)sum->count;
    return ct_merged_hist_deviation((double)sum->sampled, (double)sum->total_ns * share,
                                    sum->square_ns2);
}

static void put_range(struct ct_sink *sink, const struct ct_merged *m,
                      const struct ct_range_group *group, uint64_t all_ns, const char *name)
{
    const struct ct_file_range *sum = &group->sum;
    struct ct_cell cells[COLUMNS] = {
        [SHARE] = ct_cell_number(100.0 * (double)sum->total_ns / (double)all_ns),
        [TOTAL] = ct_cell_count(sum->total_ns),
        [INSTANCES] = ct_cell_count(sum->count),
        [AVG] = ct_cell_number((double)sum->total_ns / (double)sum->count),
        [MED] = median(group),
        [MIN] = ct_cell_count(sum->min_ns),
        [MAX] = ct_cell_count(sum->max_ns),
        [STYLE] = ct_cell_text(style_of(m, group)),
        [RANGE] = ct_cell_text(name),
    };
    if (sum->sampled)
        cells[DEVIATION] = ct_cell_number(deviation(sum));
    ct_sink_row(sink, cells);
}

static int by_total(const void *a, const void *b)
{
    const struct ct_range_group *x = a, *y = b;
    if (x->sum.total_ns != y->sum.total_ns)
        return x->sum.total_ns > y->sum.total_ns ? -1 : 1;
    return x->range < y->range ? -1 : x->range > y->range;
}

static void note_count(struct ct_sink *sink, uint64_t count, const char *text)
{
    char note[160];
    snprintf(note, sizeof(note), "%llu %s", (unsigned long long)count, text);
    if (count)
        ct_sink_note(sink, note);
}

int ct_report_nvtx_sum(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_range_groups g;
    struct ct_string name = {0};
    uint64_t all_ns = 0;
    ct_range_groups(&g, in->m, CT_GROUP_BY_STYLE);
    if (g.count)
        qsort(g.groups, g.count, sizeof(*g.groups), by_total);
    for (size_t i = 0; i < g.count; i++)
        ct_merge_add_to(&all_ns, g.groups[i].sum.total_ns);
    ct_sink_begin(sink, &range_sum);
    for (size_t i = 0; i < g.count; i++) {
        spell_range(&name, in->m, &g.groups[i]);
        put_range(sink, in->m, &g.groups[i], all_ns, name.data);
    }
    note_count(sink, g.unclosed, "ranges that did not end are not in it");
    note_count(sink, g.marks, "marks are not in it, which take no time");
    ct_sink_end(sink);
    ct_string_free(&name);
    ct_range_groups_free(&g);
    return 0;
}

static struct ct_range_line *line_of(struct ct_range_lines *l, struct ct_key_table *names,
                                     const char *name)
{
    uint32_t at = ct_key_table_text(names, name);
    l->lines = ct_memory_grow(l->lines, &l->size, at + 1, sizeof(*l->lines));
    if (at == l->count) {
        l->count++;
        l->lines[at].name = strdup(name);
        if (!l->lines[at].name)
            ct_memory_fail();
        l->lines[at].sum.min_ns = UINT64_MAX;
    }
    return &l->lines[at];
}

static void add_to_line(struct ct_range_line *line, const struct ct_file_cell *c)
{
    ct_merge_add_to(&line->sum.count, c->count);
    ct_merge_add_to(&line->sum.total_ns, c->total_ns);
    line->sum.min_ns = ct_min(line->sum.min_ns, c->min_ns);
    line->sum.max_ns = ct_max(line->sum.max_ns, c->max_ns);
    line->sum.square_ns2 += c->square_ns2;
}

static int by_line_total(const void *a, const void *b)
{
    const struct ct_range_line *x = a, *y = b;
    if (x->sum.total_ns != y->sum.total_ns)
        return x->sum.total_ns > y->sum.total_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The name of a cell's operations or calls; empty: the cell is of another kind. */
static void spell_cell(struct ct_string *out, const struct ct_input *in,
                       const struct ct_file_cell *c, unsigned kinds)
{
    ct_string_clear(out);
    if (c->section == CT_SECTION_APIS) {
        if (!kinds)
            ct_name_api(out, ct_merge_name(in->m, in->m->apis[c->index].sum.name));
        return;
    }
    const struct ct_file_row *row = &in->m->rows[c->index].sum;
    if (row->kind < 32 && kinds >> row->kind & 1)
        ct_name_row(out, in->m, row, !in->o->mangled);
    if (out->len && in->o->base && row->kind == CT_ROW_KERNEL)
        ct_name_base(out);
}

void ct_range_lines(struct ct_range_lines *l, const struct ct_input *in,
                    const struct ct_range_group *group, unsigned kinds)
{
    struct ct_key_table names = {0};
    struct ct_string name = {0};
    memset(l, 0, sizeof(*l));
    for (size_t i = 0; i < group->cell_count; i++) {
        const struct ct_file_cell *c = &group->cells[i];
        spell_cell(&name, in, c, kinds);
        if (!name.len)
            continue;
        add_to_line(line_of(l, &names, name.data), c);
        ct_merge_add_to(&l->total_ns, c->total_ns);
    }
    if (l->count)
        qsort(l->lines, l->count, sizeof(*l->lines), by_line_total);
    ct_key_table_free(&names);
    ct_string_free(&name);
}

void ct_range_lines_free(struct ct_range_lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->lines[i].name);
    free(l->lines);
}

static void put_kernels(const struct ct_input *in, struct ct_sink *sink,
                        const struct ct_range_group *group, const char *name)
{
    const struct ct_merged *m = in->m;
    const struct ct_file_thread *thread = &m->ranges.threads[m->ranges.ranges[group->range].thread];
    struct ct_range_lines l;
    ct_range_lines(&l, in, group, 1u << CT_ROW_KERNEL);
    for (size_t i = 0; i < l.count; i++) {
        const struct ct_file_cell *sum = &l.lines[i].sum;
        double count = (double)sum->count, total = (double)sum->total_ns;
        struct ct_cell cells[K_COLUMNS] = {
            [K_RANGE] = ct_cell_text(name),
            [K_STYLE] = ct_cell_text(style_of(m, group)),
            [K_RANGES] = ct_cell_count(group->sum.count),
            [K_KERNELS] = ct_cell_count(sum->count),
            [K_TOTAL] = ct_cell_count(sum->total_ns),
            [K_AVG] = ct_cell_number(total / count),
            [K_MIN] = ct_cell_count(sum->min_ns),
            [K_MAX] = ct_cell_count(sum->max_ns),
            [K_DEVIATION] = ct_cell_number(ct_merged_hist_deviation(count, total, sum->square_ns2)),
            [K_NAME] = ct_cell_text(l.lines[i].name),
        };
        if (m->process_count == 1)
            cells[K_PID] = ct_cell_count(m->processes[0].pid);
        if (thread->tid)
            cells[K_TID] = ct_cell_count(thread->tid);
        if (sum->min_ns == sum->max_ns)
            cells[K_MED] = ct_cell_number((double)sum->min_ns);
        ct_sink_row(sink, cells);
    }
    ct_range_lines_free(&l);
}

int ct_report_nvtx_kern_sum(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_range_groups g;
    struct ct_string name = {0};
    ct_range_groups(&g, in->m, CT_GROUP_BY_THREAD | CT_GROUP_BY_STYLE);
    ct_sink_begin(sink, &kern_sum);
    for (size_t i = 0; i < g.count; i++) {
        spell_range(&name, in->m, &g.groups[i]);
        put_kernels(in, sink, &g.groups[i], name.data);
    }
    if (g.count)
        ct_sink_note(sink, "Med of a kernel in a range is not in the file, and kernels without a "
                           "time are in no range");
    ct_sink_end(sink);
    ct_string_free(&name);
    ct_range_groups_free(&g);
    return 0;
}
