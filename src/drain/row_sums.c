/* SPDX-License-Identifier: MIT */
#include "drain/row_sums.h"

#include "base/config.h"
#include "base/covariance.h"
#include "counts/sample.h"
#include "drain/common_error.h"

/* In the histogram an operation counts for all it stands for. False: the histogram is gone. */
static bool add_sum(struct ct_sums *s, const struct ct_op *op, uint64_t total_ns)
{
    uint64_t each_ns = total_ns / op->operations;
    s->total_ns += total_ns;
    s->min_ns = ct_min(s->min_ns, each_ns);
    s->max_ns = ct_max(s->max_ns, each_ns);
    s->square_ns2 += (double)each_ns * (double)each_ns * (double)op->operations;
    return ct_buckets_add(&s->buckets, each_ns, op->operations * ct_op_stands_for(op));
}

/* Both sums have a histogram or none has: they are over the same operations. */
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

/* The first of several reasons counts. */
static void add_marks(struct ct_row *r, const struct ct_op *op)
{
    if (op->flags & CT_OP_MARKS)
        r->marked += op->operations;
    if (op->flags & CT_OP_OVERLAPPED)
        r->overlapped += op->operations;
    else if (op->flags & CT_OP_LEGACY_WAIT)
        r->legacy_waits += op->operations;
}

/* The distance is from the mean of earlier operations: its own would be drawn towards it. */
static void add_to_cell(const struct ct_op *op, double time_ns)
{
    struct ct_stratum *t = ct_cell_stratum(op->cell);
    if (op->cluster && op->weight > 1)
        ct_common_error_add(op, ct_stratum_distance_ns(t, time_ns, op->weight));
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

/* Scales the common part, of clusters alone, to all operations that were not certain. */
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
        ct_row(i)->projection = (struct ct_projection){0};
    for (uint32_t i = CT_CELL_NONE + 1; i < ct_cells_count(); i++) {
        const struct ct_sample_cell *c = ct_cell(i);
        struct ct_cell_count n = ct_cell_count(i);
        uint64_t passed = n.seen > n.chosen ? n.seen - n.chosen : 0;
        ct_stratum_project(ct_cell_stratum(i), passed, c->operations, &ct_row(c->row)->projection);
    }
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        project_in_common(ct_row(i));
}
