/* SPDX-License-Identifier: MIT */
#include "report/stacks/launchers.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/stacks/calls.h"

#define FEW 5

/* Whether a row is in a line of the table, on whatever device it is. */
static bool is_in(const struct ct_merged_row *row, const struct ct_line *line)
{
    const struct ct_file_row *a = &row->sum, *b = &line->row->sum;
    return a->kind == b->kind && a->name == b->name && a->detail == b->detail;
}

/* The time of each line of Python in one line of the table: the line with most, or CT_MERGE_NONE.
 */
static uint32_t find_most(double *ns, const struct ct_calls *c, const struct ct_merged *m,
                          const struct ct_line *line)
{
    uint32_t most = CT_MERGE_NONE;
    memset(ns, 0, m->stacks.line_keys.count * sizeof(*ns));
    for (size_t i = 1; i < c->count; i++) {
        const struct ct_call *call = &c->call[i];
        if (call->row == CT_CALL_FRAME || !is_in(&m->rows[call->row], line))
            continue;
        ns[call->line] += call->own.ns;
        if (most == CT_MERGE_NONE || ns[call->line] > ns[most])
            most = call->line;
    }
    return most;
}

static void print_line(FILE *out, const struct ct_merged *m, const struct ct_line *line,
                       uint32_t most, double share)
{
    const struct ct_file_line *l = &m->stacks.lines[most];
    struct ct_string function = {0}, file = {0};
    ct_name_safe(&function, ct_merge_name(m, l->function));
    ct_name_safe(&file, ct_merge_name(m, l->file));
    fprintf(out, "%9.2f%%  %s (%s:%u)  %s\n", share < 100 ? share : 100.0, function.data, file.data,
            l->line, line->name);
    ct_string_free(&function);
    ct_string_free(&file);
}

void ct_launchers_print(FILE *out, const char *prefix, const struct ct_merged *m,
                        const struct ct_view *gpu, uint64_t top)
{
    size_t size = 0, left = top ? (size_t)top : FEW;
    struct ct_calls c;
    if (!m->stacks.keys.count)
        return;
    ct_calls_of(&c, m, CT_VIEW_ALL_DEVICES);
    double *ns = ct_memory_grow(NULL, &size, m->stacks.line_keys.count, sizeof(*ns));
    fprintf(out, "\n%sLines of Python with most of an operation's time:\n%10s  Line\n", prefix,
            "Time(%)");
    for (size_t i = 0; i < gpu->count && left; i++) {
        const struct ct_line *line = &gpu->lines[i];
        uint32_t most = find_most(ns, &c, m, line);
        if (most == CT_MERGE_NONE || !line->total_ns)
            continue;
        print_line(out, m, line, most, 100 * ns[most] / (double)line->total_ns);
        left--;
    }
    free(ns);
    ct_calls_free(&c);
}
