/* SPDX-License-Identifier: MIT */
/* Report "shapes": the grids and blocks that each kernel was launched with. */
#include "report/reports/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "report/reports/line_figures.h"

enum { LAUNCHES, GRID, BLOCK, THREADS, DYNAMIC_SHARED, REGISTERS, STATIC_SHARED, NAME, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [LAUNCHES] = {"launches", "Launches", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [GRID] = {"grid", "Grid Size", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [BLOCK] = {"block", "Block Size", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [THREADS] = {"threads", "Threads", CT_CELL_COUNT, CT_FOLD_MOST, CT_OPTIONAL(1)},
    [DYNAMIC_SHARED] = {"dynamic_shared_bytes", "DSMem", CT_CELL_BYTES, CT_FOLD_NONE, CT_QUIET},
    [REGISTERS] = {"registers", "Regs", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [STATIC_SHARED] = {"static_shared_bytes", "SSMem", CT_CELL_BYTES, CT_FOLD_NONE,
                       CT_OPTIONAL(2) | CT_QUIET},
    [NAME] = {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation relation = {"shapes", "Kernel launches by grid and block", columns,
                                            COLUMNS};

static int by_count(const void *a, const void *b)
{
    const struct ct_file_shape *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return memcmp(x, y, sizeof(*x));
}

struct ct_file_shape *ct_shapes_of(const struct ct_merged_row *row)
{
    struct ct_file_shape *shapes =
        ct_memory_copy(row->shapes, row->shape_count * sizeof(*row->shapes));
    qsort(shapes, row->shape_count, sizeof(*shapes), by_count);
    return shapes;
}

/* Threads of a launch; a product that is too large becomes the largest number. */
static uint64_t threads(const struct ct_file_shape *s)
{
    unsigned __int128 all = 1;
    for (int i = 0; i < 3; i++) {
        all *= s->grid[i];
        all = all > UINT64_MAX ? UINT64_MAX : all;
        all *= s->block[i];
        all = all > UINT64_MAX ? UINT64_MAX : all;
    }
    return (uint64_t)all;
}

static void put_common(struct ct_cell *cells, const struct ct_line *line)
{
    cells[REGISTERS] = ct_figures_known(line->row->sum.registers);
    cells[STATIC_SHARED] = ct_figures_known(line->row->sum.static_shared_bytes);
    cells[NAME] = ct_cell_text(line->name);
}

static void put_shape(struct ct_sink *sink, const struct ct_line *line,
                      const struct ct_file_shape *s)
{
    char grid[CT_SHAPES_BYTES], block[CT_SHAPES_BYTES];
    snprintf(grid, sizeof(grid), "(%u %u %u)", s->grid[0], s->grid[1], s->grid[2]);
    snprintf(block, sizeof(block), "(%u %u %u)", s->block[0], s->block[1], s->block[2]);
    struct ct_cell cells[COLUMNS] = {
        [LAUNCHES] = ct_cell_count(s->count),
        [GRID] = ct_cell_text(grid),
        [BLOCK] = ct_cell_text(block),
        [THREADS] = ct_cell_count(threads(s)),
        [DYNAMIC_SHARED] = ct_cell_count(s->dynamic_shared_bytes),
    };
    put_common(cells, line);
    ct_sink_row(sink, cells);
}

static void put_kernel(struct ct_sink *sink, const struct ct_line *line)
{
    struct ct_file_shape *shapes = ct_shapes_of(line->row);
    for (size_t i = 0; i < line->row->shape_count; i++)
        put_shape(sink, line, &shapes[i]);
    free(shapes);
    if (!line->row->sum.shape_other)
        return;
    struct ct_cell cells[COLUMNS] = {
        [LAUNCHES] = ct_cell_count(line->row->sum.shape_other),
        [GRID] = ct_cell_text("other"),
        [BLOCK] = ct_cell_text("other"),
    };
    put_common(cells, line);
    ct_sink_row(sink, cells);
}

int ct_report_shapes(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_view_options o = ct_report_view(in->o);
    struct ct_view gpu;
    ct_view_gpu(&gpu, in->m, in->device, &o);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < gpu.count; i++)
        if (gpu.lines[i].kind == CT_ROW_KERNEL)
            put_kernel(sink, &gpu.lines[i]);
    ct_sink_end(sink);
    ct_view_free(&gpu);
    return 0;
}
