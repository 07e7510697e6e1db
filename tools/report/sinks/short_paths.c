/* SPDX-License-Identifier: MIT */
#include "report/sinks/short_paths.h"

#include <stdbool.h>
#include <stdlib.h>

#include "report/path_tail.h"
#include "report/profile/key_table.h"
#include "report/terminal.h"

#define LEAST_PARTS 2
#define DOTS "…"

/* The last parts with the slash before them, which is shown behind dots; or all of the text. */
static const char *tail_of(const char *path, int parts)
{
    const char *tail = ct_path_tail(path, parts, "/");
    return tail > path ? tail - 1 : path;
}

struct shortening {
    const char *const *paths;
    size_t count;
    int *parts;
    struct ct_key_table tails;
    uint32_t *of;    /* path: its tail; */
    uint32_t *first; /* tail: the first path that has it, plus one */
    bool *is_shared; /* by different paths */
};

/* Whether two different paths have one tail that is not all of either. */
static bool find_shared(struct shortening *s)
{
    bool any = false;
    ct_key_table_free(&s->tails);
    s->tails = (struct ct_key_table){.count = 0};
    memset(s->first, 0, s->count * sizeof(*s->first));
    memset(s->is_shared, 0, s->count * sizeof(*s->is_shared));
    for (size_t i = 0; i < s->count; i++) {
        uint32_t at = ct_key_table_text(&s->tails, tail_of(s->paths[i], s->parts[i]));
        s->of[i] = at;
        if (!s->first[at])
            s->first[at] = (uint32_t)i + 1;
        s->is_shared[at] |= strcmp(s->paths[i], s->paths[s->first[at] - 1]) != 0;
    }
    for (size_t i = 0; i < s->count; i++) {
        bool longer = s->is_shared[s->of[i]] && tail_of(s->paths[i], s->parts[i]) > s->paths[i];
        s->parts[i] += longer;
        any |= longer;
    }
    return any;
}

/* The end of a text in so many columns. */
static void add_end(struct ct_string *out, const char *text, int width)
{
    ct_string_put(out, DOTS);
    while (*text && ct_terminal_width(text) > width - 1)
        do
            text++;
        while ((*text & 0xc0) == 0x80);
    ct_string_put(out, text);
}

static char *spell(const char *path, const char *tail, int width)
{
    struct ct_string whole = {0}, out = {0};
    if (tail > path)
        ct_string_put(&whole, DOTS);
    ct_string_put(&whole, tail);
    if (!width || ct_terminal_width(whole.data) <= width)
        return whole.data;
    add_end(&out, tail, width);
    ct_string_free(&whole);
    return out.data;
}

/* By text, the first row that has it. */
struct firsts {
    struct ct_key_table known;
    size_t *row;
};

static size_t first_of(struct firsts *f, const char *text, size_t row)
{
    uint32_t count = f->known.count, at = ct_key_table_text(&f->known, text);
    if (at == count)
        f->row[at] = row;
    return f->row[at];
}

/* Ends that are cut may read alike: paths behind the first get the numbers of their rows. */
static void number_alike(char **texts, const char *const *paths, size_t count, int width)
{
    struct firsts shown = {.row = ct_memory_array(count, sizeof(*shown.row))};
    struct firsts whole = {.row = ct_memory_array(count, sizeof(*whole.row))};
    for (size_t i = 0; i < count; i++) {
        char number[24];
        struct ct_string out = {0};
        size_t row = first_of(&whole, paths[i], i);
        if (!strcmp(paths[i], paths[first_of(&shown, texts[i], i)]))
            continue;
        snprintf(number, sizeof(number), " #%zu", row + 1);
        add_end(&out, paths[i], width - (int)strlen(number));
        ct_string_put(&out, number);
        free(texts[i]);
        texts[i] = out.data;
    }
    ct_key_table_free(&shown.known);
    ct_key_table_free(&whole.known);
    free(shown.row);
    free(whole.row);
}

char **ct_short_paths(const char *const *paths, size_t count, int width)
{
    struct shortening s = {.paths = paths,
                           .count = count,
                           .parts = ct_memory_array(count, sizeof(*s.parts)),
                           .of = ct_memory_array(count, sizeof(*s.of)),
                           .first = ct_memory_array(count, sizeof(*s.first)),
                           .is_shared = ct_memory_array(count, sizeof(*s.is_shared))};
    char **texts = ct_memory_array(count, sizeof(*texts));
    for (size_t i = 0; i < count; i++)
        s.parts[i] = LEAST_PARTS;
    while (find_shared(&s))
        ;
    for (size_t i = 0; i < count; i++)
        texts[i] = spell(paths[i], tail_of(paths[i], s.parts[i]), width);
    if (width)
        number_alike(texts, paths, count, width);
    ct_key_table_free(&s.tails);
    free(s.parts);
    free(s.of);
    free(s.first);
    free(s.is_shared);
    return texts;
}
