/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "cutrace/format.h"
#include "format/crc32.h"
#include "one.h"

/* A payload within an input; nothing in it is aligned, hence memcpy everywhere. */
struct payload {
    uint8_t *at;
    size_t bytes;
    size_t room; /* bytes that it may grow to; the last thing of an input alone may change its
                    length */
    bool last;
    struct ct_file_payload head;
};

uint64_t mutate_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t mutate_edge(unsigned number)
{
    static const uint64_t edges[MUTATE_EDGES] = {
        0,         1,          7,          8,         0x7f,           0xffff,
        INT32_MAX, UINT32_MAX, 1ull << 32, INT64_MAX, UINT64_MAX - 7, UINT64_MAX,
    };
    return edges[number % MUTATE_EDGES];
}

static uint32_t below(uint64_t *state, size_t limit)
{
    return limit ? (uint32_t)(mutate_random(state) % limit) : 0;
}

static void repair_commit(uint8_t *file, size_t bytes, unsigned slot)
{
    size_t at = offsetof(struct ct_file_header, commit) + slot * sizeof(struct ct_file_commit);
    struct ct_file_commit c;
    memcpy(&c, file + at, sizeof(c));
    if (c.offset <= bytes && c.bytes <= bytes - c.offset)
        c.payload_crc = ct_crc32(0, file + c.offset, c.bytes);
    c.crc = ct_crc32(0, &c, offsetof(struct ct_file_commit, crc));
    memcpy(file + at, &c, sizeof(c));
}

void mutate_repair(uint8_t *data, size_t bytes)
{
    if (bytes < FUZZ_START + CT_FILE_HEADER_BYTES || fuzz_kind_of(data) != FUZZ_FILE)
        return;
    for (unsigned slot = 0; slot < 2; slot++)
        repair_commit(data + FUZZ_START, bytes - FUZZ_START, slot);
}

/* Where the payload of one of the commits is. */
static void find_in_file(struct payload *p, uint8_t *file, size_t bytes, uint64_t *state)
{
    struct ct_file_header h;
    if (bytes < sizeof(h))
        return;
    memcpy(&h, file, sizeof(h));
    const struct ct_file_commit *c = &h.commit[below(state, 2)];
    if (c->offset <= bytes && c->bytes <= bytes - c->offset)
        *p = (struct payload){.at = file + c->offset, .bytes = c->bytes, .room = c->bytes};
}

static void find_of_two(struct payload *p, uint8_t *at, size_t bytes, size_t most, uint64_t *state)
{
    uint32_t first = 0;
    if (bytes < sizeof(first))
        return;
    memcpy(&first, at, sizeof(first));
    at += sizeof(first);
    bytes -= sizeof(first);
    if (first > bytes)
        return;
    if (below(state, 2))
        *p = (struct payload){.at = at, .bytes = first, .room = first};
    else
        *p = (struct payload){.at = at + first,
                              .bytes = bytes - first,
                              .room = most - sizeof(first) - first,
                              .last = true};
}

static bool find_payload(struct payload *p, uint8_t *data, size_t bytes, size_t most,
                         uint64_t *state)
{
    uint8_t *rest = data + FUZZ_START;
    *p = (struct payload){.bytes = 0};
    bytes -= FUZZ_START;
    most -= FUZZ_START;
    if (fuzz_kind_of(data) == FUZZ_FILE)
        find_in_file(p, rest, bytes, state);
    else if (fuzz_kind_of(data) == FUZZ_TWO)
        find_of_two(p, rest, bytes, most, state);
    else
        *p = (struct payload){.at = rest, .bytes = bytes, .room = most, .last = true};
    if (p->bytes < sizeof(p->head))
        return false;
    memcpy(&p->head, p->at, sizeof(p->head));
    return true;
}

/* A section whose entry and content are within the payload; the entry's place in *at. */
static bool find_section(const struct payload *p, uint64_t *state, struct ct_file_section *s,
                         uint8_t **at)
{
    size_t size = p->head.section_bytes, fit = (p->bytes - sizeof(p->head)) / sizeof(*s);
    if (size != sizeof(*s) || !p->head.sections || !fit)
        return false;
    *at = p->at + sizeof(p->head) + size * below(state, ct_min(fit, p->head.sections));
    memcpy(s, *at, sizeof(*s));
    return s->element_bytes && s->offset <= p->bytes &&
           s->count <= (p->bytes - s->offset) / s->element_bytes;
}

static uint64_t number(uint64_t *state)
{
    if (below(state, 2))
        return mutate_edge(below(state, MUTATE_EDGES));
    return below(state, 2) ? below(state, 64) : mutate_random(state) >> below(state, 64);
}

/* Texts that something is done with: demangled, respelled, escaped, quoted. */
static const char *const texts[] = {
    "_Z1fIiEvT_",
    "_ZN2at6nativeE",
    "_Z3fooILi4ELb1EEvv",
    "_Z4=cmdv",
    "_ZNK3fooclEv",
    "_Z1fIXadL_Z1gvEEEvv",
    "_ZZ1fvENKUliE_clEi",
    "_Z1fPKPVd",
    "S_S0_S1_",
    "T_",
    "EEE",
    "\033[31m",
    "\302\233",
    "\342\200\256",
    "\377",
    "\n==1== ",
    "=1+1",
    "@",
    "\",=1",
    ";=1",
    ",\"",
    "_v2",
    "_ptsz",
    "__cuda",
    "operator<",
    "(anonymous namespace)",
    "{lambda(int)#2}",
    "decltype (",
    "::",
    "<<<",
    ">>>",
    "(4)3",
    "true>",
    "long long",
    "const",
    "%s%n",
    "",
};

/* ---- the changes ---- */

static void change_entry(struct payload *p, uint64_t *state)
{
    struct ct_file_section s;
    uint8_t *at;
    if (!find_section(p, state, &s, &at))
        return;
    switch (below(state, 4)) {
    case 0:
        s.type = below(state, CT_SECTION_COLLECTIVES + 2);
        break;
    case 1:
        s.element_bytes = (uint32_t)(below(state, 2) ? 8 * below(state, 64) : number(state));
        break;
    case 2:
        s.count = below(state, 2) ? s.count + below(state, 3) - 1 : number(state);
        break;
    default:
        s.offset = below(state, 2) ? s.offset + 8 * below(state, 5) - 16 : number(state);
    }
    memcpy(at, &s, sizeof(s));
}

static void change_word(struct payload *p, uint64_t *state)
{
    struct ct_file_section s;
    uint8_t *at;
    if (!find_section(p, state, &s, &at) || s.element_bytes < 8 || !s.count)
        return;
    uint8_t *word = p->at + s.offset + 4 * below(state, s.count * s.element_bytes / 4 - 1);
    uint64_t n = number(state);
    memcpy(word, &n, below(state, 2) ? 4 : 8);
}

static void change_double(struct payload *p, uint64_t *state)
{
    static const double values[] = {0, -0.0, 1, -1, 1e-300, 1e19, 1.7e308, -1e308, 1e154, 5e-324};
    struct ct_file_section s;
    uint8_t *at;
    if (!find_section(p, state, &s, &at) || s.element_bytes < 8 || !s.count)
        return;
    uint8_t *word = p->at + s.offset + 8 * below(state, s.count * s.element_bytes / 8);
    memcpy(word, &values[below(state, ct_countof(values))], sizeof(double));
}

static void change_text(struct payload *p, uint64_t *state)
{
    struct ct_file_section s;
    uint8_t *at;
    if (!find_section(p, state, &s, &at) || s.type != CT_SECTION_STRINGS || !s.count)
        return;
    const char *text = texts[below(state, ct_countof(texts))];
    size_t start = below(state, s.count), len = strlen(text) + below(state, 2);
    memcpy(p->at + s.offset + start, text, ct_min(len, s.count - start));
}

/* A name is nothing but text; it grows and shrinks. */
static size_t change_name(uint8_t *name, size_t bytes, size_t most, uint64_t *state)
{
    const char *text = texts[below(state, ct_countof(texts))];
    size_t len = strlen(text), at = below(state, bytes + 1), behind = below(state, bytes - at + 1);
    if (at + len + behind > most)
        return bytes;
    memmove(name + at + len, name + bytes - behind, behind);
    memcpy(name + at, text, len);
    return at + len + behind;
}

static void copy_element(struct payload *p, uint64_t *state)
{
    struct ct_file_section s;
    uint8_t *at;
    if (!find_section(p, state, &s, &at) || !s.count)
        return;
    uint8_t *data = p->at + s.offset;
    memmove(data + (size_t)s.element_bytes * below(state, s.count),
            data + (size_t)s.element_bytes * below(state, s.count), s.element_bytes);
}

/* The section moves to the end of the payload, with copies of its elements behind it. */
static void grow_section(struct payload *p, uint64_t *state)
{
    struct ct_file_section s;
    uint8_t *at;
    if (!find_section(p, state, &s, &at) || !s.count)
        return;
    uint64_t more = 1 + below(state, below(state, 4) ? 4 : 64), bytes = s.count * s.element_bytes;
    size_t to = (p->bytes + 7) & ~(size_t)7;
    if (to + bytes + more * s.element_bytes > p->room)
        return;
    memset(p->at + p->bytes, 0, to - p->bytes);
    memcpy(p->at + to, p->at + s.offset, bytes);
    for (uint64_t i = 0; i < more; i++)
        memcpy(p->at + to + bytes + i * s.element_bytes,
               p->at + to + below(state, s.count) * (size_t)s.element_bytes, s.element_bytes);
    s.offset = to;
    s.count += more;
    p->bytes = to + s.count * s.element_bytes;
    memcpy(at, &s, sizeof(s));
}

static void change_length(struct payload *p, uint64_t *state)
{
    if (p->last)
        p->bytes = below(state, p->bytes + 1);
}

static void change_byte(struct payload *p, uint64_t *state)
{
    p->at[below(state, p->bytes)] ^= (uint8_t)(1u << below(state, 8));
}

static void change_header(uint8_t *data, size_t bytes, uint64_t *state)
{
    if (bytes < FUZZ_START + CT_FILE_HEADER_BYTES || fuzz_kind_of(data) != FUZZ_FILE)
        return;
    size_t members = (16 + 2 * sizeof(struct ct_file_commit)) / 4;
    uint64_t n = number(state);
    memcpy(data + FUZZ_START + 4 * below(state, members), &n, below(state, 2) ? 4 : 2);
}

static size_t change_payload(struct payload *p, const uint8_t *data, size_t bytes, uint64_t *state)
{
    static void (*const changes[])(struct payload *, uint64_t *) = {
        change_entry, change_word,  change_word,  change_word,   change_double, change_text,
        change_text,  copy_element, grow_section, change_length, change_byte,
    };
    changes[below(state, ct_countof(changes))](p, state);
    return p->last ? (size_t)(p->at - data) + p->bytes : bytes;
}

size_t mutate(uint8_t *data, size_t bytes, size_t most, uint64_t *state)
{
    if (bytes <= FUZZ_START || most < bytes)
        return bytes;
    for (uint32_t n = 1 + below(state, 4); n; n--) {
        struct payload p;
        if (!below(state, 8))
            data[below(state, 2)] = (uint8_t)mutate_random(state);
        if (!below(state, 8))
            change_header(data, bytes, state);
        if (fuzz_kind_of(data) == FUZZ_NAME)
            bytes = FUZZ_START +
                    change_name(data + FUZZ_START, bytes - FUZZ_START, most - FUZZ_START, state);
        else if (find_payload(&p, data, bytes, most, state))
            bytes = change_payload(&p, data, bytes, state);
    }
    if (below(state, 8))
        mutate_repair(data, bytes);
    return bytes;
}
