/* SPDX-License-Identifier: MIT */
#include "report/profile/stack_sums.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"
#include "report/symbols/symbols.h"

/* The lines of one of a file's. */
struct chain {
    struct ct_merged *m;
    size_t end; /* of those of all its lines so far */
};

static void add_line(void *arg, const char *function, const char *file, uint32_t line)
{
    struct chain *c = arg;
    struct ct_merged_stacks *k = &c->m->stacks;
    struct ct_file_line l = {
        .file = ct_key_table_text(&c->m->names, file),
        .function = ct_key_table_text(&c->m->names, function),
        .line = line,
    };
    uint32_t at = ct_key_table_add(&k->line_keys, &l, sizeof(l));
    k->lines = ct_memory_grow(k->lines, &k->lines_size, (size_t)at + 1, sizeof(*k->lines));
    k->lines[at] = l;
    k->chain = ct_memory_grow(k->chain, &k->chain_size, c->end + 1, sizeof(*k->chain));
    k->chain[c->end++] = at;
}

static void add_lines(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    struct chain c = {.m = m};
    size_t next = 0; /* of the addresses, which are in the order of their lines */
    k->chain_first = ct_memory_grow(k->chain_first, &k->chain_first_size, s->lines_count + 1,
                                    sizeof(*k->chain_first));
    for (size_t i = 0; i < s->lines_count; i++) {
        const struct ct_file_line *l = &s->lines[i];
        k->chain_first[i] = c.end;
        if (next < s->addresses_count && s->addresses[next].line == i) {
            const struct ct_file_address *a = &s->addresses[next++];
            const struct ct_file_object *o = &s->objects[a->object];
            ct_symbols_find(ct_summary_text(s, o->path), ct_summary_text(s, o->build_id), a->offset,
                            add_line, &c);
        }
        if (c.end == k->chain_first[i])
            add_line(&c, ct_summary_text(s, l->function), ct_summary_text(s, l->file), l->line);
    }
    k->chain_first[s->lines_count] = c.end;
}

static void add_modules(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    k->module_map = ct_memory_grow(k->module_map, &k->module_map_size, s->modules_count,
                                   sizeof(*k->module_map));
    for (size_t i = 0; i < s->modules_count; i++) {
        const struct ct_file_module *from = &s->modules[i];
        struct ct_file_module f = {
            .parent = from->parent ? k->module_map[from->parent - 1] + 1 : 0,
            .type = ct_key_table_text(&m->names, ct_summary_text(s, from->type)),
            .number = from->number,
        };
        uint32_t at = ct_key_table_add(&k->module_keys, &f, sizeof(f));
        k->modules =
            ct_memory_grow(k->modules, &k->modules_size, (size_t)at + 1, sizeof(*k->modules));
        k->modules[at] = f;
        k->module_map[i] = at;
    }
}

/* How many more frames than in the file a stack may have, to be no deeper than one of a file. */
static size_t room_for_inlined(const struct ct_summary *s)
{
    size_t deepest = 0;
    uint16_t *depth = ct_memory_array(s->frames_count + 1, sizeof(*depth));
    depth[0] = 0;
    for (size_t i = 0; i < s->frames_count; i++) {
        depth[i + 1] = (uint16_t)(depth[s->frames[i].parent] + 1);
        deepest = depth[i + 1] > deepest ? depth[i + 1] : deepest;
    }
    free(depth);
    return CT_FILE_STACK_DEPTH - deepest;
}

/* A frame of a line, in the one that has the number parent - 1; its own number plus one. */
static uint32_t add_frame(struct ct_merged_stacks *k, uint32_t parent, uint32_t line,
                          uint32_t module)
{
    struct ct_file_frame f = {.parent = parent, .line = line, .module = module};
    uint32_t at = ct_key_table_add(&k->frame_keys, &f, sizeof(f));
    k->frames = ct_memory_grow(k->frames, &k->frames_size, (size_t)at + 1, sizeof(*k->frames));
    k->frames[at] = f;
    return at + 1;
}

static void add_frames(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    size_t room = room_for_inlined(s);
    uint16_t *inlined = ct_memory_array(s->frames_count + 1, sizeof(*inlined));
    inlined[0] = 0;
    k->frame_map =
        ct_memory_grow(k->frame_map, &k->frame_map_size, s->frames_count, sizeof(*k->frame_map));
    for (size_t i = 0; i < s->frames_count; i++) {
        const struct ct_file_frame *from = &s->frames[i];
        uint32_t module = from->module ? k->module_map[from->module - 1] + 1 : 0;
        uint32_t parent = from->parent ? k->frame_map[from->parent - 1] + 1 : 0;
        size_t first = k->chain_first[from->line], n = k->chain_first[from->line + 1] - first;
        if (inlined[from->parent] + n - 1 > room)
            n = 1;
        inlined[i + 1] = (uint16_t)(inlined[from->parent] + n - 1);
        while (n)
            parent = add_frame(k, parent, k->chain[first + --n], module);
        k->frame_map[i] = parent - 1;
    }
    free(inlined);
}

static void add_inside(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    for (size_t i = 0; i < s->inside_count; i++) {
        const struct ct_file_inside *from = &s->inside[i];
        const struct ct_file_node *node = &s->nodes[from->node];
        uint32_t key[] = {m->row_map[node->graph_row], ct_merge_node_name(m, s, node),
                          k->frame_map[from->frame]};
        uint32_t at = ct_key_table_add(&k->inside_keys, key, sizeof(key));
        k->inside = ct_memory_grow(k->inside, &k->inside_size, (size_t)at + 1, sizeof(*k->inside));
        struct ct_inside *to = &k->inside[at];
        to->row = key[0];
        to->name = key[1];
        to->frame = key[2];
        ct_merge_add_to(&to->count, from->count);
        ct_merge_add_to(&to->timed, from->timed);
        ct_merge_add_to(&to->total_ns, from->total_ns);
    }
}

void ct_stacks_add(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    add_lines(m, s);
    add_modules(m, s);
    add_frames(m, s);
    for (size_t i = 0; i < s->stacks_count; i++) {
        const struct ct_file_stack *from = &s->stacks[i];
        uint32_t key[] = {m->row_map[from->row], k->frame_map[from->frame]};
        uint32_t at = ct_key_table_add(&k->keys, key, sizeof(key));
        k->stacks = ct_memory_grow(k->stacks, &k->stacks_size, (size_t)at + 1, sizeof(*k->stacks));
        struct ct_file_stack *to = &k->stacks[at];
        to->row = key[0];
        to->frame = key[1];
        ct_merge_add_to(&to->count, from->count);
        ct_merge_add_to(&to->timed, from->timed);
        ct_merge_add_to(&to->total_ns, from->total_ns);
    }
    add_inside(m, s);
}

void ct_stacks_free(struct ct_merged_stacks *k)
{
    ct_key_table_free(&k->line_keys);
    ct_key_table_free(&k->module_keys);
    ct_key_table_free(&k->frame_keys);
    ct_key_table_free(&k->keys);
    ct_key_table_free(&k->inside_keys);
    void *arrays[] = {k->lines, k->modules,     k->frames,     k->stacks,   k->inside,
                      k->chain, k->chain_first, k->module_map, k->frame_map};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
}
