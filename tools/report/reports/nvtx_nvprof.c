/* SPDX-License-Identifier: MIT */
/*
 * nvprof's tables of ranges: by thread, domain and name. An operation or a call belongs to every
 * range that its thread had open then.
 */
#include <stdlib.h>

#include "report/names.h"
#include "report/reports/nvtx_report.h"
#include "report/sinks/csv_text.h"
#include "report/sinks/nvprof.h"
#include "report/sinks/stage.h"

#define MOST_AT_EXIT 20 /* cutrace-report has all */
#define UNNAMED "<unnamed>"

struct printer {
    FILE *out;
    const char *prefix;
    const struct ct_input *in;
    const struct ct_file_range *last; /* whose headings stand above */
};

static void put_line(struct ct_sink *sink, const char *type, const char *name, double percent,
                     const struct ct_file_cell *sum)
{
    struct ct_cell cells[CT_SUMMARY_COLUMNS] = {
        [CT_SUMMARY_TYPE] = ct_cell_text(type),
        [CT_SUMMARY_PERCENT] = ct_cell_number(percent),
        [CT_SUMMARY_TIME] = ct_cell_count(sum->total_ns),
        [CT_SUMMARY_CALLS] = ct_cell_count(sum->count),
        [CT_SUMMARY_AVG] = ct_cell_count(sum->total_ns / sum->count),
        [CT_SUMMARY_MIN] = ct_cell_count(sum->min_ns),
        [CT_SUMMARY_MAX] = ct_cell_count(sum->max_ns),
        [CT_SUMMARY_NAME] = ct_cell_text(name),
    };
    ct_sink_row(sink, cells);
}

static void put_lines(const struct printer *p, struct ct_sink *sink, const char *type,
                      const struct ct_range_group *group, unsigned kinds)
{
    struct ct_range_lines l;
    ct_range_lines(&l, p->in, group, kinds);
    for (size_t i = 0; i < l.count; i++) {
        double all = l.total_ns ? (double)l.total_ns : 1;
        put_line(sink, type, l.lines[i].name, 100.0 * (double)l.lines[i].sum.total_ns / all,
                 &l.lines[i].sum);
    }
    ct_range_lines_free(&l);
}

static void print_table(const struct printer *p, const struct ct_range_group *group,
                        const char *name)
{
    struct ct_look look = {.in = p->in, .prefix = p->prefix};
    struct ct_options limits = {.top = p->in->o->top};
    int status = 0;
    struct ct_sink *sink = ct_stage_open(ct_sink_nvprof(p->out, &look), &limits, &status);
    struct ct_file_cell range = {.count = group->sum.count,
                                 .total_ns = group->sum.total_ns,
                                 .min_ns = group->sum.min_ns,
                                 .max_ns = group->sum.max_ns};
    ct_sink_begin(sink, &ct_summary_relation);
    put_line(sink, CT_SUMMARY_RANGE, name, 100, &range);
    put_lines(p, sink, CT_SUMMARY_GPU, group, ~0u);
    put_lines(p, sink, CT_SUMMARY_API, group, 0);
    ct_sink_end(sink);
    ct_sink_close(sink);
}

static void print_name(const struct printer *p, const char *indent, const char *what, uint32_t name)
{
    const char *text = ct_merge_name(p->in->m, name);
    struct ct_string safe = {0};
    ct_name_safe(&safe, *text ? text : UNNAMED);
    fprintf(p->out, "%s%s%s \"%s\"", p->prefix, indent, what, safe.data);
    ct_string_free(&safe);
}

static void print_thread(const struct printer *p, const struct ct_file_thread *t)
{
    print_name(p, "  ", "Thread", t->name);
    if (t->tid)
        fprintf(p->out, " (id = %u)", t->tid);
    if (t->count > 1)
        fprintf(p->out, ", %llu threads one after the other or of several processes",
                (unsigned long long)t->count);
    putc('\n', p->out);
}

static void print_group(struct printer *p, const struct ct_range_group *group)
{
    const struct ct_merged_ranges *all = &p->in->m->ranges;
    const struct ct_file_range *r = &all->ranges[group->range];
    bool same_thread = p->last && p->last->thread == r->thread;
    struct ct_string name = {0};
    if (!same_thread)
        print_thread(p, &all->threads[r->thread]);
    if (!same_thread || p->last->domain != r->domain) {
        print_name(p, "    ", "Domain", r->domain);
        putc('\n', p->out);
    }
    print_name(p, "      ", "Range", r->name);
    putc('\n', p->out);
    ct_name_safe(&name, ct_merge_name(p->in->m, r->name));
    print_table(p, group, name.data);
    putc('\n', p->out);
    ct_string_free(&name);
    p->last = r;
}

/*
 * Ranges rank by GPU time first: those of a compiler are longer than those of the compiled code,
 * and have nothing to show.
 */
struct rank {
    uint64_t gpu_ns;
    uint64_t open_ns;
};

static struct rank rank_of(const struct ct_range_group *group)
{
    struct rank rank = {0, group->sum.total_ns};
    for (size_t i = 0; i < group->cell_count; i++)
        if (group->cells[i].section == CT_SECTION_ROWS)
            ct_merge_add_to(&rank.gpu_ns, group->cells[i].total_ns);
    return rank;
}

static int first_is_most(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->gpu_ns != y->gpu_ns)
        return x->gpu_ns > y->gpu_ns ? -1 : 1;
    return x->open_ns > y->open_ns ? -1 : x->open_ns < y->open_ns;
}

/*
 * The most tables: the user's number, or few at the end of a program, against pages of tables; 0:
 * all.
 */
static size_t most_of(const struct ct_options *o)
{
    return o->top ? (size_t)o->top : o->live ? MOST_AT_EXIT : 0;
}

/*
 * The groups to print: those that rank before the last one, and as many that rank like it as there
 * is room for.
 */
struct choice {
    struct rank least;
    size_t alike;
};

static struct choice choose(const struct ct_range_groups *g, size_t most)
{
    struct choice c = {.alike = g->count};
    if (!most || g->count <= most)
        return c;
    struct rank *ranks = ct_memory_array(g->count, sizeof(*ranks));
    for (size_t i = 0; i < g->count; i++)
        ranks[i] = rank_of(&g->groups[i]);
    qsort(ranks, g->count, sizeof(*ranks), first_is_most);
    c.least = ranks[most - 1];
    for (c.alike = most; c.alike && first_is_most(&ranks[most - c.alike], &c.least) < 0;)
        c.alike--;
    free(ranks);
    return c;
}

static bool is_chosen(struct choice *c, const struct ct_range_group *group)
{
    struct rank rank = rank_of(group);
    int order = first_is_most(&rank, &c->least);
    bool chosen = order < 0 || (!order && c->alike);
    c->alike -= !order && c->alike;
    return chosen;
}

static void print_ranges(FILE *out, const char *prefix, const struct ct_input *in,
                         const struct ct_range_groups *g)
{
    struct printer p = {.out = out, .prefix = prefix, .in = in};
    struct choice choice = choose(g, most_of(in->o));
    size_t left = 0;
    if (g->count || g->unclosed)
        fprintf(out, "\n%sNVTX result:\n", prefix);
    if (g->unclosed)
        fprintf(out, "%sWarning: Found %llu invalid range marker(s)\n", prefix,
                (unsigned long long)g->unclosed);
    for (size_t i = 0; i < g->count; i++) {
        if (is_chosen(&choice, &g->groups[i]))
            print_group(&p, &g->groups[i]);
        else
            left++;
    }
    if (left)
        fprintf(out, "%s... and %zu other ranges: cutrace-report nvtx has them\n", prefix, left);
}

void ct_nvtx_print(FILE *out, const char *prefix, const struct ct_input *in)
{
    struct ct_range_groups g;
    ct_range_groups(&g, in->m, CT_GROUP_BY_THREAD);
    if (in->o->nvtx_ranges)
        print_ranges(out, prefix, in, &g);
    else if (!in->o->csv && (g.count || g.unclosed))
        ct_nvtx_table(out, prefix, in);
    ct_range_groups_free(&g);
}
