/* SPDX-License-Identifier: MIT */
#include "report/host_memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MUCH 65536

void ct_memory_fail(void)
{
    fputs("cutrace-report: out of memory\n", stderr);
    exit(1);
}

void *ct_memory_grow(void *array, size_t *size, size_t need, size_t element_bytes)
{
    if (need <= *size)
        return array;
    size_t more = *size < 8 ? 8 : *size + *size / 2;
    if (more < need)
        more = need;
    char *grown = reallocarray(array, more, element_bytes);
    if (!grown)
        ct_memory_fail();
    memset(grown + *size * element_bytes, 0, (more - *size) * element_bytes);
    *size = more;
    return grown;
}

void *ct_memory_array(size_t count, size_t element_bytes)
{
    size_t size = 0;
    return ct_memory_grow(NULL, &size, count + 1, element_bytes);
}

void *ct_memory_copy(const void *data, size_t len_bytes)
{
    void *copy = malloc(len_bytes ? len_bytes : 1);
    if (!copy)
        ct_memory_fail();
    if (len_bytes)
        memcpy(copy, data, len_bytes);
    return copy;
}

void ct_string_reserve(struct ct_string *s, size_t len)
{
    s->data = ct_memory_grow(s->data, &s->size, s->len + len + 1, 1);
}

void ct_string_printf(struct ct_string *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text;
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        ct_memory_fail();
    ct_string_add(s, text, (size_t)len);
    free(text);
}

void ct_string_clear(struct ct_string *s)
{
    s->len = 0;
    ct_string_add(s, "", 0);
}

void ct_string_free(struct ct_string *s)
{
    free(s->data);
    *s = (struct ct_string){0};
}

void ct_string_write(struct ct_string *s, FILE *out)
{
    if (s->len)
        fwrite(s->data, 1, s->len, out);
    ct_string_clear(s);
}

void ct_string_write_much(struct ct_string *s, FILE *out)
{
    if (s->len >= MUCH)
        ct_string_write(s, out);
}
