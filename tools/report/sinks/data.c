/* SPDX-License-Identifier: MIT */
#include "report/sinks/data.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/digits.h"

void ct_data_number(struct ct_string *out, const struct ct_column *column,
                    const struct ct_cell *cell)
{
    char *to = ct_string_room(out, CT_DIGITS_BYTES);
    ct_string_end(out, ct_cell_is_number(column->type)
                           ? ct_digits_fixed(to, cell->number, ct_column_decimals(column))
                           : ct_digits_count(to, cell->count));
}

/* Nearly all names have nothing in them that has to be escaped, or is not ASCII. */
static size_t plain(const char *text)
{
    size_t len = 0;
    while (text[len] >= ' ' && text[len] < 0x7f && text[len] != '"' && text[len] != '\\')
        len++;
    return text[len] ? 0 : len;
}

void ct_data_quote(struct ct_string *out, const char *text)
{
    size_t len = plain(text);
    if (len) {
        ct_string_put(out, "\"");
        ct_string_add(out, text, len);
        ct_string_put(out, "\"");
        return;
    }
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (!quoted)
        ct_memory_fail();
    ct_string_put(out, quoted);
    free(quoted);
    json_decref(value);
}

void ct_data_note(const char *text)
{
    fprintf(stderr, "cutrace-report: %s\n", text);
}
