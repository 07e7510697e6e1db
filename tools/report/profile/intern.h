/* SPDX-License-Identifier: MIT */
/*
 * Numbers byte strings: equal strings get the same number, new ones the next from 0 on. It is
 * the one hash table of the report: whatever is to be grouped is made a string first.
 */
#ifndef CT_REPORT_INTERN_H
#define CT_REPORT_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "report/memory.h"

struct ct_intern_entry {
    uint64_t hash;
    size_t offset; /* of the bytes in blob */
    size_t len;
};

/* All zero at first. */
struct ct_intern {
    struct ct_string blob;
    struct ct_intern_entry *entries;
    size_t entries_size;
    uint32_t count;
    uint32_t *slots;   /* number + 1, 0: free */
    size_t slots_size; /* a power of two */
};

uint32_t ct_intern_add(struct ct_intern *n, const void *data, size_t len);
uint32_t ct_intern_text(struct ct_intern *n, const char *text);

/* The bytes of a number, terminated; valid until the next one is added. */
const char *ct_intern_get(const struct ct_intern *n, uint32_t number);
size_t ct_intern_len(const struct ct_intern *n, uint32_t number);
void ct_intern_free(struct ct_intern *n);

#endif
