/* SPDX-License-Identifier: MIT */
#include "stacks/native.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/text.h"
#include "containers/table.h"
#include "stacks/cfi.h"
#include "stacks/native_objects.h"
#include "stacks/tree.h"
#include "system/clock.h"
#include "system/spare.h"

#define RULE_BITS 15
#define LINE_BITS 15
#define PAGE_BYTES ((uintptr_t)4096)
#define LARGEST_STACK ((uintptr_t)1 << 30)
#define ADDRESS_BITS 48

/* Closing an object and opening another one takes longer: three system calls' time at least. */
#define LOOK_NS 20000

/* A thread's stack, as far as the thread knows it. */
struct own_stack {
    struct ct_stack_bounds bounds; /* readable; zero: not looked at yet */
    uintptr_t refused;             /* a page of another stack that it ran on */
    uint64_t looked;               /* ticks: when it last asked for unloaded objects */
};

static CT_PROCESS struct ct_table rules; /* address and generation -> rule; emptied when full */
static CT_PROCESS struct ct_table lines; /* likewise -> line */
static CT_PROCESS _Atomic uint64_t generation; /* objects that were unloaded */
static CT_PROCESS uint64_t look_ticks;
static CT_TLS struct own_stack own;

bool ct_native_init(void)
{
    look_ticks = ct_ns_to_ticks(LOOK_NS);
    return ct_table_init(&rules, RULE_BITS) && ct_table_init(&lines, LINE_BITS);
}

/* Addresses come back when an object is unloaded: so they are known by the generation, too. */
static uint64_t generation_now(void)
{
    uint64_t now = ct_ticks();
    if (ct_unlikely(now - own.looked > look_ticks)) {
        own.looked = now;
        atomic_store_explicit(&generation, ct_objects_unloaded(), memory_order_relaxed);
    }
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

static uint64_t key_of(uintptr_t at, uint64_t now)
{
    return at | now << ADDRESS_BITS;
}

/* ---- rules ---- */

#if defined(__x86_64__)

/* Whether a call ends behind the 8 bytes: e8 and four more, or ff /2 with all its forms. */
static bool ends_in_call(const uint8_t code[8])
{
    static const uint8_t lengths[] = {2, 3, 4, 6, 7};
    if (code[3] == 0xe8)
        return true;
    for (unsigned i = 0; i < ct_countof(lengths); i++) {
        const uint8_t *at = code + 8 - lengths[i];
        if (at[0] == 0xff && (at[1] & 0x38) == 0x10)
            return true;
    }
    return false;
}

#else

/* bl, blr, or one of the kinds of blr that check an address's signature. */
static bool ends_in_call(const uint8_t code[8])
{
    uint32_t instruction;
    __builtin_memcpy(&instruction, code + 4, sizeof(instruction));
    return (instruction & 0xfc000000) == 0x94000000 || (instruction & 0xfffffc1f) == 0xd63f0000 ||
           (instruction & 0xfefff800) == 0xd63f0800;
}

#endif

/* The kernel reads: an address of nothing is an error there. */
static bool is_readable_into(void *copy, uintptr_t from, size_t bytes)
{
    struct iovec to = {copy, bytes}, at = {(void *)from, bytes};
    return process_vm_readv(getpid(), &to, 1, &at, 1, 0) == (ssize_t)bytes;
}

/* Code may begin with a page, and nothing be before it. */
static bool is_behind_call(uintptr_t at)
{
    uint8_t code[8] = {0};
    size_t in_page = ct_min(sizeof(code), at % PAGE_BYTES + 1);
    return !ct_spare() &&
           (is_readable_into(code, at + 1 - sizeof(code), sizeof(code)) ||
            is_readable_into(code + sizeof(code) - in_page, at + 1 - in_page, in_page)) &&
           ends_in_call(code);
}

struct rule_search {
    uintptr_t address;
    struct ct_unwind rule;
};

static bool find_rule(const struct ct_object *o, void *arg)
{
    struct rule_search *s = arg;
    if (!ct_object_has_code(o, s->address))
        return false;
    s->rule = ct_cfi_rule(o, s->address);
    s->rule.is_ours = ct_native_is_ours(o);
    return true;
}

/*
 * An address that no call is before is no return address, whatever a table says; but the kernel's
 * way out of a signal handler has none either.
 */
static CT_COLD uint64_t make_rule(uintptr_t at, bool is_exact, uint64_t key)
{
    int saved_errno = errno;
    struct rule_search s = {at, {.kind = CT_UNWIND_CHAIN}};
    bool is_found = at < (uintptr_t)1 << ADDRESS_BITS && ct_objects_visit(find_rule, &s);
    if (!(is_found && (is_exact || s.rule.is_signal)) && !is_behind_call(at))
        s.rule.kind = CT_UNWIND_BAD;
    uint64_t rule = ct_unwind_pack(&s.rule);
    ct_table_put(&rules, key, rule);
    errno = saved_errno;
    return rule;
}

/* ---- the thread's stack ---- */

static uintptr_t thread_pointer(void)
{
    uintptr_t at;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(at));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(at));
#endif
    return at;
}

/*
 * The main thread's stack ends with the program's name; glibc has a thread's own data at the end
 * of its stack.
 */
static uintptr_t end_of_stack(void)
{
    bool is_main = syscall(SYS_gettid) == getpid();
    return (is_main ? getauxval(AT_EXECFN) : thread_pointer()) & ~(uintptr_t)7;
}

/* Whether a word of each page can be read. */
static bool are_readable(uintptr_t low, uintptr_t high)
{
    enum { AT_ONCE = 64 };
    struct iovec page[AT_ONCE];
    char byte[AT_ONCE];
    while (low < high) {
        unsigned n = 0;
        for (; n < AT_ONCE && low < high; low += PAGE_BYTES)
            page[n++] = (struct iovec){(void *)low, 1};
        struct iovec to = {byte, n};
        if (process_vm_readv(getpid(), &to, 1, page, n, 0) != (ssize_t)n)
            return false;
    }
    return true;
}

/* A stack grows: what is below the part that was looked at is looked at, too. */
static CT_COLD bool look_at_stack(uintptr_t sp)
{
    int saved_errno = errno;
    uintptr_t low = sp & ~(PAGE_BYTES - 1), high = own.bounds.high;
    if (!high)
        high = end_of_stack();
    bool is_own = low != own.refused && sp < high && high - sp < LARGEST_STACK && !ct_spare() &&
                  are_readable(low, own.bounds.high ? own.bounds.low : high);
    if (is_own)
        own.bounds = (struct ct_stack_bounds){low, high};
    else
        own.refused = low;
    errno = saved_errno;
    return is_own;
}

static bool is_on_own_stack(uintptr_t sp)
{
    return ct_likely(sp - own.bounds.low < own.bounds.high - own.bounds.low) || look_at_stack(sp);
}

/* ---- walks ---- */

CT_INLINE uint64_t mix(uint64_t mark, uint64_t word)
{
    mark = (mark ^ word) * 0x9e3779b97f4a7c15u;
    return mark ^ mark >> 29;
}

CT_BARE uint64_t ct_native_walk(struct ct_native_frame frame, const struct ct_stack_bounds *bounds,
                                uintptr_t *to, uint32_t most, uint32_t *count)
{
    uint64_t now = generation_now(), mark = now + 1;
    uint32_t n = 0;
    bool is_inside = true; /* of CUDA still, or of the library */
    while (n < CT_NATIVE_DEPTH) {
        uintptr_t at = ct_native_at(&frame);
        uint64_t key = key_of(at, now), rule;
        if (ct_unlikely(!ct_table_find(&rules, key, &rule)))
            rule = make_rule(at, frame.is_exact, key);
        is_inside = is_inside && rule & CT_UNWIND_OURS;
        if (!is_inside) {
            mark = mix(mark, at);
            if (n < most)
                to[n] = at;
            n++;
        }
        if (ct_unlikely(!ct_unwind_step(rule, &frame, bounds)))
            return 0;
        if (frame.has_ended)
            break;
    }
    *count = n;
    return n ? mark | 1 : 0;
}

/* The function's own frame as it is here. */
#if defined(__x86_64__)
#define HERE(frame)                                                                                \
    __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"                          \
                     : "=&r"((frame).pc), "=&r"((frame).sp), "=&r"((frame).fp))
#else
#define HERE(frame)                                                                                \
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"                       \
                     : "=&r"((frame).pc), "=&r"((frame).sp), "=&r"((frame).fp), "=&r"((frame).lr))
#endif

CT_BARE uint64_t ct_native_mark(void)
{
    struct ct_native_frame here = {.is_exact = true};
    uint32_t count;
    HERE(here);
    return is_on_own_stack(here.sp) ? ct_native_walk(here, &own.bounds, NULL, 0, &count) : 0;
}

/* ---- a stack that is new ---- */

static CT_COLD uint32_t add_line(uintptr_t at, uint64_t key)
{
    uintptr_t offset;
    uint32_t object = ct_native_object_of(at, &offset);
    uint32_t line =
        object ? ct_stack_address_add(object, ct_native_object(object)->path, offset) : UINT32_MAX;
    if (line != UINT32_MAX)
        ct_table_put(&lines, key, line);
    return line;
}

static uint32_t line_of(uintptr_t at)
{
    uint64_t line, key = key_of(at, atomic_load_explicit(&generation, memory_order_relaxed));
    return ct_table_find(&lines, key, &line) ? (uint32_t)line : add_line(at, key);
}

CT_BARE uint32_t ct_native_read(void)
{
    struct ct_native_frame here = {.is_exact = true};
    uintptr_t at[CT_NATIVE_DEPTH];
    uint32_t count = 0, node = CT_STACK_NONE;
    HERE(here);
    if (!is_on_own_stack(here.sp) ||
        !ct_native_walk(here, &own.bounds, at, CT_NATIVE_DEPTH, &count))
        return CT_STACK_NONE;
    while (count) {
        uint32_t line = line_of(at[--count]);
        node = line == UINT32_MAX ? CT_STACK_NONE : ct_stack_node_add(node, line, 0);
        if (node == CT_STACK_NONE)
            return CT_STACK_NONE;
    }
    return ct_stack_node_end(node) ? node : CT_STACK_NONE;
}
