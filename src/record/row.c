/* SPDX-License-Identifier: MIT */
#include "record/row.h"

#include "base/config.h"
#include "base/mem.h"
#include "base/spin.h"
#include "base/table.h"
#include "base/text.h"
#include "record/context.h"
#include "record/sample.h"

#define OTHERS_NAME "(other kernels)"

struct rows {
    struct ct_row row[CT_ROWS];
    _Atomic uint32_t count;
    struct ct_spin lock;   /* for adding */
    struct ct_table index; /* hash of the identity -> row, chained by trying the next hash */
    /* row + 1 of what has no name: found without the lock */
    _Atomic uint32_t unnamed[CT_ROW_PREFETCH + 1][CT_DIRECTION_COUNT][CT_DEVICES];
};

static CT_READ_MOSTLY struct rows *rows;
CT_READ_MOSTLY struct ct_row *ct_rows;

bool ct_rows_init(void)
{
    struct rows *r = ct_map(sizeof(*r));
    if (!r || !ct_table_init(&r->index, 16))
        return false;
    rows = r;
    ct_rows = r->row;
    return true;
}

void ct_rows_forget(void)
{
    rows = NULL;
}

uint32_t ct_rows_count(void)
{
    return rows ? atomic_load_explicit(&rows->count, memory_order_acquire) : 0;
}

static bool is_row(const struct ct_row *r, uint32_t kind, uint32_t detail, uint32_t device,
                   const char *name)
{
    return r->kind == kind && r->detail == detail && r->device == device && ct_streq(r->name, name);
}

/* The last pattern that fits decides; a list of exclusions only starts from "all". */
static bool is_wanted(const char *name)
{
    const char *p = ct_config.kernels;
    if (!p)
        return true;
    bool wanted = *p == '!';
    while (*p) {
        bool exclude = *p == '!';
        const char *pattern = p + exclude;
        const char *end = pattern;
        while (*end && *end != ',')
            end++;
        if (ct_glob(pattern, (size_t)(end - pattern), name))
            wanted = !exclude;
        p = *end ? end + 1 : end;
    }
    return wanted;
}

static uint32_t add_locked(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    uint32_t n = atomic_load_explicit(&rows->count, memory_order_relaxed);
    const char *copy = n < CT_ROWS ? ct_intern(name, ct_strlen(name)) : NULL;
    if (!copy)
        return CT_ROW_NONE;
    struct ct_row *r = &rows->row[n];
    r->kind = kind;
    r->detail = detail;
    r->device = device;
    r->name = copy;
    r->registers = UINT32_MAX;
    r->static_shared_bytes = UINT32_MAX;
    r->time.min_ns = r->raw.min_ns = UINT64_MAX;
    r->excluded = kind == CT_ROW_KERNEL && !is_wanted(name);
    atomic_store_explicit(&rows->count, n + 1, memory_order_release);
    return n;
}

static uint32_t find_or_add_locked(uint32_t kind, uint32_t detail, uint32_t device,
                                   const char *name)
{
    uint64_t hash = ct_hash_text(name) ^ ((uint64_t)kind << 56 | (uint64_t)detail << 16 | device);
    for (uint64_t key = hash | 1;; key += 2) {
        uint64_t value;
        if (!ct_table_find(&rows->index, key, &value)) {
            uint32_t n = add_locked(kind, detail, device, name);
            if (n != CT_ROW_NONE)
                ct_table_put(&rows->index, key, n);
            return n;
        }
        if (is_row(&rows->row[value], kind, detail, device, name))
            return (uint32_t)value;
    }
}

/* The last row is kept for the others: it exists when all the rest is full. */
static uint32_t others_locked(void)
{
    struct ct_row *r = &rows->row[CT_ROWS - 1];
    if (!r->name) {
        r->kind = CT_ROW_KERNEL;
        r->name = OTHERS_NAME;
        r->registers = r->static_shared_bytes = UINT32_MAX;
        r->time.min_ns = r->raw.min_ns = UINT64_MAX;
        atomic_store_explicit(&rows->count, CT_ROWS, memory_order_release);
    }
    return CT_ROWS - 1;
}

static uint32_t get(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    ct_spin_lock(&rows->lock);
    uint32_t n = CT_ROW_NONE;
    if (atomic_load_explicit(&rows->count, memory_order_relaxed) < CT_ROWS - 1)
        n = find_or_add_locked(kind, detail, device, name);
    if (n == CT_ROW_NONE)
        n = others_locked();
    ct_spin_unlock(&rows->lock);
    return n;
}

uint32_t ct_row_get(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    if (name)
        return get(kind, detail, device, name);
    _Atomic uint32_t *slot = &rows->unnamed[kind][detail][device];
    uint32_t known = atomic_load_explicit(slot, memory_order_acquire);
    if (ct_unlikely(!known)) {
        known = get(kind, detail, device, "") + 1;
        atomic_store_explicit(slot, known, memory_order_release);
    }
    return known - 1;
}

/* In the histogram an operation counts for all that it stands for. */
static void add_bucket(uint32_t *bucket, uint64_t operations, uint32_t weight)
{
    *bucket = (uint32_t)ct_min(*bucket + operations * ct_max(weight, 1), UINT32_MAX);
}

static void add_sum(struct ct_sums *s, uint64_t total_ns, uint64_t operations, uint32_t weight)
{
    uint64_t each_ns = total_ns / operations;
    s->total_ns += total_ns;
    s->min_ns = ct_min(s->min_ns, each_ns);
    s->max_ns = ct_max(s->max_ns, each_ns);
    s->square_ns2 += (double)each_ns * (double)each_ns * (double)operations;
    if (!s->buckets)
        s->buckets = ct_map(sizeof(uint32_t) * CT_HIST_BUCKETS);
    if (s->buckets)
        add_bucket(&s->buckets[ct_hist_bucket(each_ns)], operations, weight);
}

static bool same_shape(const struct ct_shape *a, const struct ct_shape *b)
{
    return !__builtin_memcmp(a, b, sizeof(*a));
}

/*
 * The shapes met first keep their places and exact counts; a shape that comes often moves to the
 * front, so that the search ends early.
 */
static void add_shape(struct ct_row *r, const struct ct_shape *shape)
{
    for (unsigned i = 0; i < CT_ROW_SHAPES; i++) {
        if (r->shapes[i].count && !same_shape(&r->shapes[i].shape, shape))
            continue;
        r->shapes[i].shape = *shape;
        r->shapes[i].count++;
        if (i && r->shapes[i].count > r->shapes[i - 1].count) {
            __typeof__(r->shapes[0]) up = r->shapes[i];
            r->shapes[i] = r->shapes[i - 1];
            r->shapes[i - 1] = up;
        }
        return;
    }
    r->shape_other++;
}

/* Of several reasons the first counts. */
static void add_marks(struct ct_row *r, const struct ct_op *op)
{
    if (op->flags & CT_OP_MARKS)
        r->marked += op->operations;
    if (op->flags & CT_OP_OVERLAPPED)
        r->overlapped += op->operations;
    else if (op->flags & CT_OP_LEGACY_WAIT)
        r->legacy_waits += op->operations;
}

void ct_row_add(struct ct_row *r, const struct ct_op *op, uint64_t raw_ns, uint64_t time_ns,
                uint64_t doubt_ns)
{
    r->timed += op->operations;
    r->doubt_ns += doubt_ns;
    add_sum(&r->time, time_ns, op->operations, op->weight);
    add_sum(&r->raw, raw_ns, op->operations, op->weight);
    if (op->cell != CT_CELL_NONE)
        ct_stratum_add(ct_cell_stratum(op->cell), (double)time_ns, op->weight);
    if (op->bytes) {
        atomic_fetch_add_explicit(&r->bytes, op->bytes, memory_order_relaxed);
        r->timed_bytes += op->bytes;
    }
    add_marks(r, op);
    if (r->kind == CT_ROW_KERNEL)
        add_shape(r, &op->shape);
}

void ct_rows_project(void)
{
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        rows->row[i].projection = (struct ct_projection){0};
    for (uint32_t i = CT_CELL_NONE + 1; i < ct_cells_count(); i++) {
        const struct ct_cell *c = ct_cell(i);
        struct ct_cell_count n = ct_cell_count(i);
        uint64_t passed = n.seen > n.chosen ? n.seen - n.chosen : 0;
        ct_stratum_project(ct_cell_stratum(i), passed, c->operations,
                           &rows->row[c->row].projection);
    }
}
