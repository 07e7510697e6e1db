/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <string.h>

#include "base/base.h"

/* Written anew, so that a mistake in base/printable.c is not made twice: by the bytes of UTF-8. */
static const char *const forbidden[] = {
    "\x7f",   "\302\205", "\302\233",   "\u00ad",     "\u061c",     "\u180e", "\u200b", "\u200c",
    "\u200d", "\u200e",   "\u200f",     "\u2028",     "\u2029",     "\u202a", "\u202b", "\u202c",
    "\u202d", "\u202e",   "\u2060",     "\u2061",     "\u2062",     "\u2063", "\u2064", "\u2066",
    "\u2067", "\u2068",   "\u2069",     "\u206a",     "\u206f",     "\u3164", "\ufeff", "\ufff9",
    "\ufffa", "\ufffb",   "\U000e0001", "\U000e0041", "\U000e007f",
};

static bool is_continued(const unsigned char *p, unsigned n)
{
    for (unsigned i = 1; i <= n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return false;
    return true;
}

/* Bytes of a character by the table of well-formed sequences; 0: none. */
static unsigned utf8(const unsigned char *p)
{
    if (*p < 0x80)
        return 1;
    if (*p >= 0xc2 && *p <= 0xdf && is_continued(p, 1))
        return 2;
    if (*p >= 0xe0 && *p <= 0xef && is_continued(p, 2))
        return (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ? 0 : 3;
    if (*p >= 0xf0 && *p <= 0xf4 && is_continued(p, 3))
        return (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f) ? 0 : 4;
    return 0;
}

static const char *check_bytes(const char *text, size_t len)
{
    for (const char *p = text; p < text + len;) {
        if ((unsigned char)*p < 0x20 && *p != '\n')
            return "a control character";
        unsigned bytes = utf8((const unsigned char *)p);
        if (!bytes)
            return "bytes that are no UTF-8";
        for (size_t i = 0; (unsigned char)*p >= 0x7f && i < ct_countof(forbidden); i++)
            if (!strncmp(p, forbidden[i], strlen(forbidden[i])))
                return "a character that cannot be seen";
        p += bytes;
    }
    return NULL;
}

static bool is_formula(const char *cell)
{
    cell += strspn(cell, " ");
    return strchr("=+-@", *cell) || !strncmp(cell, "\uff1d", 3) || !strncmp(cell, "\uff20", 3) ||
           !strncmp(cell, "\uff0b", 3) || !strncmp(cell, "\uff0d", 3);
}

/* Behind a cell that begins with a quote and what lenient readers append to it; NULL: no end. */
static const char *skip_quoted(const char *p, char separator)
{
    for (p++; *p != '\n'; p++) {
        if (*p != '"')
            continue;
        if (p[1] != '"')
            return p + 1 + strcspn(p + 1, separator == ',' ? ",\n" : ";\n");
        p++;
    }
    return NULL;
}

/* One line; lines that are not of the table begin with our own mark, which is no formula. */
static const char *check_cells(const char *line, char separator)
{
    bool ours = !strncmp(line + (*line == '"'), "==", 2);
    for (const char *p = line;; p++) {
        if (is_formula(p + (*p == '"')) && *p != '\n' && !(ours && p == line))
            return "a cell that begins like a formula";
        p = *p == '"' ? skip_quoted(p, separator)
                      : p + strcspn(p, separator == ',' ? ",\n" : ";\n");
        if (!p)
            return "a quote without an end";
        if (*p == '\n')
            return NULL;
    }
}

const char *oracle_complaint(const char *text, size_t len, bool csv)
{
    const char *wrong = len && text[len - 1] != '\n' ? "a line without an end" : NULL;
    wrong = wrong ? wrong : check_bytes(text, len);
    for (const char *p = text; csv && !wrong && p < text + len; p += strcspn(p, "\n") + 1) {
        wrong = check_cells(p, ',');
        wrong = wrong ? wrong : check_cells(p, ';');
    }
    return wrong;
}
