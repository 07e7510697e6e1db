/* SPDX-License-Identifier: MIT */
/* Reports "unified" and nsys's "um_total_sum": managed memory that moved, and page faults. */
#include "report/reports/unified_report.h"

#include <stdlib.h>

#include "report/sinks/per.h"

enum {
    KIND,
    COUNT,
    FAULTS,
    BYTES,
    AVG_BYTES,
    MIN_BYTES,
    MAX_BYTES,
    TIME,
    AVG_TIME,
    MIN_TIME,
    MAX_TIME,
    RATE,
    ASKED,
    FAULT,
    AHEAD,
    EVICTED,
    ACCESSED,
    GPU,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [KIND] = {"kind", "Managed memory", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [COUNT] = {"count", "Count", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [FAULTS] = {"faults", "Faults", CT_CELL_COUNT, CT_FOLD_SUM, CT_QUIET},
    [BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [AVG_BYTES] = {"avg_bytes", "Avg size", CT_CELL_BYTES, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [MIN_BYTES] = {"min_bytes", "Min size", CT_CELL_BYTES, CT_FOLD_LEAST, CT_OPTIONAL(4)},
    [MAX_BYTES] = {"max_bytes", "Max size", CT_CELL_BYTES, CT_FOLD_MOST, CT_OPTIONAL(4)},
    [TIME] = {"total_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_SUM, 0},
    [AVG_TIME] = {"avg_ns", "Avg", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [MIN_TIME] = {"min_ns", "Min", CT_CELL_TIME_NS, CT_FOLD_LEAST, CT_OPTIONAL(2)},
    [MAX_TIME] = {"max_ns", "Max", CT_CELL_TIME_NS, CT_FOLD_MOST, CT_OPTIONAL(2)},
    [RATE] = {"bytes_per_s", "Throughput", CT_CELL_RATE, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [ASKED] = {"asked_bytes", "Asked for", CT_CELL_BYTES, CT_FOLD_SUM, CT_QUIET},
    [FAULT] = {"fault_bytes", "After faults", CT_CELL_BYTES, CT_FOLD_SUM, CT_QUIET},
    [AHEAD] = {"ahead_bytes", "Around faults", CT_CELL_BYTES, CT_FOLD_SUM, CT_QUIET},
    [EVICTED] = {"evicted_bytes", "Evicted", CT_CELL_BYTES, CT_FOLD_SUM, CT_QUIET},
    [ACCESSED] = {"accessed_bytes", "Often accessed", CT_CELL_BYTES, CT_FOLD_SUM, CT_QUIET},
    [GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
};

static const struct ct_relation relation = {"unified", "Managed memory", columns, COLUMNS};

const char *ct_unified_name(uint32_t kind)
{
    static const char *const names[] = {
#define X(id, text) [CT_UNIFIED_##id] = text,
        CT_UNIFIEDS(X)
#undef X
    };
    return kind < CT_UNIFIED_COUNT ? names[kind] : "of a new kind";
}

static void put_sizes(struct ct_cell *cells, const struct ct_file_unified *u)
{
    static const int causes[] = {[CT_UNIFIED_CAUSE_ASKED] = ASKED,
                                 [CT_UNIFIED_CAUSE_FAULT] = FAULT,
                                 [CT_UNIFIED_CAUSE_AHEAD] = AHEAD,
                                 [CT_UNIFIED_CAUSE_EVICTION] = EVICTED,
                                 [CT_UNIFIED_CAUSE_ACCESS_COUNTER] = ACCESSED};
    cells[BYTES] = ct_cell_count(u->bytes);
    cells[AVG_BYTES] = ct_cell_count(u->bytes / u->count);
    cells[MIN_BYTES] = ct_cell_count(u->min_bytes);
    cells[MAX_BYTES] = ct_cell_count(u->max_bytes);
    for (int i = CT_UNIFIED_CAUSE_ASKED; i < CT_UNIFIED_CAUSE_COUNT; i++)
        cells[causes[i]] = ct_cell_count(u->cause_bytes[i]);
}

static void put(struct ct_sink *sink, const struct ct_merged *m, const struct ct_file_unified *u)
{
    struct ct_cell cells[COLUMNS] = {
        [KIND] = ct_cell_text(ct_unified_name(u->kind)),
        [COUNT] = ct_cell_count(u->count),
    };
    if (u->kind == CT_UNIFIED_GPU_FAULTS)
        cells[FAULTS] = ct_cell_count(u->faults);
    if (u->kind != CT_UNIFIED_CPU_FAULTS)
        cells[GPU] = ct_cell_count(m->devices[u->device].sum.ordinal);
    if (u->bytes && u->count)
        put_sizes(cells, u);
    if (u->timed) {
        cells[TIME] = ct_cell_count(u->total_ns);
        cells[AVG_TIME] = ct_cell_count(u->total_ns / u->timed);
        cells[MIN_TIME] = ct_cell_count(u->min_ns);
        cells[MAX_TIME] = ct_cell_count(u->max_ns);
    }
    if (u->bytes && u->total_ns)
        cells[RATE] = ct_cell_whole((double)u->bytes * 1e9 / (double)u->total_ns);
    ct_sink_row(sink, cells);
}

/* Faults of the CPU are of no GPU, and come last. */
int ct_report_unified(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_managed_memory *managed = &in->m->managed;
    uint32_t *order = ct_per_devices(in->m);
    ct_sink_begin(sink, &relation);
    for (uint32_t i = 0; i < in->m->device_keys.count; i++)
        for (uint32_t at = 0; at < managed->keys.count; at++)
            if (managed->rows[at].device == order[i] && ct_view_is_of(order[i], in->device) &&
                managed->rows[at].kind != CT_UNIFIED_CPU_FAULTS)
                put(sink, in->m, &managed->rows[at]);
    const struct ct_file_unified *cpu = ct_managed_memory_find(managed, 0, CT_UNIFIED_CPU_FAULTS);
    if (cpu && in->device == CT_VIEW_ALL_DEVICES)
        put(sink, in->m, cpu);
    if (!managed->keys.count)
        ct_sink_note(sink, "Nothing is known: see CUTRACE_UNIFIED_MEMORY");
    ct_sink_end(sink);
    free(order);
    return 0;
}

enum { HTOD_MB, DTOH_MB, CPU, GPU_TOTAL, LOWEST, HIGHEST, TOTALS };

static const struct ct_column total_columns[TOTALS] = {
#define COLUMN(text, ...)                                                                          \
    {                                                                                              \
        text, text, __VA_ARGS__                                                                    \
    }
    [HTOD_MB] = COLUMN("Total HtoD Migration Size (MB)", CT_CELL_NUMBER, CT_FOLD_SUM, 3),
    [DTOH_MB] = COLUMN("Total DtoH Migration Size (MB)", CT_CELL_NUMBER, CT_FOLD_SUM, 3),
    [CPU] = COLUMN("Total CPU Page Faults", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [GPU_TOTAL] = COLUMN("Total GPU PageFaults", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [LOWEST] = COLUMN("Minimum Virtual Address", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [HIGHEST] = COLUMN("Maximum Virtual Address", CT_CELL_TEXT, CT_FOLD_NONE, 0),
#undef COLUMN
};

static const struct ct_relation totals = {
    "um_total_sum", "Unified Memory Totals Summary (um_total_sum)", total_columns, TOTALS};

struct sum {
    uint64_t bytes[CT_UNIFIED_COUNT], cpu, gpu;
    uint64_t lowest, highest; /* of addresses */
};

static void add_to(struct sum *s, const struct ct_file_unified *u)
{
    ct_merge_widen(&s->lowest, &s->highest, !s->highest, u->first_address, u->last_address);
    if (u->kind == CT_UNIFIED_CPU_FAULTS)
        ct_merge_add_to(&s->cpu, u->count);
    else if (u->kind == CT_UNIFIED_GPU_FAULTS)
        ct_merge_add_to(&s->gpu, u->faults);
    else if (u->kind < CT_UNIFIED_COUNT)
        ct_merge_add_to(&s->bytes[u->kind], u->bytes);
}

/* nsys's megabyte is 10^6. */
int ct_report_um_total_sum(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_managed_memory *managed = &in->m->managed;
    struct sum s = {.lowest = 0};
    char lowest[32], highest[32];
    for (uint32_t at = 0; at < managed->keys.count; at++)
        add_to(&s, &managed->rows[at]);
    snprintf(lowest, sizeof(lowest), "0x%llX", (unsigned long long)s.lowest);
    snprintf(highest, sizeof(highest), "0x%llX", (unsigned long long)s.highest);
    ct_sink_begin(sink, &totals);
    if (managed->keys.count)
        ct_sink_row(sink, (struct ct_cell[TOTALS]){
                              [HTOD_MB] = ct_cell_number((double)s.bytes[CT_UNIFIED_HTOD] * 1e-6),
                              [DTOH_MB] = ct_cell_number((double)s.bytes[CT_UNIFIED_DTOH] * 1e-6),
                              [CPU] = ct_cell_count(s.cpu),
                              [GPU_TOTAL] = ct_cell_count(s.gpu),
                              [LOWEST] = ct_cell_text(lowest),
                              [HIGHEST] = ct_cell_text(highest),
                          });
    ct_sink_end(sink);
    return 0;
}

enum { UM_ADDRESS, UM_HTOD, UM_DTOH, UM_CPU, UM_GPU, UM_RATE, UM_COLUMNS };

static const struct ct_column um_columns[UM_COLUMNS] = {
#define COLUMN(text, ...)                                                                          \
    {                                                                                              \
        text, text, __VA_ARGS__                                                                    \
    }
    [UM_ADDRESS] = COLUMN("Virtual Address", CT_CELL_TEXT, CT_FOLD_NONE, 0),
    [UM_HTOD] = COLUMN("HtoD Migration Size (MB)", CT_CELL_NUMBER, CT_FOLD_SUM, 3),
    [UM_DTOH] = COLUMN("DtoH Migration Size (MB)", CT_CELL_NUMBER, CT_FOLD_SUM, 3),
    [UM_CPU] = COLUMN("CPU Page Faults", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [UM_GPU] = COLUMN("GPU Page Faults", CT_CELL_COUNT, CT_FOLD_SUM, 0),
    [UM_RATE] = COLUMN("Migration Throughput (MB/s)", CT_CELL_NUMBER, CT_FOLD_NONE, 3),
#undef COLUMN
};

static const struct ct_relation um_sum = {"um_sum", "Unified Memory Analysis Summary (um_sum)",
                                          um_columns, UM_COLUMNS};

/*
 * Pages are not told apart: all bytes moved from and to one GPU are a row, under its lowest
 * address.
 */
static void put_um(struct ct_sink *sink, const struct ct_managed_memory *managed, uint32_t device)
{
    struct sum s = {.lowest = 0};
    uint64_t ns = 0;
    char address[32];
    for (uint32_t at = 0; at < managed->keys.count; at++) {
        const struct ct_file_unified *u = &managed->rows[at];
        if (u->device != device || u->kind == CT_UNIFIED_CPU_FAULTS)
            continue;
        add_to(&s, u);
        ct_merge_add_to(&ns, u->bytes ? u->total_ns : 0);
    }
    uint64_t bytes = s.bytes[CT_UNIFIED_HTOD] + s.bytes[CT_UNIFIED_DTOH];
    if (!bytes && !s.gpu)
        return;
    snprintf(address, sizeof(address), "0x%llX", (unsigned long long)s.lowest);
    struct ct_cell cells[UM_COLUMNS] = {
        [UM_ADDRESS] = ct_cell_text(address),
        [UM_HTOD] = ct_cell_number((double)s.bytes[CT_UNIFIED_HTOD] * 1e-6),
        [UM_DTOH] = ct_cell_number((double)s.bytes[CT_UNIFIED_DTOH] * 1e-6),
        [UM_GPU] = ct_cell_count(s.gpu),
    };
    if (ns)
        cells[UM_RATE] = ct_cell_number((double)bytes * 1e3 / (double)ns);
    ct_sink_row(sink, cells);
}

int ct_report_um_sum(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_managed_memory *managed = &in->m->managed;
    const struct ct_file_unified *cpu = ct_managed_memory_find(managed, 0, CT_UNIFIED_CPU_FAULTS);
    ct_sink_begin(sink, &um_sum);
    for (uint32_t i = 0; i < in->m->device_keys.count; i++)
        if (ct_view_is_of(i, in->device))
            put_um(sink, managed, i);
    if (cpu && in->device == CT_VIEW_ALL_DEVICES)
        ct_sink_row(sink, (struct ct_cell[UM_COLUMNS]){[UM_CPU] = ct_cell_count(cpu->count)});
    if (managed->keys.count)
        ct_sink_note(sink, "Rows are of GPUs, and of the CPU: pages are not told apart");
    ct_sink_end(sink);
    return 0;
}
