/* SPDX-License-Identifier: MIT */
#include "report/grid.h"

#include <stdarg.h>
#include <string.h>

#include "report/units.h"

static void add_cell(struct ct_grid *g, const char *text, size_t len)
{
    size_t *width = &g->widths[g->cells++ % g->columns];
    if (len > *width)
        *width = len;
    ct_string_add(&g->text, text, len);
    ct_string_add(&g->text, "", 1);
}

void ct_grid_start(struct ct_grid *g, const char *headings)
{
    *g = (struct ct_grid){.columns = 1};
    for (const char *p = headings; *p; p++)
        g->columns += *p == '|';
    for (const char *p = headings;; p++) {
        size_t len = strcspn(p, "|");
        add_cell(g, p, len);
        p += len;
        if (!*p)
            return;
    }
}

void ct_grid_put(struct ct_grid *g, const char *text)
{
    add_cell(g, text, strlen(text));
}

void ct_grid_count(struct ct_grid *g, uint64_t n)
{
    ct_grid_printf(g, "%llu", (unsigned long long)n);
}

void ct_grid_time(struct ct_grid *g, uint64_t ns)
{
    char text[CT_UNITS_BYTES];
    ct_units_time(text, ns, 8);
    ct_grid_put(g, text);
}

void ct_grid_size(struct ct_grid *g, uint64_t bytes)
{
    char text[CT_UNITS_BYTES];
    ct_units_size(text, bytes);
    ct_grid_put(g, text);
}

void ct_grid_printf(struct ct_grid *g, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ct_grid_put(g, text);
}

static void print_cells(const struct ct_grid *g, FILE *out)
{
    const char *p = g->text.data;
    for (size_t i = 0; i < g->cells; i++, p += strlen(p) + 1) {
        size_t column = i % g->columns;
        if (column + 1 == g->columns)
            fprintf(out, "  %s\n", p);
        else
            fprintf(out, "%s%*s", column ? "  " : "", (int)g->widths[column], p);
    }
}

void ct_grid_finish(struct ct_grid *g, FILE *out, const char *prefix, const char *title)
{
    if (g->cells > g->columns) {
        fprintf(out, "\n%s%s:\n", prefix, title);
        print_cells(g, out);
    }
    ct_string_free(&g->text);
}
