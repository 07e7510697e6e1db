/* SPDX-License-Identifier: MIT */
#include "stacks/cfi.h"

#include "base/text.h"

#if defined(__x86_64__)
#define REGISTER_FP 6
#define REGISTER_SP 7
#define REGISTER_PC 16
#else
#define REGISTER_FP 29
#define REGISTER_SP 31
#define REGISTER_PC 30
#endif

/* Bytes of a table, of which none is read at the end or behind it: `bad` then. */
struct bytes {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static uint64_t get(struct bytes *b, unsigned size)
{
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < size) {
        b->bad = true;
        b->at = b->end;
        return 0;
    }
    __builtin_memcpy(&value, b->at, size);
    b->at += size;
    return value;
}

static uint64_t get_unsigned(struct bytes *b)
{
    uint64_t value = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && !b->bad; shift += 7) {
        byte = get(b, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    return value;
}

static int64_t get_signed(struct bytes *b)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && !b->bad; shift += 7) {
        byte = get(b, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    return (int64_t)(shift < 64 && byte & 0x40 ? value | ~(uint64_t)0 << shift : value);
}

static void skip(struct bytes *b, uint64_t size)
{
    if (size > (size_t)(b->end - b->at))
        b->bad = true;
    b->at = b->bad ? b->end : b->at + size;
}

/* The readable segment from an address on; empty: there is none. */
static struct bytes bytes_at(const struct ct_object *o, uintptr_t address)
{
    for (unsigned i = 0; i < o->header_count; i++) {
        const ElfW(Phdr) *p = &o->headers[i];
        uintptr_t start = o->base + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && address - start < p->p_filesz)
            return (struct bytes){(const uint8_t *)address, (const uint8_t *)(start + p->p_filesz),
                                  false};
    }
    return (struct bytes){NULL, NULL, true};
}

/* Encodings of pointers: DW_EH_PE. */
enum { ABSOLUTE = 0x00, OMITTED = 0xff, RELATIVE = 0x10, FROM_HEADER = 0x30, INDIRECT = 0x80 };

static uint64_t get_encoded(struct bytes *b, uint8_t encoding)
{
    static const uint8_t sizes[] = {8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8, 0, 0, 0};
    uint64_t at = (uintptr_t)b->at, value;
    if (encoding == OMITTED)
        return 0;
    if ((encoding & 0x0f) == 1)
        value = get_unsigned(b);
    else if ((encoding & 0x0f) == 9)
        value = (uint64_t)get_signed(b);
    else
        value = get(b, sizes[encoding & 0x0f]);
    b->bad |= !sizes[encoding & 0x0f] && (encoding & 7) != 1;
    if ((encoding & 0x0f) == 0x0a)
        value = (uint64_t)(int16_t)value;
    if ((encoding & 0x0f) == 0x0b)
        value = (uint64_t)(int32_t)value;
    return (encoding & 0x70) == RELATIVE ? value + at : value;
}

/* A function's entry (FDE) and what it has in common with others (CIE). */
struct entry {
    struct bytes common_program;
    struct bytes program;
    uintptr_t start;
    uint64_t code_unit;
    int64_t data_unit;
    uint8_t encoding;
    bool has_data; /* of the language's, before the program */
    bool is_signal;
};

static bool read_common(const struct ct_object *o, uintptr_t address, struct entry *e)
{
    struct bytes b = bytes_at(o, address);
    uint64_t length = get(&b, 4);
    if (b.bad || length > (size_t)(b.end - b.at))
        return false;
    b.end = b.at + length;
    uint64_t id = get(&b, 4), version = get(&b, 1);
    const char *augmentation = (const char *)b.at;
    while (get(&b, 1) && !b.bad)
        ;
    if (b.bad || id || (version != 1 && version != 3) || (*augmentation && *augmentation != 'z'))
        return false;
    e->code_unit = get_unsigned(&b);
    e->data_unit = get_signed(&b);
    uint64_t column = version == 1 ? get(&b, 1) : get_unsigned(&b);
    uint64_t size = *augmentation ? get_unsigned(&b) : 0;
    if (b.bad || column != REGISTER_PC || size > (size_t)(b.end - b.at))
        return false;
    e->has_data = *augmentation;
    e->common_program = (struct bytes){b.at + size, b.end, false};
    for (const char *a = augmentation + !!*augmentation; *a; a++) {
        if (*a == 'R')
            e->encoding = (uint8_t)get(&b, 1);
        else if (*a == 'L')
            get(&b, 1);
        else if (*a == 'P')
            get_encoded(&b, (uint8_t)get(&b, 1) & 0x7f);
        else if (*a == 'S')
            e->is_signal = true;
        else if (*a != 'B' && *a != 'G')
            return false;
    }
    return !b.bad;
}

static bool read_entry(const struct ct_object *o, uintptr_t address, uintptr_t pc, struct entry *e)
{
    struct bytes b = bytes_at(o, address);
    uint64_t length = get(&b, 4);
    uintptr_t at = (uintptr_t)b.at;
    if (b.bad || length > (size_t)(b.end - b.at))
        return false;
    b.end = b.at + length;
    uint64_t back = get(&b, 4);
    *e = (struct entry){.encoding = ABSOLUTE};
    if (!back || !read_common(o, at - back, e))
        return false;
    e->start = get_encoded(&b, e->encoding);
    uint64_t size = get_encoded(&b, e->encoding & 0x0f);
    if (e->has_data)
        skip(&b, get_unsigned(&b));
    e->program = b;
    return !b.bad && !(e->encoding & INDIRECT) && pc - e->start < size;
}

/* ---- .eh_frame_hdr ---- */

/* Sorted: where a function starts, and its entry, both from the header on. */
struct place {
    int32_t start;
    int32_t entry;
};

/* Nothing aligns the table: encodings of the header's pointers may be of any length. */
static struct place place_at(const uint8_t *table, uint64_t i)
{
    struct place place;
    __builtin_memcpy(&place, table + i * sizeof(place), sizeof(place));
    return place;
}

/* 0: no entry begins before the address. */
static uintptr_t find_entry(const struct ct_object *o, uintptr_t header, uintptr_t pc)
{
    struct bytes b = bytes_at(o, header);
    uint64_t head = get(&b, 4);
    if (b.bad || (head & 0xff) != 1 || head >> 24 != (FROM_HEADER | 0x0b))
        return 0;
    get_encoded(&b, (uint8_t)(head >> 8));
    uint64_t count = get_encoded(&b, (uint8_t)(head >> 16));
    if (b.bad || !count || count > (size_t)(b.end - b.at) / sizeof(struct place))
        return 0;
    uint64_t low = 0;
    while (count > 1) {
        uint64_t half = count / 2;
        if (header + (uintptr_t)(intptr_t)place_at(b.at, low + half).start <= pc)
            low += half;
        count -= half;
    }
    struct place found = place_at(b.at, low);
    return header + (uintptr_t)(intptr_t)found.start <= pc
               ? header + (uintptr_t)(intptr_t)found.entry
               : 0;
}

/* ---- the program of an entry ---- */

enum where {
    IN_REGISTER, /* as at the function's start */
    AT_CFA,      /* saved at CFA + offset */
    AT_SP,       /* saved at the stack pointer + offset */
    NOWHERE,     /* undefined */
    ODD,         /* somewhere that no rule tells of */
};

struct saved {
    enum where where;
    int64_t offset;
};

struct state {
    uint64_t base; /* register of the CFA */
    int64_t offset;
    bool is_at;  /* the CFA is the word there */
    bool is_odd; /* it is somewhere else */
    struct saved fp;
    struct saved pc;
};

#define REMEMBERED 16

struct run {
    const struct entry *entry;
    uintptr_t location;
    struct state now;
    struct state first; /* as the common program leaves it */
    struct state remembered[REMEMBERED];
    unsigned depth;
    bool is_bad;
};

static struct saved *saved_of(struct run *r, uint64_t number)
{
    return number == REGISTER_FP ? &r->now.fp : number == REGISTER_PC ? &r->now.pc : NULL;
}

static void save(struct run *r, uint64_t number, enum where where, int64_t offset)
{
    struct saved *s = saved_of(r, number);
    if (s)
        *s = (struct saved){where, offset};
}

static void restore(struct run *r, uint64_t number)
{
    struct saved *s = saved_of(r, number);
    if (s)
        *s = number == REGISTER_FP ? r->first.fp : r->first.pc;
}

/* An expression that is a register and an offset, and perhaps the word there. */
static bool read_expression(struct bytes *b, uint64_t *number, int64_t *offset, bool *is_at)
{
    enum { DEREF = 0x06, BREG0 = 0x70, BREG31 = 0x8f };
    uint64_t size = get_unsigned(b);
    struct bytes e = {b->at, b->at, false};
    skip(b, size);
    if (b->bad)
        return false;
    e.end += size;
    uint64_t op = get(&e, 1);
    if (op < BREG0 || op > BREG31)
        return false;
    *number = op - BREG0;
    *offset = get_signed(&e);
    *is_at = e.at < e.end && get(&e, 1) == DEREF;
    return !e.bad && e.at == e.end;
}

static void define_by_expression(struct run *r, struct bytes *b)
{
    r->now.is_odd = !read_expression(b, &r->now.base, &r->now.offset, &r->now.is_at);
}

static void save_by_expression(struct run *r, struct bytes *b)
{
    uint64_t number = get_unsigned(b), base;
    int64_t offset;
    bool is_at, is_known = read_expression(b, &base, &offset, &is_at);
    save(r, number, is_known && base == REGISTER_SP && !is_at ? AT_SP : ODD, offset);
}

static void define(struct run *r, uint64_t base, int64_t offset)
{
    r->now.base = base;
    r->now.offset = offset;
    r->now.is_at = r->now.is_odd = false;
}

static void remember(struct run *r)
{
    if (r->depth == REMEMBERED)
        r->is_bad = true;
    else
        r->remembered[r->depth++] = r->now;
}

static void recall(struct run *r)
{
    if (!r->depth)
        r->is_bad = true;
    else
        r->now = r->remembered[--r->depth];
}

static void advance(struct run *r, uint64_t units)
{
    r->location += units * r->entry->code_unit;
}

/* Instructions whose number is all of their first byte: DW_CFA. Those about the CFA. */
static bool run_cfa(struct run *r, struct bytes *b, uint64_t code)
{
    int64_t unit = r->entry->data_unit;
    uint64_t number;
    switch (code) {
    case 0x0c: /* def_cfa */
        number = get_unsigned(b);
        define(r, number, (int64_t)get_unsigned(b));
        return true;
    case 0x0d: /* def_cfa_register */
        define(r, get_unsigned(b), r->now.offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        define(r, r->now.base, (int64_t)get_unsigned(b));
        return true;
    case 0x0f: /* def_cfa_expression */
        define_by_expression(r, b);
        return true;
    case 0x12: /* def_cfa_sf */
        number = get_unsigned(b);
        define(r, number, get_signed(b) * unit);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        define(r, r->now.base, get_signed(b) * unit);
        return true;
    default:
        return false;
    }
}

/* Those about a register. */
static bool run_register(struct run *r, struct bytes *b, uint64_t code)
{
    int64_t unit = r->entry->data_unit;
    uint64_t number;
    if (code < 0x05 || code == 0x0a || code == 0x0b || (code > 0x16 && code != 0x2f))
        return false;
    if (code == 0x10) { /* expression */
        save_by_expression(r, b);
        return true;
    }
    number = get_unsigned(b);
    switch (code) {
    case 0x05: /* offset_extended */
        save(r, number, AT_CFA, (int64_t)get_unsigned(b) * unit);
        break;
    case 0x06: /* restore_extended */
        restore(r, number);
        break;
    case 0x07: /* undefined */
        save(r, number, NOWHERE, 0);
        break;
    case 0x08: /* same_value */
        save(r, number, IN_REGISTER, 0);
        break;
    case 0x11: /* offset_extended_sf */
        save(r, number, AT_CFA, get_signed(b) * unit);
        break;
    case 0x2f: /* GNU_negative_offset_extended */
        save(r, number, AT_CFA, -(int64_t)get_unsigned(b) * unit);
        break;
    case 0x16: /* val_expression */
        skip(b, get_unsigned(b));
        save(r, number, ODD, 0);
        break;
    default: /* register, val_offset, val_offset_sf */
        get_unsigned(b);
        save(r, number, ODD, 0);
    }
    return true;
}

static void run_long(struct run *r, struct bytes *b, uint64_t code)
{
    if (run_cfa(r, b, code) || run_register(r, b, code))
        return;
    switch (code) {
    case 0x00: /* nop */
    case 0x2d: /* negate_ra_state: addresses are stripped */
        break;
    case 0x01: /* set_loc */
        r->location = get_encoded(b, r->entry->encoding);
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        advance(r, get(b, 1u << (code - 2)));
        break;
    case 0x0a: /* remember_state */
        remember(r);
        break;
    case 0x0b: /* restore_state */
        recall(r);
        break;
    case 0x2e: /* GNU_args_size */
        get_unsigned(b);
        break;
    default:
        r->is_bad = true;
    }
}

/* Until the location is beyond the address. */
static void run_program(struct run *r, struct bytes b, uintptr_t pc)
{
    while (b.at < b.end && r->location <= pc && !r->is_bad && !b.bad) {
        uint64_t byte = get(&b, 1), low = byte & 0x3f;
        if (byte >> 6 == 1)
            advance(r, low);
        else if (byte >> 6 == 2)
            save(r, low, AT_CFA, (int64_t)get_unsigned(&b) * r->entry->data_unit);
        else if (byte >> 6 == 3)
            restore(r, low);
        else
            run_long(r, &b, byte);
    }
    r->is_bad |= b.bad;
}

static struct ct_unwind to_rule(const struct state *s, bool is_signal)
{
    struct ct_unwind u = {.kind = CT_UNWIND_BAD, .is_signal = is_signal};
    bool is_by_fp = s->base == REGISTER_FP;
    if (s->pc.where == NOWHERE) {
        u.kind = CT_UNWIND_END;
        return u;
    }
    if (s->is_odd || (!is_by_fp && s->base != REGISTER_SP) || s->pc.where == ODD ||
        s->fp.where == ODD || !ct_unwind_fits(s->offset, CT_UNWIND_CFA_BITS) ||
        !ct_unwind_fits(s->pc.offset, CT_UNWIND_SLOT_BITS) ||
        !ct_unwind_fits(s->fp.offset, CT_UNWIND_SLOT_BITS))
        return u;
    if (s->is_at)
        u.kind = is_by_fp ? CT_UNWIND_AT_FP : CT_UNWIND_AT_SP;
    else
        u.kind = is_by_fp ? CT_UNWIND_FP : CT_UNWIND_SP;
    u.cfa = (int32_t)s->offset;
    u.is_in_register = s->pc.where == IN_REGISTER;
    u.by_sp = s->pc.where == AT_SP;
    u.pc = (int32_t)s->pc.offset;
    u.fp = (int32_t)s->fp.offset;
    if (s->fp.where == AT_CFA || s->fp.where == AT_SP)
        u.saved = s->fp.where == AT_SP ? CT_UNWIND_BY_SP : CT_UNWIND_BY_CFA;
    return u;
}

struct ct_unwind ct_cfi_rule(const struct ct_object *o, uintptr_t address)
{
    const struct ct_unwind chain = {.kind = CT_UNWIND_CHAIN}, bad = {.kind = CT_UNWIND_BAD};
    struct entry entry;
    uintptr_t at = 0;
    for (unsigned i = 0; i < o->header_count && !at; i++)
        if (o->headers[i].p_type == PT_GNU_EH_FRAME)
            at = find_entry(o, o->base + o->headers[i].p_vaddr, address);
    if (!at || !read_entry(o, at, address, &entry))
        return chain;
    struct run r = {.entry = &entry, .location = entry.start};
    run_program(&r, entry.common_program, UINTPTR_MAX);
    r.first = r.now;
    run_program(&r, entry.program, address);
    return r.is_bad ? bad : to_rule(&r.now, entry.is_signal);
}
