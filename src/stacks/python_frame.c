/* SPDX-License-Identifier: MIT */
#include "stacks/python_frame.h"

#include "base/text.h"

#define LONGEST_TEXT 4096 /* characters of a name or a path that are looked at */
#define MOST_LOCALS 4096
#define LARGEST_TABLE ((uint64_t)1 << 20)

#define ODD_A 0x9e3779b97f4a7c15u
#define ODD_B 0xc2b2ae3d27d4eb4fu
#define ODD_C 0x165667b19e3779f9u
#define ODD_D 0xd6e8feb86659fd93u

CT_INLINE uint64_t stir(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * ODD_A;
    return hash ^ hash >> 29;
}

static bool text_is(const char *object)
{
    uint32_t state = ct_py_half(object + CT_PY_TEXT_STATE), kind = state >> 2 & 7;
    return state >> 5 & 1 && (kind == 1 || kind == 2 || kind == 4);
}

static const char *text_data(const struct ct_py_layout *l, const char *object)
{
    bool is_ascii = ct_py_half(object + CT_PY_TEXT_STATE) >> 6 & 1;
    return object + (is_ascii ? l->ascii_text : l->other_text);
}

CT_INLINE uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static CT_COLD uint64_t hash_short(const char *at, uint64_t bytes)
{
    uint64_t word = bytes;
    for (uint64_t i = 0; i < bytes; i++)
        word = word << 8 | (uint8_t)at[i];
    return word;
}

/* Sixteen bytes at a time, none of which waits for those before; the last ones may be met twice. */
CT_INLINE uint64_t hash_bytes(const char *at, uint64_t bytes)
{
    uint64_t hash = bytes * ODD_A, last = bytes - 16;
    if (ct_unlikely(bytes < 8))
        return hash_short(at, bytes);
    if (bytes < 16)
        return hash ^ fold(ct_py_word(at) ^ ODD_B, ct_py_word(at + bytes - 8) ^ ODD_C);
    for (uint64_t i = 0; i < last; i += 16)
        hash += fold(ct_py_word(at + i) ^ ODD_B, ct_py_word(at + i + 8) ^ (ODD_C + i * ODD_D));
    return hash ^ fold(ct_py_word(at + last) ^ ODD_D, ct_py_word(at + last + 8) ^ ODD_A);
}

/* In place of a hash that nobody has asked for. */
static CT_NOINLINE uint64_t hash_text(const struct ct_py_layout *l, const char *object)
{
    uint64_t length = ct_py_word(object + CT_PY_TEXT_LENGTH);
    uint64_t kind = ct_py_half(object + CT_PY_TEXT_STATE) >> 2 & 7;
    return text_is(object) ? hash_bytes(text_data(l, object), ct_min(length, LONGEST_TEXT) * kind)
                           : 0;
}

CT_INLINE uint64_t text_mark(const struct ct_py_layout *l, const char *object)
{
    uint64_t hash = ct_py_word(object + CT_PY_TEXT_HASH);
    return hash != UINT64_MAX ? hash : hash_text(l, object);
}

/* Its length, and four words of it: of a short table all there is. */
CT_INLINE uint64_t table_mark(const char *table)
{
    uint64_t bytes = ct_py_word(table + CT_PY_SIZE);
    const char *at = table + CT_PY_BYTES;
    if (ct_unlikely(bytes - 8 > LARGEST_TABLE))
        return hash_short(at, bytes < 8 ? bytes : 0) * ODD_B;
    uint64_t last = bytes - 8;
    return bytes * ODD_A + ct_py_word(at) * ODD_B + ct_py_word(at + last / 3) * ODD_C +
           ct_py_word(at + 2 * last / 3) * ODD_D + ct_py_word(at + last) * (ODD_A ^ ODD_C);
}

CT_INLINE uint64_t mark_of(const struct ct_py_layout *l, const struct ct_py_spot *spot)
{
    const char *code = spot->code, *file = ct_py_pointer(code + l->file);
    const char *name = ct_py_pointer(code + l->name), *table = ct_py_pointer(code + l->table);
    if (!ct_py_is_address(file) || !ct_py_is_address(name) || !ct_py_is_address(table))
        return 0;
    uint64_t line = ct_py_half(code + l->first_line);
    uint64_t where =
        (uintptr_t)code * ODD_A + ((uint64_t)(uint32_t)spot->offset << 32 | line) * ODD_B;
    uint64_t texts = text_mark(l, file) * ODD_C + text_mark(l, name) * ODD_D;
    return (where ^ texts ^ table_mark(table)) | 1;
}

uint64_t ct_py_mark(const struct ct_py_layout *l, const struct ct_py_spot *spot)
{
    return mark_of(l, spot);
}

/* ---- modules ---- */

static bool is_method_of_module(const struct ct_py_layout *l, const char *code)
{
    const char *name = ct_py_pointer(code + l->own_name);
    if (!ct_py_is_address(name))
        return false;
    const char *text = name + l->ascii_text;
#define IS(method) !__builtin_memcmp(text, method, sizeof(method) - 1)
    switch (ct_py_word(name + CT_PY_TEXT_LENGTH)) {
    case 7:
        return IS("forward");
    case 8:
        return IS("__call__");
    case 10:
        return IS("_call_impl");
    case 18:
        return IS("_wrapped_call_impl");
    default:
        return false;
    }
#undef IS
}

static bool begins_with_self(const struct ct_py_layout *l, const char *code)
{
    const char *names = ct_py_pointer(code + l->names);
    if (!ct_py_half(code + l->arguments) || !ct_py_is_address(names) ||
        !ct_py_word(names + CT_PY_SIZE))
        return false;
    const char *name = ct_py_pointer(names + l->items);
    return ct_py_is_address(name) && ct_py_word(name + CT_PY_TEXT_LENGTH) == 4 &&
           !__builtin_memcmp(name + l->ascii_text, "self", 4);
}

/* Up to 3.10 an argument that a closure shares is in its cell alone, which is behind the locals. */
static CT_COLD const char *cell_of_first(const struct ct_py_layout *l, const char *frame,
                                         const char *code)
{
    const char *names = ct_py_pointer(code + l->cells);
    const char *argument = ct_py_pointer(code + l->cell_arguments);
    uint64_t locals = ct_py_half(code + l->locals_before_cells);
    if (!ct_py_is_address(names) || !ct_py_is_address(argument) || locals > MOST_LOCALS)
        return NULL;
    uint64_t count = ct_min(ct_py_word(names + CT_PY_SIZE), MOST_LOCALS);
    for (uint64_t i = 0; i < count; i++)
        if (!ct_py_word(argument + 8 * i))
            return ct_py_pointer(frame + l->locals + 8 * (locals + i));
    return NULL;
}

/* In words that are aligned, so that none reaches beyond a page that the name does not reach. */
CT_INLINE uint64_t name_mark(const char *name)
{
    const char *at = (const char *)((uintptr_t)name & ~(uintptr_t)7);
    uint64_t word = ct_py_word(at), ones = 0x0101010101010101u;
    bool ends = (word - ones) & ~word & (ones << 7);
    return word * ODD_C + (ends ? 0 : ct_py_word(at + 8) * ODD_D);
}

struct ct_py_self ct_py_self(const struct ct_python *p, const char *frame, const char *code)
{
    const struct ct_py_self none = {.id = 0};
    const struct ct_py_layout *l = p->layout;
    if (!is_method_of_module(l, code) || !begins_with_self(l, code))
        return none;
    const char *object = ct_py_held(l, frame + l->locals);
    if (!object && l->cells)
        object = cell_of_first(l, frame, code);
    if (ct_py_is_address(object) && ct_py_pointer(object + CT_PY_TYPE) == p->cell_type)
        object = ct_py_pointer(object + CT_PY_IN_CELL);
    if (!ct_py_is_address(object))
        return none;
    const char *type = ct_py_pointer(object + CT_PY_TYPE);
    if (!ct_py_is_address(type))
        return none;
    const char *name = ct_py_pointer(type + CT_PY_TYPE_NAME);
    if (!ct_py_may_be_there(name))
        return none;
    uint64_t id = fold((uintptr_t)object ^ ODD_A, (uintptr_t)type ^ name_mark(name));
    return (struct ct_py_self){.id = id | 1, .type = type};
}

uint64_t ct_py_stack_mark(const struct ct_python *p, const char *frame)
{
    const struct ct_python at = *p;
    const struct ct_py_layout layout = *p->layout;
    uint64_t hash = 0;
    for (unsigned depth = 0; frame && depth < CT_PY_DEPTH; frame = ct_py_back(&at, frame)) {
        struct ct_py_spot spot;
        if (!ct_py_is_address(frame))
            return 0;
        enum ct_py_look look = ct_py_look_at(&at, frame, &spot);
        depth++;
        if (look == CT_PY_SKIPPED)
            continue;
        uint64_t mark = look == CT_PY_FRAME ? mark_of(&layout, &spot) : 0;
        if (!mark)
            return 0;
        hash = stir(hash, mark ^ ct_py_self(&at, frame, spot.code).id);
    }
    return hash ? hash | 1 : 0;
}

/* ---- lines ---- */

struct table {
    const uint8_t *at;
    const uint8_t *end;
};

static uint32_t by_steps(struct table t, int64_t line, int64_t offset)
{
    for (int64_t address = 0; t.end - t.at >= 2; t.at += 2) {
        address += t.at[0];
        if (address > offset)
            break;
        line += (int8_t)t.at[1];
    }
    return line > 0 ? (uint32_t)line : 0;
}

/* A range without a line leaves that of the one before as it was. */
static uint32_t by_ranges(struct table t, int64_t line, int64_t offset)
{
    for (int64_t end = 0; t.end - t.at >= 2; t.at += 2) {
        bool has_line = (int8_t)t.at[1] != -128;
        end += t.at[0];
        line += has_line ? (int8_t)t.at[1] : 0;
        if (offset < end)
            return has_line && line > 0 ? (uint32_t)line : 0;
    }
    return 0;
}

static uint64_t number(struct table *t)
{
    uint64_t n = 0;
    unsigned shift = 0;
    while (t->at < t->end && shift < 64) {
        uint8_t byte = *t->at++;
        n |= (uint64_t)(byte & 0x3f) << shift;
        shift += 6;
        if (!(byte & 0x40))
            break;
    }
    return n;
}

static int64_t signed_number(struct table *t)
{
    uint64_t n = number(t);
    return n & 1 ? -(int64_t)(n >> 1) : (int64_t)(n >> 1);
}

/* Each entry begins with a byte that has the top bit set; the others have not. */
static uint32_t by_locations(struct table t, int64_t line, int64_t offset)
{
    for (int64_t end = 0; t.at < t.end;) {
        uint8_t first = *t.at++, code = first >> 3 & 15;
        if (code == 13 || code == 14)
            line += signed_number(&t);
        else if (code >= 10 && code <= 12)
            line += code - 10;
        while (t.at < t.end && !(*t.at & 0x80))
            t.at++;
        end += 2 * ((first & 7) + 1);
        if (offset < end)
            return code != 15 && line > 0 ? (uint32_t)line : 0;
    }
    return 0;
}

uint32_t ct_py_line(const struct ct_py_layout *l, const struct ct_py_spot *spot)
{
    const char *bytes = ct_py_pointer(spot->code + l->table);
    uint32_t first = ct_py_half(spot->code + l->first_line);
    if (spot->offset < 0)
        return first;
    if (!ct_py_is_address(bytes) || ct_py_word(bytes + CT_PY_SIZE) > LARGEST_TABLE)
        return 0;
    const uint8_t *at = (const uint8_t *)bytes + CT_PY_BYTES;
    struct table t = {at, at + ct_py_word(bytes + CT_PY_SIZE)};
    if (l->lines == CT_PY_LNOTAB)
        return by_steps(t, first, spot->offset);
    return l->lines == CT_PY_LINETABLE ? by_ranges(t, first, spot->offset)
                                       : by_locations(t, first, spot->offset);
}

/* ---- texts ---- */

static uint32_t character(const char *data, uint32_t kind, uint64_t i)
{
    uint16_t two;
    __builtin_memcpy(&two, data + (kind == 2 ? 2 * i : 0), kind == 2 ? 2 : 0);
    return kind == 1 ? (uint8_t)data[i] : kind == 2 ? two : ct_py_half(data + 4 * i);
}

/* A byte of a path that was no UTF-8 is kept as a half of a pair; 0 would end the text. */
static unsigned encode(uint32_t c, char to[4])
{
    bool is_byte = c >= 0xdc80 && c <= 0xdcff;
    if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000 && !is_byte))
        c = '?';
    if (c < 0x80 || is_byte) {
        to[0] = (char)c;
        return 1;
    }
    unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = n - 1; i; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((0xf00 >> n & 0xff) | c);
    return n;
}

bool ct_py_text(const struct ct_py_layout *l, const char *object, char *text, size_t size)
{
    if (!ct_py_is_address(object) || !text_is(object))
        return false;
    uint64_t length = ct_min(ct_py_word(object + CT_PY_TEXT_LENGTH), LONGEST_TEXT);
    uint32_t kind = ct_py_half(object + CT_PY_TEXT_STATE) >> 2 & 7;
    const char *data = text_data(l, object);
    char bytes[4];
    size_t at = 0;
    for (uint64_t i = 0; i < length; i++) {
        unsigned n = encode(character(data, kind, i), bytes);
        if (at + n >= size)
            break;
        __builtin_memcpy(text + at, bytes, n);
        at += n;
    }
    text[at] = '\0';
    return true;
}
