/* SPDX-License-Identifier: MIT */
#include "base/expression.h"

#define MOST_STEPS 100000
#define DEEPEST 200 /* calls of this file below each other, some 100 bytes each */

/* The part to be matched behind a group: the rest of an expression, then further ones. */
struct rest {
    const char *p, *end;
    const struct rest *next;
    const char *from; /* a repetition that has matched nothing since is no progress */
};

struct matcher {
    const char *text;
    unsigned steps;
    unsigned depth;
};

static const char *bracket_end(const char *p, const char *end)
{
    p += p < end && *p == '^';
    p += p < end && *p == ']';
    while (p < end && *p != ']')
        p++;
    return p < end ? p + 1 : NULL;
}

/* Behind the atom at p; NULL: it has no end. */
static const char *atom_end(const char *p, const char *end)
{
    unsigned open = 0;
    do {
        switch (*p) {
        case '\\':
            p += 2;
            break;
        case '[':
            p = bracket_end(p + 1, end);
            break;
        case ')':
            if (!open--)
                return NULL;
            p++;
            break;
        default:
            open += *p++ == '(';
        }
    } while (p && open && p < end);
    return p && !open && p <= end ? p : NULL;
}

static bool is_repeated(const char *p, const char *end)
{
    return p < end && (*p == '*' || *p == '+' || *p == '?');
}

bool ct_expression_is_one(const char *p, size_t len)
{
    const char *end = p + len;
    while (p && p < end) {
        bool is_group = *p == '(';
        const char *next = is_repeated(p, end) ? NULL : atom_end(p, end);
        if (next && is_group && !ct_expression_is_one(p + 1, (size_t)(next - p - 2)))
            return false;
        p = next ? next + (*p != '|' && is_repeated(next, end)) : NULL;
    }
    return p != NULL;
}

static bool is_in_bracket(const char *p, const char *end, char c)
{
    bool out = *p == '^', in = false;
    const char *first = p += out;
    for (; p < end - 1 || p == first; p++) {
        bool is_span = p + 2 < end - 1 && p[1] == '-';
        in |= is_span ? c >= *p && c <= p[2] : c == *p;
        p += is_span ? 2 : 0;
    }
    return in != out;
}

/* Whether the atom, which is no group, is that character. */
static bool is_one(const char *p, const char *end, char c)
{
    if (!c)
        return false;
    if (*p == '[')
        return is_in_bracket(p + 1, end, c);
    return *p == '.' || (*p == '\\' ? p[1] : *p) == c;
}

static bool match_any(struct matcher *m, const char *p, const char *end, const struct rest *next,
                      const char *s);

static bool match(struct matcher *m, const char *p, const char *end, const struct rest *next,
                  const char *s);

/* A single character, so many times: as often as it can be, then less often. */
static bool match_single(struct matcher *m, const char *p, const char *end, const char *atom,
                         const struct rest *next, const char *s)
{
    char sign = is_repeated(atom, end) ? *atom : 0;
    const char *after = atom + (sign != 0), *least = s + (!sign || sign == '+');
    const char *most = s;
    while (is_one(p, atom, *most) && (most == s || sign == '*' || sign == '+'))
        most++;
    for (; most >= least; most--)
        if (match(m, after, end, next, most))
            return true;
    return false;
}

static bool match_group(struct matcher *m, const char *p, const char *end, const char *atom,
                        const struct rest *next, const char *s)
{
    char sign = is_repeated(atom, end) ? *atom : 0;
    const char *after = atom + (sign != 0);
    bool again = sign == '*' || sign == '+';
    struct rest behind = {after, end, next, NULL}, more = {p, end, next, s};
    if (again && match_any(m, p + 1, atom - 1, &more, s))
        return true;
    if (sign == '*')
        return match(m, after, end, next, s);
    if (match_any(m, p + 1, atom - 1, &behind, s))
        return true;
    return sign == '?' && match(m, after, end, next, s);
}

static bool match_rest(struct matcher *m, const struct rest *next, const char *s)
{
    return !next || (next->from != s && match(m, next->p, next->end, next->next, s));
}

static bool match(struct matcher *m, const char *p, const char *end, const struct rest *next,
                  const char *s)
{
    bool found;
    if (m->steps++ >= MOST_STEPS || m->depth >= DEEPEST)
        return false;
    m->depth++;
    if (p == end)
        found = match_rest(m, next, s);
    else if (*p == '^')
        found = s == m->text && match(m, p + 1, end, next, s);
    else if (*p == '$')
        found = !*s && match(m, p + 1, end, next, s);
    else if (*p == '(')
        found = match_group(m, p, end, atom_end(p, end), next, s);
    else
        found = match_single(m, p, end, atom_end(p, end), next, s);
    m->depth--;
    return found;
}

/* Where the first of several alternatives ends, or `end`. */
static const char *first_end(const char *p, const char *end)
{
    while (p < end && *p != '|')
        p = atom_end(p, end);
    return p;
}

static bool match_any(struct matcher *m, const char *p, const char *end, const struct rest *next,
                      const char *s)
{
    const char *bar = first_end(p, end);
    if (match(m, p, bar, next, s))
        return true;
    return bar < end && match_any(m, bar + 1, end, next, s);
}

bool ct_expression_finds(const char *expression, size_t len, const char *text)
{
    struct matcher m = {.text = text};
    if (!ct_expression_is_one(expression, len))
        return false;
    for (const char *s = text;; s++) {
        if (match_any(&m, expression, expression + len, NULL, s))
            return true;
        if (!*s)
            return false;
    }
}
