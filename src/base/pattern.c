/* SPDX-License-Identifier: MIT */
#include "base/pattern.h"

#include "base/expression.h"
#include "base/text.h"

static bool has_one_of(const char *pattern, size_t len, const char *characters)
{
    for (size_t i = 0; i < len; i++)
        for (const char *c = characters; *c; c++)
            if (pattern[i] == *c)
                return true;
    return false;
}

static bool is_expression(const char *pattern, size_t len)
{
    return has_one_of(pattern, len, "^$.+([|\\");
}

bool ct_pattern_is_one(const char *pattern, size_t len)
{
    return len && (!is_expression(pattern, len) || ct_expression_is_one(pattern, len));
}

/* The function without its scopes and its template's arguments, and these. */
static const char *own_name(const char *spelled, char *room, size_t size)
{
    const char *begin = spelled, *p = spelled;
    struct ct_text t = ct_text_in(room, size);
    for (; *p && *p != '<'; p++)
        if (*p == ':')
            begin = p + 1;
    while (begin < p)
        ct_text_add_char(&t, *begin++);
    return room;
}

static bool begins(const char *name, const char *pattern, size_t len)
{
    size_t i = 0;
    while (i < len && name[i] == pattern[i])
        i++;
    return i == len;
}

static bool is_part(const char *pattern, size_t len, const char *name)
{
    for (; *name; name++)
        if (begins(name, pattern, len))
            return true;
    return false;
}

bool ct_pattern_matches(const char *pattern, size_t len, const char *mangled, const char *spelled)
{
    char room[256];
    if (is_expression(pattern, len))
        return ct_expression_finds(pattern, len, spelled) ||
               ct_expression_finds(pattern, len, mangled);
    if (!has_one_of(pattern, len, "*?"))
        return len && (is_part(pattern, len, spelled) || is_part(pattern, len, mangled));
    return ct_glob(pattern, len, mangled) || ct_glob(pattern, len, spelled) ||
           ct_glob(pattern, len, own_name(spelled, room, sizeof(room)));
}
