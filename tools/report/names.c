/* SPDX-License-Identifier: MIT */
#include "report/names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/printable.h"
#include "report/kernel_group.h"
#include "report/nvprof_names.h"

/*
 * The demangler keeps tables on the stack in proportion to the name, and by itself refuses names
 * of more than 1024 characters, which template libraries exceed. Its output can be far longer
 * than its input, as the mangled form refers back to parts of itself: 29 times in libraries.
 */
#define LONGEST_NAME 16384
#define STACK_BYTES 384 /* for each character, twice the need of the worst names */
_Static_assert(CT_NAME_STACK_BYTES >= LONGEST_NAME * STACK_BYTES, "threads can name all kernels");
#define LONGEST_TEXT ((size_t)1 << 17)
#define LONGEST_SHORT 4096
#define LONGEST_TIMES 64
#define DEMANGLE_OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)

struct sink {
    struct ct_string text;
    size_t most_bytes;
    jmp_buf full;
};

static void receive(const char *text, size_t len, void *opaque)
{
    struct sink *sink = opaque;
    if (sink->text.len + len > sink->most_bytes)
        longjmp(sink->full, 1);
    ct_string_add(&sink->text, text, len);
}

/* Programs leave their limits to us when they end. */
static size_t longest_name(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur / STACK_BYTES > LONGEST_NAME)
        return LONGEST_NAME;
    return (size_t)stack.rlim_cur / STACK_BYTES;
}

static bool demangle_gnu(struct sink *sink, const char *mangled)
{
    size_t len = strlen(mangled), most = LONGEST_SHORT + LONGEST_TIMES * len;
    if (strncmp(mangled, "_Z", 2) || len > longest_name())
        return false;
    sink->most_bytes = most < LONGEST_TEXT ? most : LONGEST_TEXT;
    if (setjmp(sink->full))
        return false;
    return cplus_demangle_v3_callback(mangled, DEMANGLE_OPTIONS, receive, sink);
}

static void spell_kernel(struct ct_string *out, const char *mangled, bool demangle)
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

void ct_name_kernel(struct ct_string *out, const char *mangled, enum ct_naming naming)
{
    struct ct_string name = {0};
    if (naming != CT_NAMES_GROUPED && naming != CT_NAMES_BASE) {
        spell_kernel(out, mangled, naming == CT_NAMES_DEMANGLED);
        return;
    }
    spell_kernel(&name, mangled, true);
    if (naming == CT_NAMES_GROUPED)
        ct_kernel_group(&name);
    else
        ct_name_base(&name);
    ct_string_put(out, name.data);
    ct_string_free(&name);
}

/* The arguments begin at a parenthesis that is no scope of its own, as anonymous ones are. */
static size_t arguments_of(const char *text)
{
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        depth += (text[i] == '<') - (text[i] == '>');
        if (text[i] != '(' || depth)
            continue;
        const char *end = strchr(text + i, ')');
        if (!end || strncmp(end, ")::", 3))
            return i;
        i = (size_t)(end - text);
    }
    return strlen(text);
}

void ct_name_base(struct ct_string *name)
{
    bool plain = name->data && *name->data != '[' && !strstr(name->data, "operator");
    size_t end = plain ? arguments_of(name->data) : 0;
    int depth = 0;
    for (bool more = end && name->data[end - 1] == '>'; more && end; more = depth) {
        end--;
        depth += (name->data[end] == '>') - (name->data[end] == '<');
    }
    size_t begin = end;
    while (begin && !strchr(" :", name->data[begin - 1]))
        begin--;
    if (begin == end)
        return;
    memmove(name->data, name->data + begin, end - begin);
    name->len = end - begin;
    name->data[name->len] = 0;
}

void ct_name_safe(struct ct_string *out, const char *text)
{
    while (*text) {
        size_t len = ct_printable(text);
        if (len)
            ct_string_add(out, text, len);
        else
            ct_string_printf(out, "\\x%02x", (unsigned char)*text);
        text += len ? len : 1;
    }
    ct_string_put(out, "");
}

void ct_name_given(struct ct_string *out, const char *name)
{
    if (!name || !*name)
        return;
    ct_string_put(out, ": ");
    ct_name_safe(out, name);
}

void ct_name_uuid(struct ct_string *out, const uint8_t uuid[16])
{
    for (int i = 0; i < 16; i++)
        ct_string_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len > n && !memcmp(text + len - n, end, n);
}

/* Length of the text without "_v2" or the like at its end. */
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

void ct_name_operation(struct ct_string *out, uint32_t kind, uint32_t detail, const char *mangled,
                       enum ct_naming naming)
{
    switch (kind) {
    case CT_ROW_KERNEL:
        ct_name_kernel(out, mangled, naming);
        break;
    case CT_ROW_COPY:
        ct_string_printf(out, "[CUDA memcpy %s]", direction_of(detail));
        break;
    case CT_ROW_SET:
        ct_string_put(out, "[CUDA memset]");
        break;
    case CT_ROW_GRAPH:
        ct_string_printf(out, "[CUDA graph %u node%s]", detail, detail == 1 ? "" : "s");
        break;
    case CT_ROW_PREFETCH:
        ct_string_put(out, "[CUDA prefetch]");
        break;
    default:
        ct_string_printf(out, "[CUDA operation of kind %u]", kind);
    }
}

void ct_name_row(struct ct_string *out, const struct ct_merged *m, const struct ct_file_row *row,
                 bool demangle)
{
    ct_name_operation(out, row->kind, row->detail, ct_merge_name(m, row->name),
                      demangle ? CT_NAMES_DEMANGLED : CT_NAMES_MANGLED);
}

void ct_name_node(struct ct_string *out, const struct ct_merged *m, const struct ct_file_node *node,
                  bool demangle)
{
    ct_name_operation(out, node->kind, node->detail, ct_merge_name(m, node->name),
                      demangle ? CT_NAMES_DEMANGLED : CT_NAMES_MANGLED);
}
