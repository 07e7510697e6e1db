/* SPDX-License-Identifier: MIT */
#include "stacks/tree.h"

#include "base/text.h"
#include "containers/intern.h"
#include "containers/table.h"
#include "system/mem.h"
#include "system/spin.h"

/* No table is ever more than half full: none is emptied. */
#define NODE_BITS 17
#define LINE_BITS 16
#define MODULE_BITS 16
#define ANY (CT_STACK_MODULES + 1)
_Static_assert(CT_STACK_NODES <= 1 << (NODE_BITS - 1), "nodes fit their table");
_Static_assert(3 * CT_STACK_LINES <= 3 << (LINE_BITS - 2), "lines and texts fit their table");
_Static_assert(3 * CT_STACK_MODULES <= 3 << (MODULE_BITS - 2), "modules and types fit theirs");
_Static_assert(CT_STACK_LINES <= 1 << 16 && CT_STACK_MODULES < 1 << 16, "a node's key holds both");

struct tree {
    struct ct_table_slot node_slots[1 << NODE_BITS];
    struct ct_table_slot line_slots[1 << LINE_BITS];
    struct ct_table_slot module_slots[1 << MODULE_BITS];
    struct ct_stack_line line[CT_STACK_LINES];
    struct ct_stack_node node[CT_STACK_NODES + 1];
    struct ct_stack_module module[CT_STACK_MODULES + 1];
    uint64_t ends[CT_STACK_NODES / 64 + 1]; /* a bit for each node that is a stack */
};

static CT_PROCESS struct tree *tree;
static CT_PROCESS struct ct_table nodes; /* parent, line and module -> node */
static CT_PROCESS struct ct_table
    modules; /* parent and object -> module; parent, or ANY, and type -> the first of these */
static CT_PROCESS struct ct_table
    lines; /* file, function and line -> line; text -> first line with it */
static CT_PROCESS struct ct_spin lock; /* for adding */
static CT_PROCESS _Atomic uint32_t line_count, node_count, module_count;
static CT_PROCESS uint32_t stacks;
static CT_PROCESS _Atomic size_t text_bytes;

bool ct_stack_tree_init(void)
{
    tree = ct_map(sizeof(*tree));
    if (!tree)
        return false;
    ct_table_begin(&nodes, tree->node_slots, NODE_BITS);
    ct_table_begin(&lines, tree->line_slots, LINE_BITS);
    ct_table_begin(&modules, tree->module_slots, MODULE_BITS);
    return true;
}

static const char *copy(const char *text)
{
    size_t bytes = ct_strnlen(text, CT_STACK_TEXT_BYTES);
    return ct_intern(text, bytes);
}

/* The first line that has the text; asked under the lock. Kinds: a file may be called as a
 * function. */
static uint32_t first_with(const char *text, uint64_t kind, uint32_t line)
{
    uint64_t first, key = (uint64_t)(uintptr_t)text << 2 | kind;
    if (ct_table_find(&lines, key, &first))
        return (uint32_t)first;
    ct_table_add(&lines, key, line);
    return line;
}

static uint32_t add_line(uint64_t key, const struct ct_stack_line *l)
{
    uint64_t known;
    uint32_t i = atomic_load_explicit(&line_count, memory_order_relaxed);
    if (ct_table_find(&lines, key, &known))
        return (uint32_t)known;
    if (i == CT_STACK_LINES)
        return UINT32_MAX;
    struct ct_stack_line *to = &tree->line[i];
    *to = *l;
    to->same_file = first_with(l->file, 1, i);
    to->same_function = first_with(l->function, 2, i);
    atomic_store_explicit(&line_count, i + 1, memory_order_release);
    ct_table_add(&lines, key, i);
    return i;
}

uint32_t ct_stack_line_add(const char *file, const char *function, uint32_t line)
{
    size_t bytes = ct_strlen(file) + ct_strlen(function) + 2;
    if (atomic_load_explicit(&text_bytes, memory_order_relaxed) + bytes > CT_STACK_ALL_TEXT_BYTES)
        return UINT32_MAX;
    struct ct_stack_line l = {.file = copy(file), .function = copy(function), .line = line};
    if (!l.file || !l.function)
        return UINT32_MAX;
    uint64_t key = (uint64_t)(uintptr_t)l.file * 0x9e3779b97f4a7c15u ^
                   (uint64_t)(uintptr_t)l.function * 0xc2b2ae3d27d4eb4fu ^
                   line * (uint64_t)0x165667b19e3779f9u;
    ct_spin_lock(&lock);
    uint32_t before = atomic_load_explicit(&line_count, memory_order_relaxed);
    uint32_t i = add_line(key | 3, &l);
    bool is_new = atomic_load_explicit(&line_count, memory_order_relaxed) != before;
    ct_spin_unlock(&lock);
    if (is_new)
        atomic_fetch_add_explicit(&text_bytes, bytes, memory_order_relaxed);
    return i;
}

static uint32_t add_node(uint64_t key, const struct ct_stack_node *node)
{
    uint64_t known;
    uint32_t i = atomic_load_explicit(&node_count, memory_order_relaxed) + 1;
    if (ct_table_find(&nodes, key, &known))
        return (uint32_t)known;
    if (i > CT_STACK_NODES)
        return CT_STACK_NONE;
    tree->node[i] = *node;
    atomic_store_explicit(&node_count, i, memory_order_release);
    ct_table_add(&nodes, key, i);
    return i;
}

uint32_t ct_stack_node_add(uint32_t parent, uint32_t line, uint32_t module)
{
    const struct ct_stack_node node = {.parent = parent, .line = line, .module = module};
    uint64_t known, key = ((uint64_t)parent << 32 | module << 16 | line) + 1;
    if (ct_table_find(&nodes, key, &known))
        return (uint32_t)known;
    ct_spin_lock(&lock);
    uint32_t i = add_node(key, &node);
    ct_spin_unlock(&lock);
    return i;
}

/* ---- modules ---- */

static uint64_t object_key(uint32_t parent, uint64_t id)
{
    return (id ^ parent * (uint64_t)0x9e3779b97f4a7c16u) | 1;
}

uint32_t ct_stack_module_find(uint32_t parent, uint64_t id)
{
    uint64_t known;
    return ct_table_find(&modules, object_key(parent, id), &known) ? (uint32_t)known
                                                                   : CT_STACK_NONE;
}

/* The first module of that type in a parent, or in ANY: i if there is none yet; under the lock. */
static uint32_t first_of(const char *type, uint32_t parent, uint32_t i)
{
    uint64_t first, key = (uint64_t)(uintptr_t)type << 16 | parent << 1;
    if (ct_table_find(&modules, key, &first))
        return (uint32_t)first;
    ct_table_add(&modules, key, i);
    return i;
}

/* Where its type has numbers left in its parent: the next, or else the one of all the others. */
static uint32_t add_module(uint32_t parent, const char *type)
{
    struct ct_stack_module *m = tree->module;
    uint32_t i = atomic_load_explicit(&module_count, memory_order_relaxed) + 1;
    if (i > CT_STACK_MODULES)
        return parent;
    uint32_t first = first_of(type, parent, i), number = m[first].alike;
    bool has_number = number < CT_STACK_ALIKE;
    if (m[first].others)
        return m[first].others;
    m[i] = (struct ct_stack_module){.type = type,
                                    .parent = parent,
                                    .depth = (uint16_t)(m[parent].depth + 1),
                                    .number = has_number ? (uint16_t)number : CT_STACK_OTHERS,
                                    .same_type = first_of(type, ANY, i)};
    m[first].alike++;
    m[first].others = has_number ? 0 : i;
    atomic_store_explicit(&module_count, i, memory_order_release);
    return i;
}

static uint32_t add_object(uint32_t parent, uint64_t id, const char *type)
{
    uint32_t i = ct_stack_module_find(parent, id);
    if (i || (i = add_module(parent, type)) == parent)
        return i;
    if (tree->module[i].number != CT_STACK_OTHERS)
        ct_table_add(&modules, object_key(parent, id), i);
    return i;
}

uint32_t ct_stack_module_add(uint32_t parent, uint64_t id, const char *type)
{
    uint32_t i = ct_stack_module_find(parent, id), before = ct_stack_modules();
    size_t bytes = ct_strlen(type) + 1;
    if (i)
        return i;
    if (before == CT_STACK_MODULES || tree->module[parent].depth == CT_STACK_MODULE_DEPTH ||
        atomic_load_explicit(&text_bytes, memory_order_relaxed) + bytes > CT_STACK_ALL_TEXT_BYTES ||
        !(type = copy(type)))
        return parent;
    ct_spin_lock(&lock);
    i = add_object(parent, id, type);
    ct_spin_unlock(&lock);
    if (i > before && tree->module[i].same_type == i)
        atomic_fetch_add_explicit(&text_bytes, bytes, memory_order_relaxed);
    return i;
}

bool ct_stack_has_room_for_modules(void)
{
    ct_spin_lock(&lock);
    bool has_room = stacks < CT_STACKS_IN_MODULES;
    ct_spin_unlock(&lock);
    return has_room && ct_stack_nodes() < CT_STACK_NODES / 4 * 3;
}

bool ct_stack_node_end(uint32_t node)
{
    uint64_t bit = (uint64_t)1 << node % 64;
    ct_spin_lock(&lock);
    bool is_known = tree->ends[node / 64] & bit, has_room = is_known || stacks < CT_STACKS;
    stacks += has_room && !is_known;
    tree->ends[node / 64] |= has_room ? bit : 0;
    ct_spin_unlock(&lock);
    return has_room;
}

uint32_t ct_stack_lines(void)
{
    return tree ? atomic_load_explicit(&line_count, memory_order_acquire) : 0;
}

uint32_t ct_stack_modules(void)
{
    return tree ? atomic_load_explicit(&module_count, memory_order_acquire) : 0;
}

uint32_t ct_stack_nodes(void)
{
    return tree ? atomic_load_explicit(&node_count, memory_order_acquire) : 0;
}

const struct ct_stack_line *ct_stack_line(uint32_t i)
{
    return &tree->line[i];
}

const struct ct_stack_node *ct_stack_node(uint32_t node)
{
    return &tree->node[node];
}

const struct ct_stack_module *ct_stack_module(uint32_t module)
{
    return &tree->module[module];
}
