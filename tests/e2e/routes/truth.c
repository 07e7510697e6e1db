/* SPDX-License-Identifier: MIT */
#include "truth.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 64
#define TABLE 16384

struct row {
    char name[128];
    unsigned long long count, total, min, max;
};

/* Eight columns, as many digits as fit; the last one is rounded up from the half. */
static const char *time_text(unsigned long long ns, char text[32])
{
    static const struct {
        unsigned long long below;
        double factor;
        const char *unit;
    } units[] = {{1000000, 1e-3, "us"}, {1000000000, 1e-6, "ms"}, {UINT64_MAX, 1e-9, "s"}};
    unsigned u = 0;
    if (ns < 1000) {
        sprintf(text, "%lluns", ns);
        return text;
    }
    while (ns >= units[u].below)
        u++;
    for (int digits = 6; digits >= 0; digits--) {
        double scale = pow(10, digits);
        double value = floor((double)ns * units[u].factor * scale + 0.5) / scale;
        if (sprintf(text, "%.*f%s", digits, value, units[u].unit) <= 8)
            return text;
    }
    return text;
}

/* False for what has no row: the parts of graphs. */
static bool read_row(char *line, struct row *r, const char *graph)
{
    char kind[32], name[96];
    int fields = sscanf(line, "%31[^\t]\t%95[^\t]\t%llu\t%llu\t%llu\t%llu", kind, name, &r->count,
                        &r->total, &r->min, &r->max);
    ck_assert_int_eq(fields, 6);
    if (!strcmp(kind, "kernel"))
        strcpy(r->name, name);
    else if (!strcmp(kind, "copy"))
        sprintf(r->name, "[CUDA memcpy %s]", name);
    else if (!strcmp(kind, "set"))
        strcpy(r->name, "[CUDA memset]");
    else if (!strcmp(kind, "prefetch"))
        strcpy(r->name, "[CUDA prefetch]");
    else if (!strcmp(kind, "graph"))
        strcpy(r->name, graph);
    else
        return false;
    return true;
}

static int by_total(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->total < y->total ? 1 : x->total > y->total ? -1 : strcmp(x->name, y->name);
}

static int print_row(char *to, const struct row *r, double whole, bool is_first)
{
    char text[4][32], percent[16];
    sprintf(percent, "%.2f%%", 100.0 * (double)r->total / whole);
    return sprintf(to, "%16s  %7s  %8s  %8llu  %8s  %8s  %8s  %4s\n",
                   is_first ? "GPU activities:" : "", percent, time_text(r->total, text[0]),
                   r->count, time_text(r->total / r->count, text[1]), time_text(r->min, text[2]),
                   time_text(r->max, text[3]), r->name);
}

char *truth_table(const char *path, const char *graph)
{
    struct row rows[ROWS];
    size_t count = 0;
    double whole = 0;
    char line[512], *table = calloc(1, TABLE), *end = table;
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        ck_assert_uint_lt(count, ROWS);
        if (read_row(line, &rows[count], graph))
            whole += (double)rows[count++].total;
    }
    fclose(f);
    ck_assert_uint_gt(count, 0);
    qsort(rows, count, sizeof(rows[0]), by_total);
    for (size_t i = 0; i < count; i++)
        end += print_row(end, &rows[i], whole, i == 0);
    return table;
}

/* Work inside graphs that has no time of its own: it is in that of the graphs. */
static char *leave_out_nodes(char *table)
{
    char *to = table;
    for (char *line = table, *end; *line; line = end) {
        end = line + strcspn(line, "\n") + 1;
        bool is_inside = memmem(line, (size_t)(end - line), "[graph] ", 8) != NULL;
        if (!is_inside)
            to = (char *)memmove(to, line, (size_t)(end - line)) + (end - line);
    }
    *to = 0;
    return table;
}

char *truth_activities(const char *report)
{
    const char *first = strstr(report, " GPU activities:");
    ck_assert_ptr_nonnull(first);
    const char *after = strstr(first, "      API calls:");
    if (!after)
        after = strstr(first, "\n\n");
    ck_assert_ptr_nonnull(after);
    return leave_out_nodes(strndup(first, (size_t)(after - first)));
}
