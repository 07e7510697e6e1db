/* SPDX-License-Identifier: MIT */
/*
 * Adds up any number of summaries. A thing that is the same in several files (a kernel on a device,
 * an API function, a graph with the same content) becomes one entry, so the memory depends on the
 * result, not on the number of files; only the lists of processes and devices grow with it. Rows
 * may be of all GPUs of a model, or of all: thousands of ranks have as many GPUs.
 */
#ifndef CT_REPORT_MERGE_H
#define CT_REPORT_MERGE_H

#include <stdbool.h>

#include "base/base.h"
#include "cutrace/format.h"
#include "format/read.h"
#include "report/device/sensor_sums.h"
#include "report/profile/allocations.h"
#include "report/profile/busy_time.h"
#include "report/profile/collectives.h"
#include "report/profile/key_table.h"
#include "report/profile/managed_memory.h"
#include "report/profile/ranges.h"
#include "report/profile/stack_sums.h"

#define CT_MERGE_NONE UINT32_MAX
#define CT_MERGE_UNKNOWN                                                                           \
    UINT64_MAX /* a count that the file does not have; sums with it are so, too */

/* A histogram: the buckets that were hit, in their order. */
struct ct_merged_hist {
    struct ct_file_bucket *buckets;
    size_t count;
    size_t size;
};

/*
 * Spread over the processes; sums of the process that is being added are in part_ns and part_calls.
 */
struct ct_merged_spread {
    struct ct_file_spread sum; /* least, most: of ct_merged.processes */
    double part_ns;
    double part_calls;
    /*
     * A merged file tells of each name of a group, and not of all together: means and their squares
     * are estimates, least and most are of single names.
     */
    bool unknown;
};

struct ct_merged_sizes;

struct ct_merged_row {
    struct ct_file_row sum;     /* name: of ct_merged.names; device: of ct_merged.devices */
    uint32_t content;           /* graphs: of ct_merged.contents; otherwise CT_MERGE_NONE */
    struct ct_file_node *nodes; /* times and bytes of its content, one by one; NULL: none */
    size_t node_count;
    struct ct_merged_hist hist;
    struct ct_merged_hist raw_hist;
    struct ct_merged_sizes *sizes; /* see sizes.h; NULL: not known */
    struct ct_file_shape *shapes;
    size_t shape_count;
    size_t shape_size;
    struct ct_merged_spread spread;
};

struct ct_merged_api {
    struct ct_file_api sum;
    struct ct_merged_hist hist;
    struct ct_merged_spread spread;
};

struct ct_merged_device {
    struct ct_file_device sum; /* figures of the first file that has it */
    bool raw;                  /* in some file its durations are raw brackets */
    uint32_t model;            /* the first device of the same model */
};

/* The device of a row: its own GPU, the first of the model, or the very first for all. */
enum ct_devices_as { CT_DEVICES_EACH, CT_DEVICES_BY_MODEL, CT_DEVICES_AS_ONE };

/* A kernel that is in the group that a row is of. */
struct ct_merged_member {
    uint32_t row;
    uint32_t name; /* of ct_merged.full_names */
};

/* All zero at first, but for details, grouped and devices_as. */
struct ct_merged {
    bool details; /* keep histograms, shapes and streams */
    bool grouped; /* kernels of one group are one row: see kernel_group.h */
    enum ct_devices_as devices_as;
    struct ct_key_table names;
    struct ct_key_table full_names; /* of kernels in groups */
    uint32_t *groups;               /* their groups: of names */
    size_t groups_size;
    struct ct_key_table members;  /* struct ct_merged_member */
    struct ct_key_table contents; /* of graphs: struct ct_file_node, without times */

    struct ct_key_table device_keys; /* numbers are indices of the array, here and below */
    struct ct_merged_device *devices;
    size_t devices_size;
    struct ct_key_table model_keys;
    uint32_t *models; /* the first device of each */
    size_t models_size;
    struct ct_key_table row_keys;
    struct ct_merged_row *rows;
    size_t rows_size;
    struct ct_key_table api_keys;
    struct ct_merged_api *apis;
    size_t apis_size;
    struct ct_key_table note_keys;
    struct ct_file_note *notes;
    size_t notes_size;

    struct ct_file_process *processes; /* command, host: of names */
    size_t process_count;
    size_t processes_size;
    struct ct_file_total *totals; /* of the processes, by index */
    size_t totals_size;
    struct ct_merged_activity activity;
    struct ct_merged_allocations allocated;
    struct ct_merged_collectives collectives;
    struct ct_managed_memory managed;
    struct ct_merged_sensors sensors;
    struct ct_merged_ranges ranges;
    struct ct_merged_stacks stacks;
    struct ct_file_stream *streams;
    size_t stream_count;
    size_t streams_size;
    uint64_t off_operations;
    size_t unfinished; /* processes without a proper end */
    size_t fell_back;  /* files whose newest payload was damaged */

    uint32_t *device_map; /* of the file being added: its index to ours */
    size_t device_map_size;
    uint32_t *row_map; /* rows, likewise, and so on */
    size_t row_map_size;
    uint32_t *api_map;
    size_t api_map_size;
    uint32_t *content_map; /* by the file's rows: the graph's content */
    size_t content_map_size;
    struct ct_file_node *nodes; /* its nodes, by graph and name */
    size_t nodes_size;
    size_t *node_map; /* by the file's rows: the first of the graph's nodes */
    size_t node_map_size;
};

void ct_merge_add(struct ct_merged *m, const struct ct_summary *s);
/*
 * As ct_merge_add(), of a summary that `from`, a sum itself, was encoded as: groups in `from` are
 * groups in m, which does not make any of its own.
 */
void ct_merge_add_sum(struct ct_merged *m, const struct ct_summary *s,
                      const struct ct_merged *from);
/* Sizes of single copies, row by row of the summary that was added last. */
void ct_merge_add_sizes(struct ct_merged *m, const struct ct_merged_sizes *sizes, size_t count);
/* Adds a note; one that is there already has its count raised. */
void ct_merge_note(struct ct_merged *m, uint32_t kind, const char *text, uint64_t count);
void ct_merge_free(struct ct_merged *m);

/* Adds one row of a profile to another, or to the sum of others: a row of its own, to be freed. */
struct ct_merged_row *ct_merge_rows(struct ct_merged_row *sum, const struct ct_merged_row *first,
                                    const struct ct_merged_row *more);
void ct_merge_row_free(struct ct_merged_row *row);

/* A number for a process, one and the same in whatever file the process is. */
uint32_t ct_merge_process_key(struct ct_key_table *keys, const struct ct_file_process *p,
                              const char *host);

static inline const char *ct_merge_name(const struct ct_merged *m, uint32_t name)
{
    return ct_key_table_get(&m->names, name);
}

struct ct_merged_member ct_merge_member(const struct ct_merged *m, uint32_t i);

/* Kernels, copies and sets in a graph's content, and the i-th of them, without times; with those of
 * a row. */
size_t ct_merge_content_count(const struct ct_merged *m, uint32_t content);
struct ct_file_node ct_merge_content(const struct ct_merged *m, uint32_t content, size_t i);
struct ct_file_node ct_merge_node(const struct ct_merged *m, const struct ct_merged_row *row,
                                  size_t i);
/* The number of the one with that name in a graph's row; the count of all: there is none. */
size_t ct_merge_node_named(const struct ct_merged *m, const struct ct_merged_row *row,
                           uint32_t name);
/* The name of a file's node, of ct_merged.names. */
uint32_t ct_merge_node_name(struct ct_merged *m, const struct ct_summary *s,
                            const struct ct_file_node *node);

/* Sums and products that stop at the largest number: a damaged or endless file must not wrap
 * around. */
static inline uint64_t ct_merge_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void ct_merge_add_to(uint64_t *sum, uint64_t more)
{
    *sum = ct_merge_sum(*sum, more);
}

static inline uint64_t ct_merge_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Widens *least and *most by other values' least and most; `first`: nothing is in them yet. */
static inline void ct_merge_widen(uint64_t *least, uint64_t *most, bool first, uint64_t low,
                                  uint64_t high)
{
    *least = first ? low : ct_min(*least, low);
    *most = first ? high : ct_max(*most, high);
}

#endif
