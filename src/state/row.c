/* SPDX-License-Identifier: MIT */
#include "state/row.h"

#include "base/config.h"
#include "base/covariance.h"
#include "base/growing.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/spin.h"
#include "base/table.h"
#include "base/text.h"
#include "state/context.h"
#include "state/sample.h"
#include "state/wanted.h"

#define OTHERS 1024 /* rows that no name gets */
#define NAMED_ROWS (CT_ROWS - OTHERS)

static const char others_name[] = "(other kernels)";

struct rows {
    struct ct_row *row;
    struct ct_growing room; /* for them; the last one is CT_ROW_WITNESS */
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
    if (!r || !ct_table_init(&r->index, 16) ||
        !ct_growing_init(&r->room, sizeof(*r->row), CT_ROWS + 1, CT_ROWS + 1) ||
        !ct_growing_open_one(&r->room, CT_ROW_WITNESS) || !ct_growing_reach(&r->room, OTHERS))
        return false;
    rows = r;
    ct_rows = r->row = r->room.at;
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

struct identity {
    uint32_t kind, detail, device;
    const char *name;
    size_t len;
    uint64_t hash;
    const char *kept; /* a copy of the name that stays; NULL: there is none */
    bool excluded;
};

static struct identity identity(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    size_t len = ct_strnlen(name, CT_NAME_BYTES);
    uint64_t hash =
        ct_hash_bytes(name, len) ^ ((uint64_t)kind << 56 | (uint64_t)detail << 16 | device);
    return (struct identity){kind, detail, device, name, len, hash, NULL, false};
}

static bool is_row(const struct ct_row *r, const struct identity *id)
{
    return r->kind == id->kind && r->detail == id->detail && r->device == id->device &&
           ct_same_text(r->name, id->name, id->len);
}

/* What rows without a name of their own are called needs no memory. */
static const char *name_of(const struct identity *id)
{
    if (!id->len)
        return "";
    return id->name == others_name ? others_name : ct_intern(id->name, id->len);
}

/* All that takes time, or memory: before the lock. */
static void settle(struct identity *id)
{
    bool named = id->kind == CT_ROW_KERNEL && id->name != others_name;
    id->kept = name_of(id);
    id->excluded = !ct_is_wanted(id->device, named ? id->kept : NULL);
}

/* Rows that have memory before a named one is added: those of others find theirs at any time. */
static uint32_t reach_for_named(void)
{
    return (uint32_t)ct_min(ct_rows_count() + 1, NAMED_ROWS) + OTHERS;
}

/* For who got no named row: others may have taken all that there was memory for just now. */
static bool may_grow(void)
{
    uint32_t reach = reach_for_named();
    return reach > ct_growing_open(&rows->room) && reach <= ct_growing_most(&rows->room);
}

static uint32_t add_locked(const struct identity *id, uint32_t most)
{
    uint32_t n = atomic_load_explicit(&rows->count, memory_order_relaxed);
    bool has_room = n < most && n + 1 + CT_ROWS - most <= ct_growing_open(&rows->room);
    if (!has_room || !id->kept)
        return CT_ROW_NONE;
    struct ct_row *r = &rows->row[n];
    r->kind = id->kind;
    r->detail = id->detail;
    r->device = id->device;
    r->name = id->kept;
    r->registers = UINT32_MAX;
    r->static_shared_bytes = UINT32_MAX;
    r->time.min_ns = r->raw.min_ns = UINT64_MAX;
    r->excluded = id->excluded;
    atomic_store_explicit(&rows->count, n + 1, memory_order_release);
    return n;
}

/* CT_ROW_NONE: it is not there, and its key would be *key. Takes no lock. */
static uint32_t find(const struct identity *id, uint64_t *key)
{
    uint64_t value;
    for (*key = id->hash | 1; ct_table_find(&rows->index, *key, &value); *key += 2)
        if (is_row(&rows->row[value], id))
            return (uint32_t)value;
    return CT_ROW_NONE;
}

/* A row that is there, or one among the first `most`. */
static uint32_t find_or_add(struct identity *id, uint32_t most)
{
    uint64_t key;
    uint32_t n = find(id, &key);
    if (n != CT_ROW_NONE || ct_rows_count() >= most)
        return n;
    settle(id);
    do {
        ct_growing_reach(&rows->room, reach_for_named());
        ct_spin_lock(&rows->lock);
        n = find(id, &key);
        if (n == CT_ROW_NONE && (n = add_locked(id, most)) != CT_ROW_NONE)
            ct_table_add(&rows->index, key, n);
        ct_spin_unlock(&rows->lock);
    } while (n == CT_ROW_NONE && may_grow());
    return n;
}

/* The row of all others of the kind on the device; there is room for some hundred of these. */
static uint32_t get_others(const struct identity *id)
{
    struct identity others = identity(id->kind, id->kind == CT_ROW_GRAPH ? 0 : id->detail,
                                      id->device, id->kind == CT_ROW_KERNEL ? others_name : "");
    uint32_t n = find_or_add(&others, CT_ROWS);
    return n != CT_ROW_NONE ? n : (uint32_t)ct_min(ct_growing_open(&rows->room), CT_ROWS) - 1;
}

static uint32_t get(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    struct identity id = identity(kind, detail, device, name);
    uint32_t n = find_or_add(&id, NAMED_ROWS);
    return n != CT_ROW_NONE ? n : get_others(&id);
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

/* In the histogram an operation counts for all that it stands for. False: it has none any more. */
static bool add_sum(struct ct_sums *s, const struct ct_op *op, uint64_t total_ns)
{
    uint64_t each_ns = total_ns / op->operations;
    s->total_ns += total_ns;
    s->min_ns = ct_min(s->min_ns, each_ns);
    s->max_ns = ct_max(s->max_ns, each_ns);
    s->square_ns2 += (double)each_ns * (double)each_ns * (double)op->operations;
    return ct_buckets_add(&s->buckets, each_ns, op->operations * ct_op_stands_for(op));
}

/* Both have a histogram or none has: they are of the same operations. */
static void add_sums(struct ct_row *r, const struct ct_op *op, uint64_t raw_ns, uint64_t time_ns)
{
    bool time = add_sum(&r->time, op, time_ns);
    bool raw = add_sum(&r->raw, op, raw_ns);
    if (ct_unlikely(!time || !raw)) {
        ct_buckets_drop(&r->time.buckets);
        ct_buckets_drop(&r->raw.buckets);
    }
}

static void add_class(uint64_t *classes, const struct ct_op *op, uint64_t time_ns)
{
#define X(ns, text) ns,
    static const uint64_t limits[] = {CT_CLASS_LIMITS(X)};
#undef X
    uint64_t each_ns = time_ns / op->operations;
    unsigned i = 0;
    while (i < ct_countof(limits) && each_ns > limits[i])
        i++;
    classes[i] += op->operations * ct_op_stands_for(op);
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

/* From the mean of those before: its own would be drawn towards it. */
static void add_to_cell(const struct ct_op *op, double time_ns)
{
    struct ct_stratum *t = ct_cell_stratum(op->cell);
    if (op->cluster && op->weight > 1)
        ct_in_common_add(op, ct_stratum_distance_ns(t, time_ns, op->weight));
    ct_stratum_add(t, time_ns, op->weight, op->cluster);
}

void ct_row_add(struct ct_row *r, const struct ct_op *op, uint64_t raw_ns, uint64_t time_ns,
                uint64_t doubt_ns)
{
    r->timed += op->operations;
    r->doubt_ns += doubt_ns;
    add_sums(r, op, raw_ns, time_ns);
    if (ct_config_wants_metrics())
        add_class(r->classes, op, time_ns);
    if (op->cell != CT_CELL_NONE)
        add_to_cell(op, (double)time_ns);
    if (op->bytes) {
        atomic_fetch_add_explicit(&r->bytes, op->bytes, memory_order_relaxed);
        r->timed_bytes += op->bytes;
    }
    add_marks(r, op);
    if (r->kind == CT_ROW_KERNEL)
        add_shape(r, &op->shape);
    if (r->kind == CT_ROW_COPY)
        ct_transfer_add(&r->transfers, op, time_ns);
}

/* Of all drawn operations; what is in common is that of those that were drawn in clusters. */
static void project_in_common(struct ct_row *r)
{
    struct ct_projection *p = &r->projection;
    double scale = p->drawn > 0 ? p->drawn_from / p->drawn : 0;
    p->with_others_ns2 = r->in_common.with_others_ns2 * scale * scale;
    ct_covariance_add(&p->variance_ns2, &p->freedom_ns4, r->in_common.of_cells_ns2 * scale * scale);
}

void ct_rows_project(void)
{
    if (ct_cells_count() <= CT_CELL_NONE + 1)
        return; /* nothing was ever sampled out */
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        rows->row[i].projection = (struct ct_projection){0};
    for (uint32_t i = CT_CELL_NONE + 1; i < ct_cells_count(); i++) {
        const struct ct_cell *c = ct_cell(i);
        struct ct_cell_count n = ct_cell_count(i);
        uint64_t passed = n.seen > n.chosen ? n.seen - n.chosen : 0;
        ct_stratum_project(ct_cell_stratum(i), passed, c->operations,
                           &rows->row[c->row].projection);
    }
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        project_in_common(&rows->row[i]);
}

uint64_t ct_rows_lost(void)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        for (unsigned why = 0; why < CT_LOSS_COUNT; why++)
            if (why != CT_LOSS_CAPTURED && why != CT_LOSS_EXCLUDED && !ct_loss_is_drawn(why))
                lost += atomic_load_explicit(&ct_row(i)->lost[why], memory_order_relaxed);
    return lost;
}
