/* SPDX-License-Identifier: MIT */
#include "file_pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "role.h"

const char *file_pattern_check(const char *pattern)
{
    for (const char *p = pattern; (p = strchr(p, '%')); p += 2) {
        if (!p[1] || !strchr("phqr%", p[1]))
            return "after % comes p, h, r, q{VARIABLE} or %";
        if (p[1] == 'q' && (p[2] != '{' || !strchr(p, '}')))
            return "%q is followed by a variable's name in braces";
    }
    return NULL;
}

bool file_pattern_varies(const char *pattern)
{
    for (const char *p = pattern; (p = strchr(p, '%')); p += 2)
        if (p[1] != '%')
            return true;
    return false;
}

/* The value of the variable that is named in braces at *p, which is moved behind them. */
static const char *variable(const char **p)
{
    char name[256];
    size_t len = strcspn(*p + 1, "}");
    snprintf(name, sizeof(name), "%.*s", (int)len, *p + 1);
    *p += len + 2;
    const char *value = getenv(name);
    if (!value)
        complain("cannot find environment variable \"%s\"", name);
    return value;
}

/* The text that the letter stands for; *p is behind it. */
static const char *meaning(char letter, const char **p, pid_t pid, char *room, size_t size)
{
    *room = '\0';
    if (letter == 'q')
        return variable(p);
    if (letter == 'p')
        snprintf(room, size, "%d", (int)pid);
    else if (letter == 'r')
        snprintf(room, size, "%u", role_rank().number ? role_rank().number - 1 : 0);
    else if (letter == 'h')
        gethostname(room, size - 1);
    else
        return "%";
    return room;
}

bool file_pattern_expand(char *to, size_t size, const char *pattern, pid_t pid)
{
    char room[256] = "";
    size_t at = 0;
    for (const char *p = pattern; *p && at < size;) {
        size_t plain = strcspn(p, "%");
        at += (size_t)snprintf(to + at, size - at, "%.*s", (int)plain, p);
        p += plain;
        if (!*p || at >= size)
            break;
        char letter = p[1];
        p += 2;
        const char *text = meaning(letter, &p, pid, room, sizeof(room));
        if (!text)
            return false;
        at += (size_t)snprintf(to + at, size - at, "%s", text);
    }
    if (at >= size)
        complain("%s: the name is too long", pattern);
    return at < size;
}
