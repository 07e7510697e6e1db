/* SPDX-License-Identifier: MIT */
/*
 * Reads a summary file whole and checks it whole: after a successful read every index, range and
 * string in it can be used without a further look. Not for the traced process: it uses malloc.
 */
#ifndef CT_READ_H
#define CT_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "cutrace/format.h"

/* Larger payloads are refused: no summary comes near the limit, which bounds the memory. */
#define CT_READ_LIMIT_BYTES ((uint64_t)1 << 30)

/* Sections of a payload: type in the file, member below, element. */
#define CT_READ_SECTIONS(X)                                                                        \
    X(STRINGS, strings, char)                                                                      \
    X(PROCESS, process, struct ct_file_process)                                                    \
    X(DEVICES, devices, struct ct_file_device)                                                     \
    X(ROWS, rows, struct ct_file_row)                                                              \
    X(SHAPES, shapes, struct ct_file_shape)                                                        \
    X(BUCKETS, buckets, struct ct_file_bucket)                                                     \
    X(APIS, apis, struct ct_file_api)                                                              \
    X(STREAMS, streams, struct ct_file_stream)                                                     \
    X(NODES, nodes, struct ct_file_node)                                                           \
    X(NOTES, notes, struct ct_file_note)                                                           \
    X(ACTIVITIES, activities, struct ct_file_activity)                                             \
    X(GAPS, gaps, struct ct_file_gap)                                                              \
    X(TRANSFERS, transfers, struct ct_file_transfer)                                               \
    X(PROCESSES, processes, struct ct_file_process)                                                \
    X(TOTALS, totals, struct ct_file_total)                                                        \
    X(SPREADS, spreads, struct ct_file_spread)                                                     \
    X(THREADS, threads, struct ct_file_thread)                                                     \
    X(RANGES, ranges, struct ct_file_range)                                                        \
    X(CELLS, cells, struct ct_file_cell)                                                           \
    X(MEMORY, memory, struct ct_file_memory)                                                       \
    X(BLOCKS, blocks, struct ct_file_block)                                                        \
    X(COLLECTIVES, collectives, struct ct_file_collective)                                         \
    X(UNIFIED, unified, struct ct_file_unified)                                                    \
    X(LINES, lines, struct ct_file_line)                                                           \
    X(FRAMES, frames, struct ct_file_frame)                                                        \
    X(STACKS, stacks, struct ct_file_stack)                                                        \
    X(MODULES, modules, struct ct_file_module)                                                     \
    X(INSIDE, inside, struct ct_file_inside)                                                       \
    X(OBJECTS, objects, struct ct_file_object)                                                     \
    X(ADDRESSES, addresses, struct ct_file_address)                                                \
    X(STUCK, stuck, struct ct_file_stuck)                                                          \
    X(SENSORS, sensors, struct ct_file_sensor)

enum ct_read_section {
#define X(id, member, type) CT_READ_##id,
    CT_READ_SECTIONS(X)
#undef X
        CT_READ_SECTION_COUNT
};

/* One read file. The arrays are the summary's own and live until the next read or its end. */
struct ct_summary {
#define X(id, member, type)                                                                        \
    const type *member;                                                                            \
    size_t member##_count;
    CT_READ_SECTIONS(X)
#undef X
    uint16_t minor;
    uint64_t sequence; /* number of the payload that was taken */
    bool fell_back;    /* the newest payload is damaged or missing, this is the one before */

    void *payload; /* buffer, kept from file to file */
    size_t payload_size;
    void *grown[CT_READ_SECTION_COUNT]; /* sections of elements of another size */
    size_t grown_bytes;
};

struct ct_read_error {
    char text[256]; /* the reason, as the end of a sentence that starts with the file's name */
};

/*
 * Reads `path` into *s, which is all zero at first and may be used again for the next file.
 * 0, or -errno with error->text; *s is then empty. With s->fell_back error->text says why.
 */
int ct_summary_read(struct ct_summary *s, const char *path, struct ct_read_error *error);
/* Reads an open file, whatever its offset, which stays open; returns as ct_summary_read(). */
int ct_summary_read_open(struct ct_summary *s, int fd, struct ct_read_error *error);
void ct_summary_free(struct ct_summary *s);

/* Whether an open file begins as a summary. */
bool ct_summary_is_one(int fd);

/* A string of the file by its offset. */
static inline const char *ct_summary_text(const struct ct_summary *s, uint32_t offset)
{
    return s->strings + offset;
}

#endif
