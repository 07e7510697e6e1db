/* SPDX-License-Identifier: MIT */
/*
 * nsys's reports by nsys's names, with its columns: the headings are the keys, averages have one
 * decimal, the deviation is the sample's. Figures that the file cannot know are left empty and
 * said.
 */
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/profile/merged_hist.h"
#include "report/profile/sizes.h"
#include "report/reports/apis.h"
#include "report/reports/line_figures.h"
#include "report/reports/shapes.h"

enum { SHARE, TOTAL, INSTANCES, AVG, MED, MIN, MAX, DEVIATION, TIMES };

#define COLUMN(text, ...)                                                                          \
    {                                                                                              \
        text, text, __VA_ARGS__                                                                    \
    }
#define TIME_COLUMNS(instances)                                                                    \
    [SHARE] = COLUMN("Time (%)", CT_CELL_NUMBER, CT_FOLD_SUM, 1),                                  \
    [TOTAL] = COLUMN("Total Time (ns)", CT_CELL_COUNT, CT_FOLD_SUM, 0),                            \
    [INSTANCES] = COLUMN(instances, CT_CELL_COUNT, CT_FOLD_SUM, 0),                                \
    [AVG] = COLUMN("Avg (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),                                   \
    [MED] = COLUMN("Med (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1),                                   \
    [MIN] = COLUMN("Min (ns)", CT_CELL_COUNT, CT_FOLD_LEAST, 0),                                   \
    [MAX] = COLUMN("Max (ns)", CT_CELL_COUNT, CT_FOLD_MOST, 0),                                    \
    [DEVIATION] = COLUMN("StdDev (ns)", CT_CELL_NUMBER, CT_FOLD_NONE, 1)

static const struct ct_column kern_columns[] = {
    TIME_COLUMNS("Instances"),
    [TIMES] = COLUMN("Name", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation kern_sum = {
    "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary (cuda_gpu_kern_sum)", kern_columns, TIMES + 1};

static const struct ct_column kern_gb_columns[] = {
    TIME_COLUMNS("Instances"),
    [TIMES] = COLUMN("GridXYZ", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [TIMES + 1] = COLUMN("BlockXYZ", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [TIMES + 2] = COLUMN("Name", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation kern_gb_sum = {
    "cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary (cuda_gpu_kern_gb_sum)",
    kern_gb_columns, TIMES + 3};

static const struct ct_column mem_time_columns[] = {
    TIME_COLUMNS("Count"),
    [TIMES] = COLUMN("Operation", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation mem_time_sum = {
    "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum)",
    mem_time_columns, TIMES + 1};

static const struct ct_column gpu_columns[] = {
    TIME_COLUMNS("Instances"),
    [TIMES] = COLUMN("Category", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [TIMES + 1] = COLUMN("Operation", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation gpu_sum = {
    "cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps) (cuda_gpu_sum)", gpu_columns, TIMES + 2};

static const struct ct_column api_columns[] = {
    TIME_COLUMNS("Num Calls"),
    [TIMES] = COLUMN("Name", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation api_sum = {"cuda_api_sum", "CUDA API Summary (cuda_api_sum)",
                                           api_columns, TIMES + 1};

static struct ct_cell as_number(struct ct_cell cell)
{
    return cell.known ? ct_cell_number((double)cell.count) : cell;
}

static void put_times(struct ct_cell *cells, const struct ct_line *line, uint64_t all_ns, bool raw)
{
    cells[INSTANCES] = ct_cell_count(line->calls);
    if (!line->timed)
        return;
    cells[SHARE] = ct_cell_number(100.0 * (double)line->total_ns / (double)all_ns);
    cells[TOTAL] = ct_cell_count(line->total_ns);
    cells[AVG] = ct_cell_number((double)line->total_ns / (double)line->calls);
    cells[MED] = as_number(ct_figures_quantile(line, raw, 0.5));
    cells[MIN] = ct_cell_count(line->min_ns);
    cells[MAX] = ct_cell_count(line->max_ns);
    cells[DEVIATION] = ct_cell_number(ct_figures_deviation(line, raw));
}

/* Copies have nsys's names: from where to where. */
static void spell_operation(struct ct_string *out, const struct ct_line *line)
{
    static const char *const names[] = {
        [CT_HTOD] = "Host-to-Device",  [CT_DTOH] = "Device-to-Host",
        [CT_HTOA] = "Host-to-Array",   [CT_ATOH] = "Array-to-Host",
        [CT_ATOA] = "Array-to-Array",  [CT_ATOD] = "Array-to-Device",
        [CT_DTOA] = "Device-to-Array", [CT_DTOD] = "Device-to-Device",
        [CT_HTOH] = "Host-to-Host",    [CT_PTOP] = "Peer-to-Peer",
    };
    ct_string_clear(out);
    if (line->kind == CT_ROW_COPY && line->detail < CT_DIRECTION_COUNT)
        ct_string_printf(out, "[CUDA memcpy %s]", names[line->detail]);
    else
        ct_string_put(out, line->name);
}

struct nsys {
    const struct ct_input *in;
    struct ct_sink *sink;
    struct ct_view gpu;
    uint64_t all_ns;
    bool raw;
    bool shapes_without_time;
    struct ct_string name; /* scratch */
};

/* Graphs are launched as one, and nsys has no row for that. */
static void note_graphs(const struct nsys *n)
{
    uint64_t launches = 0, total_ns = ct_figures_total(&n->gpu, CT_FIGURES_GRAPHS);
    char text[128], time[CT_UNITS_BYTES];
    for (size_t i = 0; i < n->gpu.count; i++)
        if (ct_figures_is(&n->gpu.lines[i], CT_FIGURES_GRAPHS))
            ct_merge_add_to(&launches, n->gpu.lines[i].calls);
    ct_units_time(time, total_ns, 8);
    snprintf(text, sizeof(text), "%llu graph launches of %s are not in it: see the report graphs",
             (unsigned long long)launches, time);
    if (launches)
        ct_sink_note(n->sink, text);
}

/* The lines of some kinds, as one relation. */
static int put_lines(const struct ct_input *in, struct ct_sink *sink,
                     const struct ct_relation *relation, unsigned kinds,
                     void (*put)(struct nsys *, const struct ct_line *))
{
    struct ct_view_options o = ct_report_view(in->o);
    struct nsys n = {.in = in, .sink = sink, .raw = o.raw};
    ct_view_gpu(&n.gpu, in->m, in->device, &o);
    n.all_ns = ct_figures_total(&n.gpu, kinds);
    ct_sink_begin(sink, relation);
    for (size_t i = 0; i < n.gpu.count; i++)
        if (ct_figures_is(&n.gpu.lines[i], kinds))
            put(&n, &n.gpu.lines[i]);
    if (kinds & CT_FIGURES_KERNELS)
        note_graphs(&n);
    if (n.shapes_without_time)
        ct_sink_note(sink,
                     "Times are of kernels, and of a grid and block alone only where a kernel "
                     "has no other");
    ct_sink_end(sink);
    ct_string_free(&n.name);
    ct_view_free(&n.gpu);
    return 0;
}

static void put_kernel(struct nsys *n, const struct ct_line *line)
{
    struct ct_cell cells[TIMES + 1] = {[TIMES] = ct_cell_text(line->name)};
    put_times(cells, line, n->all_ns, n->raw);
    ct_sink_row(n->sink, cells);
}

int ct_report_cuda_gpu_kern_sum(const struct ct_input *in, struct ct_sink *sink)
{
    return put_lines(in, sink, &kern_sum, CT_FIGURES_KERNELS, put_kernel);
}

static void spell_xyz(char text[CT_SHAPES_BYTES], const uint32_t xyz[3])
{
    snprintf(text, CT_SHAPES_BYTES, "%4u %4u %4u", xyz[0], xyz[1], xyz[2]);
}

/* Launches of one shape, or launches whose shape is not known. */
static void put_shape(struct nsys *n, const struct ct_line *line, const struct ct_file_shape *shape,
                      uint64_t launches)
{
    char grid[CT_SHAPES_BYTES], block[CT_SHAPES_BYTES];
    struct ct_cell cells[TIMES + 3] = {[TIMES + 2] = ct_cell_text(line->name)};
    if (shape) {
        spell_xyz(grid, shape->grid);
        spell_xyz(block, shape->block);
        cells[TIMES] = ct_cell_text(grid);
        cells[TIMES + 1] = ct_cell_text(block);
    }
    if (launches == line->calls)
        put_times(cells, line, n->all_ns, n->raw);
    else
        n->shapes_without_time = true;
    cells[INSTANCES] = ct_cell_count(launches);
    ct_sink_row(n->sink, cells);
}

/* Times are known of a kernel: of a shape only when all its launches have it. */
static void put_shapes(struct nsys *n, const struct ct_line *line)
{
    const struct ct_merged_row *row = line->row;
    struct ct_file_shape *shapes = ct_shapes_of(row);
    bool single = row->shape_count == 1 && !row->sum.shape_other;
    uint64_t left = line->calls;
    for (size_t i = 0; i < row->shape_count; i++) {
        uint64_t launches = single || shapes[i].count > left ? left : shapes[i].count;
        put_shape(n, line, &shapes[i], launches);
        left -= launches;
    }
    if (left)
        put_shape(n, line, NULL, left);
    free(shapes);
}

int ct_report_cuda_gpu_kern_gb_sum(const struct ct_input *in, struct ct_sink *sink)
{
    return put_lines(in, sink, &kern_gb_sum, CT_FIGURES_KERNELS, put_shapes);
}

static void put_memory(struct nsys *n, const struct ct_line *line)
{
    spell_operation(&n->name, line);
    struct ct_cell cells[TIMES + 1] = {[TIMES] = ct_cell_text(n->name.data)};
    put_times(cells, line, n->all_ns, n->raw);
    ct_sink_row(n->sink, cells);
}

int ct_report_cuda_gpu_mem_time_sum(const struct ct_input *in, struct ct_sink *sink)
{
    return put_lines(in, sink, &mem_time_sum, CT_FIGURES_MEMORY, put_memory);
}

static void put_any(struct nsys *n, const struct ct_line *line)
{
    bool kernel = line->kind == CT_ROW_KERNEL;
    spell_operation(&n->name, line);
    struct ct_cell cells[TIMES + 2] = {
        [TIMES] = ct_cell_text(kernel ? "CUDA_KERNEL" : "MEMORY_OPER"),
        [TIMES + 1] = ct_cell_text(n->name.data),
    };
    put_times(cells, line, n->all_ns, n->raw);
    ct_sink_row(n->sink, cells);
}

int ct_report_cuda_gpu_sum(const struct ct_input *in, struct ct_sink *sink)
{
    return put_lines(in, sink, &gpu_sum, ~CT_FIGURES_GRAPHS, put_any);
}

enum { MB_TOTAL, MB_COUNT, MB_AVG, MB_MED, MB_MIN, MB_MAX, MB_DEVIATION, MB_OPERATION, MB_COLUMNS };

static const struct ct_column mem_size_columns[MB_COLUMNS] = {
    [MB_TOTAL] = COLUMN("Total (MB)", CT_CELL_NUMBER, CT_FOLD_SUM, 3),
    [MB_COUNT] = COLUMN("Count", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [MB_AVG] = COLUMN("Avg (MB)", CT_CELL_NUMBER, CT_FOLD_NONE, 3),
    [MB_MED] = COLUMN("Med (MB)", CT_CELL_NUMBER, CT_FOLD_NONE, 3),
    [MB_MIN] = COLUMN("Min (MB)", CT_CELL_NUMBER, CT_FOLD_LEAST, 3),
    [MB_MAX] = COLUMN("Max (MB)", CT_CELL_NUMBER, CT_FOLD_MOST, 3),
    [MB_DEVIATION] = COLUMN("StdDev (MB)", CT_CELL_NUMBER, CT_FOLD_NONE, 3),
    [MB_OPERATION] = COLUMN("Operation", CT_CELL_NAME, CT_FOLD_NONE, 0),
};
static const struct ct_relation mem_size_sum = {
    "cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum)",
    mem_size_columns, MB_COLUMNS};

static int by_bytes(const void *a, const void *b)
{
    const struct ct_line *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* One copy's size serves for all figures. For more copies a profile has the sum alone. */
static bool put_sizes(struct ct_cell *cells, const struct ct_line *line)
{
    const struct ct_merged_sizes *s = line->row->sizes;
    if (line->calls == 1) {
        cells[MB_MED] = cells[MB_MIN] = cells[MB_MAX] = cells[MB_TOTAL];
        cells[MB_DEVIATION] = ct_cell_number(0);
        return true;
    }
    if (!s || s->count != line->calls)
        return false;
    double deviation = ct_merged_hist_deviation((double)s->count, s->total_bytes, s->square_bytes2);
    uint64_t median = ct_merged_hist_quantile(&s->hist, 0.5, s->min_bytes, s->max_bytes);
    cells[MB_MED] = ct_cell_number((double)median / 1e6);
    cells[MB_MIN] = ct_cell_number((double)s->min_bytes / 1e6);
    cells[MB_MAX] = ct_cell_number((double)s->max_bytes / 1e6);
    cells[MB_DEVIATION] = ct_cell_number(deviation / 1e6);
    return true;
}

static bool put_size(struct ct_sink *sink, const struct ct_line *line, const char *operation)
{
    double all = (double)line->bytes / 1e6;
    struct ct_cell cells[MB_COLUMNS] = {
        [MB_TOTAL] = ct_cell_number(all),
        [MB_COUNT] = ct_cell_count(line->calls),
        [MB_AVG] = ct_cell_number(all / (double)line->calls),
        [MB_OPERATION] = ct_cell_text(operation),
    };
    bool known = put_sizes(cells, line);
    ct_sink_row(sink, cells);
    return known;
}

int ct_report_cuda_gpu_mem_size_sum(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_string name = {0};
    struct ct_view gpu;
    bool known = true;
    ct_view_gpu(&gpu, in->m, in->device, &o);
    if (gpu.count)
        qsort(gpu.lines, gpu.count, sizeof(*gpu.lines), by_bytes);
    ct_sink_begin(sink, &mem_size_sum);
    for (size_t i = 0; i < gpu.count; i++) {
        if (!ct_figures_is(&gpu.lines[i], CT_FIGURES_MEMORY))
            continue;
        spell_operation(&name, &gpu.lines[i]);
        known &= put_size(sink, &gpu.lines[i], name.data);
    }
    if (!known)
        ct_sink_note(sink, "Med, Min, Max and StdDev of sizes are not in the file");
    ct_sink_end(sink);
    ct_string_free(&name);
    ct_view_free(&gpu);
    return 0;
}

static void put_api(struct ct_sink *sink, const struct ct_view *apis, const struct ct_line *line,
                    const char *name)
{
    const struct ct_file_api *sum = &line->api->sum;
    struct ct_cell cells[TIMES + 1] = {
        [SHARE] = ct_cell_number(ct_view_percent(apis, line)),
        [TOTAL] = ct_cell_count(sum->total_ns),
        [INSTANCES] = ct_cell_count(sum->calls),
        [AVG] = ct_cell_number((double)sum->total_ns / (double)sum->calls),
        [MED] = as_number(ct_apis_quantile(line->api, 0.5)),
        [MIN] = ct_cell_count(sum->min_ns),
        [MAX] = ct_cell_count(sum->max_ns),
        [DEVIATION] = ct_cell_number(ct_apis_deviation(sum)),
        [TIMES] = ct_cell_text(name),
    };
    ct_sink_row(sink, cells);
}

/* Names keep their version, as nsys's do. */
int ct_report_cuda_api_sum(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_string name = {0};
    struct ct_view apis;
    ct_view_apis(&apis, in->m);
    ct_sink_begin(sink, &api_sum);
    for (size_t i = 0; i < apis.count; i++) {
        const char *symbol = ct_merge_name(in->m, apis.lines[i].api->sum.name);
        ct_string_clear(&name);
        ct_name_safe(&name, symbol + (strncmp(symbol, "__", 2) ? 0 : 2));
        put_api(sink, &apis, &apis.lines[i], name.data);
    }
    ct_sink_end(sink);
    ct_string_free(&name);
    ct_view_free(&apis);
    return 0;
}

/* ---- calls and operations ---- */

static const struct ct_relation api_gpu_sum = {
    "cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps) (cuda_api_gpu_sum)", gpu_columns,
    TIMES + 2};

/* A line of either kind, sorted longest first; shares are of all. */
struct entry {
    const struct ct_line *line;
    bool is_api;
};

static int by_entry(const void *a, const void *b)
{
    uint64_t x = ((const struct entry *)a)->line->total_ns;
    uint64_t y = ((const struct entry *)b)->line->total_ns;
    return x < y ? 1 : x > y ? -1 : 0;
}

static size_t gather(struct entry *to, const struct ct_view *v, bool is_api)
{
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++)
        if (is_api || ct_figures_is(&v->lines[i], ~CT_FIGURES_GRAPHS))
            to[count++] = (struct entry){&v->lines[i], is_api};
    return count;
}

static void put_entry(struct nsys *n, const struct entry *e)
{
    struct ct_cell cells[TIMES + 2] = {[TIMES] = ct_cell_text("CUDA_API")};
    if (!e->is_api) {
        put_any(n, e->line);
        return;
    }
    const struct ct_file_api *sum = &e->line->api->sum;
    cells[SHARE] = ct_cell_number(100.0 * (double)sum->total_ns / (double)n->all_ns);
    cells[TOTAL] = ct_cell_count(sum->total_ns);
    cells[INSTANCES] = ct_cell_count(sum->calls);
    cells[AVG] = ct_cell_number((double)sum->total_ns / (double)sum->calls);
    cells[MED] = as_number(ct_apis_quantile(e->line->api, 0.5));
    cells[MIN] = ct_cell_count(sum->min_ns);
    cells[MAX] = ct_cell_count(sum->max_ns);
    cells[DEVIATION] = ct_cell_number(ct_apis_deviation(sum));
    cells[TIMES + 1] = ct_cell_text(e->line->name);
    ct_sink_row(n->sink, cells);
}

int ct_report_cuda_api_gpu_sum(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct nsys n = {.in = in, .sink = sink, .raw = o.raw};
    struct ct_view apis;
    ct_view_gpu(&n.gpu, in->m, in->device, &o);
    ct_view_apis(&apis, in->m);
    struct entry *all = ct_memory_array(n.gpu.count + apis.count, sizeof(*all));
    size_t count = gather(all, &n.gpu, false);
    count += gather(all + count, &apis, true);
    n.all_ns = ct_merge_sum(ct_figures_total(&n.gpu, ~CT_FIGURES_GRAPHS), apis.total_ns);
    qsort(all, count, sizeof(*all), by_entry);
    ct_sink_begin(sink, &api_gpu_sum);
    for (size_t i = 0; i < count; i++)
        put_entry(&n, &all[i]);
    note_graphs(&n);
    ct_sink_end(sink);
    free(all);
    ct_string_free(&n.name);
    ct_view_free(&apis);
    ct_view_free(&n.gpu);
    return 0;
}
