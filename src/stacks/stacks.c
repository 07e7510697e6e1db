/* SPDX-License-Identifier: MIT */
#include "stacks/stacks.h"

#include <errno.h>

#include "containers/table.h"
#include "stacks/backward.h"
#include "stacks/native.h"
#include "stacks/python.h"
#include "stacks/thread_name.h"
#include "state/thread.h"
#include "system/mem.h"
#include "system/spin.h"

#define KNOWN_BITS 15 /* stacks that are found by their mark */
#define SPOT_BITS 13  /* likewise lines */
#define SLOTS 32768
_Static_assert(CT_STACK_CELLS * 4 <= SLOTS * 3, "a search for a cell meets a free slot");

enum state {
    UNKNOWN,   /* as a process begins: whether there is an interpreter */
    UNCHECKED, /* there is one, and no thread had a frame yet that could be checked */
    CHECKED,
    REFUSED,
};

struct store {
    struct ct_table_slot known_slots[1 << KNOWN_BITS];
    struct ct_table_slot spot_slots[1 << SPOT_BITS];
    struct ct_stack_cell cell[SLOTS];
};

CT_PROCESS_READ bool ct_stacks_are_on;

static CT_PROCESS_READ bool is_native;
static CT_PROCESS struct store *store;
static CT_PROCESS struct ct_table known; /* a stack's mark -> its node; emptied when full */
static CT_PROCESS struct ct_table spots; /* a frame's mark -> its line, likewise */
static CT_PROCESS struct ct_interpreter interpreter;
static CT_PROCESS _Atomic uint32_t state;
/* A lock of the thread that looks for the interpreter, or checks it: nobody waits. */
static CT_PROCESS struct ct_spin check_lock;
static CT_PROCESS _Atomic uint64_t looks; /* launches while none was found */
static CT_PROCESS const char *_Atomic refusal;
static CT_PROCESS _Atomic uint32_t cells;
static CT_PROCESS _Atomic uint64_t lost[CT_STACK_LOSS_COUNT];

static uint32_t lose(enum ct_stack_loss loss)
{
    atomic_fetch_add_explicit(&lost[loss], 1, memory_order_relaxed);
    return CT_STACK_NONE;
}

/* ---- the interpreter ---- */

static void refuse(const char *why)
{
    atomic_store_explicit(&refusal, why, memory_order_release);
    atomic_store_explicit(&state, REFUSED, memory_order_release);
}

void ct_stacks_init(enum ct_stack_kind kind)
{
    is_native = kind == CT_STACKS_NATIVE;
    store = kind ? ct_map(sizeof(*store)) : NULL;
    ct_stacks_are_on =
        store && ct_stack_tree_init() && (is_native ? ct_native_init() : ct_backward_init());
    if (kind && !ct_stacks_are_on)
        refuse("there is no memory for them");
    if (!ct_stacks_are_on)
        return;
    ct_table_begin(&known, store->known_slots, KNOWN_BITS);
    ct_table_begin(&spots, store->spot_slots, SPOT_BITS);
}

/* It may be loaded later than CUDA: looked for at the first launch, the second, the fourth, ... */
static void look(void)
{
    uint64_t n = atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    if ((n & (n + 1)) || !ct_python_find(&interpreter))
        return;
    const char *wrong = ct_python_check(&interpreter);
    if (wrong)
        refuse(wrong);
    else
        atomic_store_explicit(&state, UNCHECKED, memory_order_release);
}

static void check(void)
{
    bool tried = false;
    const char *frame = ct_python_newest(&interpreter);
    if (!frame)
        return;
    const char *wrong = ct_python_check_frames(&interpreter, frame, &tried);
    if (wrong)
        refuse(wrong);
    else if (tried)
        atomic_store_explicit(&state, CHECKED, memory_order_release);
}

/* One thread does it; the launches of others meanwhile are in no stack. */
static CT_COLD bool prepare(void)
{
    int saved_errno = errno;
    if (atomic_load_explicit(&state, memory_order_relaxed) != REFUSED && ct_spin_try(&check_lock)) {
        if (atomic_load(&state) == UNKNOWN)
            look();
        if (atomic_load(&state) == UNCHECKED)
            check();
        ct_spin_unlock(&check_lock);
    }
    errno = saved_errno;
    return atomic_load(&state) == CHECKED;
}

const char *ct_stacks_take_refusal(void)
{
    return atomic_exchange_explicit(&refusal, NULL, memory_order_acq_rel);
}

/* ---- a stack ---- */

static CT_COLD uint32_t read_line(uint64_t mark, const struct ct_py_spot *spot)
{
    const struct ct_py_layout *l = interpreter.python.layout;
    char file[CT_STACK_TEXT_BYTES], function[CT_STACK_TEXT_BYTES];
    if (!ct_py_text(l, ct_py_pointer(spot->code + l->file), file, sizeof(file)) ||
        !ct_py_text(l, ct_py_pointer(spot->code + l->name), function, sizeof(function)))
        return UINT32_MAX;
    uint32_t line = ct_stack_line_add(file, function, ct_py_line(l, spot));
    if (line != UINT32_MAX)
        ct_table_put(&spots, mark, line);
    return line;
}

static uint32_t line_of(const struct ct_py_spot *spot)
{
    uint64_t mark = ct_py_mark(interpreter.python.layout, spot), line;
    return ct_table_find(&spots, mark, &line) ? (uint32_t)line : read_line(mark, spot);
}

/* How far a walk from the outermost frame in has come. */
struct place {
    uint32_t node;
    uint32_t module;
    uint64_t self; /* id of the object that the module is for */
    bool has_modules;
};

/* Frames of one object below each other, as those of forward() in __call__(), are one module. */
static void enter_module(struct place *at, const struct ct_py_self *self)
{
    char type[CT_STACK_TEXT_BYTES];
    if (!self->id || self->id == at->self)
        return;
    at->self = self->id;
    uint32_t parent = at->module;
    if (at->has_modules)
        at->module = ct_stack_module_find(parent, self->id);
    if (at->has_modules && !at->module) {
        ct_python_type_name(self->type, type, sizeof(type));
        at->module = ct_stack_module_add(parent, self->id, type);
    }
    if (at->module == parent)
        lose(CT_STACK_LOST_MODULES);
}

static bool enter_frame(struct place *at, const char *frame)
{
    struct ct_py_spot spot;
    if (ct_py_look_at(&interpreter.python, frame, &spot) != CT_PY_FRAME)
        return true;
    struct ct_py_self self = ct_py_self(&interpreter.python, frame, spot.code);
    uint32_t line = line_of(&spot);
    enter_module(at, &self);
    at->node = line == UINT32_MAX ? CT_STACK_NONE : ct_stack_node_add(at->node, line, at->module);
    return at->node != CT_STACK_NONE;
}

/* From the outermost in. CT_STACK_NONE: there is no room. */
static uint32_t read_stack(const char *frame)
{
    const char *frames[CT_PY_DEPTH];
    struct place at = {.node = CT_STACK_NONE, .has_modules = ct_stack_has_room_for_modules()};
    unsigned n = 0;
    for (; frame && n < CT_PY_DEPTH; frame = ct_py_back(&interpreter.python, frame))
        frames[n++] = frame;
    while (n)
        if (!enter_frame(&at, frames[--n]))
            return CT_STACK_NONE;
    return ct_stack_node_end(at.node) ? at.node : CT_STACK_NONE;
}

/* One that has not been seen, or was forgotten as the table was full. */
static CT_COLD uint32_t add_stack(uint64_t mark, const char *frame)
{
    uint32_t node = read_stack(frame);
    ct_table_put(&known, mark, node);
    return node;
}

/* In a thread without frames, also before a frame of another one could be checked. */
static CT_NOINLINE uint32_t take_name(struct ct_thread *t)
{
    uint32_t now = atomic_load_explicit(&state, memory_order_acquire);
    if (!t || (now != CHECKED && now != UNCHECKED) || !ct_python_tells(&interpreter) ||
        ct_python_newest(&interpreter))
        return CT_STACK_NONE;
    uint32_t stack = ct_stack_of_name(t);
    return stack ? stack : lose(CT_STACK_LOST_MANY);
}

static bool is_checked(void)
{
    return ct_likely(atomic_load_explicit(&state, memory_order_acquire) == CHECKED) || prepare();
}

const void *ct_stack_frame(void)
{
    return is_checked() ? ct_python_newest(&interpreter) : NULL;
}

static uint32_t take_native(void)
{
    uint64_t mark = ct_native_mark(), node;
    if (ct_unlikely(!mark))
        return lose(CT_STACK_LOST_GARBLED);
    if (ct_unlikely(!ct_table_find(&known, mark, &node))) {
        node = ct_native_read();
        ct_table_put(&known, mark, node);
    }
    return ct_likely(node) ? (uint32_t)node : lose(CT_STACK_LOST_MANY);
}

uint32_t ct_stack_take(void)
{
    if (is_native)
        return take_native();
    struct ct_thread *t = ct_thread_current;
    const char *frame = is_checked() ? ct_python_newest(&interpreter) : NULL;
    if (ct_unlikely(t && t->origin.stack) && t->origin.frame == frame)
        return t->origin.stack;
    if (ct_unlikely(!frame))
        return take_name(t);
    uint64_t mark = ct_py_stack_mark(&interpreter.python, frame), node;
    if (ct_unlikely(!mark))
        return lose(CT_STACK_LOST_GARBLED);
    if (ct_unlikely(!ct_table_find(&known, mark, &node)))
        node = add_stack(mark, frame);
    return ct_likely(node) ? (uint32_t)node : lose(CT_STACK_LOST_MANY);
}

/* ---- sums ---- */

/* A free slot is claimed by its key: two threads with one key find the same. */
static struct ct_stack_cell *cell_of(uint32_t row, uint32_t stack, bool adds)
{
    uint64_t key = (uint64_t)row << 32 | stack, home = key * 0x9e3779b97f4a7c15u >> 40;
    for (uint64_t i = home;; i++) {
        struct ct_stack_cell *c = &store->cell[i % SLOTS];
        uint64_t k = atomic_load_explicit(&c->key, memory_order_relaxed);
        if (k == key)
            return c;
        if (k)
            continue;
        if (!adds || atomic_load_explicit(&cells, memory_order_relaxed) >= CT_STACK_CELLS)
            return NULL;
        if (atomic_compare_exchange_strong_explicit(&c->key, &k, key, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            atomic_fetch_add_explicit(&cells, 1, memory_order_relaxed);
            return c;
        }
        if (k == key)
            return c;
    }
}

CT_NOINLINE uint32_t ct_stack_of_launch(uint32_t row, uint64_t operations, double weight)
{
    uint32_t stack = ct_stack_take();
    if (!stack)
        return CT_STACK_NONE;
    struct ct_stack_cell *c = cell_of(row, stack, true);
    if (!c)
        return lose(CT_STACK_LOST_CELLS);
    atomic_fetch_add_explicit(&c->count, operations * ct_weight_stands_for(weight),
                              memory_order_relaxed);
    return stack;
}

CT_NOINLINE void ct_stack_timed(const struct ct_op *op, uint64_t time_ns)
{
    struct ct_stack_cell *c = cell_of(op->row, op->stack, false);
    if (!c)
        return;
    c->timed += op->operations * ct_op_stands_for(op);
    c->total_ns += time_ns * ct_op_stands_for(op);
}

struct ct_stack_cell *ct_stack_cell(uint32_t slot)
{
    return store && slot < SLOTS ? &store->cell[slot] : NULL;
}

uint64_t ct_stacks_lost(enum ct_stack_loss loss)
{
    return atomic_load_explicit(&lost[loss], memory_order_relaxed);
}
