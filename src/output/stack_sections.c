/* SPDX-License-Identifier: MIT */
#include "output/stack_sections.h"

#include "base/text.h"
#include "drain/image.h"
#include "stacks/native.h"
#include "stacks/stacks.h"

/* Where in the section of strings the texts of lines are; lines that share one have one. */
static struct {
    uint32_t file[CT_STACK_LINES];
    uint32_t function[CT_STACK_LINES];
    uint32_t type[CT_STACK_MODULES + 1];
} text;

static uint32_t add_string(const char *s)
{
    uint32_t offset = ct_image_count(CT_SECTION_STRINGS);
    ct_image_append(CT_SECTION_STRINGS, s, ct_strlen(s) + 1);
    return offset;
}

static void add_line(uint32_t i)
{
    const struct ct_stack_line *l = ct_stack_line(i);
    text.file[i] = l->same_file == i ? add_string(l->file) : text.file[l->same_file];
    text.function[i] =
        l->same_function == i ? add_string(l->function) : text.function[l->same_function];
    struct ct_file_line f = {.file = text.file[i], .function = text.function[i], .line = l->line};
    ct_image_append(CT_SECTION_LINES, &f, sizeof(f));
    const struct ct_stack_address *at = ct_stack_address(i);
    struct ct_file_address a = {.line = i, .object = at->object - 1, .offset = at->offset};
    if (at->object)
        ct_image_append(CT_SECTION_ADDRESSES, &a, sizeof(a));
}

/* A number from 1 here is an index plus one there, as in the next ones. */
static void add_object(uint32_t number)
{
    const struct ct_native_object *o = ct_native_object(number);
    struct ct_file_object f = {.path = add_string(o->path), .build_id = add_string(o->build_id)};
    ct_image_append(CT_SECTION_OBJECTS, &f, sizeof(f));
}

static void add_module(uint32_t module)
{
    const struct ct_stack_module *m = ct_stack_module(module);
    bool is_first = m->same_type == module;
    text.type[module] = is_first ? add_string(m->type) : text.type[m->same_type];
    struct ct_file_module f = {.parent = m->parent, .type = text.type[module], .number = m->number};
    if (m->number == CT_STACK_OTHERS)
        f.number = CT_FILE_MODULE_OTHERS;
    ct_image_append(CT_SECTION_MODULES, &f, sizeof(f));
}

static void add_frame(uint32_t node)
{
    const struct ct_stack_node *n = ct_stack_node(node);
    struct ct_file_frame f = {.parent = n->parent, .line = n->line, .module = n->module};
    ct_image_append(CT_SECTION_FRAMES, &f, sizeof(f));
}

/* Rows and stacks may have come since theirs were written. */
static void add_cell(struct ct_stack_cell *c, uint32_t nodes)
{
    uint64_t key = atomic_load_explicit(&c->key, memory_order_relaxed);
    uint32_t row = (uint32_t)(key >> 32), stack = (uint32_t)key;
    struct ct_file_stack f = {
        .row = row,
        .frame = stack - 1,
        .count = atomic_load_explicit(&c->count, memory_order_relaxed),
        .timed = c->timed,
        .total_ns = c->total_ns,
    };
    if (key && stack <= nodes && row < ct_image_count(CT_SECTION_ROWS) && f.count)
        ct_image_append(CT_SECTION_STACKS, &f, sizeof(f));
}

static void add_losses(void)
{
    static const char *const losses[] = {
#define X(id, text) text,
        CT_STACK_LOSSES(X)
#undef X
    };
    for (unsigned i = 0; i < CT_STACK_LOSS_COUNT; i++) {
        struct ct_file_note f = {.kind = CT_NOTE_WARNING, .count = ct_stacks_lost(i)};
        if (!f.count)
            continue;
        f.text = add_string(losses[i]);
        ct_image_append(CT_SECTION_NOTES, &f, sizeof(f));
    }
}

void ct_stack_sections_add(void)
{
    uint32_t nodes = ct_stack_nodes(), lines = nodes ? ct_stack_lines() : 0;
    uint32_t modules = nodes ? ct_stack_modules() : 0;
    uint32_t objects = lines ? ct_native_objects() : 0; /* those of the lines are there by now */
    struct ct_stack_cell *c;
    for (uint32_t i = 0; i < lines; i++)
        add_line(i);
    for (uint32_t number = 1; number <= objects; number++)
        add_object(number);
    for (uint32_t module = 1; module <= modules; module++)
        add_module(module);
    for (uint32_t node = 1; node <= nodes; node++)
        add_frame(node);
    for (uint32_t slot = 0; nodes && (c = ct_stack_cell(slot)); slot++)
        add_cell(c, nodes);
    add_losses();
}
