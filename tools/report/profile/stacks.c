/* SPDX-License-Identifier: MIT */
#include "report/profile/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"

static void add_lines(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    k->line_map =
        ct_memory_grow(k->line_map, &k->line_map_size, s->lines_count, sizeof(*k->line_map));
    for (size_t i = 0; i < s->lines_count; i++) {
        struct ct_file_line l = {
            .file = ct_key_table_text(&m->names, ct_summary_text(s, s->lines[i].file)),
            .function = ct_key_table_text(&m->names, ct_summary_text(s, s->lines[i].function)),
            .line = s->lines[i].line,
        };
        uint32_t at = ct_key_table_add(&k->line_keys, &l, sizeof(l));
        k->lines = ct_memory_grow(k->lines, &k->lines_size, (size_t)at + 1, sizeof(*k->lines));
        k->lines[at] = l;
        k->line_map[i] = at;
    }
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

static void add_frames(struct ct_merged *m, const struct ct_summary *s)
{
    struct ct_merged_stacks *k = &m->stacks;
    k->frame_map =
        ct_memory_grow(k->frame_map, &k->frame_map_size, s->frames_count, sizeof(*k->frame_map));
    for (size_t i = 0; i < s->frames_count; i++) {
        const struct ct_file_frame *from = &s->frames[i];
        struct ct_file_frame f = {
            .parent = from->parent ? k->frame_map[from->parent - 1] + 1 : 0,
            .line = k->line_map[from->line],
            .module = from->module ? k->module_map[from->module - 1] + 1 : 0,
        };
        uint32_t at = ct_key_table_add(&k->frame_keys, &f, sizeof(f));
        k->frames = ct_memory_grow(k->frames, &k->frames_size, (size_t)at + 1, sizeof(*k->frames));
        k->frames[at] = f;
        k->frame_map[i] = at;
    }
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
    void *arrays[] = {k->lines,  k->modules,  k->frames,     k->stacks,
                      k->inside, k->line_map, k->module_map, k->frame_map};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        free(arrays[i]);
}
