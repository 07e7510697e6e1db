/* SPDX-License-Identifier: MIT */
#include "work/graph_parts.h"

#include "base/text.h"
#include "state/note.h"
#include "system/mem.h"

static const char other_kernels[] = "(other kernels)";

static bool is_part(const struct ct_graph_part *p, const struct ct_graph_work *w)
{
    return p->work.kind == w->kind && p->work.detail == w->detail &&
           (w->kind != CT_ROW_KERNEL || ct_streq(p->work.name, w->name));
}

static struct ct_graph_part *find_part(struct ct_graph *g, const struct ct_graph_work *w)
{
    for (uint32_t i = 0; i < g->parts; i++)
        if (is_part(&g->part[i], w))
            return &g->part[i];
    return NULL;
}

/* Kernels leave the room that copies, sets and "(other kernels)" need. */
static bool has_room(const struct ct_graph *g, const struct ct_graph_work *w)
{
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < g->parts; i++)
        kernels += g->part[i].work.kind == CT_ROW_KERNEL;
    return w->kind != CT_ROW_KERNEL || kernels < CT_GRAPH_KERNELS;
}

/* The part where the work belongs; NULL: there is none. */
static struct ct_graph_part *part_of(struct ct_graph *g, const struct ct_graph_work *w)
{
    struct ct_graph_part *p = find_part(g, w);
    return p || w->kind != CT_ROW_KERNEL
               ? p
               : find_part(g, &(struct ct_graph_work){.kind = w->kind, .name = other_kernels});
}

static struct ct_graph_part *make_part(struct ct_graph *g, const struct ct_graph_work *w)
{
    bool room = has_room(g, w);
    struct ct_graph_part *p = room ? NULL : part_of(g, w);
    if (p)
        return p;
    p = &g->part[g->parts++];
    *p = (struct ct_graph_part){.work = {.kind = w->kind, .detail = w->detail}};
    p->work.name = room ? w->name : other_kernels;
    return p;
}

/* ---- stacks of nodes ---- */

static uint64_t spot_hash(const struct ct_graph_work *w)
{
    return (ct_graph_work_hash(w) + w->stack) * 0x9e3779b97f4a7c15u | 1;
}

/* NULL: there is none. */
static struct ct_graph_spot *find_spot(struct ct_graph *g, uint32_t part, uint32_t stack)
{
    for (uint32_t i = 0; i < g->spots; i++)
        if (g->spot[i].part == part && g->spot[i].stack == stack)
            return &g->spot[i];
    return NULL;
}

static void lose_stack(void)
{
    ct_note(CT_NOTE_WARNING,
            "Nodes of graphs that are in no stack: there are too many kinds");
}

/* Maps the room for all at once, of which unused pages take no memory. */
static struct ct_graph_spot *make_spot(struct ct_graph *g, uint32_t part, uint32_t stack)
{
    if (g->spots == CT_GRAPH_SPOTS ||
        (!g->spot && !(g->spot = ct_map(CT_GRAPH_SPOTS * sizeof(*g->spot))))) {
        lose_stack();
        return NULL;
    }
    struct ct_graph_spot *s = &g->spot[g->spots++];
    *s = (struct ct_graph_spot){.part = part, .stack = stack};
    return s;
}

static void add_stack(struct ct_graph *g, uint32_t part, const struct ct_graph_work *w)
{
    struct ct_graph_spot *s = find_spot(g, part, w->stack);
    if (!s && !(s = make_spot(g, part, w->stack)))
        return;
    s->count++;
    g->stacks += spot_hash(w);
}

static void remove_stack(struct ct_graph *g, uint32_t part, const struct ct_graph_work *w)
{
    struct ct_graph_spot *s = find_spot(g, part, w->stack);
    if (!s)
        return;
    g->stacks -= spot_hash(w);
    if (!--s->count)
        *s = g->spot[--g->spots];
}

/* The last part has become number `to`, whose own spots go. */
static void move_spots(struct ct_graph *g, uint32_t to)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->spots; i++) {
        struct ct_graph_spot s = g->spot[i];
        if (s.part == to)
            continue;
        s.part = s.part == g->parts ? to : s.part;
        g->spot[kept++] = s;
    }
    g->spots = kept;
}

static void free_spots(struct ct_graph *g)
{
    if (g->spot)
        ct_unmap(g->spot, CT_GRAPH_SPOTS * sizeof(*g->spot));
    g->spot = NULL;
    g->spots = 0;
    g->stacks = 0;
}

void ct_graph_free(struct ct_graph *g)
{
    free_spots(g);
    ct_unmap(g, sizeof(*g));
}

/* ---- work ---- */

/* Adds up, as sums do not depend on the order of nodes, which is not defined. */
void ct_graph_add_work(struct ct_graph *g, const struct ct_graph_work *w)
{
    if (!w->kind)
        return;
    g->hash += ct_graph_work_hash(w);
    struct ct_graph_part *p = find_part(g, w);
    if (!p)
        p = make_part(g, w);
    p->count++;
    p->work.bytes += g->unsized ? 0 : w->bytes;
    if (w->stack)
        add_stack(g, (uint32_t)(p - g->part), w);
}

void ct_graph_remove_work(struct ct_graph *g, const struct ct_graph_work *w)
{
    struct ct_graph_part *p = w->kind ? part_of(g, w) : NULL;
    if (!p)
        return;
    g->hash -= ct_graph_work_hash(w);
    p->work.bytes -= ct_min(p->work.bytes, w->bytes);
    uint32_t part = (uint32_t)(p - g->part);
    if (w->stack)
        remove_stack(g, part, w);
    if (!--p->count) {
        *p = g->part[--g->parts];
        move_spots(g, part);
    }
}

uint32_t ct_graph_take_stack(struct ct_graph *g, const struct ct_graph_work *w)
{
    const struct ct_graph_part *p = w->kind ? part_of(g, w) : NULL;
    struct ct_graph_work one = *w;
    for (uint32_t i = 0; p && i < g->spots; i++)
        if (g->spot[i].part == (uint32_t)(p - g->part)) {
            one.stack = g->spot[i].stack;
            remove_stack(g, g->spot[i].part, &one);
            return one.stack;
        }
    return 0;
}

void ct_graph_lose_stacks(struct ct_graph *g)
{
    free_spots(g);
    lose_stack();
}

/* False: no memory. Unused pages take none. */
static bool copy_spots(struct ct_graph *to, const struct ct_graph *from)
{
    to->spot = from->spot ? ct_map(CT_GRAPH_SPOTS * sizeof(*to->spot)) : NULL;
    if (to->spot)
        __builtin_memcpy(to->spot, from->spot, from->spots * sizeof(*to->spot));
    return to->spot || !from->spot;
}

struct ct_graph *ct_graph_copy(const struct ct_graph *g)
{
    struct ct_graph *copy = ct_map(sizeof(*copy));
    if (!copy)
        return NULL;
    __builtin_memcpy(copy, g, offsetof(struct ct_graph, part) + g->parts * sizeof(*g->part));
    if (!copy_spots(copy, g))
        free_spots(copy);
    return copy;
}
