/* SPDX-License-Identifier: MIT */
/* Report "ranks": each rank, and each operation and function over the ranks. */
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/profile/spread.h"
#include "report/profile/view.h"
#include "report/reports.h"
#include "report/units.h"

#define MOST_GAPS 5

enum { RANK, HOST, PID, PROCESSES, GPU, OF_MEAN, COMPUTE, API, OPERATIONS, CALLS, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [RANK] = {"rank", "Rank", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [HOST] = {"host", "Host", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [PID] = {"pid", "PID", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [PROCESSES] = {"processes", "Processes", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(4)},
    [GPU] = {"gpu_ns", "GPU time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [OF_MEAN] = {"of_mean_percent", "Of mean", CT_CELL_PERCENT, CT_FOLD_NONE, 1},
    [COMPUTE] = {"compute_ns", "Kernels", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [API] = {"api_ns", "API time", CT_CELL_TIME_NS, CT_FOLD_SUM, CT_OPTIONAL(2)},
    [OPERATIONS] = {"operations", "Operations", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(3)},
    [CALLS] = {"calls", "API calls", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(2)},
};

static const struct ct_relation relation = {"ranks", "Ranks", columns, COLUMNS};

enum { TYPE, TOTAL, OVER, LEAST, MEAN, MOST, LEAST_RANK, MOST_RANK, RATIO, LOST, NAME, SPREADS };

static const struct ct_column spread_columns[SPREADS] = {
    [TYPE] = {"type", "Type", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [TOTAL] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [OVER] = {"processes", "Processes", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [LEAST] = {"min_ns", "Least", CT_CELL_TIME_NS, CT_FOLD_LEAST, CT_OPTIONAL(1)},
    [MEAN] = {"mean_ns", "Mean", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [MOST] = {"max_ns", "Most", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [LEAST_RANK] = {"min_rank", "Rank with least", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [MOST_RANK] = {"max_rank", "with most", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [RATIO] = {"imbalance", "Most/mean", CT_CELL_NUMBER, CT_FOLD_MOST, 2},
    [LOST] = {"lost_ns", "Lost", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation spreads = {"spreads", "Over the ranks", spread_columns, SPREADS};

/* ---- the ranks ---- */

static int by_gpu_time(const void *a, const void *b)
{
    const struct ct_rank_total *x = a, *y = b;
    if (x->total.gpu_ns != y->total.gpu_ns)
        return x->total.gpu_ns > y->total.gpu_ns ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static void put_rank(struct ct_sink *sink, const struct ct_merged *m, const struct ct_rank_total *r,
                     double mean_ns)
{
    const struct ct_file_process *p = &m->processes[r->process];
    struct ct_string host = {0};
    ct_string_clear(&host);
    ct_name_safe(&host, ct_merge_name(m, p->host));
    ct_sink_row(sink, (struct ct_cell[COLUMNS]){
                          [RANK] = p->rank ? ct_cell_count(p->rank - 1) : ct_cell_none(),
                          [HOST] = ct_cell_text(host.data),
                          [PID] = ct_cell_count(p->pid),
                          [PROCESSES] = ct_cell_count(r->processes),
                          [GPU] = ct_cell_count(r->total.gpu_ns),
                          [OF_MEAN] = ct_cell_number(100 * (double)r->total.gpu_ns / mean_ns),
                          [COMPUTE] = ct_cell_count(r->total.compute_ns),
                          [API] = ct_cell_count(r->total.api_ns),
                          [OPERATIONS] = ct_cell_count(r->total.operations),
                          [CALLS] = ct_cell_count(r->total.calls),
                      });
    ct_string_free(&host);
}

static void note_imbalance(struct ct_sink *sink, const struct ct_merged *m,
                           const struct ct_imbalance *i)
{
    struct ct_string text = {0}, most = {0};
    char lost[CT_UNITS_BYTES];
    if (i->ranks < 2 || !(i->mean_ns > 0))
        return;
    ct_spread_name(&most, m, i->most);
    ct_units_time(lost, ct_view_whole_ns(i->lost_ns), 8);
    ct_string_printf(
        &text,
        "Imbalance of GPU time: rank %s has %.2f times the mean; where all wait for it "
        "they lose %s each, %.1f%%",
        most.data, i->ratio, lost, 100 * i->lost_ns / (double)i->max_ns);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
    ct_string_free(&most);
}

/* Ranks of the job that no file is of. */
struct gaps {
    struct ct_string text;
    uint32_t missing;
    int shown;
};

static void add_gap(struct gaps *g, uint32_t first, uint32_t end)
{
    if (first >= end)
        return;
    g->missing += end - first;
    if (g->shown++ >= MOST_GAPS)
        return;
    ct_string_printf(&g->text, g->shown > 1 ? ", %u" : "%u", first);
    if (end - first > 1)
        ct_string_printf(&g->text, "-%u", end - 1);
}

/* The ranks are in their order. One file alone, or one that is of no rank, was not meant so. */
static void note_missing(struct ct_sink *sink, const struct ct_merged *m,
                         const struct ct_rank_total *ranks, size_t count)
{
    struct gaps g = {0};
    uint32_t next = 0, of = 0;
    struct ct_string text = {0};
    for (size_t i = 0; i < count; i++) {
        const struct ct_file_process *p = &m->processes[ranks[i].process];
        if (!p->rank || count < 2)
            goto done;
        add_gap(&g, next, p->rank - 1);
        next = p->rank;
        of = p->ranks > of ? p->ranks : of;
    }
    add_gap(&g, next, of);
    if (g.missing) {
        ct_string_printf(&text, "%u of %u ranks are missing: %s%s", g.missing,
                         of > next ? of : next, g.text.data, g.shown > MOST_GAPS ? ", ..." : "");
        ct_sink_note(sink, text.data);
    }
done:
    ct_string_free(&g.text);
    ct_string_free(&text);
}

static void put_ranks(struct ct_sink *sink, const struct ct_merged *m)
{
    struct ct_imbalance gpu = ct_spread_imbalance(m);
    size_t count;
    struct ct_rank_total *ranks = ct_spread_ranks(m, &count);
    ct_sink_begin(sink, &relation);
    note_imbalance(sink, m, &gpu);
    note_missing(sink, m, ranks, count);
    qsort(ranks, count, sizeof(*ranks), by_gpu_time);
    for (size_t i = 0; i < count; i++)
        put_rank(sink, m, &ranks[i], gpu.mean_ns);
    ct_sink_end(sink);
    free(ranks);
}

/* ---- operations and functions over the ranks ---- */

struct line {
    const char *type;
    struct ct_imbalance i;
    double total_ns;
    struct ct_string name;
};

static int by_lost(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->i.lost_ns != y->i.lost_ns)
        return x->i.lost_ns > y->i.lost_ns ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return strcmp(x->name.data, y->name.data);
}

static struct line *start_line(struct line *line, const char *type,
                               const struct ct_merged_spread *spread)
{
    *line = (struct line){
        .type = type, .i = ct_spread_of(&spread->sum), .total_ns = spread->sum.total_ns};
    return line;
}

static size_t gather(struct line *lines, const struct ct_merged *m, bool demangle)
{
    size_t count = 0;
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        if (m->rows[i].spread.sum.processes && !m->rows[i].spread.unknown)
            ct_name_row(&start_line(&lines[count++], "GPU activities", &m->rows[i].spread)->name, m,
                        &m->rows[i].sum, demangle);
    for (uint32_t i = 0; i < m->api_keys.count; i++)
        if (m->apis[i].spread.sum.processes)
            ct_name_api(&start_line(&lines[count++], "API calls", &m->apis[i].spread)->name,
                        ct_merge_name(m, m->apis[i].sum.name));
    return count;
}

static void put_spread(struct ct_sink *sink, const struct ct_merged *m, const struct line *line)
{
    struct ct_string least = {0}, most = {0};
    ct_spread_name(&least, m, line->i.least);
    ct_spread_name(&most, m, line->i.most);
    ct_sink_row(sink, (struct ct_cell[SPREADS]){
                          [TYPE] = ct_cell_text(line->type),
                          [TOTAL] = ct_cell_whole(line->total_ns),
                          [OVER] = ct_cell_count(line->i.ranks),
                          [LEAST] = ct_cell_count(line->i.min_ns),
                          [MEAN] = ct_cell_whole(line->i.mean_ns),
                          [MOST] = ct_cell_count(line->i.max_ns),
                          [LEAST_RANK] = ct_cell_text(least.data),
                          [MOST_RANK] = ct_cell_text(most.data),
                          [RATIO] = ct_cell_number(line->i.ratio),
                          [LOST] = ct_cell_whole(line->i.lost_ns),
                          [NAME] = ct_cell_text(line->name.data),
                      });
    ct_string_free(&least);
    ct_string_free(&most);
}

static void note_unknown(struct ct_sink *sink, const struct ct_merged *m)
{
    char text[128];
    unsigned count = 0;
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        count += m->rows[i].spread.unknown;
    snprintf(
        text, sizeof(text),
        m->grouped
            ? "%u group%s not listed: of each rank a merged file has the sum of all names"
            : "%u row%s not listed: a merged file has GPUs of different models apart, not by rank",
        count, count == 1 ? " is" : "s are");
    if (count)
        ct_sink_note(sink, text);
}

static void put_spreads(struct ct_sink *sink, const struct ct_merged *m, bool demangle)
{
    struct line *lines =
        ct_memory_array((size_t)m->row_keys.count + m->api_keys.count, sizeof(*lines));
    size_t count = gather(lines, m, demangle);
    qsort(lines, count, sizeof(*lines), by_lost);
    ct_sink_begin(sink, &spreads);
    for (size_t i = 0; i < count; i++) {
        put_spread(sink, m, &lines[i]);
        ct_string_free(&lines[i].name);
    }
    note_unknown(sink, m);
    ct_sink_end(sink);
    free(lines);
}

int ct_report_ranks(const struct ct_input *in, struct ct_sink *sink)
{
    put_ranks(sink, in->m);
    put_spreads(sink, in->m, !in->o->mangled);
    return 0;
}
