/* SPDX-License-Identifier: MIT */
/*
 * Numbers byte strings: equal strings get the same number, new ones the next from 0 on. It is
 * the one hash table of the report: whatever is to be grouped is made a string first.
 */
#ifndef CT_REPORT_KEY_TABLE_H
#define CT_REPORT_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "report/host_memory.h"

struct ct_key_table_entry {
    uint64_t hash;
    size_t offset; /* of the bytes in blob */
    size_t len;
};

/* All zero at first. */
struct ct_key_table {
    struct ct_string blob;
    struct ct_key_table_entry *entries;
    size_t entries_size;
    uint32_t count;
    uint32_t *slots;   /* number + 1, 0: free */
    size_t slots_size; /* a power of two */
};

uint32_t ct_key_table_add(struct ct_key_table *n, const void *data, size_t len);
uint32_t ct_key_table_text(struct ct_key_table *n, const char *text);

/* The bytes of a number, terminated; valid until the next one is added. */
const char *ct_key_table_get(const struct ct_key_table *n, uint32_t number);
size_t ct_key_table_len(const struct ct_key_table *n, uint32_t number);
void ct_key_table_free(struct ct_key_table *n);

#endif
