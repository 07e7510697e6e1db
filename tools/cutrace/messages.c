/* SPDX-License-Identifier: MIT */
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"

#define LINE_BYTES 16384

static int target = STDERR_FILENO;
static int last_resort = -1; /* the target before there was a log */

void complain_to(int fd)
{
    if (target != STDERR_FILENO)
        last_resort = target;
    target = fd;
}

int complain_where(void)
{
    return target;
}

int complain_where_else(void)
{
    return last_resort < 0 ? target : last_resort;
}

/* Text that does not fit is left out, and that is visible. */
static size_t make_safe(char *to, size_t size, const char *from)
{
    size_t at = 0;
    for (; *from; from++) {
        size_t len = ct_printable(from);
        if (at + 8 > size)
            return at + (size_t)sprintf(to + at, "...");
        if (!len)
            at += (size_t)sprintf(to + at, "\\x%02x", (unsigned char)*from);
        for (size_t i = 0; i < len; i++)
            to[at++] = from[i];
        from += len ? len - 1 : 0;
    }
    return at;
}

/* A full log is said once, where somebody can read that; all later lines go there. */
static void put(const char *line, size_t len)
{
    if (target < 0 || write(target, line, len) == (ssize_t)len || last_resort < 0)
        return;
    target = last_resort;
    last_resort = -1;
    complain("the log cannot be written: %s", strerror(errno));
    put(line, len);
}

static void complain_line(const char *prefix, const char *format, va_list arguments)
{
    char raw[LINE_BYTES], line[LINE_BYTES + 64];
    int saved_errno = errno;
    vsnprintf(raw, sizeof(raw), format, arguments);
    size_t len = (size_t)snprintf(line, 64, "%s", prefix);
    len += make_safe(line + len, LINE_BYTES, raw);
    line[len++] = '\n';
    put(line, len);
    errno = saved_errno;
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain_line("cutrace: ", format, arguments);
    va_end(arguments);
}

void complain_of(pid_t pid, const char *format, ...)
{
    char prefix[32];
    va_list arguments;
    snprintf(prefix, sizeof(prefix), "==%d== ", (int)pid);
    va_start(arguments, format);
    complain_line(prefix, format, arguments);
    va_end(arguments);
}

const char *complain_quoted(const char *word, char *room, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:%@";
    if (*word && strspn(word, plain) == strlen(word))
        return word;
    size_t at = 0;
    room[at++] = '\'';
    for (; *word && at + 6 < size; word++)
        at += (size_t)sprintf(room + at, *word == '\'' ? "'\\''" : "%c", *word);
    strcpy(room + at, "'");
    return room;
}
