/* SPDX-License-Identifier: MIT */
#include "report/names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "report/edg.h"

/*
 * The demangler keeps tables on the stack in proportion to the name, and by itself refuses names
 * of more than 1024 characters, which template libraries exceed. Its output can be far longer
 * than its input, as the mangled form refers back to parts of itself.
 */
#define LONGEST_NAME 16384
#define LONGEST_TEXT ((size_t)1 << 17)
#define DEMANGLE_OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)

struct sink {
    struct ct_string text;
    jmp_buf full;
};

static void receive(const char *text, size_t len, void *opaque)
{
    struct sink *sink = opaque;
    if (sink->text.len + len > LONGEST_TEXT)
        longjmp(sink->full, 1);
    ct_string_add(&sink->text, text, len);
}

static bool demangle_gnu(struct sink *sink, const char *mangled)
{
    if (strncmp(mangled, "_Z", 2) || strlen(mangled) > LONGEST_NAME)
        return false;
    if (setjmp(sink->full))
        return false;
    return cplus_demangle_v3_callback(mangled, DEMANGLE_OPTIONS, receive, sink);
}

void ct_name_kernel(struct ct_string *out, const char *mangled, bool demangle)
{
    struct sink sink = {.text = {0}};
    struct ct_string edg = {0};
    bool done = demangle && demangle_gnu(&sink, mangled);
    if (done)
        ct_edg_respell(&edg, sink.text.data ? sink.text.data : "");
    if (!*mangled)
        ct_string_put(out, "[unnamed kernel]");
    else
        ct_name_safe(out, done && edg.data ? edg.data : mangled);
    ct_string_free(&edg);
    ct_string_free(&sink.text);
}

/* Length of the UTF-8 character at p and its number; 0: it is none. */
static int decode(const unsigned char *p, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int len = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    if (!len)
        return 0;
    uint32_t c = len == 1 ? *p : *p & (0x7fu >> len);
    for (int i = 1; i < len; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    *character = c;
    return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

/* Control characters, and those that change the direction or the lines of other text. */
static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void ct_name_safe(struct ct_string *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        uint32_t c;
        int len = decode(p, &c);
        if (len && !is_harmful(c)) {
            ct_string_add(out, p, (size_t)len);
            p += len;
            continue;
        }
        for (int i = 0; i < (len ? len : 1); i++)
            ct_string_printf(out, "\\x%02x", *p++);
    }
    ct_string_put(out, "");
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len > n && !memcmp(text + len - n, end, n);
}

/* Where "_v2" begins when the text ends with such, otherwise its length. */
static size_t without_version(const char *text, size_t len)
{
    size_t digits = len;
    while (digits && isdigit((unsigned char)text[digits - 1]))
        digits--;
    return digits < len && ends_with(text, digits, "_v") ? digits - 2 : len;
}

void ct_name_api(struct ct_string *out, const char *symbol)
{
    if (!strncmp(symbol, "__", 2))
        symbol += 2;
    size_t len = strlen(symbol), before;
    do {
        before = len;
        if (ends_with(symbol, len, "_ptsz") || ends_with(symbol, len, "_ptds"))
            len -= 5;
        len = without_version(symbol, len);
    } while (len != before);
    char *plain = strndup(symbol, len);
    ct_name_safe(out, plain ? plain : symbol);
    free(plain);
}

static const char *direction_of(uint32_t direction)
{
    static const char *const names[] = {
#define X(id, text) [CT_##id] = text,
        CT_DIRECTIONS(X)
#undef X
    };
    return direction < CT_DIRECTION_COUNT ? names[direction] : "of a new kind";
}

void ct_name_row(struct ct_string *out, const struct ct_merged *m, const struct ct_file_row *row,
                 bool demangle)
{
    switch (row->kind) {
    case CT_ROW_KERNEL:
        ct_name_kernel(out, ct_merge_name(m, row->name), demangle);
        break;
    case CT_ROW_COPY:
        ct_string_printf(out, "[CUDA memcpy %s]", direction_of(row->detail));
        break;
    case CT_ROW_SET:
        ct_string_put(out, "[CUDA memset]");
        break;
    case CT_ROW_GRAPH:
        ct_string_printf(out, "[CUDA graph %u node%s]", row->detail, row->detail == 1 ? "" : "s");
        break;
    case CT_ROW_PREFETCH:
        ct_string_put(out, "[CUDA prefetch]");
        break;
    default:
        ct_string_printf(out, "[CUDA operation of kind %u]", row->kind);
    }
}
