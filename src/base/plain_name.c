/* SPDX-License-Identifier: MIT */
#include "base/plain_name.h"

#define DEEPEST 64
#define LONGEST 65536

/* The opening of an E: its letter, and whether another part stands before. */
struct level {
    char kind;
    bool has_part; /* in a scope: "::" comes next; among arguments: ", " does */
};

struct speller {
    struct ct_text *t;
    const char *p;
    struct level levels[DEEPEST];
    unsigned depth;
    bool joins; /* "std" was written: what comes next is in it */
    bool done;
};

static struct level *top(struct speller *s)
{
    return &s->levels[s->depth];
}

static void push(struct speller *s, char kind)
{
    s->done |= s->depth + 1 == DEEPEST;
    if (!s->done)
        s->levels[++s->depth] = (struct level){.kind = kind};
}

/* Before anything that is written. */
static void separate(struct speller *s)
{
    struct level *l = top(s);
    if (s->joins || (l->kind == 'N' && l->has_part))
        ct_text_add(s->t, "::");
    else if (l->kind == 'I' && l->has_part)
        ct_text_add(s->t, ", ");
    l->has_part = true;
    s->joins = false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void source_name(struct speller *s)
{
    size_t n = 0;
    for (; is_digit(*s->p); s->p++)
        n = n < LONGEST ? 10 * n + (size_t)(*s->p - '0') : n;
    n = ct_strnlen(s->p, n);
    separate(s);
    if (n >= 10 && ct_starts_with(s->p, "_GLOBAL__N"))
        ct_text_add(s->t, "(anonymous namespace)");
    else
        for (size_t i = 0; i < n; i++)
            ct_text_add_char(s->t, s->p[i]);
    s->p += n;
}

/* Past "12_" or "_". */
static void skip_number(struct speller *s)
{
    while (is_digit(*s->p) || (*s->p >= 'A' && *s->p <= 'Z'))
        s->p++;
    s->p += *s->p == '_';
}

static void substitution(struct speller *s)
{
    s->p++;
    if (*s->p == 't') {
        separate(s);
        ct_text_add(s->t, "std");
        s->joins = true;
        s->p++;
    } else if (*s->p >= 'a' && *s->p <= 'z') {
        s->p++;
    } else {
        skip_number(s);
    }
}

/* The value of a literal, up to its E, which is left. */
static void value(struct speller *s)
{
    if (*s->p == 'n')
        ct_text_add_char(s->t, '-');
    s->p += *s->p == 'n';
    while (*s->p && *s->p != 'E')
        ct_text_add_char(s->t, *s->p++);
}

static void literal(struct speller *s)
{
    s->p++;
    if (ct_starts_with(s->p, "_Z")) {
        s->p += 2;
        push(s, 'F');
    } else if (*s->p >= 'a' && *s->p <= 'z') {
        separate(s);
        s->p++;
        value(s);
        s->p += *s->p == 'E';
    } else {
        separate(s);
        push(s, 'L');
    }
}

static const char *builtin(char c)
{
    static const char *const names[] = {
        ['a' - 'a'] = "signed char",
        ['b' - 'a'] = "bool",
        ['c' - 'a'] = "char",
        ['d' - 'a'] = "double",
        ['f' - 'a'] = "float",
        ['h' - 'a'] = "unsigned char",
        ['i' - 'a'] = "int",
        ['j' - 'a'] = "unsigned int",
        ['l' - 'a'] = "long",
        ['m' - 'a'] = "unsigned long",
        ['s' - 'a'] = "short",
        ['t' - 'a'] = "unsigned short",
        ['v' - 'a'] = "void",
        ['x' - 'a'] = "long long",
        ['y' - 'a'] = "unsigned long long",
    };
    unsigned at = (unsigned)(c - 'a');
    return at < sizeof(names) / sizeof(names[0]) ? names[at] : NULL;
}

static void close(struct speller *s)
{
    char kind = top(s)->kind;
    s->p++;
    s->done |= !s->depth;
    s->depth -= s->depth > 0;
    s->joins = false;
    if (kind == 'I')
        ct_text_add_char(s->t, '>');
    if (kind == 'U')
        skip_number(s);
    if (top(s)->kind == 'L' && kind != 'I')
        value(s);
}

static void open(struct speller *s)
{
    char kind = *s->p++;
    if (kind == 'N')
        separate(s);
    push(s, kind);
    if (kind == 'I')
        ct_text_add_char(s->t, '<');
    while (kind == 'N' && (*s->p == 'K' || *s->p == 'V' || *s->p == 'r'))
        s->p++;
}

static void lambda(struct speller *s)
{
    s->p++;
    separate(s);
    ct_text_add(s->t, "{lambda}");
    if (*s->p == 'l') {
        push(s, 'U');
        s->p++;
    } else {
        s->p += *s->p != 0;
        skip_number(s);
    }
}

/* Types that are not written at all, and those of one letter, which are. */
static void other(struct speller *s)
{
    const char *name = *s->p >= 'a' ? builtin(*s->p) : NULL;
    if (*s->p == 'D')
        s->p += s->p[1] != 0;
    if (*s->p == 'A' || *s->p == 'T')
        skip_number(s);
    else
        s->p++;
    if (name && top(s)->kind == 'I') {
        separate(s);
        ct_text_add(s->t, name);
    }
}

static void part(struct speller *s)
{
    if (is_digit(*s->p))
        source_name(s);
    else if (*s->p == 'E')
        close(s);
    else if (*s->p == 'S')
        substitution(s);
    else if (*s->p == 'L' && top(s)->kind == 'I')
        literal(s);
    else if (*s->p == 'U')
        lambda(s);
    else if (*s->p == 'N' || *s->p == 'I' || *s->p == 'J' || *s->p == 'F' || *s->p == 'X' ||
             *s->p == 'Z')
        open(s);
    else
        other(s);
    if (top(s)->kind == 'L' && s->p[0] && is_digit(s->p[0]))
        value(s);
    /* The name is complete unless arguments of a template follow; parameters do otherwise. */
    s->done |= !s->depth && !s->joins && *s->p != 'I';
}

void ct_plain_name(struct ct_text *t, const char *mangled)
{
    struct speller s = {.t = t, .p = mangled + 2};
    if (!ct_starts_with(mangled, "_Z")) {
        ct_text_add(t, mangled);
        return;
    }
    while (*s.p && !s.done && !ct_text_full(t))
        part(&s);
}
