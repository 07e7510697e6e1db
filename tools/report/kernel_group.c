/* SPDX-License-Identifier: MIT */
#include "report/kernel_group.h"

#include <pthread.h>
#include <regex.h>
#include <stdbool.h>
#include <string.h>

#define MOST_SEARCHED 1024 /* characters: differences between kernels come first */
#define MOST_PARTS 10

const struct ct_kernel_rule ct_kernel_rules[] = {
#define CT_KERNEL_RULE(...) {__VA_ARGS__},
#include "report/kernel_groups.def"
#undef CT_KERNEL_RULE
    {NULL, NULL, NULL, NULL, NULL}};

#define RULES (sizeof(ct_kernel_rules) / sizeof(ct_kernel_rules[0]) - 1)

static struct {
    regex_t select, where;
} compiled[RULES];

static void compile(void)
{
    for (size_t i = 0; i < RULES; i++)
        if (regcomp(&compiled[i].select, ct_kernel_rules[i].select, REG_EXTENDED | REG_NOSUB) ||
            regcomp(&compiled[i].where, ct_kernel_rules[i].where, REG_EXTENDED))
            ct_memory_fail();
}

struct parts {
    struct ct_string function;
    struct ct_string inside; /* template arguments, of scopes, too */
};

static void put(struct ct_string *to, char c)
{
    if (to->len < MOST_SEARCHED)
        ct_string_add(to, &c, 1);
}

/* Length of "<unnamed>" and "::" at the text, which are no part of a name; 0: something else. */
static size_t unnamed(const char *text)
{
    static const char word[] = "<unnamed>";
    size_t len = sizeof(word) - 1;
    if (strncmp(text, word, len))
        return 0;
    return strncmp(text + len, "::", 2) ? len : len + 2;
}

/* False: the name is none of a function in C++. */
static bool split(struct parts *p, const char *name)
{
    int angle = 0, round = 0;
    for (const char *at = name; *at; at++) {
        size_t none = unnamed(at);
        if (none) {
            at += none - 1;
            continue;
        }
        if (*at == '(' && !angle && !round)
            break;
        round += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        angle -= *at == '>' && !round;
        if (angle < 0 || round < 0)
            return false;
        if (angle)
            put(&p->inside, *at);
        else if (*at == ' ' && !round)
            ct_string_clear(&p->function); /* those of the return type */
        else if (!round && !strchr("<>]", *at))
            put(&p->function, *at);
        angle += *at == '<' && !round;
    }
    return !angle && !round && p->function.len && p->function.len < MOST_SEARCHED &&
           !strstr(p->function.data, "operator");
}

static void expand(struct ct_string *out, const char *group, const char *text,
                   const regmatch_t *parts)
{
    for (; *group; group++) {
        if (*group != '\\') {
            ct_string_add(out, group, 1);
            continue;
        }
        const regmatch_t *part = &parts[*++group - '0'];
        ct_string_add(out, text + part->rm_so, (size_t)(part->rm_eo - part->rm_so));
    }
}

/*
 * Applies the first rule, of those with or without a group, that selects the function and is found
 * in the text.
 */
static bool apply(struct ct_string *out, const char *function, const char *text, bool groups)
{
    for (size_t i = 0; i < RULES; i++) {
        const char *group = ct_kernel_rules[i].group;
        regmatch_t parts[MOST_PARTS];
        if (!group == groups || regexec(&compiled[i].select, function, 0, NULL, 0) ||
            regexec(&compiled[i].where, text, MOST_PARTS, parts, 0))
            continue;
        if (group)
            expand(out, group, text, parts);
        else
            ct_string_add(out, text, (size_t)parts[0].rm_so);
        return true;
    }
    return false;
}

static void compile_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile);
}

bool ct_kernel_named(struct ct_string *name)
{
    struct parts p = {{0}, {0}};
    struct ct_string picked = {0};
    compile_once();
    bool split_up = name->data && split(&p, name->data);
    if (split_up)
        ct_string_put(&p.inside, "");
    bool named = split_up && apply(&picked, p.function.data, p.inside.data, true);
    if (named) {
        ct_string_clear(name);
        ct_string_put(name, picked.data);
    }
    ct_string_free(&p.function);
    ct_string_free(&p.inside);
    ct_string_free(&picked);
    return named;
}

void ct_kernel_group(struct ct_string *name)
{
    struct parts p = {{0}, {0}};
    struct ct_string picked = {0}, cut = {0};
    compile_once();
    if (name->data && split(&p, name->data)) {
        ct_string_put(&p.inside, "");
        if (!apply(&picked, p.function.data, p.inside.data, true))
            ct_string_put(&picked, p.function.data);
        if (!apply(&cut, picked.data, picked.data, false) || !cut.len)
            ct_string_put(&cut, picked.data);
        ct_string_clear(name);
        ct_string_put(name, cut.data);
    }
    ct_string_free(&p.function);
    ct_string_free(&p.inside);
    ct_string_free(&picked);
    ct_string_free(&cut);
}
