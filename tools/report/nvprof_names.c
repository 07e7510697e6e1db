/* SPDX-License-Identifier: MIT */
/*
 * One pass over the text. Each point needs to know whether it is the start of a template argument
 * (literals stand only there) and the innermost open bracket: within parentheses '<' and '>' may be
 * comparisons.
 */
#include "report/nvprof_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 256 /* brackets; deeper text is passed through as it is */

struct respelling {
    struct ct_string *out;
    const char *at;
    const char *end;
    char open[DEEPEST]; /* '<' or '(' */
    unsigned depth;
    bool argument; /* a template argument starts here */
    bool closed;   /* the last thing was a '>' that ended template arguments */
    bool named;    /* the last thing was the symbol of an operator's name */
};

static void respell(struct ct_string *out, const char *text, const char *end);

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static bool starts(const struct respelling *r, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(r->end - r->at) >= len && !memcmp(r->at, text, len);
}

static char next_of(const struct respelling *r, const char *p)
{
    return p < r->end ? *p : 0;
}

/* The bracket that closes the one at p, or NULL. */
static const char *closing(const struct respelling *r, const char *p)
{
    char open = *p, close = open == '{' ? '}' : ')';
    for (unsigned depth = 0; p < r->end; p++) {
        if (*p == open)
            depth++;
        else if (*p == close && !--depth)
            return p;
    }
    return NULL;
}

static bool ends_argument(const struct respelling *r, const char *p)
{
    char c = next_of(r, p);
    return c == ',' || c == '>';
}

static void pass(struct respelling *r, size_t len)
{
    ct_string_add(r->out, r->at, len);
    r->at += len;
}

static void take_literal(struct respelling *r, const char *type, const char *value, size_t len,
                         const char *after)
{
    ct_string_printf(r->out, "%s=%.*s", type, (int)len, value);
    r->at = after;
}

/* "4", "-2", "7ul": the suffix is the type. */
static bool take_number(struct respelling *r)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {
        {"", "int"},       {"u", "unsigned int"},       {"l", "long"}, {"ul", "unsigned long"},
        {"ll", "__int64"}, {"ull", "unsigned __int64"},
    };
    const char *p = r->at + (*r->at == '-');
    const char *digits = p;
    while (isdigit((unsigned char)next_of(r, p)))
        p++;
    if (p == digits)
        return false;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t len = strlen(types[i].suffix);
        if ((size_t)(r->end - p) >= len && !memcmp(p, types[i].suffix, len) &&
            ends_argument(r, p + len)) {
            take_literal(r, types[i].type, r->at, (size_t)(p - r->at), p + len);
            return true;
        }
    }
    return false;
}

/* "(Enum)3", "(char)65": a value of a type without a suffix. */
static bool take_cast(struct respelling *r)
{
    const char *close = *r->at == '(' ? closing(r, r->at) : NULL;
    if (!close)
        return false;
    const char *value = close + 1, *p = value + (next_of(r, value) == '-');
    const char *digits = p;
    while (isdigit((unsigned char)next_of(r, p)))
        p++;
    if (p == digits || !ends_argument(r, p))
        return false;
    respell(r->out, r->at + 1, close);
    take_literal(r, "", value, (size_t)(p - value), p);
    return true;
}

static bool take_bool(struct respelling *r)
{
    bool truth = starts(r, "true");
    if (!truth && !starts(r, "false"))
        return false;
    const char *after = r->at + (truth ? 4 : 5);
    if (!ends_argument(r, after))
        return false;
    take_literal(r, "bool", truth ? "1" : "0", 1, after);
    return true;
}

/* "operator" and its symbol: the brackets in it are none. */
static bool take_operator(struct respelling *r)
{
    static const char *const symbols[] = {
        "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">",
    };
    if (!starts(r, "operator") || is_word(next_of(r, r->at + 8)))
        return false;
    pass(r, 8);
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        if (!starts(r, symbols[i]))
            continue;
        if (!i)
            ct_string_put(r->out, " ");
        pass(r, strlen(symbols[i]));
        break;
    }
    r->named = true;
    return true;
}

/*
 * Qualifiers of types keep a blank behind them: "float const *", "Tensor<float const >". Those of
 * member functions, which follow the parameters, do not.
 */
static bool take_qualifier(struct respelling *r, size_t len)
{
    if (!(len == 5 && starts(r, "const")) && !(len == 8 && starts(r, "volatile")))
        return false;
    bool of_function = r->out->len > 1 && !memcmp(r->out->data + r->out->len - 2, ") ", 2);
    pass(r, len);
    char next = next_of(r, r->at);
    if (!of_function && next && strchr("*&,)>", next))
        ct_string_put(r->out, " ");
    return true;
}

/* The operand of decltype is an expression, with other rules: it stays as it is. */
static bool take_decltype(struct respelling *r, size_t len)
{
    const char *open = r->at + len + (next_of(r, r->at + len) == ' ');
    if (len != 8 || !starts(r, "decltype") || next_of(r, open) != '(')
        return false;
    const char *close = closing(r, open);
    pass(r, close ? (size_t)(close + 1 - r->at) : len);
    return true;
}

static void take_word(struct respelling *r)
{
    size_t len = 0;
    while (is_word(next_of(r, r->at + len)))
        len++;
    if (take_operator(r) || take_qualifier(r, len) || take_decltype(r, len))
        return;
    if (len == 4 && starts(r, "long long") && !is_word(next_of(r, r->at + 9))) {
        ct_string_put(r->out, "__int64");
        r->at += 9;
        return;
    }
    pass(r, len);
}

/* "{lambda(int)#2}", "{unnamed type#1}"; the parameters of a lambda are types, too. */
static bool take_unnamed(struct respelling *r)
{
    const char *close = closing(r, r->at);
    const char *number = close;
    while (number && number > r->at && *number != '#')
        number--;
    if (!close || *number != '#')
        return false;
    const char *text = r->at + 1, *args = text + strlen("lambda");
    ct_string_put(r->out, "[");
    if (starts(r, "{lambda(") && number[-1] == ')' && number - 1 > args) {
        ct_string_put(r->out, "lambda(");
        respell(r->out, args + 1, number - 1);
        ct_string_put(r->out, ")");
    } else {
        ct_string_add(r->out, text, (size_t)(number - text));
    }
    ct_string_printf(r->out, " (instance %.*s)]", (int)(close - number - 1), number + 1);
    r->at = close + 1;
    return true;
}

static bool opens_arguments(const struct respelling *r, bool named)
{
    char before = r->out->len ? r->out->data[r->out->len - 1] : 0;
    return named || is_word(before) || before == ']';
}

static void open_bracket(struct respelling *r, bool named)
{
    static const char unnamed[] = "(anonymous namespace)";
    char c = *r->at;
    if (c == '(' && starts(r, unnamed)) {
        ct_string_put(r->out, "<unnamed>");
        r->at += sizeof(unnamed) - 1;
    } else if (c == '(' && next_of(r, r->at + 1) == ')') {
        ct_string_put(r->out, "(void)");
        r->at += 2;
    } else if (c == '<' && !opens_arguments(r, named)) {
        pass(r, 1);
    } else {
        if (r->depth < DEEPEST)
            r->open[r->depth] = c;
        r->depth++;
        r->argument = c == '<';
        pass(r, 1);
    }
}

static bool is_open(const struct respelling *r, char c)
{
    return r->depth && r->depth <= DEEPEST && r->open[r->depth - 1] == c;
}

static void close_bracket(struct respelling *r)
{
    char c = *r->at;
    if (c == '>' && !is_open(r, '<')) {
        pass(r, 1);
        return;
    }
    r->depth -= r->depth > 0;
    r->closed = c == '>';
    pass(r, 1);
}

static void take_other(struct respelling *r, bool closed, bool named)
{
    char c = *r->at;
    if (c == '(' || c == '<') {
        open_bracket(r, named);
    } else if (c == ')' || c == '>') {
        close_bracket(r);
    } else if (c == ' ' && closed && next_of(r, r->at + 1) == '>') {
        r->at++;
        r->closed = true;
    } else if (c == ' ' && named && next_of(r, r->at + 1) == '<') {
        pass(r, 1);
        r->named = true;
    } else if (c == ',' && is_open(r, '<')) {
        pass(r, 1 + (next_of(r, r->at + 1) == ' '));
        r->argument = true;
    } else {
        pass(r, starts(r, "->") ? 2 : 1);
    }
}

static void step(struct respelling *r)
{
    bool argument = r->argument, closed = r->closed, named = r->named;
    r->argument = r->closed = r->named = false;
    if (argument && (take_number(r) || take_cast(r) || take_bool(r)))
        return;
    if (is_word(*r->at))
        take_word(r);
    else if (*r->at != '{' || !take_unnamed(r))
        take_other(r, closed, named);
}

static void respell(struct ct_string *out, const char *text, const char *end)
{
    struct respelling r = {.out = out, .at = text, .end = end};
    while (r.at < r.end)
        step(&r);
}

void ct_edg_respell(struct ct_string *out, const char *gnu)
{
    respell(out, gnu, gnu + strlen(gnu));
}
