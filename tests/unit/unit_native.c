/* SPDX-License-Identifier: MIT */
/* Frames of native code that are made here, right and wrong, and tables that are garbled. */
#include "../case_main.h"

#include <string.h>
#include <sys/mman.h>

#include "stacks/cfi.h"
#include "stacks/native.h"
#include "stacks/tree.h"

#define WORDS 64

static uintptr_t *words; /* a stack, with pages behind and before it that cannot be read */
static struct ct_stack_bounds bounds;

static void make_stack(void)
{
    char *p = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE), 0);
    words = (uintptr_t *)(void *)(p + 4096);
    bounds = (struct ct_stack_bounds){(uintptr_t)words, (uintptr_t)words + 4096};
}

static uintptr_t at(unsigned word)
{
    return (uintptr_t)&words[word];
}

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

START_TEST(rules_fit_a_word)
{
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t r = next_random();
        struct ct_unwind u = {.kind = CT_UNWIND_SP + r % 4,
                              .saved = (enum ct_unwind_saved)(r >> 8 & 1),
                              .is_ours = r >> 10 & 1,
                              .is_signal = r >> 11 & 1,
                              .by_sp = r >> 12 & 1,
                              .is_in_register = r >> 13 & 1,
                              .cfa = (int32_t)(r >> 16 & 0x7ffff) * 8 - (1 << 21),
                              .pc = (int32_t)(r >> 36 & 0x3ffff) * 8 - (1 << 20),
                              .fp = (int32_t)(next_random() & 0x3ffff) * 8 - (1 << 20)};
        struct ct_unwind same = ct_unwind_unpack(ct_unwind_pack(&u));
        ct_assert(u.kind == same.kind && u.saved == same.saved && u.is_ours == same.is_ours &&
                  u.is_signal == same.is_signal && u.by_sp == same.by_sp &&
                  u.is_in_register == same.is_in_register && u.cfa == same.cfa && u.pc == same.pc &&
                  u.fp == same.fp);
    }
    const struct ct_unwind odd = {.kind = CT_UNWIND_SP, .cfa = 20},
                           large = {.kind = CT_UNWIND_SP, .cfa = 1 << 21};
    ck_assert_uint_eq(ct_unwind_pack(&odd), CT_UNWIND_BAD);
    ck_assert_uint_eq(ct_unwind_pack(&large), CT_UNWIND_BAD);
}
END_TEST

START_TEST(a_step_goes_to_the_caller)
{
    make_stack();
    words[5] = at(20);
    words[6] = 0x1000;
    const struct ct_unwind by_sp = {
        .kind = CT_UNWIND_SP, .saved = CT_UNWIND_BY_CFA, .cfa = 56, .pc = -8, .fp = -16};
    struct ct_native_frame f = {.pc = 0x2000, .sp = at(0), .fp = 0x77};
    ck_assert(ct_unwind_step(ct_unwind_pack(&by_sp), &f, &bounds));
    ck_assert_uint_eq(f.pc, 0x1000);
    ck_assert_uint_eq(f.sp, at(7));
    ck_assert_uint_eq(f.fp, at(20));
    words[21] = 0x3000;
    words[20] = 0;
    const struct ct_unwind chain = {.kind = CT_UNWIND_CHAIN}, end = {.kind = CT_UNWIND_END};
    ck_assert(ct_unwind_step(ct_unwind_pack(&chain), &f, &bounds));
    ck_assert_uint_eq(f.pc, 0x3000);
    ck_assert_uint_eq(f.sp, at(22));
    ck_assert(!f.has_ended);
    ck_assert(ct_unwind_step(ct_unwind_pack(&chain), &f, &bounds));
    ck_assert(f.has_ended);
    f.has_ended = false;
    ck_assert(ct_unwind_step(ct_unwind_pack(&end), &f, &bounds));
    ck_assert(f.has_ended);
}
END_TEST

/* A read outside of the stack would end the process; each step but the last goes outwards. */
START_TEST(garbled_frames_are_refused)
{
    make_stack();
    unsigned refused = 0, steps = 0;
    for (unsigned i = 0; i < 300000; i++) {
        struct ct_native_frame f = {.pc = 0x1000,
                                    .sp = at((unsigned)(next_random() % 512)),
                                    .fp = bounds.low + next_random() % 6000 - 1000,
                                    .lr = next_random() & 1};
        words[next_random() % 512] = bounds.low + next_random() % 6000 - 1000;
        words[next_random() % 512] = next_random();
        for (unsigned n = 0; n < 1000 && !f.has_ended; n++) {
            uint64_t rule = next_random();
            uintptr_t sp = f.sp, lr = f.lr;
            rule = (rule & ~(uint64_t)0x7ffffe00) | (rule & 0xfe00); /* offsets within the page */
            if (!ct_unwind_step(rule, &f, &bounds)) {
                refused++;
                break;
            }
            steps++;
            ct_assert(f.has_ended || f.sp > sp || (f.sp == sp && lr && !f.lr));
        }
    }
    ck_assert_uint_gt(refused, 1000);
    ck_assert_uint_gt(steps, 1000);
}
END_TEST

/* ---- tables ---- */

struct copied {
    struct ct_object original;
    struct ct_object copy;
    ElfW(Phdr) headers[2];
    char *bytes;
    size_t size;
};

/* The C library's segment of tables, at another place, where nothing is behind it. */
static bool copy_tables(const struct ct_object *o, void *arg)
{
    struct copied *c = arg;
    const ElfW(Phdr) *header = NULL, *segment = NULL;
    if (!strstr(o->name, "libc.so"))
        return false;
    for (unsigned i = 0; i < o->header_count; i++)
        if (o->headers[i].p_type == PT_GNU_EH_FRAME)
            header = &o->headers[i];
    for (unsigned i = 0; header && i < o->header_count; i++)
        if (o->headers[i].p_type == PT_LOAD &&
            header->p_vaddr - o->headers[i].p_vaddr < o->headers[i].p_filesz)
            segment = &o->headers[i];
    if (!segment)
        return false;
    size_t in_page = segment->p_vaddr & 4095;
    c->size = (in_page + segment->p_filesz + 4095) & ~(size_t)4095;
    char *p = mmap(NULL, c->size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p, c->size, PROT_READ | PROT_WRITE), 0);
    memcpy(p + in_page, (const void *)(o->base + segment->p_vaddr), segment->p_filesz);
    c->original = c->copy = *o;
    c->bytes = p + in_page;
    c->headers[0] = *segment;
    c->headers[0].p_filesz = c->size - in_page; /* whatever is read behind it ends the process */
    c->headers[1] = *header;
    c->copy.base = (uintptr_t)c->bytes - segment->p_vaddr;
    c->copy.headers = c->headers;
    c->copy.header_count = 2;
    return true;
}

static struct copied *copy_libc(void)
{
    static struct copied c;
    ck_assert(ct_objects_visit(copy_tables, &c));
    return &c;
}

static uintptr_t code_of_libc(const struct copied *c)
{
    for (unsigned i = 0; i < c->original.header_count; i++) {
        const ElfW(Phdr) *p = &c->original.headers[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X)
            return p->p_vaddr + next_random() % p->p_memsz;
    }
    ck_abort_msg("libc has no code");
    return 0;
}

START_TEST(tables_are_read)
{
    const struct copied *c = copy_libc();
    unsigned rules = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uintptr_t code = code_of_libc(c);
        struct ct_unwind u = ct_cfi_rule(&c->original, c->original.base + code);
        struct ct_unwind v = ct_cfi_rule(&c->copy, c->copy.base + code);
        ct_assert_uint(ct_unwind_pack(&u), ==, ct_unwind_pack(&v));
        rules += u.kind == CT_UNWIND_SP || u.kind == CT_UNWIND_FP;
    }
    ck_assert_uint_gt(rules, 15000);
}
END_TEST

START_TEST(garbled_tables_are_read_within_their_segment)
{
    const struct copied *c = copy_libc();
    unsigned others = 0;
    for (unsigned i = 0; i < 20000; i++) {
        size_t where = next_random() % c->headers[0].p_filesz;
        if (i % 16 == 0) /* the head of the table, which all look-ups go through */
            where = c->headers[1].p_vaddr - c->headers[0].p_vaddr + next_random() % 12;
        char before = c->bytes[where];
        c->bytes[where] = (char)next_random();
        for (unsigned k = 0; k < 8; k++)
            others += ct_cfi_rule(&c->copy, c->copy.base + code_of_libc(c)).kind != CT_UNWIND_SP;
        if (i % 4 == 0)
            c->bytes[where] = before;
    }
    ck_assert_uint_gt(others, 0);
}
END_TEST

/* ---- walks ---- */

START_TEST(a_walk_ends_where_no_call_was)
{
    uint32_t count = 99;
    uintptr_t to[4];
    make_stack();
    ck_assert(ct_stack_tree_init() && ct_native_init());
    uintptr_t wrong[] = {0x1234, (uintptr_t)words, ~(uintptr_t)0, (uintptr_t)1 << 63};
    for (unsigned i = 0; i < 4; i++) {
        struct ct_native_frame f = {.pc = wrong[i], .sp = at(0), .fp = at(2)};
        ck_assert_uint_eq(ct_native_walk(f, &bounds, to, 4, &count), 0);
    }
    ck_assert_uint_eq(count, 99);
    ck_assert_uint_eq(ct_native_objects(), 0);
}
END_TEST

START_TEST(addresses_are_lines_of_objects)
{
    ck_assert(ct_stack_tree_init());
    uint32_t a = ct_stack_address_add(1, "/lib/libx.so", 0x1a2b0),
             b = ct_stack_address_add(2, "/lib/libx.so", 0x1a2b0);
    ck_assert_uint_eq(ct_stack_address_add(1, "/lib/libx.so", 0x1a2b0), a);
    ck_assert_uint_ne(a, b);
    ck_assert_str_eq(ct_stack_line(a)->function, "libx.so+0x1a2b0");
    ck_assert_str_eq(ct_stack_line(a)->file, "/lib/libx.so");
    ck_assert_uint_eq(ct_stack_address(b)->object, 2);
    ck_assert_uint_eq(ct_stack_address(b)->offset, 0x1a2b0);
    uint32_t none = ct_stack_address_add(3, "", 0);
    ck_assert_str_eq(ct_stack_line(none)->function, "code in no file");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("native");
    tcase_add_test(tests, rules_fit_a_word);
    tcase_add_test(tests, a_step_goes_to_the_caller);
    tcase_add_test(tests, garbled_frames_are_refused);
    tcase_add_test(tests, tables_are_read);
    tcase_add_test(tests, garbled_tables_are_read_within_their_segment);
    tcase_add_test(tests, a_walk_ends_where_no_call_was);
    tcase_add_test(tests, addresses_are_lines_of_objects);
    return ct_case_main("native", tests);
}
