/* SPDX-License-Identifier: MIT */
/* Memory and text of the report tool. Without memory there is no report: the tool ends. */
#ifndef CT_REPORT_HOST_MEMORY_H
#define CT_REPORT_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Noreturn void ct_memory_fail(void);

/*
 * Makes room for `need` elements in an array that has *size; returns the array, moved or not; new
 * elements are zero.
 */
void *ct_memory_grow(void *array, size_t *size, size_t need, size_t element_bytes);
/* An array of so many elements, all zero, and never NULL. */
void *ct_memory_array(size_t count, size_t element_bytes);
void *ct_memory_copy(const void *data, size_t len_bytes);

/* A text that grows; data is terminated once something was added. All zero at first. */
struct ct_string {
    char *data;
    size_t len;
    size_t size;
};

/* Room for `len` more and a terminator. */
void ct_string_reserve(struct ct_string *s, size_t len);

/* Inline, as lines of traces are put together by the hundred million. */
static inline void ct_string_add(struct ct_string *s, const void *data, size_t len)
{
    if (s->size - s->len <= len)
        ct_string_reserve(s, len);
    if (len)
        memcpy(s->data + s->len, data, len);
    s->len += len;
    s->data[s->len] = 0;
}

static inline void ct_string_put(struct ct_string *s, const char *text)
{
    ct_string_add(s, text, strlen(text));
}

/* Room for `len` more bytes; ct_string_end() makes those up to `end` part of the text. */
static inline char *ct_string_room(struct ct_string *s, size_t len)
{
    if (s->size - s->len <= len)
        ct_string_reserve(s, len);
    return s->data + s->len;
}

static inline void ct_string_end(struct ct_string *s, char *end)
{
    s->len = (size_t)(end - s->data);
    *end = 0;
}

__attribute__((format(printf, 2, 3))) void ct_string_printf(struct ct_string *s, const char *format,
                                                            ...);
/* Empty, with a terminator, keeping the memory. */
void ct_string_clear(struct ct_string *s);
void ct_string_free(struct ct_string *s);

/* Writes the text and empties it: at once, or when there is enough for a call. */
void ct_string_write(struct ct_string *s, FILE *out);
void ct_string_write_much(struct ct_string *s, FILE *out);

#endif
