/* SPDX-License-Identifier: MIT */
/* Report "nccl": NCCL's operations, and their bandwidth. */
#include "report/reports/nccl_report.h"

#include <stdlib.h>

enum {
    TIME,
    CALLS,
    AVG,
    MIN,
    MAX,
    OPERATION,
    DATATYPE,
    RANKS,
    MESSAGE,
    BYTES,
    ALGORITHM,
    BUS,
    TIMED,
    SHARED,
    CAPTURED,
    FAILED,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [TIME] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [CALLS] = {"calls", "Calls", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [AVG] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [MIN] = {"min_ns", "Min", CT_CELL_TIME_NS, CT_FOLD_LEAST, CT_OPTIONAL(3)},
    [MAX] = {"max_ns", "Max", CT_CELL_TIME_NS, CT_FOLD_MOST, CT_OPTIONAL(3)},
    [OPERATION] = {"operation", "Operation", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [DATATYPE] = {"datatype", "Type", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [RANKS] = {"ranks", "Ranks", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [MESSAGE] = {"avg_bytes", "Message", CT_CELL_BYTES, CT_FOLD_NONE, 0},
    [BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, CT_OPTIONAL(2)},
    [ALGORITHM] = {"algorithm_bytes_per_second", "Alg bandwidth", CT_CELL_RATE, CT_FOLD_NONE, 0},
    [BUS] = {"bus_bytes_per_second", "Bus bandwidth", CT_CELL_RATE, CT_FOLD_NONE, 0},
    [TIMED] = {"timed", "Timed", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(4) | CT_OF_CALLS},
    [SHARED] = {"shared", "Shared", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(5) | CT_QUIET},
    [CAPTURED] = {"captured", "Captured", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(5) | CT_QUIET},
    [FAILED] = {"failed", "Failed", CT_CELL_COUNT, CT_FOLD_SUM, CT_QUIET},
};

static const struct ct_relation relation = {"nccl", "NCCL", columns, COLUMNS};

const char *ct_nccl_operation(uint32_t collective)
{
    static const char *const texts[] = {
#define X(id, text) [CT_COLLECTIVE_##id] = text,
        CT_COLLECTIVES(X)
#undef X
    };
    return collective < CT_COLLECTIVE_COUNT ? texts[collective] : "of a new kind";
}

/* Datatypes in the order of nccl.h's numbers, with the names of nccl-tests. */
const char *ct_nccl_datatype(uint32_t datatype)
{
    static const char *const texts[] = {"int8", "uint8", "int32",  "uint32",   "int64",  "uint64",
                                        "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2"};
    if (!datatype)
        return NULL;
    return datatype <= sizeof(texts) / sizeof(texts[0]) ? texts[datatype - 1] : "of a new kind";
}

/*
 * Bytes that the slowest link carries for each byte of the message, as nccl-tests has it: so the
 * figure can be held against the hardware's, whatever the number of ranks. 0: not known.
 */
static double bus_factor(uint32_t collective, double n)
{
    switch (collective) {
    case CT_COLLECTIVE_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case CT_COLLECTIVE_ALL_GATHER:
    case CT_COLLECTIVE_REDUCE_SCATTER:
    case CT_COLLECTIVE_ALL_TO_ALL:
        return (n - 1) / n;
    case CT_COLLECTIVE_BROADCAST:
    case CT_COLLECTIVE_REDUCE:
    case CT_COLLECTIVE_RECV:
    case CT_COLLECTIVE_SEND:
    case CT_COLLECTIVE_SEND_RECV:
        return 1;
    default:
        return 0;
    }
}

double ct_nccl_algorithm_rate(const struct ct_file_collective *f)
{
    return f->total_ns ? (double)f->timed_bytes * 1e9 / (double)f->total_ns : 0;
}

bool ct_nccl_is_on_bus(const struct ct_file_collective *f)
{
    return f->ranks > 1 && f->collective < CT_COLLECTIVE_COUNT;
}

double ct_nccl_bus_rate(const struct ct_file_collective *f)
{
    return ct_nccl_algorithm_rate(f) * bus_factor(f->collective, f->ranks);
}

/* Puts times and bandwidths of the calls that have a time. */
static void put_times(struct ct_cell *cells, const struct ct_file_collective *f)
{
    if (!f->timed)
        return;
    cells[TIME] = ct_cell_count(f->total_ns);
    cells[AVG] = ct_cell_count(f->total_ns / f->timed);
    cells[MIN] = ct_cell_count(f->min_ns);
    cells[MAX] = ct_cell_count(f->max_ns);
    if (!f->total_ns)
        return;
    cells[ALGORITHM] = ct_cell_whole(ct_nccl_algorithm_rate(f));
    if (ct_nccl_is_on_bus(f))
        cells[BUS] = ct_cell_whole(ct_nccl_bus_rate(f));
}

static void put(struct ct_sink *sink, const struct ct_file_collective *f)
{
    struct ct_cell cells[COLUMNS] = {
        [CALLS] = ct_cell_count(f->calls),
        [OPERATION] = ct_cell_text(ct_nccl_operation(f->collective)),
        [BYTES] = ct_cell_count(f->bytes),
        [TIMED] = ct_cell_count(f->timed),
        [SHARED] = ct_cell_count(f->shared),
        [CAPTURED] = ct_cell_count(f->captured),
        [FAILED] = ct_cell_count(f->failed),
    };
    const char *datatype = ct_nccl_datatype(f->datatype);
    if (datatype)
        cells[DATATYPE] = ct_cell_text(datatype);
    if (f->ranks)
        cells[RANKS] = ct_cell_count(f->ranks);
    if (f->calls)
        cells[MESSAGE] = ct_cell_count(f->bytes / f->calls);
    put_times(cells, f);
    ct_sink_row(sink, cells);
}

/* Order: by time, as nvprof would; operations without a time by their bytes. */
static int by_time(const void *a, const void *b)
{
    const struct ct_file_collective *x = a, *y = b;
    const uint64_t keys[][2] = {{y->total_ns, x->total_ns},     {y->bytes, x->bytes},
                                {x->collective, y->collective}, {x->datatype, y->datatype},
                                {x->ranks, y->ranks},           {x->octave, y->octave}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

int ct_report_nccl(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_merged_collectives *c = &in->m->collectives;
    size_t count = c->keys.count;
    bool shared = false, captured = false;
    struct ct_file_collective *sorted = ct_memory_copy(c->rows, count * sizeof(*sorted));
    if (count)
        qsort(sorted, count, sizeof(*sorted), by_time);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < count; i++) {
        put(sink, &sorted[i]);
        shared |= sorted[i].shared != 0;
        captured |= sorted[i].captured != 0;
    }
    if (shared)
        ct_sink_note(sink,
                     "Shared: operations of one group, whose time is divided among them by bytes");
    if (captured)
        ct_sink_note(sink,
                     "Captured: once for the graph, whatever the number of its launches; no time");
    ct_sink_end(sink);
    free(sorted);
    return 0;
}
