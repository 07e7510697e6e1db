/* SPDX-License-Identifier: MIT */
/* The tables of a reader of traces: from definitions in the file to elements, and from numbers. */
#ifndef CT_TRACE_TABLES_H
#define CT_TRACE_TABLES_H

#include "format/trace_read.h"

#define CT_TRACE_TABLE_MOST (1u << 22) /* elements: what a hostile file may make of a few bytes */
#define CT_TRACE_TEXTS_MOST ((size_t)256 << 20)

/* From the file's numbers to indices. */
struct ct_trace_map {
    struct ct_trace_slot {
        uint64_t number;
        uint32_t index; /* and 1; 0: free */
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

/* 0 or -errno: takes one unpacked block of definitions. */
int ct_trace_tables_add(struct ct_trace_reader *t, struct ct_trace_tables *tables,
                        const uint8_t *data, size_t bytes, struct ct_read_error *error);

/* What a number stands for: an index, CT_TRACE_UNDEFINED if it stands for nothing. */
uint32_t ct_trace_tables_find(const struct ct_trace_tables *tables, enum ct_trace_table table,
                              uint64_t number);
#define CT_TRACE_UNDEFINED UINT32_MAX

/* Shape 0; -ENOMEM or 0. */
int ct_trace_tables_start(struct ct_trace_reader *t, struct ct_trace_tables *tables);
void ct_trace_tables_free(struct ct_trace_reader *t, struct ct_trace_tables *tables);

#endif
