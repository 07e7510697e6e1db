/* SPDX-License-Identifier: MIT */
#include "report/stacks/line_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "report/path_tail.h"
#include "report/profile/pairs.h"

#define MOST_LINES 400 /* of one function that are held against each other */
#define MOST_LEVELS 64 /* frames above an operation that are known by it */
#define MOST_PARTS 4   /* of a path's end */
#define MOVED 0.25     /* worth of a line that has moved as far as most of its function */

enum { BEFORE, AFTER, SIDES };

/* Lines of a side by their indices; those without launches have no traits. */
struct side {
    const struct ct_merged *m;
    const struct ct_calls *calls;
    bool *launches;
    uint32_t *function;
    size_t *first; /* trait; those of line i end where those of line i + 1 begin */
    uint32_t *traits;
};

struct pairing {
    struct side sides[SIDES];
    struct ct_key_table functions;  /* files by a name that both sides have, and names */
    struct ct_key_table operations; /* by the keys of their rows */
    uint32_t *of_before;            /* the result */
};

static uint32_t line_count(const struct side *s)
{
    return s->m->stacks.line_keys.count;
}

/* ---- files ---- */

/* Files of both sides by their paths. */
struct paths {
    struct ct_key_table known;
    bool *in[SIDES];
    uint32_t *as; /* the file that this one is taken for: itself, or one of the later run */
};

/* One file of each side, or none that is alone with its tail. */
struct alike {
    uint32_t count[SIDES], file[SIDES];
};

/* Files that only one side has are one where no others of either end alike. */
static void pair_files(struct paths *p, int parts)
{
    struct ct_key_table tails = {0};
    struct alike *alike = ct_memory_array(p->known.count, sizeof(*alike));
    for (uint32_t i = 0; i < p->known.count; i++) {
        if (p->as[i] != i || p->in[BEFORE][i] == p->in[AFTER][i])
            continue;
        const char *tail = ct_path_tail(ct_key_table_get(&p->known, i), parts, "/\\");
        struct alike *a = &alike[ct_key_table_text(&tails, tail)];
        int side = p->in[AFTER][i] ? AFTER : BEFORE;
        a->count[side]++;
        a->file[side] = i;
    }
    for (uint32_t i = 0; i < tails.count; i++) {
        if (alike[i].count[BEFORE] != 1 || alike[i].count[AFTER] != 1)
            continue;
        p->as[alike[i].file[BEFORE]] = alike[i].file[AFTER];
        p->in[BEFORE][alike[i].file[AFTER]] = true;
    }
    ct_key_table_free(&tails);
    free(alike);
}

static const char *file_of(const struct side *s, uint32_t line)
{
    return ct_merge_name(s->m, s->m->stacks.lines[line].file);
}

static void list_files(struct paths *p, const struct pairing *x)
{
    size_t most = (size_t)line_count(&x->sides[BEFORE]) + line_count(&x->sides[AFTER]);
    p->as = ct_memory_array(most, sizeof(*p->as));
    for (int side = BEFORE; side < SIDES; side++) {
        p->in[side] = ct_memory_array(most, sizeof(*p->in[side]));
        for (uint32_t i = 0; i < line_count(&x->sides[side]); i++)
            if (x->sides[side].launches[i])
                p->in[side][ct_key_table_text(&p->known, file_of(&x->sides[side], i))] = true;
    }
    for (uint32_t i = 0; i < p->known.count; i++)
        p->as[i] = i;
    for (int parts = 1; parts <= MOST_PARTS; parts++)
        pair_files(p, parts);
}

static void name_functions(struct pairing *x)
{
    struct paths p = {.as = NULL};
    struct ct_key_table names = {0};
    list_files(&p, x);
    for (int side = BEFORE; side < SIDES; side++) {
        struct side *s = &x->sides[side];
        for (uint32_t i = 0; i < line_count(s); i++) {
            if (!s->launches[i])
                continue;
            const char *name = ct_merge_name(s->m, s->m->stacks.lines[i].function);
            uint32_t key[] = {p.as[ct_key_table_text(&p.known, file_of(s, i))],
                              ct_key_table_text(&names, name)};
            s->function[i] = ct_key_table_add(&x->functions, key, sizeof(key));
        }
    }
    ct_key_table_free(&p.known);
    ct_key_table_free(&names);
    free(p.in[BEFORE]);
    free(p.in[AFTER]);
    free(p.as);
}

/* ---- traits ---- */

/* Numbers of functions that a line called, and of operations below it: these are odd. */
static uint32_t operation_of(struct pairing *x, const struct side *s, uint32_t *of_row,
                             const struct ct_call *call)
{
    struct ct_string key = {0};
    if (!of_row[call->row]) {
        ct_pairs_key(&key, s->m, &s->m->rows[call->row]);
        of_row[call->row] = 1 + ct_key_table_add(&x->operations, key.data, key.len);
        ct_string_clear(&key);
    }
    uint32_t operation = of_row[call->row] - 1;
    if (call->inside) {
        const struct ct_inside *node = &s->m->stacks.inside[call->inside - 1];
        ct_string_printf(&key, "%u inside %s", operation, ct_merge_name(s->m, node->name));
        operation = ct_key_table_add(&x->operations, key.data, key.len);
    }
    ct_string_free(&key);
    return 2 * operation + 1;
}

static void add_trait(struct ct_key_table *of_lines, uint32_t line, uint32_t trait)
{
    uint32_t key[] = {line, trait};
    ct_key_table_add(of_lines, key, sizeof(key));
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* By line, in order. */
static void sort_traits(struct side *s, const struct ct_key_table *of_lines)
{
    uint64_t *all = ct_memory_array(of_lines->count, sizeof(*all));
    for (uint32_t i = 0; i < of_lines->count; i++) {
        uint32_t key[2];
        memcpy(key, ct_key_table_get(of_lines, i), sizeof(key));
        all[i] = (uint64_t)key[0] << 32 | key[1];
    }
    if (of_lines->count)
        qsort(all, of_lines->count, sizeof(*all), by_number);
    s->traits = ct_memory_array(of_lines->count, sizeof(*s->traits));
    for (uint32_t i = 0, line = 0; line <= line_count(s); line++) {
        s->first[line] = i;
        for (; i < of_lines->count && all[i] >> 32 == line; i++)
            s->traits[i] = (uint32_t)all[i];
    }
    free(all);
}

static void list_traits(struct pairing *x, struct side *s)
{
    const struct ct_call *call = s->calls->call;
    struct ct_key_table of_lines = {0};
    uint32_t *of_row = ct_memory_array(s->m->row_keys.count, sizeof(*of_row));
    for (size_t i = 1; i < s->calls->count; i++) {
        uint32_t at = call[i].parent;
        if (!call[i].all.count)
            continue;
        if (call[i].row == CT_CALL_FRAME && at != CT_CALL_ROOT)
            add_trait(&of_lines, call[at].line, 2 * s->function[call[i].line]);
        if (call[i].row == CT_CALL_FRAME)
            continue;
        uint32_t operation = operation_of(x, s, of_row, &call[i]);
        for (int level = 0; at != CT_CALL_ROOT && level < MOST_LEVELS; level++) {
            add_trait(&of_lines, call[at].line, operation);
            at = call[at].parent;
        }
    }
    sort_traits(s, &of_lines);
    ct_key_table_free(&of_lines);
    free(of_row);
}

/* How many traits of both are of either one. */
static double likeness(const struct side *s, uint32_t before, uint32_t after)
{
    const struct side *t = &s[AFTER];
    size_t i = s->first[before], j = t->first[after], both = 0;
    size_t all = s->first[before + 1] - i + t->first[after + 1] - j;
    while (i < s->first[before + 1] && j < t->first[after + 1]) {
        uint32_t a = s->traits[i], b = t->traits[j];
        both += a == b;
        i += a <= b;
        j += b <= a;
    }
    return both ? (double)both / (double)(all - both) : 0;
}

/* ---- lines of one function ---- */

/* A line that launched anything. */
struct place {
    uint32_t function, line, index;
    bool is_after;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->is_after != y->is_after)
        return x->is_after ? 1 : -1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* As wide as the sums are: one for each pair of lines, and those behind the last ones. */
struct alignment {
    const struct place *before, *after;
    size_t old, new; /* how many */
    int64_t shift;
    double *best; /* sum of worths from a line of each on */
};

static int by_difference(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How far the lines have moved: the difference of numbers that most pairs have, the least of these.
 */
static int64_t shift_of(const struct alignment *a)
{
    size_t count = 0, most = 0;
    int64_t *all = ct_memory_array(a->old * a->new, sizeof(*all)), shift = 0;
    for (size_t i = 0; i < a->old; i++)
        for (size_t j = 0; j < a->new; j++)
            all[count++] = (int64_t)a->after[j].line - a->before[i].line;
    qsort(all, count, sizeof(*all), by_difference);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && all[to] == all[from]; to++)
            ;
        if (to - from < most || (to - from == most && llabs(all[from]) >= llabs(shift)))
            continue;
        most = to - from;
        shift = all[from];
    }
    free(all);
    return shift;
}

static double worth(const struct pairing *x, const struct alignment *a, size_t i, size_t j)
{
    bool moved = (int64_t)a->after[j].line - a->before[i].line == a->shift;
    return likeness(x->sides, a->before[i].index, a->after[j].index) + (moved ? MOVED : 0);
}

/* In both the order of the lines, so that the sum of their worths is the largest. */
static void align(struct pairing *x, struct alignment *a)
{
    size_t wide = a->new + 1, i = 0, j = 0;
    a->best = ct_memory_array((a->old + 1) * wide, sizeof(*a->best));
    a->shift = shift_of(a);
    for (i = a->old; i-- > 0;)
        for (j = a->new; j-- > 0;)
            a->best[i * wide + j] =
                fmax(fmax(a->best[(i + 1) * wide + j], a->best[i * wide + j + 1]),
                     worth(x, a, i, j) + a->best[(i + 1) * wide + j + 1]);
    for (i = j = 0; i < a->old && j < a->new;) {
        double here = a->best[i * wide + j];
        if (here <= a->best[(i + 1) * wide + j])
            i++;
        else if (here <= a->best[i * wide + j + 1])
            j++;
        else
            x->of_before[a->before[i++].index] = a->after[j++].index;
    }
    free(a->best);
}

static size_t list_places(const struct pairing *x, struct place *to)
{
    size_t count = 0;
    for (int side = BEFORE; side < SIDES; side++) {
        const struct side *s = &x->sides[side];
        for (uint32_t i = 0; i < line_count(s); i++)
            if (s->launches[i])
                to[count++] =
                    (struct place){s->function[i], s->m->stacks.lines[i].line, i, side == AFTER};
    }
    qsort(to, count, sizeof(*to), by_place);
    return count;
}

static void pair_lines(struct pairing *x)
{
    size_t most = (size_t)line_count(&x->sides[BEFORE]) + line_count(&x->sides[AFTER]);
    struct place *p = ct_memory_array(most, sizeof(*p));
    size_t count = list_places(x, p);
    for (size_t from = 0, middle, to; from < count; from = to) {
        for (to = middle = from; to < count && p[to].function == p[from].function; to++)
            middle += !p[to].is_after;
        struct alignment a = {.before = &p[from],
                              .after = &p[middle],
                              .old = ct_min(middle - from, MOST_LINES),
                              .new = ct_min(to - middle, MOST_LINES)};
        if (a.old && a.new)
            align(x, &a);
    }
    free(p);
}

/* ---- both sides ---- */

static void begin_side(struct side *s, const struct ct_line_side *of)
{
    *s = (struct side){.m = of->m, .calls = of->calls};
    s->launches = ct_memory_array(line_count(s), sizeof(*s->launches));
    s->function = ct_memory_array(line_count(s), sizeof(*s->function));
    s->first = ct_memory_array(line_count(s) + (size_t)1, sizeof(*s->first));
    for (size_t i = 1; i < s->calls->count; i++)
        if (s->calls->call[i].row == CT_CALL_FRAME && s->calls->call[i].all.count)
            s->launches[s->calls->call[i].line] = true;
}

uint32_t *ct_line_pairs(const struct ct_line_side *before, const struct ct_line_side *after)
{
    struct pairing x = {.of_before = NULL};
    begin_side(&x.sides[BEFORE], before);
    begin_side(&x.sides[AFTER], after);
    x.of_before = ct_memory_array(line_count(&x.sides[BEFORE]), sizeof(*x.of_before));
    for (uint32_t i = 0; i < line_count(&x.sides[BEFORE]); i++)
        x.of_before[i] = CT_MERGE_NONE;
    name_functions(&x);
    for (int side = BEFORE; side < SIDES; side++)
        list_traits(&x, &x.sides[side]);
    pair_lines(&x);
    for (int side = BEFORE; side < SIDES; side++) {
        free(x.sides[side].launches);
        free(x.sides[side].function);
        free(x.sides[side].first);
        free(x.sides[side].traits);
    }
    ct_key_table_free(&x.functions);
    ct_key_table_free(&x.operations);
    return x.of_before;
}
