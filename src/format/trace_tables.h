/* SPDX-License-Identifier: MIT */
/* A trace reader's tables: from definitions in the file, and from its numbers, to elements. */
#ifndef CT_TRACE_TABLES_H
#define CT_TRACE_TABLES_H

#include "format/trace_read.h"

#define CT_TRACE_TABLE_MOST (1u << 22) /* elements: bounds a hostile file of a few bytes */
#define CT_TRACE_TEXTS_MOST ((size_t)256 << 20)

/* From the file's numbers to indices. */
struct ct_trace_map {
    struct ct_trace_slot {
        uint64_t number;
        uint32_t index; /* index plus 1; 0: free */
    } * slots;
    uint64_t seed;
    uint32_t size; /* a power of two, or 0 */
    uint32_t used;
};

struct ct_trace_tables {
    struct ct_trace_map map[CT_TRACE_TABLE_COUNT];
    struct ct_trace_texts *texts;
    size_t texts_bytes;
};

/* Takes an unpacked block of definitions. 0 or -errno. */
int ct_trace_tables_add(struct ct_trace_reader *t, struct ct_trace_tables *tables,
                        const uint8_t *data, size_t bytes, struct ct_read_error *error);

/* The index that a number stands for; CT_TRACE_UNDEFINED if it stands for nothing. */
uint32_t ct_trace_tables_find(const struct ct_trace_tables *tables, enum ct_trace_table table,
                              uint64_t number);
#define CT_TRACE_UNDEFINED UINT32_MAX

/* Adds shape 0 and frame 0, those of records without one. 0 or -ENOMEM. */
int ct_trace_tables_start(struct ct_trace_reader *t, struct ct_trace_tables *tables);
void ct_trace_tables_free(struct ct_trace_reader *t, struct ct_trace_tables *tables);

#endif
