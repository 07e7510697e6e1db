/* SPDX-License-Identifier: MIT */
#include "report/short_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/host_memory.h"
#include "report/kernel_group.h"
#include "report/matrix_name.h"
#include "report/profile/key_table.h"
#include "report/terminal.h"

#define DOTS "\u2026"
#define MOST_ARGS 48 /* bytes of template arguments, where so many are enough */
#define LONG 40      /* bytes of a name that is cut where others begin alike */
#define ALIKE 20     /* bytes at the beginning by which those are found */
#define LEAST_SHARED 16
#define MOST_HEAD 12
#define KIND 14            /* columns of "sm90_xmma_gemm" */
#define BESIDE_KIND 9      /* columns for the difference there */
#define MOST_DIFFERENCES 3 /* groups within groups */

/* "void a::b<int>(float *)": path "a::b", base "b", args "<int>". */
struct parts {
    const char *full;
    char *text; /* without unnamed namespaces, owned; the offsets below are in it */
    size_t path, base, args, end;
};

/* ---- parts of a name ---- */

static char *without_unnamed(const char *full)
{
    static const char *const unnamed[] = {"(anonymous namespace)::", "<unnamed>::"};
    struct ct_string out = {0};
    ct_string_clear(&out);
    while (*full) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++)
            if (!strncmp(full, unnamed[i], strlen(unnamed[i])))
                skip = strlen(unnamed[i]);
        if (!skip)
            ct_string_add(&out, full++, 1);
        full += skip;
    }
    return out.data;
}

static bool is_behind_operator(const char *text, size_t at)
{
    return at >= 8 && !strncmp(text + at - 8, "operator", 8);
}

static bool is_arrow(const char *text, size_t at)
{
    return text[at] == '>' && at && (text[at - 1] == '-' || text[at - 1] == '=');
}

/* A character outside of brackets. False: the name ends before it. */
static bool see(struct parts *p, size_t at, size_t *open)
{
    char c = p->text[at];
    if (c == ' ' && !*open)
        p->path = p->base = at + 1;
    if (c == '<' && !*open && !is_behind_operator(p->text, at))
        *open = at;
    if (c == ':' && at && p->text[at - 1] == ':') {
        p->base = at + 1;
        *open = 0;
    }
    return c != '(' || at == p->path;
}

static struct parts parse(const char *full)
{
    struct parts p = {.full = full, .text = without_unnamed(full)};
    size_t depth = 0, open = 0;
    p.end = p.args = strlen(p.text);
    if (*full == '[')
        return p;
    for (size_t at = 0; p.text[at]; at++) {
        char c = p.text[at];
        bool closes = strchr(">)]}", c) && !is_arrow(p.text, at);
        depth -= closes && depth ? 1 : 0;
        if (!depth && !closes && !see(&p, at, &open)) {
            p.end = at;
            break;
        }
        depth += strchr("<([{", c) ? 1 : 0;
    }
    p.args = open ? open : p.end;
    return p;
}

/* ---- forms, from the shortest to the whole ---- */

/* Appends template arguments without namespaces. */
static void add_tight(struct ct_string *out, const char *args, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = 0;
        while (i + n < len && (isalnum((unsigned char)args[i + n]) || args[i + n] == '_'))
            n++;
        if (n && i + n + 2 <= len && !strncmp(args + i + n, "::", 2)) {
            i += n + 2;
            continue;
        }
        n += !n;
        ct_string_add(out, args + i, n);
        i += n;
    }
}

/* A character of UTF-8 is not cut. */
static size_t whole(const char *text, size_t len)
{
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static void add_cut(struct ct_string *out, const struct ct_string *text, size_t most)
{
    if (text->len <= most) {
        ct_string_add(out, text->data, text->len);
        return;
    }
    size_t head = whole(text->data, most * 5 / 8), tail = most - most * 5 / 8 - 1;
    ct_string_add(out, text->data, head);
    ct_string_put(out, DOTS);
    ct_string_put(out, text->data + whole(text->data, text->len - tail));
}

enum form { GROUP, BASE, SOME_ARGS, ALL_ARGS, PATH, FORMS };

static char *spell(const struct parts *p, enum form form)
{
    struct ct_string out = {0}, tight = {0};
    size_t from = form == PATH ? p->path : p->base;
    if (form == GROUP) {
        if (ct_matrix_name(&out, p->text + p->base))
            return out.data;
        ct_string_put(&out, p->full);
        if (ct_kernel_named(&out))
            return out.data;
    }
    ct_string_clear(&out);
    ct_string_clear(&tight);
    add_tight(&tight, p->text + p->args, p->end - p->args);
    ct_string_add(&out, p->text + from, p->args - from);
    if (form == SOME_ARGS)
        add_cut(&out, &tight, MOST_ARGS);
    else if (form == ALL_ARGS)
        ct_string_add(&out, tight.data, tight.len);
    else if (form == PATH)
        ct_string_add(&out, p->text + p->args, p->end - p->args);
    ct_string_free(&tight);
    if (!out.len)
        ct_string_put(&out, p->text);
    return out.data;
}

/* ---- all names together ---- */

struct names {
    char **text;
    size_t *order; /* of the texts, sorted */
    size_t count;
};

static int by_text(const void *a, const void *b, void *opaque)
{
    const struct names *n = opaque;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = strcmp(n->text[i], n->text[j]);
    return order ? order : (i > j) - (i < j);
}

static void sort(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        n->order[i] = i;
    qsort_r(n->order, n->count, sizeof(*n->order), by_text, n);
}

static bool is_like_next(const struct names *n, size_t at, size_t bytes)
{
    return at + 1 < n->count && !strncmp(n->text[n->order[at]], n->text[n->order[at + 1]], bytes);
}

/* Calls back for each group of two and more that begin alike: order[from] to order[to - 1]. */
static void for_alike(struct names *n, size_t bytes,
                      void (*f)(struct names *n, size_t from, size_t to, void *opaque),
                      void *opaque)
{
    sort(n);
    for (size_t from = 0, to; from < n->count; from = to) {
        for (to = from + 1; is_like_next(n, to - 1, bytes); to++)
            ;
        if (to - from > 1)
            f(n, from, to, opaque);
    }
}

struct longer {
    const struct parts *parts;
    enum form form;
};

static void make_longer(struct names *n, size_t from, size_t to, void *opaque)
{
    const struct longer *l = opaque;
    for (size_t k = from; k < to; k++) {
        char **text = &n->text[n->order[k]];
        const struct parts *p = &l->parts[n->order[k]];
        free(*text);
        *text = l->form < FORMS ? spell(p, l->form) : ct_memory_copy(p->full, strlen(p->full) + 1);
    }
}

/* Bytes of the longest beginning that all have, up to a joint of the name. */
static size_t shared(const struct names *n, size_t from, size_t to)
{
    const char *a = n->text[n->order[from]], *b = n->text[n->order[to - 1]]; /* sorted */
    size_t len = 0;
    while (a[len] && a[len] == b[len])
        len++;
    while (len && !strchr("_:,< ", a[len - 1]))
        len--;
    return len;
}

/* "sm90_xmma" of a name that goes on with parts that all have. */
static size_t head_of(const char *text)
{
    size_t n = strcspn(text, "_:<");
    n += text[n] != 0;
    n += strcspn(text + n, "_:<");
    return n < MOST_HEAD ? n : whole(text, MOST_HEAD);
}

static void cut_at_difference(struct names *n, size_t from, size_t to, void *unused)
{
    (void)unused;
    size_t len = shared(n, from, to);
    if (strlen(n->text[n->order[from]]) <= LONG || *n->text[n->order[from]] == '[' ||
        len <= LEAST_SHARED)
        return;
    for (size_t k = from; k < to; k++) {
        char **text = &n->text[n->order[k]];
        struct ct_string out = {0};
        ct_string_add(&out, *text, head_of(*text));
        ct_string_put(&out, DOTS);
        ct_string_put(&out, *text + len);
        free(*text);
        *text = out.data;
    }
}

static char **shorten_all(const char *const *names, size_t count, enum form shortest)
{
    struct names n = {.count = count,
                      .text = ct_memory_array(count, sizeof(*n.text)),
                      .order = ct_memory_array(count, sizeof(*n.order))};
    struct parts *parts = ct_memory_array(count, sizeof(*parts));
    for (size_t i = 0; i < count; i++) {
        parts[i] = parse(names[i]);
        n.text[i] = spell(&parts[i], shortest);
    }
    for (enum form form = shortest + 1; form <= FORMS; form++)
        for_alike(&n, SIZE_MAX, make_longer, &(struct longer){parts, form});
    if (shortest == BASE)
        for_alike(&n, ALIKE, cut_at_difference, NULL);
    for (size_t i = 0; i < count; i++)
        free(parts[i].text);
    free(parts);
    free(n.order);
    return n.text;
}

/* ---- in so many columns ---- */

struct room {
    char **whole; /* the short names */
    char **shown;
    int width;
};

static void set(char **text, struct ct_string *to)
{
    free(*text);
    *text = to->data;
}

static void shorten(char **text, const char *from, int width)
{
    struct ct_string out = {0};
    ct_string_clear(&out);
    ct_terminal_shorten(&out, from, width);
    set(text, &out);
}

/* The beginning alone, as far as it has room. */
static void add_beginning(struct ct_string *out, const char *text, int width)
{
    size_t len = strlen(text);
    struct ct_string part = {0};
    if (ct_terminal_width(text) <= width) {
        ct_string_put(out, text);
        return;
    }
    do {
        len = whole(text, len - 1);
        ct_string_clear(&part);
        ct_string_add(&part, text, len);
    } while (len && ct_terminal_width(part.data) > width - 1);
    ct_string_put(out, part.data);
    ct_string_put(out, DOTS);
    ct_string_free(&part);
}

/* Half of the room, or the kind of a matrix product where only that is left. */
static int least_beginning(int width)
{
    int kind = width - BESIDE_KIND < KIND ? width - BESIDE_KIND : KIND;
    return kind > width / 2 ? kind : width / 2;
}

/* The beginning of a name that others share, and from where they differ, as far as there is room.
 */
static void cut_in_room(struct names *n, size_t from, size_t to, void *opaque)
{
    const struct room *r = opaque;
    size_t len = shared(n, from, to);
    for (size_t k = from; k < to && len > LEAST_SHARED; k++) {
        const char *text = n->text[n->order[k]];
        int rest = ct_terminal_width(text + len);
        int spare = r->width - rest - 1, most = least_beginning(r->width);
        most = spare > most ? spare : most;
        struct ct_string out = {0};
        if (*text == '[' || ct_terminal_width(text) <= r->width || most >= (int)len)
            continue;
        ct_string_clear(&out);
        ct_string_add(&out, text, whole(text, (size_t)most));
        ct_string_put(&out, DOTS);
        add_beginning(&out, text + len, r->width - ct_terminal_width(out.data));
        set(&r->shown[n->order[k]], &out);
    }
}

/* Cut in the middle they read alike: they show where they begin to differ. */
static void show_difference(struct names *n, size_t from, size_t to, void *opaque)
{
    const struct room *r = opaque;
    struct names wholes = {r->whole, n->order + from, to - from};
    qsort_r(wholes.order, wholes.count, sizeof(*wholes.order), by_text, &wholes);
    size_t len = shared(&wholes, 0, wholes.count);
    for (size_t k = from; k < to; k++) {
        const char *text = r->whole[n->order[k]];
        struct ct_string out = {0};
        size_t head = head_of(text), most = (size_t)r->width / 4;
        head = whole(text, head < most ? head : most);
        ct_string_add(&out, text, head < len ? head : 0);
        ct_string_put(&out, DOTS);
        add_beginning(&out, text + len, r->width - ct_terminal_width(out.data));
        set(&n->text[n->order[k]], &out);
    }
}

/* Names that differ in several places may still read alike: they get the numbers of their rows. */
static void number(struct names *n, size_t from, size_t to, void *opaque)
{
    const struct room *r = opaque;
    for (size_t k = from + 1; k < to; k++) {
        struct ct_string out = {0};
        char text[24];
        snprintf(text, sizeof(text), " #%zu", n->order[k] + 1);
        ct_string_clear(&out);
        ct_terminal_shorten(&out, n->text[n->order[k]], r->width - (int)strlen(text));
        ct_string_put(&out, text);
        set(&n->text[n->order[k]], &out);
    }
}

static char **fit_all(const char *const *names, size_t count, int width)
{
    struct names n = {.count = count,
                      .text = ct_memory_array(count, sizeof(*n.text)),
                      .order = ct_memory_array(count, sizeof(*n.order))};
    struct room r = {shorten_all(names, count, GROUP), n.text, width};
    for (size_t i = 0; i < count; i++)
        shorten(&n.text[i], r.whole[i], width);
    struct names wholes = {r.whole, n.order, count};
    for_alike(&wholes, ALIKE, cut_in_room, &r);
    for (unsigned i = 0; i < MOST_DIFFERENCES; i++)
        for_alike(&n, SIZE_MAX, show_difference, &r);
    for_alike(&n, SIZE_MAX, number, &r);
    ct_short_names_free(r.whole, count);
    free(n.order);
    return n.text;
}

/* ---- names that may come several times ---- */

/* width: 0 for as many columns as they need */
static char **make(const char *const *names, size_t count, int width)
{
    size_t different = 0;
    struct ct_key_table texts = {0};
    const char **once = ct_memory_array(count, sizeof(*once));
    uint32_t *which = ct_memory_array(count, sizeof(*which));
    char **all = ct_memory_array(count, sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        which[i] = ct_key_table_text(&texts, names[i]);
        if (which[i] == different)
            once[different++] = names[i];
    }
    char **texts_once =
        width ? fit_all(once, different, width) : shorten_all(once, different, BASE);
    for (size_t i = 0; i < count; i++)
        all[i] = ct_memory_copy(texts_once[which[i]], strlen(texts_once[which[i]]) + 1);
    ct_short_names_free(texts_once, different);
    ct_key_table_free(&texts);
    free(once);
    free(which);
    return all;
}

char **ct_short_names(const char *const *names, size_t count)
{
    return make(names, count, 0);
}

char **ct_short_names_in(const char *const *names, size_t count, int width)
{
    return make(names, count, width);
}

void ct_short_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
