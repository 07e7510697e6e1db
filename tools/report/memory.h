/* SPDX-License-Identifier: MIT */
/* Memory and text of the report tool. Without memory there is no report: the tool ends. */
#ifndef CT_REPORT_MEMORY_H
#define CT_REPORT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Room for `need` elements in an array that has *size: the array, moved or not; new ones zero. */
void *ct_memory_grow(void *array, size_t *size, size_t need, size_t element_bytes);
void *ct_memory_copy(const void *data, size_t len_bytes);

/* A text that grows; data is terminated once something was added. All zero at first. */
struct ct_string {
    char *data;
    size_t len;
    size_t size;
};

void ct_string_add(struct ct_string *s, const void *data, size_t len);
void ct_string_put(struct ct_string *s, const char *text);
__attribute__((format(printf, 2, 3))) void ct_string_printf(struct ct_string *s, const char *format,
                                                            ...);
/* Empty, with a terminator, keeping the memory. */
void ct_string_clear(struct ct_string *s);
void ct_string_free(struct ct_string *s);

#endif
