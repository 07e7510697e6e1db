/* SPDX-License-Identifier: MIT */
/* nsys's reports of single ranges: as they were pushed and popped, and as the GPU saw them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/profile/key_table.h"
#include "report/profile/merged_hist.h"
#include "report/reports.h"
#include "report/trace/spans.h"

#define COLUMN(text, ...)                                                                          \
    {                                                                                              \
        text, text, __VA_ARGS__                                                                    \
    }
#define COUNT_COLUMN(text) COLUMN(text, CT_CELL_COUNT, CT_FOLD_NONE, 0)
#define SUM_COLUMN(text) COLUMN(text, CT_CELL_COUNT, CT_FOLD_SUM, 0)
#define MEAN_COLUMN(text) COLUMN(text, CT_CELL_NUMBER, CT_FOLD_NONE, 1)
#define TEXT_COLUMN(text) COLUMN(text, CT_CELL_TEXT, CT_FOLD_NONE, 0)
#define NAME_COLUMN(text) COLUMN(text, CT_CELL_NAME, CT_FOLD_NONE, 0)

static const struct ct_column trace_columns[] = {
    COUNT_COLUMN("Start (ns)"),
    COUNT_COLUMN("End (ns)"),
    SUM_COLUMN("Duration (ns)"),
    SUM_COLUMN("DurChild (ns)"),
    SUM_COLUMN("DurNonChild (ns)"),
    NAME_COLUMN("Name"),
    COUNT_COLUMN("PID"),
    COUNT_COLUMN("TID"),
    COUNT_COLUMN("Lvl"),
    COUNT_COLUMN("NumChild"),
    COUNT_COLUMN("RangeId"),
    COUNT_COLUMN("ParentId"),
    TEXT_COLUMN("RangeStack"),
    TEXT_COLUMN("NameTree"),
};
static const struct ct_relation pushpop_trace = {
    "nvtx_pushpop_trace", "NVTX Push/Pop Range Trace (nvtx_pushpop_trace)", trace_columns, 14};

static const struct ct_column proj_trace_columns[] = {
    NAME_COLUMN("Name"),
    COUNT_COLUMN("Projected Start (ns)"),
    SUM_COLUMN("Projected Duration (ns)"),
    COUNT_COLUMN("Orig Start (ns)"),
    SUM_COLUMN("Orig Duration (ns)"),
    TEXT_COLUMN("Style"),
    COUNT_COLUMN("PID"),
    COUNT_COLUMN("TID"),
    SUM_COLUMN("NumGPUOps"),
    COUNT_COLUMN("Lvl"),
    COUNT_COLUMN("NumChild"),
    COUNT_COLUMN("RangeId"),
    COUNT_COLUMN("ParentId"),
    TEXT_COLUMN("RangeStack"),
};
static const struct ct_relation proj_trace = {"nvtx_gpu_proj_trace",
                                              "NVTX GPU Projection Trace (nvtx_gpu_proj_trace)",
                                              proj_trace_columns, 14};

static const struct ct_column pushpop_sum_columns[] = {
    COLUMN("Time (%)", CT_CELL_NUMBER, CT_FOLD_SUM, 1),
    SUM_COLUMN("Total Time (ns)"),
    SUM_COLUMN("Instances"),
    MEAN_COLUMN("Avg (ns)"),
    MEAN_COLUMN("Med (ns)"),
    COUNT_COLUMN("Min (ns)"),
    COUNT_COLUMN("Max (ns)"),
    MEAN_COLUMN("StdDev (ns)"),
    NAME_COLUMN("Range"),
};
static const struct ct_relation pushpop_sum = {
    "nvtx_pushpop_sum", "NVTX Push/Pop Range Summary (nvtx_pushpop_sum)", pushpop_sum_columns, 9};

static const struct ct_column proj_sum_columns[] = {
    NAME_COLUMN("Range"),
    TEXT_COLUMN("Style"),
    SUM_COLUMN("Total Proj Time (ns)"),
    SUM_COLUMN("Total Range Time (ns)"),
    SUM_COLUMN("Range Instances"),
    MEAN_COLUMN("Proj Avg (ns)"),
    MEAN_COLUMN("Proj Med (ns)"),
    COUNT_COLUMN("Proj Min (ns)"),
    COUNT_COLUMN("Proj Max (ns)"),
    MEAN_COLUMN("Proj StdDev (ns)"),
    SUM_COLUMN("Total GPU Ops"),
    MEAN_COLUMN("Avg GPU Ops"),
    MEAN_COLUMN("Avg Range Lvl"),
    MEAN_COLUMN("Avg Num Child"),
};
static const struct ct_relation proj_sum = {
    "nvtx_gpu_proj_sum", "NVTX GPU Projection Summary (nvtx_gpu_proj_sum)", proj_sum_columns, 14};

/* ---- single ranges ---- */

struct writer {
    struct ct_spans s;
    struct ct_sink *sink;
    struct ct_string name, stack, tree; /* scratch */
};

/* "domain:range" */
static const char *spell_name(struct writer *w, const struct ct_span *span)
{
    const struct ct_trace_label *l = &w->s.tl.files[span->file].t->labels.at[span->label];
    ct_string_clear(&w->name);
    ct_name_safe(&w->name, l->domain);
    ct_string_put(&w->name, ":");
    ct_name_safe(&w->name, l->name);
    return w->name.data;
}

/* ":1:5:6", from the outermost on. */
static void add_stack(struct ct_string *to, const struct ct_spans *s, uint32_t number)
{
    uint32_t path[CT_OPEN_RANGES_MOST];
    size_t depth = 0;
    for (; number && depth < CT_OPEN_RANGES_MOST; number = s->at[number - 1].parent)
        path[depth++] = number;
    while (depth--)
        ct_string_printf(to, ":%u", path[depth]);
}

static const char *spell_stack(struct writer *w, uint32_t number)
{
    ct_string_clear(&w->stack);
    add_stack(&w->stack, &w->s, number);
    return w->stack.data;
}

static const char *spell_tree(struct writer *w, const struct ct_span *span)
{
    ct_string_clear(&w->tree);
    for (uint32_t i = 0; i < span->level; i++)
        ct_string_put(&w->tree, "--");
    ct_string_put(&w->tree, w->name.data);
    return w->tree.data;
}

static struct ct_cell parent_of(const struct ct_span *span)
{
    return span->parent ? ct_cell_count(span->parent) : ct_cell_none();
}

static uint32_t pid_of(const struct writer *w, const struct ct_span *span)
{
    return w->s.tl.files[span->file].t->process.pid;
}

static uint32_t tid_of(const struct writer *w, const struct ct_span *span)
{
    return w->s.tl.files[span->file].t->threads.at[span->thread].tid;
}

static void put_pushpop(struct writer *w, const struct ct_span *span, uint32_t number)
{
    uint64_t ns = span->end_ns - span->start_ns;
    const char *name = spell_name(w, span);
    if (!span->is_pushed)
        return;
    struct ct_cell cells[] = {
        ct_cell_count(span->start_ns),
        ct_cell_count(span->end_ns),
        ct_cell_count(ns),
        ct_cell_count(span->children_ns),
        ct_cell_count(ns > span->children_ns ? ns - span->children_ns : 0),
        ct_cell_text(name),
        ct_cell_count(pid_of(w, span)),
        ct_cell_count(tid_of(w, span)),
        ct_cell_count(span->level),
        ct_cell_count(span->children),
        ct_cell_count(number),
        parent_of(span),
        ct_cell_text(spell_stack(w, number)),
        ct_cell_text(spell_tree(w, span)),
    };
    ct_sink_row(w->sink, cells);
}

static const char *style_of(const struct ct_span *span)
{
    return span->is_pushed ? "PushPop" : "StartEnd";
}

static void put_proj(struct writer *w, const struct ct_span *span, uint32_t number)
{
    if (!span->ops)
        return;
    struct ct_cell cells[] = {
        ct_cell_text(spell_name(w, span)),
        ct_cell_count(span->first_ns),
        ct_cell_count(span->last_ns - span->first_ns),
        ct_cell_count(span->start_ns),
        ct_cell_count(span->end_ns - span->start_ns),
        ct_cell_text(style_of(span)),
        ct_cell_count(pid_of(w, span)),
        ct_cell_count(tid_of(w, span)),
        ct_cell_count(span->ops),
        ct_cell_count(span->level),
        ct_cell_count(span->children),
        ct_cell_count(number),
        parent_of(span),
        ct_cell_text(spell_stack(w, number)),
    };
    ct_sink_row(w->sink, cells);
}

static void note_open(struct writer *w)
{
    size_t left = 0;
    char text[80];
    for (size_t i = 0; i < w->s.count; i++)
        left += !w->s.at[i].has_ended;
    snprintf(text, sizeof(text), "%zu range%s did not end", left, left == 1 ? "" : "s");
    if (left)
        ct_sink_note(w->sink, text);
}

static int put_all(const struct ct_input *in, struct ct_sink *sink,
                   const struct ct_relation *relation,
                   void (*put)(struct writer *, const struct ct_span *, uint32_t),
                   void (*finish)(struct writer *))
{
    struct writer w = {.sink = sink};
    ct_spans_read(&w.s, in->o, NULL, NULL);
    ct_sink_begin(sink, relation);
    for (size_t i = 0; put && i < w.s.count; i++)
        if (w.s.at[i].has_ended)
            put(&w, &w.s.at[i], (uint32_t)i + 1);
    if (finish)
        finish(&w);
    note_open(&w);
    ct_sink_end(sink);
    int status = w.s.tl.failed;
    struct ct_string *texts[] = {&w.name, &w.stack, &w.tree};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ct_string_free(texts[i]);
    ct_spans_free(&w.s);
    return status;
}

int ct_report_nvtx_pushpop_trace(const struct ct_input *in, struct ct_sink *sink)
{
    return put_all(in, sink, &pushpop_trace, put_pushpop, NULL);
}

int ct_report_nvtx_gpu_proj_trace(const struct ct_input *in, struct ct_sink *sink)
{
    return put_all(in, sink, &proj_trace, put_proj, NULL);
}

/* ---- sums by name ---- */

struct group {
    uint32_t name; /* of the texts */
    uint32_t style;
    uint64_t *ns;
    size_t count;
    size_t size;
    uint64_t total_ns, range_ns, ops, levels, children;
    double square_ns2;
};

struct groups {
    struct ct_key_table names, keys;
    struct group *at;
    size_t size;
};

static void add(struct groups *g, struct writer *w, const struct ct_span *span, uint64_t ns)
{
    uint32_t key[] = {ct_key_table_text(&g->names, spell_name(w, span)), !span->is_pushed};
    uint32_t known = g->keys.count, at = ct_key_table_add(&g->keys, key, sizeof(key));
    g->at = ct_memory_grow(g->at, &g->size, at + 1, sizeof(*g->at));
    struct group *to = &g->at[at];
    if (at == known)
        *to = (struct group){.name = key[0], .style = key[1]};
    to->ns = ct_memory_grow(to->ns, &to->size, to->count + 1, sizeof(*to->ns));
    to->ns[to->count++] = ns;
    to->total_ns += ns;
    to->square_ns2 += (double)ns * (double)ns;
    to->range_ns += span->end_ns - span->start_ns;
    to->ops += span->ops;
    to->levels += span->level;
    to->children += span->children;
}

static int by_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_total(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void sort(struct groups *g)
{
    for (uint32_t i = 0; i < g->keys.count; i++)
        qsort(g->at[i].ns, g->at[i].count, sizeof(uint64_t), by_ns);
    if (g->keys.count)
        qsort(g->at, g->keys.count, sizeof(*g->at), by_total);
}

static void drop(struct groups *g)
{
    for (uint32_t i = 0; i < g->keys.count; i++)
        free(g->at[i].ns);
    free(g->at);
    ct_key_table_free(&g->names);
    ct_key_table_free(&g->keys);
}

static double mean(uint64_t sum, const struct group *g)
{
    return (double)sum / (double)g->count;
}

/* Average, median, least, most and deviation. */
static void set_times(struct ct_cell *cells, const struct group *g)
{
    double low = (double)g->ns[(g->count - 1) / 2], high = (double)g->ns[g->count / 2];
    cells[0] = ct_cell_number(mean(g->total_ns, g));
    cells[1] = ct_cell_number((low + high) / 2);
    cells[2] = ct_cell_count(g->ns[0]);
    cells[3] = ct_cell_count(g->ns[g->count - 1]);
    cells[4] = ct_cell_number(
        ct_merged_hist_deviation((double)g->count, (double)g->total_ns, g->square_ns2));
}

static void put_pushpop_sums(struct writer *w)
{
    struct groups g = {.at = NULL};
    double all = 0;
    for (size_t i = 0; i < w->s.count; i++) {
        const struct ct_span *span = &w->s.at[i];
        if (!span->has_ended || !span->is_pushed)
            continue;
        add(&g, w, span, span->end_ns - span->start_ns);
        all += (double)(span->end_ns - span->start_ns);
    }
    sort(&g);
    for (uint32_t i = 0; i < g.keys.count; i++) {
        struct ct_cell cells[9] = {
            ct_cell_number(100 * (double)g.at[i].total_ns / all),
            ct_cell_count(g.at[i].total_ns),
            ct_cell_count(g.at[i].count),
        };
        set_times(cells + 3, &g.at[i]);
        cells[8] = ct_cell_text(ct_key_table_get(&g.names, g.at[i].name));
        ct_sink_row(w->sink, cells);
    }
    drop(&g);
}

static void put_proj_sums(struct writer *w)
{
    struct groups g = {.at = NULL};
    for (size_t i = 0; i < w->s.count; i++)
        if (w->s.at[i].has_ended && w->s.at[i].ops)
            add(&g, w, &w->s.at[i], w->s.at[i].last_ns - w->s.at[i].first_ns);
    sort(&g);
    for (uint32_t i = 0; i < g.keys.count; i++) {
        const struct group *one = &g.at[i];
        struct ct_cell cells[14] = {
            ct_cell_text(ct_key_table_get(&g.names, one->name)),
            ct_cell_text(one->style ? "StartEnd" : "PushPop"),
            ct_cell_count(one->total_ns),
            ct_cell_count(one->range_ns),
            ct_cell_count(one->count),
        };
        set_times(cells + 5, one);
        cells[10] = ct_cell_count(one->ops);
        cells[11] = ct_cell_number(mean(one->ops, one));
        cells[12] = ct_cell_number(mean(one->levels, one));
        cells[13] = ct_cell_number(mean(one->children, one));
        ct_sink_row(w->sink, cells);
    }
    drop(&g);
}

int ct_report_nvtx_pushpop_sum(const struct ct_input *in, struct ct_sink *sink)
{
    return put_all(in, sink, &pushpop_sum, NULL, put_pushpop_sums);
}

int ct_report_nvtx_gpu_proj_sum(const struct ct_input *in, struct ct_sink *sink)
{
    return put_all(in, sink, &proj_sum, NULL, put_proj_sums);
}
