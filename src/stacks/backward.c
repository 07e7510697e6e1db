/* SPDX-License-Identifier: MIT */
#include "stacks/backward.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "cutrace/format.h"
#include "stacks/stacks.h"
#include "stacks/thread_name.h"
#include "state/thread.h"
#include "system/mem.h"

/* An entry: the number's upper bits, the thread that used it, and the stack. 0: it is free. */
#define STACK_BITS 17
#define THREAD_BITS 22
#define SEVERAL (((uint64_t)1 << THREAD_BITS) - 1) /* threads, or perhaps another number */
#define NUMBERS ((uint64_t)1 << (CT_BACKWARD_BITS + 64 - STACK_BITS - THREAD_BITS))
_Static_assert(CT_STACK_NODES < 1 << STACK_BITS, "an entry has room for a stack");

static CT_PROCESS _Atomic uint64_t *entries; /* by the number's lower bits; NULL: none are kept */

bool ct_backward_init(void)
{
    return (entries = ct_map(sizeof(*entries) << CT_BACKWARD_BITS)) != NULL;
}

static uint64_t entry_of(uint64_t number, uint64_t thread, uint32_t stack)
{
    return (number >> CT_BACKWARD_BITS) << (THREAD_BITS + STACK_BITS) | thread << STACK_BITS |
           stack;
}

static bool is_of(uint64_t entry, uint64_t number)
{
    return entry &&
           entry >> (THREAD_BITS + STACK_BITS) == (number & (NUMBERS - 1)) >> CT_BACKWARD_BITS;
}

static uint64_t thread_of(uint64_t entry)
{
    return entry >> STACK_BITS & SEVERAL;
}

static _Atomic uint64_t *slot_of(uint64_t number)
{
    return &entries[number & ((1 << CT_BACKWARD_BITS) - 1)];
}

static void put(uint64_t number, uint64_t thread, uint32_t stack)
{
    _Atomic uint64_t *slot = slot_of(number);
    uint64_t was = atomic_load_explicit(slot, memory_order_relaxed), entry;
    do {
        bool is_others = is_of(was, number) && thread_of(was) != thread;
        entry = is_others ? entry_of(number, SEVERAL, 0) : entry_of(number, thread, stack);
    } while (!atomic_compare_exchange_weak_explicit(slot, &was, entry, memory_order_release,
                                                    memory_order_relaxed));
}

static uint32_t find(uint64_t number)
{
    uint64_t entry = atomic_load_explicit(slot_of(number), memory_order_acquire);
    return is_of(entry, number) ? (uint32_t)(entry & ((1 << STACK_BITS) - 1)) : CT_STACK_NONE;
}

/* False: there is none, or one too large to be known again. */
static bool read_number(const char *text, uint64_t *number)
{
    static const char sign[] = ", seq = ";
    uint64_t n = 0;
    if (!ct_starts_with(text, sign))
        return false;
    const char *first = text + sizeof(sign) - 1, *at = first;
    for (; *at >= '0' && *at <= '9' && n < NUMBERS; at++)
        n = 10 * n + (uint64_t)(*at - '0');
    *number = n;
    return at != first && n < NUMBERS;
}

/* "AddmmBackward0", "MyFunctionBackward". */
static bool is_node(const char *name, uint32_t bytes)
{
    static const char *const ends[] = {"Backward", "CopyBackwards", "CopySlices"};
    while (bytes && name[bytes - 1] >= '0' && name[bytes - 1] <= '9')
        bytes--;
    for (unsigned i = 0; i < ct_countof(ends); i++) {
        size_t end = ct_strlen(ends[i]);
        if (bytes >= end && ct_same_text(ends[i], name + bytes - end, end))
            return true;
    }
    return false;
}

/* Whether a stack ends in a line that is known: a thread's name has none. */
static bool has_line(uint32_t stack)
{
    return stack && ct_stack_line(ct_stack_node(stack)->line)->line;
}

static unsigned depth_of(uint32_t stack)
{
    unsigned depth = 0;
    for (; stack; stack = ct_stack_node(stack)->parent)
        depth++;
    return depth;
}

/* A frame in that of the forward line, of the same line. CT_STACK_NONE: there is no room. */
static uint32_t behind(uint32_t forward)
{
    if (depth_of(forward) >= CT_FILE_STACK_DEPTH)
        return CT_STACK_NONE;
    const struct ct_stack_node *node = ct_stack_node(forward);
    const struct ct_stack_line *l = ct_stack_line(node->line);
    uint32_t line = ct_stack_line_add(l->file, CT_STACK_BACKWARD, l->line);
    uint32_t stack =
        line == UINT32_MAX ? CT_STACK_NONE : ct_stack_node_add(forward, line, node->module);
    return stack && ct_stack_node_end(stack) ? stack : CT_STACK_NONE;
}

static void keep_forward(uint64_t number)
{
    uint32_t stack = ct_stack_take();
    put(number, (uint64_t)syscall(SYS_gettid), has_line(stack) ? stack : CT_STACK_NONE);
}

/* In a thread that runs Python a forward operation may be called so: its number is given up. */
bool ct_backward_begins(const char *name, uint32_t bytes, struct ct_origin *origin)
{
    uint64_t number;
    if (!entries || !read_number(name + bytes, &number))
        return false;
    if (!is_node(name, bytes)) {
        keep_forward(number);
        return false;
    }
    uint32_t forward = find(number);
    *origin = (struct ct_origin){.frame = ct_stack_frame()};
    origin->stack = forward ? behind(forward) : CT_STACK_NONE;
    if (origin->frame)
        put(number, SEVERAL, CT_STACK_NONE);
    return true;
}
