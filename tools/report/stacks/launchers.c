/* SPDX-License-Identifier: MIT */
#include "report/stacks/launchers.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/short_names.h"
#include "report/stacks/calls.h"
#include "report/terminal.h"

#define FEW 5
#define LEAST_HEAD 4 /* columns; a text with less of its beginning is cut in its middle */

/* Numbers of the view's lines, by what rows of theirs have in common. */
struct index {
    const struct ct_merged *m;
    const struct ct_view_options *o;
    struct ct_key_table keys;  /* their numbers are those of lines */
    struct ct_key_table names; /* of kernels that are known by their function alone */
};

static uint32_t add_key(struct index *x, const struct ct_file_row *row, uint32_t content,
                        const char *base)
{
    uint32_t key[] = {row->kind, row->detail, base ? ct_key_table_text(&x->names, base) : row->name,
                      content};
    return ct_key_table_add(&x->keys, key, sizeof(key));
}

static bool has_base(const struct index *x, const struct ct_file_row *row)
{
    return x->o->base && row->kind == CT_ROW_KERNEL;
}

static uint32_t line_of(struct index *x, const struct ct_merged_row *row)
{
    struct ct_string name = {0};
    if (has_base(x, &row->sum)) {
        ct_name_row(&name, x->m, &row->sum, x->o->demangle);
        ct_name_base(&name);
    }
    uint32_t line = add_key(x, &row->sum, row->content, name.data);
    ct_string_free(&name);
    return line;
}

/* By the profile's rows, the line of the view; those without a line have numbers behind these. */
static uint32_t *map_rows(const struct ct_merged *m, const struct ct_view *gpu,
                          const struct ct_view_options *o)
{
    struct index x = {.m = m, .o = o};
    uint32_t *of = ct_memory_array(m->row_keys.count, sizeof(*of));
    for (size_t i = 0; i < gpu->count; i++) {
        const struct ct_line *line = &gpu->lines[i];
        const struct ct_file_row *row = &line->row->sum;
        add_key(&x, row, line->content, has_base(&x, row) ? line->name : NULL);
    }
    for (uint32_t i = 0; i < m->row_keys.count; i++)
        of[i] = line_of(&x, &m->rows[i]);
    ct_key_table_free(&x.keys);
    ct_key_table_free(&x.names);
    return of;
}

/* Times of each line of Python in each line of the view. */
struct shares {
    struct ct_key_table keys; /* line of the view, line of source */
    double *ns;
    size_t ns_size;
};

/* The innermost of the program's own; where all are of libraries, the innermost. */
static uint32_t program_line(const struct ct_calls *c, const struct ct_merged *m,
                             const struct ct_call *operation)
{
    for (uint32_t at = operation->parent; at != CT_CALL_ROOT; at = c->call[at].parent) {
        const struct ct_file_line *l = &m->stacks.lines[c->call[at].line];
        if (!ct_calls_is_library(ct_merge_name(m, l->file), l->line))
            return c->call[at].line;
    }
    return operation->line;
}

static void add_share(struct shares *s, uint32_t line, uint32_t launcher,
                      const struct ct_call *call)
{
    uint32_t key[] = {line, launcher}, at = ct_key_table_add(&s->keys, key, sizeof(key));
    s->ns = ct_memory_grow(s->ns, &s->ns_size, (size_t)at + 1, sizeof(*s->ns));
    s->ns[at] += call->own.ns - call->inside_ns;
}

static void choose(struct ct_launcher *l, const struct shares *s, const struct ct_view *gpu)
{
    for (uint32_t i = 0; i < s->keys.count; i++) {
        uint32_t key[2];
        memcpy(key, ct_key_table_get(&s->keys, i), sizeof(key));
        double percent = ct_calls_percent(s->ns[i], (double)gpu->lines[key[0]].total_ns);
        percent = percent < 100 ? percent : 100;
        if (percent > l[key[0]].percent)
            l[key[0]] = (struct ct_launcher){key[1], percent};
    }
}

struct ct_launcher *ct_launchers_of(const struct ct_merged *m, const struct ct_view *gpu,
                                    uint32_t device, const struct ct_view_options *o)
{
    struct ct_calls c;
    struct shares s = {.ns = NULL};
    if (!m->stacks.keys.count)
        return NULL;
    struct ct_launcher *l = ct_memory_array(gpu->count, sizeof(*l));
    for (size_t i = 0; i < gpu->count; i++)
        l[i].line = CT_MERGE_NONE;
    ct_calls_of(&c, m, device);
    uint32_t *of = map_rows(m, gpu, o);
    for (size_t i = 1; i < c.count; i++)
        if (c.call[i].row != CT_CALL_FRAME && of[c.call[i].row] < gpu->count)
            add_share(&s, of[c.call[i].row], program_line(&c, m, &c.call[i]), &c.call[i]);
    choose(l, &s, gpu);
    ct_key_table_free(&s.keys);
    free(s.ns);
    free(of);
    ct_calls_free(&c);
    return l;
}

void ct_launchers_place(struct ct_string *out, const struct ct_merged *m, uint32_t line)
{
    const struct ct_file_line *l = &m->stacks.lines[line];
    ct_name_safe(out, ct_merge_name(m, ct_calls_is_thread(m, line) ? l->function : l->file));
    if (l->line)
        ct_string_printf(out, ":%u", l->line);
}

const char *ct_launchers_short(const char *place)
{
    const char *last = strrchr(place, '/');
    return last ? last + 1 : place;
}

void ct_launchers_fit(struct ct_string *out, const char *text, const char *tail, int width)
{
    struct ct_string head = {0};
    int room = width - ct_terminal_width(tail);
    if (room < LEAST_HEAD || ct_terminal_width(text) <= width) {
        ct_terminal_shorten(out, text, width);
        return;
    }
    ct_string_add(&head, text, (size_t)(tail - text));
    ct_terminal_shorten(out, head.data, room);
    ct_string_put(out, tail);
    ct_string_free(&head);
}

/* ---- below the table ---- */

#define SHARE_WIDTH 14 /* columns before and between the two texts */
#define LEAST_WIDTH 20 /* of both */

/* "function (file:line)"; width: 0, or columns that it has to fit. */
static void spell_line(struct ct_string *out, const struct ct_merged *m, uint32_t line, int width)
{
    struct ct_string text = {0}, place = {0};
    ct_name_safe(&text, ct_merge_name(m, m->stacks.lines[line].function));
    ct_launchers_place(&place, m, line);
    size_t function = text.len;
    if (!ct_calls_is_thread(m, line))
        ct_string_printf(&text, " (%s)", width ? ct_launchers_short(place.data) : place.data);
    if (width)
        ct_launchers_fit(out, text.data, text.data + function, width);
    else
        ct_string_add(out, text.data, text.len);
    ct_string_free(&text);
    ct_string_free(&place);
}

/* Texts of a column, and the width of the widest. */
struct texts {
    char **at;
    int width;
};

static void spell_lines(struct texts *t, const struct ct_merged *m, const struct ct_launcher *l,
                        size_t count, int width)
{
    *t = (struct texts){.at = ct_memory_array(count, sizeof(*t->at))};
    for (size_t i = 0; i < count; i++) {
        struct ct_string line = {0};
        spell_line(&line, m, l[i].line, width);
        int needed = ct_terminal_width(line.data);
        t->width = needed > t->width ? needed : t->width;
        t->at[i] = line.data;
    }
}

static void print_row(FILE *out, const struct ct_input *in, const char *share,
                      const struct texts *lines, const char *line, const char *name, bool heading)
{
    const char *color = !in->color ? "" : heading ? CT_TERMINAL_BOLD : CT_TERMINAL_NAME;
    fprintf(out, "%s%10s  %s%*s  %s%s%s\n", heading ? color : "", share, line,
            lines->width - ct_terminal_width(line), "", heading ? "" : color, name,
            *color ? CT_TERMINAL_PLAIN : "");
}

static void print_lines(FILE *out, const struct ct_input *in, const struct ct_launcher *l,
                        const char *const *names, size_t count)
{
    struct texts lines;
    int room = !in->width                              ? 0
               : in->width > SHARE_WIDTH + LEAST_WIDTH ? in->width - SHARE_WIDTH
                                                       : LEAST_WIDTH;
    spell_lines(&lines, in->m, l, count, room / 2);
    lines.width = lines.width > 4 ? lines.width : 4;
    char **shown = ct_short_names_in(names, count, room - (room ? lines.width : 0));
    print_row(out, in, "Time(%)", &lines, "Line", "Name", true);
    for (size_t i = 0; i < count; i++) {
        char share[32];
        snprintf(share, sizeof(share), "%.2f%%", l[i].percent);
        print_row(out, in, share, &lines, lines.at[i], room ? shown[i] : names[i], false);
    }
    ct_short_names_free(shown, count);
    ct_short_names_free(lines.at, count);
}

void ct_launchers_print(FILE *out, const char *prefix, const struct ct_input *in,
                        const struct ct_view *gpu, const struct ct_view_options *o)
{
    struct ct_string heading = {0};
    size_t left = in->o->top ? (size_t)in->o->top : FEW, count = 0;
    struct ct_launcher *l = ct_launchers_of(in->m, gpu, CT_VIEW_ALL_DEVICES, o);
    if (!l)
        return;
    const char **names = ct_memory_array(gpu->count, sizeof(*names));
    for (size_t i = 0; i < gpu->count && count < left; i++) {
        if (l[i].line == CT_MERGE_NONE)
            continue;
        names[count] = gpu->lines[i].name;
        l[count++] = l[i];
    }
    ct_string_printf(&heading, "\n%sLines with most of an operation's time:\n", prefix);
    ct_terminal_wrap(out, heading.data, in->width);
    print_lines(out, in, l, names, count);
    ct_string_free(&heading);
    free(names);
    free(l);
}
