/* SPDX-License-Identifier: MIT */
#include "report/sinks/data.h"

#include <jansson.h>
#include <stdlib.h>

#include "report/digits.h"

void ct_data_number(FILE *out, const struct ct_column *column, const struct ct_cell *cell)
{
    char digits[CT_DIGITS_BYTES];
    char *end = ct_cell_is_number(column->type)
                    ? ct_digits_fixed(digits, cell->number, ct_column_decimals(column))
                    : ct_digits_count(digits, cell->count);
    fwrite_unlocked(digits, 1, (size_t)(end - digits), out);
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
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (!quoted)
        ct_memory_fail();
    ct_string_put(out, quoted);
    free(quoted);
    json_decref(value);
}

void ct_data_text(FILE *out, const char *text)
{
    size_t len = plain(text);
    if (len) {
        putc_unlocked('"', out);
        fwrite_unlocked(text, 1, len, out);
        putc_unlocked('"', out);
        return;
    }
    struct ct_string quoted = {0};
    ct_data_quote(&quoted, text);
    fputs(quoted.data, out);
    ct_string_free(&quoted);
}

void ct_data_note(const char *text)
{
    fprintf(stderr, "cutrace-report: %s\n", text);
}
