/* SPDX-License-Identifier: MIT */
#include "report/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/printable.h"

#define DOTS "\u2026"
#define NARROWEST 20
#define INDENT 4 /* columns, of a line that goes on */

static size_t bytes_at(const char *p)
{
    size_t len = ct_printable(p);
    return len ? len : 1;
}

/* Wide characters of the East, by the blocks they are in: no locale is asked. */
static int columns_of(const char *p, size_t len)
{
    static const struct {
        uint32_t from, to;
    } wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)*p & lead[len < 5 ? len : 4];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (c >= wide[i].from && c <= wide[i].to)
            return 2;
    return 1;
}

int ct_terminal_width(const char *text)
{
    int width = 0;
    for (size_t len; *text; text += len) {
        len = bytes_at(text);
        width += columns_of(text, len);
    }
    return width;
}

void ct_terminal_shorten(struct ct_string *out, const char *text, int width)
{
    int all = ct_terminal_width(text), head = (width - 1) * 2 / 3, tail = width - 1 - head, at = 0;
    if (all <= width) {
        ct_string_put(out, text);
        return;
    }
    for (size_t len; *text; text += len) {
        len = bytes_at(text);
        int columns = columns_of(text, len);
        if (at <= head && at + columns > head)
            ct_string_put(out, DOTS);
        if (at + columns <= head || at >= all - tail)
            ct_string_add(out, text, len);
        at += columns;
    }
}

/* Bytes of the text that fit: up to its last blank there, or all that have room if it has none. */
static size_t fitting(const char *text, int width)
{
    size_t at = 0, blank = 0;
    for (int columns = 0; text[at];) {
        size_t len = bytes_at(text + at);
        columns += columns_of(text + at, len);
        if (columns > width)
            return blank ? blank : at ? at : len;
        if (text[at] == ' ')
            blank = at;
        at += len;
    }
    return at;
}

static void wrap(FILE *out, const char *line, int width)
{
    int indent = 0;
    do {
        size_t n = fitting(line, width - indent);
        fprintf(out, "%*s%.*s\n", indent, "", (int)n, line);
        line += n + strspn(line + n, " ");
        indent = INDENT;
    } while (*line);
}

static void fit_line(FILE *out, const char *line, int width)
{
    struct ct_string shown = {0};
    if (!strncmp(line, "==", 2)) {
        wrap(out, line, width);
        return;
    }
    ct_terminal_shorten(&shown, line, width);
    fprintf(out, "%s\n", shown.data ? shown.data : "");
    ct_string_free(&shown);
}

static void each_line(FILE *out, const char *text, int width,
                      void (*put)(FILE *out, const char *line, int width))
{
    struct ct_string line = {0};
    while (*text) {
        size_t len = strcspn(text, "\n");
        ct_string_clear(&line);
        ct_string_add(&line, text, len);
        put(out, line.data, width);
        text += len + (text[len] == '\n');
    }
    ct_string_free(&line);
}

void ct_terminal_fit(FILE *out, const char *text, int width)
{
    each_line(out, text, width, fit_line);
}

void ct_terminal_wrap(FILE *out, const char *text, int width)
{
    if (width)
        each_line(out, text, width, wrap);
    else
        fputs(text, out);
}

int ct_terminal_columns(int fd)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    if (!isatty(fd))
        return 0;
    int width = columns ? atoi(columns) : 0;
    if (width <= 0 && !ioctl(fd, TIOCGWINSZ, &size))
        width = size.ws_col;
    if (width <= 0)
        width = 80;
    return width < NARROWEST ? NARROWEST : width;
}

bool ct_terminal_color(enum ct_color color, int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (color != CT_COLOR_AUTO)
        return color == CT_COLOR_ALWAYS;
    return fd >= 0 && isatty(fd) && !(no && *no) && term && strcmp(term, "dumb");
}
