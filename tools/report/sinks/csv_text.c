/* SPDX-License-Identifier: MIT */
#include "report/sinks/csv_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/*
 * Spreadsheets take a cell that begins so for a formula, the wide forms in some countries; names
 * come from others.
 */
static bool is_formula(const char *text)
{
    static const char *const starts[] = {
        "=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20",
    };
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (!strncmp(text, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static void print_quoted(FILE *out, const char *text, size_t len)
{
    putc('"', out);
    for (; len; len--, text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

/* Whether a name needs no change, as nearly all. */
static bool is_plain(const char *name, size_t len)
{
    return len && !name[len] && (isalpha((unsigned char)*name) || strchr("_[(", *name));
}

/* Semicolons separate cells in some countries, also within quotes that began before. */
void ct_csv_cell(struct ct_string *out, const char *name)
{
    size_t len = strcspn(name, "\";");
    if (is_plain(name, len)) {
        ct_string_add(out, name, len);
        return;
    }
    ct_string_put(out, is_formula(name) ? "'" : "");
    for (; *name; name++) {
        if (*name == ';')
            ct_string_put(out, "\\x3b");
        else
            ct_string_add(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    }
}

void ct_csv_name(struct ct_string *out, const char *name)
{
    ct_string_put(out, "\"");
    ct_csv_cell(out, name);
    ct_string_put(out, "\"");
}

/* Whether a name in a line of text would begin a cell with a formula, or with a quote of its own.
 */
static bool breaks_out(const char *line, size_t len)
{
    for (const char *p = line; p < line + len; p++) {
        const char *cell = p + 1;
        cell += strspn(cell, " '");
        if (strchr(",;", *p) && (is_formula(cell) || *cell == '"'))
            return true;
    }
    return false;
}

void ct_csv_text(FILE *out, const char *text)
{
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        if (breaks_out(text, len))
            print_quoted(out, text, len);
        else
            fwrite(text, 1, len, out);
        putc('\n', out);
    }
}
