/* SPDX-License-Identifier: MIT */
#include "report/reports/line_figures.h"

#include <string.h>

#include "report/profile/merged_hist.h"

/* Bits of a mask as ranges, "0-3,7"; cut when there are too many. */
static void spell_gpus(char *text, uint64_t ordinals)
{
    size_t len = 0;
    for (int i = 0, end; i < 63; i = end + 1) {
        for (end = i; end < 63 && ordinals >> end & 1; end++)
            ;
        if (end == i)
            continue;
        if (len > CT_FIGURES_GPUS - 12) {
            strcpy(text + len, ",...");
            return;
        }
        len += (size_t)sprintf(text + len, "%s%d", len ? "," : "", i);
        if (end - i > 1)
            len += (size_t)sprintf(text + len, "-%d", end - 1);
    }
    strcpy(text + len, ordinals >> 63 ? ",..." : "");
}

struct ct_cell ct_figures_quantile(const struct ct_line *line, bool raw, double share)
{
    struct ct_durations d = ct_view_durations(line->row, raw);
    if (line->timed && line->min_ns == line->max_ns)
        return ct_cell_count(line->min_ns);
    if (!line->timed || !d.hist->count)
        return ct_cell_none();
    return ct_cell_count(ct_merged_hist_quantile(d.hist, share, d.min_ns, d.max_ns));
}

double ct_figures_deviation(const struct ct_line *line, bool raw)
{
    struct ct_durations d = ct_view_durations(line->row, raw);
    return ct_merged_hist_deviation(d.estimated, d.estimated_ns, d.estimated_square_ns2);
}

uint64_t ct_figures_total(const struct ct_view *v, unsigned kinds)
{
    uint64_t all_ns = 0;
    for (size_t i = 0; i < v->count; i++)
        if (v->lines[i].timed && ct_figures_is(&v->lines[i], kinds))
            ct_merge_add_to(&all_ns, v->lines[i].total_ns);
    return all_ns;
}

static void put_times(struct ct_cell *cells, const struct ct_line *line, uint64_t all_ns, bool raw)
{
    struct ct_durations d = ct_view_durations(line->row, raw);
    cells[CT_FIGURE_SHARE] = ct_cell_number(100.0 * (double)line->total_ns / (double)all_ns);
    cells[CT_FIGURE_TOTAL] = ct_cell_count(line->total_ns);
    if (line->sampled.variance_ns2 > 0)
        cells[CT_FIGURE_INTERVAL] = ct_cell_whole(ct_view_line_half_ns(line));
    cells[CT_FIGURE_AVG] = ct_cell_count(line->avg_ns);
    cells[CT_FIGURE_AVG].doubtful = line->uncertain;
    cells[CT_FIGURE_AVG].bound = line->bound;
    cells[CT_FIGURE_AVG].estimate = cells[CT_FIGURE_TOTAL].estimate = ct_view_is_estimate(line);
    if (d.doubt_ns)
        cells[CT_FIGURE_DOUBT] = ct_cell_count(d.doubt_ns / line->timed);
    cells[CT_FIGURE_MEDIAN] = ct_figures_quantile(line, raw, 0.5);
    cells[CT_FIGURE_MIN] = ct_cell_count(line->min_ns);
    cells[CT_FIGURE_MAX] = ct_cell_count(line->max_ns);
    if (d.estimated >= 2)
        cells[CT_FIGURE_DEVIATION] = ct_cell_whole(ct_figures_deviation(line, raw));
    cells[CT_FIGURE_P90] = ct_figures_quantile(line, raw, 0.9);
    cells[CT_FIGURE_P99] = ct_figures_quantile(line, raw, 0.99);
    if (line->row->sum.raw_total_ns)
        cells[CT_FIGURE_BRACKET] = ct_cell_count(line->row->sum.raw_total_ns / line->timed);
}

static void put_line(struct ct_sink *sink, const struct ct_figures_report *report,
                     const struct ct_line *line, uint64_t all_ns, bool raw)
{
    struct ct_cell cells[CT_RELATION_COLUMNS] = {
        [CT_FIGURE_CALLS] = ct_cell_count(line->calls),
        [CT_FIGURE_TIMED] = ct_cell_count(line->timed),
        [CT_FIGURE_BOUNDS] = ct_cell_count(line->row->sum.marked),
    };
    char gpus[CT_FIGURES_GPUS];
    if (line->row->sum.errors != CT_MERGE_UNKNOWN)
        cells[CT_FIGURE_FAILED] = ct_cell_count(line->row->sum.errors);
    if (line->timed)
        put_times(cells, line, all_ns, raw);
    spell_gpus(gpus, line->ordinals);
    report->put(cells + CT_FIGURES, line, gpus, raw);
    ct_sink_row(sink, cells);
}

void ct_figures_put(const struct ct_view *gpu, struct ct_sink *sink,
                    const struct ct_figures_report *report, bool raw)
{
    uint64_t all_ns = ct_figures_total(gpu, report->kinds);
    ct_sink_begin(sink, report->relation);
    for (size_t i = 0; i < gpu->count; i++)
        if (ct_figures_is(&gpu->lines[i], report->kinds))
            put_line(sink, report, &gpu->lines[i], all_ns, raw);
    ct_sink_end(sink);
}

void ct_figures_rows(const struct ct_input *in, struct ct_sink *sink,
                     const struct ct_figures_report *report)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_view gpu;
    ct_view_gpu(&gpu, in->m, in->device, &o);
    ct_figures_put(&gpu, sink, report, o.raw);
    ct_view_free(&gpu);
}

struct ct_cell ct_figures_known(uint32_t value)
{
    return value == UINT32_MAX ? ct_cell_none() : ct_cell_count(value);
}
