/* SPDX-License-Identifier: MIT */
/* Report "memory": allocations, how many were freed, and the blocks still allocated at exit. */
#include "report/reports/memory_report.h"

#include <stdlib.h>

enum {
    KIND,
    ALLOCATIONS,
    BYTES,
    FAILED,
    FAILED_MOST,
    FREES,
    ENDED,
    HELD,
    HELD_BYTES,
    PEAK,
    UNSEEN_FREES,
    UNKNOWN_FREES,
    UNFOLLOWED,
    GPU,
    COLUMNS
};

static const struct ct_column columns[COLUMNS] = {
    [KIND] = {"memory", "Memory", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [ALLOCATIONS] = {"allocations", "Allocs", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [FAILED] = {"failed", "Failed", CT_CELL_COUNT, CT_FOLD_SUM, CT_QUIET},
    [FAILED_MOST] = {"failed_most_bytes", "Largest failed", CT_CELL_BYTES, CT_FOLD_MOST,
                     CT_OPTIONAL(3) | CT_QUIET},
    [FREES] = {"frees", "Frees", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [ENDED] = {"ended", "With context", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(1) | CT_QUIET},
    [HELD] = {"held", "Held", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [HELD_BYTES] = {"held_bytes", "Held size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [PEAK] = {"peak_bytes", "Peak", CT_CELL_BYTES, CT_FOLD_MOST, 0},
    [UNSEEN_FREES] = {"unseen_frees", "Freed unseen", CT_CELL_COUNT, CT_FOLD_SUM,
                      CT_OPTIONAL(4) | CT_QUIET},
    [UNKNOWN_FREES] = {"unknown_frees", "Unknown freed", CT_CELL_COUNT, CT_FOLD_SUM,
                       CT_OPTIONAL(4) | CT_QUIET},
    [UNFOLLOWED] = {"unfollowed", "Not followed", CT_CELL_COUNT, CT_FOLD_SUM,
                    CT_OPTIONAL(2) | CT_QUIET},
    [GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
};

static const struct ct_relation relation = {"memory", "Memory", columns, COLUMNS};

enum { BLOCK_KIND, BLOCKS, BLOCK_BYTES, ALL_BYTES, BLOCK_GPU, BLOCK_COLUMNS };

static const struct ct_column block_columns[BLOCK_COLUMNS] = {
    [BLOCK_KIND] = {"memory", "Memory", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [BLOCKS] = {"blocks", "Blocks", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    [BLOCK_BYTES] = {"block_bytes", "Block size", CT_CELL_BYTES, CT_FOLD_NONE, 0},
    [ALL_BYTES] = {"bytes", "Size", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    [BLOCK_GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
};

static const struct ct_relation still = {"still_allocated", "Still allocated at exit",
                                         block_columns, BLOCK_COLUMNS};

const char *ct_allocation_name(uint32_t kind)
{
    static const char *const texts[] = {
#define X(id, text) [CT_ALLOCATION_##id] = text,
        CT_ALLOCATIONS(X)
#undef X
    };
    return kind < CT_ALLOCATION_COUNT ? texts[kind] : "of a new kind";
}

static struct ct_cell ordinal(const struct ct_merged *m, uint32_t device)
{
    return ct_cell_count(m->devices[device].sum.ordinal);
}

/* Order: by GPU, then as the kinds are numbered: the sum of a device comes before its parts. */
static int by_device_and_kind(const void *a, const void *b, void *merged)
{
    const struct ct_merged *m = merged;
    const struct ct_file_memory *x = a, *y = b;
    uint32_t ox = m->devices[x->device].sum.ordinal, oy = m->devices[y->device].sum.ordinal;
    if (ox != oy)
        return ox < oy ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void put_memory(struct ct_sink *sink, const struct ct_merged *m,
                       const struct ct_file_memory *f)
{
    ct_sink_row(sink, (struct ct_cell[COLUMNS]){
                          [KIND] = ct_cell_text(ct_allocation_name(f->kind)),
                          [ALLOCATIONS] = ct_cell_count(f->allocations),
                          [BYTES] = ct_cell_count(f->bytes),
                          [FAILED] = ct_cell_count(f->failed),
                          [FAILED_MOST] = ct_cell_count(f->failed_most_bytes),
                          [FREES] = ct_cell_count(f->frees),
                          [ENDED] = ct_cell_count(f->ended),
                          [HELD] = ct_cell_count(f->held),
                          [HELD_BYTES] = ct_cell_count(f->held_bytes),
                          [PEAK] = ct_cell_count(f->peak_bytes),
                          [UNSEEN_FREES] = ct_cell_count(f->unseen_frees),
                          [UNKNOWN_FREES] = ct_cell_count(f->unknown_frees),
                          [UNFOLLOWED] = ct_cell_count(f->unfollowed),
                          [GPU] = ordinal(m, f->device),
                      });
}

static void put_memories(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_merged_allocations *a = &in->m->allocated;
    size_t count = a->memory_keys.count;
    struct ct_file_memory *sorted = ct_memory_copy(a->memory, count * sizeof(*sorted));
    if (count)
        qsort_r(sorted, count, sizeof(*sorted), by_device_and_kind, (void *)in->m);
    ct_sink_begin(sink, &relation);
    for (size_t i = 0; i < count; i++)
        if (ct_view_is_of(sorted[i].device, in->device))
            put_memory(sink, in->m, &sorted[i]);
    if (in->m->process_count > 1)
        ct_sink_note(sink, "Peak is the highest of one process");
    if (!count)
        ct_sink_note(sink, "No allocation was seen: calls that a program linked with libcuda.so.1 "
                           "makes to it directly cannot be");
    ct_sink_end(sink);
    free(sorted);
}

static int by_bytes(const void *a, const void *b)
{
    const struct ct_file_block *x = a, *y = b;
    uint64_t bx = ct_allocations_bytes(x), by = ct_allocations_bytes(y);
    if (!x->kind != !y->kind)
        return x->kind ? -1 : 1;
    if (bx != by)
        return bx > by ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

static void put_block(struct ct_sink *sink, const struct ct_merged *m,
                      const struct ct_file_block *f)
{
    bool listed = f->kind != CT_ALLOCATION_ON_DEVICE;
    struct ct_cell cells[BLOCK_COLUMNS] = {
        [BLOCK_KIND] = ct_cell_text(listed ? ct_allocation_name(f->kind) : "in further sizes"),
        [BLOCKS] = ct_cell_count(f->count),
        [ALL_BYTES] = ct_cell_count(ct_allocations_bytes(f)),
    };
    if (listed) {
        cells[BLOCK_BYTES] = ct_cell_count(f->bytes);
        cells[BLOCK_GPU] = ordinal(m, f->device);
    }
    ct_sink_row(sink, cells);
}

static void put_blocks(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_merged_allocations *a = &in->m->allocated;
    size_t count = a->block_keys.count;
    bool any = in->device == CT_VIEW_ALL_DEVICES || in->m->device_keys.count == 1, unlisted = false;
    struct ct_file_block *sorted = ct_memory_copy(a->blocks, count * sizeof(*sorted));
    if (count)
        qsort(sorted, count, sizeof(*sorted), by_bytes);
    ct_sink_begin(sink, &still);
    for (size_t i = 0; i < count; i++) {
        unlisted |= sorted[i].kind == CT_ALLOCATION_ON_DEVICE;
        if (any || (sorted[i].kind && sorted[i].device == in->device))
            put_block(sink, in->m, &sorted[i]);
    }
    if (unlisted && !any)
        ct_sink_note(sink, "What is in further sizes is missing, as its GPU is not known");
    if (in->m->unfinished)
        ct_sink_note(sink, "Of a process that did not end by itself it is not known");
    ct_sink_end(sink);
    free(sorted);
}

int ct_report_memory(const struct ct_input *in, struct ct_sink *sink)
{
    put_memories(in, sink);
    put_blocks(in, sink);
    return 0;
}
