/* SPDX-License-Identifier: MIT */
#include "stacks/tree.h"

#include "base/text.h"
#include "containers/intern.h"
#include "system/mem.h"
#include "system/spin.h"

/* By hashes of their keys the numbers, from 1, of entries that have these themselves. */
#define SLOTS_FOR(entries) ((entries) <= 12288 ? 16384 : 65536)
_Static_assert(4 * CT_STACK_NODES <= 3 * SLOTS_FOR(CT_STACK_NODES), "nodes fit their index");
_Static_assert(4 * CT_STACK_LINES <= 3 * SLOTS_FOR(CT_STACK_LINES), "lines fit theirs");
_Static_assert(4 * CT_STACK_MODULES <= 3 * SLOTS_FOR(CT_STACK_MODULES), "modules fit theirs");

struct index {
    _Atomic uint16_t *slot;
    uint32_t slots; /* a power of two */
};

struct tree {
    _Atomic uint16_t node_slots[SLOTS_FOR(CT_STACK_NODES)];
    _Atomic uint16_t line_slots[3][SLOTS_FOR(CT_STACK_LINES)];
    _Atomic uint16_t module_slots[3][SLOTS_FOR(CT_STACK_MODULES)];
    struct ct_stack_line line[CT_STACK_LINES];
    struct ct_stack_address address[CT_STACK_LINES]; /* without native code never written */
    struct ct_stack_node node[CT_STACK_NODES + 1];
    struct ct_stack_module module[CT_STACK_MODULES + 1];
    uint64_t ends[CT_STACK_NODES / 64 + 1]; /* a bit for each node that is a stack */
};

static CT_PROCESS struct tree *tree;
static CT_PROCESS struct index nodes;     /* by parent, line and module */
static CT_PROCESS struct index lines;     /* by file, function and line: those plus one, as in */
static CT_PROCESS struct index files;     /* by file: the first line with it; */
static CT_PROCESS struct index functions; /* by function: likewise */
static CT_PROCESS struct index objects;   /* by key */
static CT_PROCESS struct index alikes;    /* by parent and type: the first module */
static CT_PROCESS struct index types;     /* by type: likewise */
static CT_PROCESS struct ct_spin lock;    /* for adding */
static CT_PROCESS _Atomic uint32_t line_count, node_count, module_count;
static CT_PROCESS uint32_t stacks;
static CT_PROCESS _Atomic size_t text_bytes;

bool ct_stack_tree_init(void)
{
    tree = ct_map(sizeof(*tree));
    if (!tree)
        return false;
    nodes = (struct index){tree->node_slots, ct_countof(tree->node_slots)};
    lines = (struct index){tree->line_slots[0], ct_countof(tree->line_slots[0])};
    files = (struct index){tree->line_slots[1], ct_countof(tree->line_slots[1])};
    functions = (struct index){tree->line_slots[2], ct_countof(tree->line_slots[2])};
    objects = (struct index){tree->module_slots[0], ct_countof(tree->module_slots[0])};
    alikes = (struct index){tree->module_slots[1], ct_countof(tree->module_slots[1])};
    types = (struct index){tree->module_slots[2], ct_countof(tree->module_slots[2])};
    return true;
}

/* The slot of a key, or the free one where it belongs: entries that are in a slot are whole. */
static _Atomic uint16_t *slot_of(const struct index *x, uint64_t hash,
                                 bool (*is)(uint32_t number, const void *key), const void *key)
{
    hash *= 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    for (uint64_t i = hash >> 32;; i++) {
        _Atomic uint16_t *slot = &x->slot[i & (x->slots - 1)];
        uint16_t number = atomic_load_explicit(slot, memory_order_acquire);
        if (!number || is(number, key))
            return slot;
    }
}

/* 0: it is not there. */
static uint32_t number_in(const _Atomic uint16_t *slot)
{
    return atomic_load_explicit(slot, memory_order_acquire);
}

/* Under the lock. */
static void put(_Atomic uint16_t *slot, uint32_t number)
{
    atomic_store_explicit(slot, (uint16_t)number, memory_order_release);
}

/* ---- lines ---- */

static const char *copy(const char *text)
{
    size_t bytes = ct_strnlen(text, CT_STACK_TEXT_BYTES);
    return ct_intern(text, bytes);
}

struct place {
    struct ct_stack_line line;
    struct ct_stack_address address;
};

static bool is_line(uint32_t number, const void *key)
{
    const struct ct_stack_line *l = &tree->line[number - 1];
    const struct place *k = key;
    return l->file == k->line.file && l->function == k->line.function && l->line == k->line.line &&
           tree->address[number - 1].object == k->address.object;
}

static bool has_file(uint32_t number, const void *file)
{
    return tree->line[number - 1].file == file;
}

static bool has_function(uint32_t number, const void *function)
{
    return tree->line[number - 1].function == function;
}

/* The first line that has the text: line i if there is none yet; asked under the lock. */
static uint16_t first_with(const struct index *x, bool (*has)(uint32_t, const void *),
                           const char *text, uint32_t i)
{
    _Atomic uint16_t *slot = slot_of(x, (uintptr_t)text, has, text);
    if (!number_in(slot))
        put(slot, i + 1);
    return (uint16_t)(number_in(slot) - 1);
}

static uint32_t add_line(uint64_t hash, const struct place *p)
{
    _Atomic uint16_t *slot = slot_of(&lines, hash, is_line, p);
    uint32_t i = atomic_load_explicit(&line_count, memory_order_relaxed);
    if (number_in(slot))
        return number_in(slot) - 1;
    if (i == CT_STACK_LINES)
        return UINT32_MAX;
    struct ct_stack_line *to = &tree->line[i];
    *to = p->line;
    if (p->address.object)
        tree->address[i] = p->address;
    to->same_file = first_with(&files, has_file, to->file, i);
    to->same_function = first_with(&functions, has_function, to->function, i);
    atomic_store_explicit(&line_count, i + 1, memory_order_release);
    put(slot, i + 1);
    return i;
}

static uint32_t add_texts(struct place p)
{
    struct ct_stack_line *l = &p.line;
    size_t bytes = ct_strlen(l->file) + ct_strlen(l->function) + 2;
    if (atomic_load_explicit(&text_bytes, memory_order_relaxed) + bytes > CT_STACK_ALL_TEXT_BYTES)
        return UINT32_MAX;
    l->file = copy(l->file);
    l->function = copy(l->function);
    if (!l->file || !l->function)
        return UINT32_MAX;
    uint64_t hash = (uint64_t)(uintptr_t)l->file * 0x9e3779b97f4a7c15u ^
                    (uint64_t)(uintptr_t)l->function * 0xc2b2ae3d27d4eb4fu ^
                    (l->line + ((uint64_t)p.address.object << 32)) * 0x165667b19e3779f9u;
    ct_spin_lock(&lock);
    uint32_t before = atomic_load_explicit(&line_count, memory_order_relaxed);
    uint32_t i = add_line(hash, &p);
    bool is_new = atomic_load_explicit(&line_count, memory_order_relaxed) != before;
    ct_spin_unlock(&lock);
    if (is_new)
        atomic_fetch_add_explicit(&text_bytes, bytes, memory_order_relaxed);
    return i;
}

uint32_t ct_stack_line_add(const char *file, const char *function, uint32_t line)
{
    return add_texts((struct place){{.file = file, .function = function, .line = line}, {0}});
}

uint32_t ct_stack_address_add(uint32_t object, const char *path, uint64_t offset)
{
    char function[CT_STACK_TEXT_BYTES];
    struct ct_text text = ct_text_in(function, sizeof(function));
    ct_text_add(&text, *path ? ct_file_name(path) : "code in no file");
    if (*path) {
        ct_text_add(&text, "+0x");
        unsigned shift = ct_octave(offset) & ~3u;
        for (unsigned i = 0; i <= shift; i += 4)
            ct_text_add_char(&text, "0123456789abcdef"[offset >> (shift - i) & 15]);
    }
    return add_texts(
        (struct place){{.file = path, .function = function}, {.object = object, .offset = offset}});
}

/* ---- nodes ---- */

static bool is_node(uint32_t number, const void *key)
{
    return !__builtin_memcmp(&tree->node[number], key, sizeof(struct ct_stack_node));
}

static uint32_t add_node(_Atomic uint16_t *slot, const struct ct_stack_node *node)
{
    uint32_t i = atomic_load_explicit(&node_count, memory_order_relaxed) + 1;
    if (i > CT_STACK_NODES)
        return CT_STACK_NONE;
    tree->node[i] = *node;
    atomic_store_explicit(&node_count, i, memory_order_release);
    put(slot, i);
    return i;
}

uint32_t ct_stack_node_add(uint32_t parent, uint32_t line, uint32_t module)
{
    const struct ct_stack_node node = {(uint16_t)parent, (uint16_t)line, (uint16_t)module};
    uint64_t hash = (uint64_t)parent << 32 | module << 16 | line;
    uint32_t i = number_in(slot_of(&nodes, hash, is_node, &node));
    if (i)
        return i;
    ct_spin_lock(&lock);
    _Atomic uint16_t *slot = slot_of(&nodes, hash, is_node, &node);
    i = number_in(slot);
    if (!i)
        i = add_node(slot, &node);
    ct_spin_unlock(&lock);
    return i;
}

/* ---- modules ---- */

static uint64_t object_key(uint32_t parent, uint64_t id)
{
    return (id ^ parent * (uint64_t)0x9e3779b97f4a7c16u) | 1;
}

static bool has_key(uint32_t number, const void *key)
{
    return tree->module[number].key == *(const uint64_t *)key;
}

static bool is_alike(uint32_t number, const void *key)
{
    const struct ct_stack_module *m = &tree->module[number], *k = key;
    return m->type == k->type && m->parent == k->parent;
}

static bool has_type(uint32_t number, const void *type)
{
    return tree->module[number].type == type;
}

static _Atomic uint16_t *object_slot(uint64_t key)
{
    return slot_of(&objects, key, has_key, &key);
}

uint32_t ct_stack_module_find(uint32_t parent, uint64_t id)
{
    return number_in(object_slot(object_key(parent, id)));
}

/* Where its type has numbers left in its parent: the next, or else the one of all the others. */
static uint32_t add_module(uint32_t parent, uint64_t key, const char *type)
{
    struct ct_stack_module *m = tree->module, alike = {.type = type, .parent = (uint16_t)parent};
    uint32_t i = atomic_load_explicit(&module_count, memory_order_relaxed) + 1;
    if (i > CT_STACK_MODULES)
        return parent;
    uint64_t hash = (uint64_t)(uintptr_t)type << 16 | parent;
    _Atomic uint16_t *first_alike = slot_of(&alikes, hash, is_alike, &alike);
    _Atomic uint16_t *first = slot_of(&types, (uintptr_t)type, has_type, type);
    struct ct_stack_module *head = number_in(first_alike) ? &m[number_in(first_alike)] : &m[i];
    if (head->others)
        return head->others;
    bool has_number = head->alike < CT_STACK_ALIKE;
    m[i] =
        (struct ct_stack_module){.type = type,
                                 .key = has_number ? key : 0,
                                 .parent = (uint16_t)parent,
                                 .depth = (uint16_t)(m[parent].depth + 1),
                                 .number = has_number ? head->alike : CT_STACK_OTHERS,
                                 .same_type = (uint16_t)(number_in(first) ? number_in(first) : i)};
    head->alike++;
    head->others = has_number ? 0 : (uint16_t)i;
    atomic_store_explicit(&module_count, i, memory_order_release);
    if (!number_in(first_alike))
        put(first_alike, i);
    if (!number_in(first))
        put(first, i);
    return i;
}

static uint32_t add_object(uint32_t parent, uint64_t id, const char *type)
{
    uint64_t key = object_key(parent, id);
    _Atomic uint16_t *slot = object_slot(key);
    uint32_t i = number_in(slot);
    if (i || (i = add_module(parent, key, type)) == parent)
        return i;
    if (tree->module[i].number != CT_STACK_OTHERS)
        put(slot, i);
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

const struct ct_stack_address *ct_stack_address(uint32_t i)
{
    return &tree->address[i];
}

const struct ct_stack_node *ct_stack_node(uint32_t node)
{
    return &tree->node[node];
}

const struct ct_stack_module *ct_stack_module(uint32_t module)
{
    return &tree->module[module];
}
