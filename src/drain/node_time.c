/* SPDX-License-Identifier: MIT */
#include "drain/node_time.h"

#include "base/hist.h"
#include "containers/table.h"
#include "counts/row.h"
#include "state/context.h"
#include "system/mem.h"

/*
 * With fewer launches, with event nodes or without, a graph does not tell how much these add:
 * unless so many of them share the difference of a launch from others, a microsecond or two.
 */
#define LEAST_LAUNCHES 8
#define LEAST_KERNELS 16
/* A single launch without event nodes may have waited. */
#define LEAST_WITHOUT 3

/* Time that event nodes have added to graphs, whose way leads through so many of them. */
struct added {
    int64_t ns;
    uint64_t least;
    uint64_t most;
};

/* Kernels that were alone at their time, over all launches of a graph's replica. */
struct line {
    uint64_t replicas;
    uint64_t total_ns;
    uint64_t kernels;
};

/* A graph, and its replica's launches from the first kernel to the last, where these enclose it: */
struct whole {
    uint32_t row;
    uint64_t replicas;
    uint64_t total_ns;
    uint64_t least; /* event nodes on the way */
    uint64_t most;
    struct added added; /* no event nodes: it is not known */
    struct line line;
    int64_t least_ns; /* the least bias: with less, kernels would be longer than the graph */
};

struct node_times {
    struct ct_node_time time[CT_NODE_TIMES];
    uint32_t count;
    struct ct_table index; /* row and name -> index; never full */
    struct ct_node_stack_time stack_time[CT_NODE_STACK_TIMES];
    uint32_t stack_count;
    struct ct_table stack_index; /* index of row and name, and stack -> index; never full */
    struct whole graph[CT_NODE_GRAPHS];
    uint32_t graphs;
    struct ct_table graph_index; /* row + 1 -> index; never full */
    struct added added[CT_DEVICES];
};

static CT_PROCESS struct node_times *all;

bool ct_node_times_init(void)
{
    struct node_times *n = ct_map(sizeof(*n));
    if (!n || !ct_table_init(&n->index, 16) || !ct_table_init(&n->graph_index, 13) ||
        !ct_table_init(&n->stack_index, 16))
        return false;
    all = n;
    return true;
}

/* ---- kernels ---- */

/* An address has 48 bits, and a row less than 16. */
static uint64_t key_of(uint32_t row, const char *name)
{
    return (uint64_t)(uintptr_t)name << 16 | row;
}

static struct ct_node_time *find(uint32_t row, const char *name)
{
    uint64_t index;
    return all && ct_table_find(&all->index, key_of(row, name), &index) ? &all->time[index] : NULL;
}

static struct ct_node_time *make(uint32_t row, const char *name)
{
    if (!all || all->count == CT_NODE_TIMES)
        return NULL;
    struct ct_node_time *t = &all->time[all->count];
    *t = (struct ct_node_time){.row = row, .name = name, .min_ns = UINT64_MAX};
    ct_table_put(&all->index, key_of(row, name), all->count++);
    return t;
}

static uint64_t stack_key(const struct ct_node_time *t, uint32_t stack)
{
    return (uint64_t)(t - all->time + 1) << 32 | stack;
}

static struct ct_node_stack_time *find_stack(const struct ct_node_time *t, uint32_t stack)
{
    uint64_t index;
    return ct_table_find(&all->stack_index, stack_key(t, stack), &index) ? &all->stack_time[index]
                                                                         : NULL;
}

/* Beyond the bound the kernels of a name are taken to be as long as the others. */
static struct ct_node_stack_time *make_stack(const struct ct_node_time *t, uint32_t stack)
{
    if (all->stack_count == CT_NODE_STACK_TIMES)
        return NULL;
    ct_table_put(&all->stack_index, stack_key(t, stack), all->stack_count);
    return &all->stack_time[all->stack_count++];
}

static void add_stack(const struct ct_node_time *t, uint32_t stack, uint64_t raw_ns)
{
    struct ct_node_stack_time *s = find_stack(t, stack);
    if (!s && !(s = make_stack(t, stack)))
        return;
    s->timed++;
    s->total_ns += raw_ns;
}

struct ct_node_stack_time ct_node_stack_time(uint32_t row, const char *name, uint32_t stack)
{
    const struct ct_node_time *t = find(row, name);
    const struct ct_node_stack_time *s = t ? find_stack(t, stack) : NULL;
    return s ? *s : (struct ct_node_stack_time){0};
}

void ct_node_time_add(uint32_t row, const char *name, uint32_t stack, uint64_t raw_ns, bool beside)
{
    struct ct_node_time *t = find(row, name);
    if (!t && !(t = make(row, name)))
        return;
    if (stack)
        add_stack(t, stack, raw_ns);
    t->timed++;
    t->beside += beside;
    t->total_ns += raw_ns;
    t->min_ns = ct_min(t->min_ns, raw_ns);
    t->max_ns = ct_max(t->max_ns, raw_ns);
    t->square_ns2 += (double)raw_ns * (double)raw_ns;
}

const struct ct_node_time *ct_node_time_find(uint32_t row, const char *name)
{
    return find(row, name);
}

/* ---- time that event nodes add ---- */

static struct whole *find_graph(uint32_t row)
{
    uint64_t index;
    return all && ct_table_find(&all->graph_index, row + 1, &index) ? &all->graph[index] : NULL;
}

static struct whole *make_graph(uint32_t row)
{
    if (!all || all->graphs == CT_NODE_GRAPHS)
        return NULL;
    struct whole *g = &all->graph[all->graphs];
    *g = (struct whole){.row = row};
    ct_table_put(&all->graph_index, row + 1, all->graphs++);
    return g;
}

static struct whole *graph_of(uint32_t row)
{
    struct whole *g = find_graph(row);
    return g ? g : make_graph(row);
}

void ct_node_time_add_line(uint32_t row, uint64_t raw_ns, uint64_t kernels)
{
    struct whole *g = kernels ? graph_of(row) : NULL;
    if (!g)
        return;
    g->line.replicas++;
    g->line.total_ns += raw_ns;
    g->line.kernels += kernels;
}

void ct_node_time_add_graph(uint32_t row, uint64_t raw_ns, uint64_t least, uint64_t most)
{
    struct whole *g = graph_of(row);
    if (!g)
        return;
    g->replicas++;
    g->total_ns += raw_ns;
    g->least += least;
    g->most += most;
}

/* The fewer launches decide, those with event nodes or those without. */
static bool is_enough(uint64_t launches, uint64_t replicas, uint64_t kernels)
{
    uint64_t fewer = ct_min(launches, replicas);
    return fewer >= LEAST_LAUNCHES || (fewer && fewer * kernels / replicas >= LEAST_KERNELS);
}

/*
 * The mean, or where single launches that waited have moved it away from the median's bucket, the
 * median. False: there are no times.
 */
static bool usual_of(const struct ct_row *r, uint64_t *ns)
{
    if (!r->timed)
        return false;
    uint32_t bucket = ct_hist_bucket(r->time.min_ns), last = ct_hist_bucket(r->time.max_ns);
    uint64_t n = 0, below = 0, mean_ns = r->time.total_ns / r->timed;
    for (uint32_t i = bucket; i <= last; i++)
        n += ct_buckets_count(r->time.buckets, i);
    if (!n)
        return false;
    while ((below += ct_buckets_count(r->time.buckets, bucket)) <= n / 2)
        bucket++;
    *ns = ct_hist_bucket(mean_ns) == bucket ? mean_ns : ct_hist_middle(bucket);
    return true;
}

/* Between n nodes that follow each other are n - 1 gaps, which event nodes took the place of. */
static struct added added_to(const struct whole *g)
{
    uint64_t without_ns;
    const struct ct_row *r = ct_row(g->row);
    if (r->timed < LEAST_WITHOUT || !is_enough(r->timed, g->replicas, g->most) ||
        !usual_of(r, &without_ns))
        return (struct added){0};
    without_ns += ct_device(r->device)->calibration->node.gap_ns;
    return (struct added){(int64_t)g->total_ns - (int64_t)(g->replicas * without_ns), g->least,
                          g->most};
}

/*
 * A graph without event nodes holds its kernels one behind the other and the gaps between them; so
 * must its mean, which the table shows.
 */
static int64_t least_of(const struct whole *g)
{
    uint64_t without_ns;
    const struct line *l = &g->line;
    const struct ct_row *r = ct_row(g->row);
    if (!l->kernels || !is_enough(r->timed, l->replicas, l->kernels) || !usual_of(r, &without_ns))
        return 0;
    without_ns = ct_min(without_ns, r->time.total_ns / r->timed);
    uint64_t room_ns = l->replicas * without_ns;
    if (l->total_ns <= room_ns)
        return 0;
    uint64_t more_ns = (l->total_ns - room_ns + l->kernels - 1) / l->kernels;
    return (int64_t)more_ns + ct_device(r->device)->calibration->node.gap_ns;
}

void ct_node_times_settle(void)
{
    if (!all)
        return;
    __builtin_memset(all->added, 0, sizeof(all->added));
    for (struct whole *g = all->graph; g < all->graph + all->graphs; g++) {
        struct added *sum = &all->added[ct_row(g->row)->device];
        g->added = added_to(g);
        g->least_ns = least_of(g);
        sum->ns += g->added.ns;
        sum->least += g->added.least;
        sum->most += g->added.most;
    }
}

struct ct_node_bias ct_node_bias_of(uint32_t row)
{
    uint32_t device = ct_row(row)->device;
    const struct whole *g = find_graph(row);
    struct added a = all ? all->added[device] : (struct added){0};
    if (g && g->added.least)
        a = g->added;
    struct ct_node_bias b =
        ct_estimate_node_bias(&ct_device(device)->calibration->node, a.ns, a.least, a.most);
    if (g && g->least_ns > (int64_t)b.bias_ns)
        b.bias_ns = (uint64_t)g->least_ns;
    return b;
}
