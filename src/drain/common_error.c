/* SPDX-License-Identifier: MIT */
#include "drain/common_error.h"

#include "counts/cluster.h"
#include "counts/row.h"

static CT_PROCESS struct cluster {
    uint32_t number;
    unsigned count;
    struct {
        uint32_t row, cell;
        double ns;
        double part;
    } operation[CT_CLUSTER];
} open[CT_CLUSTERS_OPEN];

static double sum_of_row(const struct cluster *c, uint32_t row)
{
    double sum = 0;
    for (unsigned i = 0; i < c->count; i++)
        sum += c->operation[i].row == row ? c->operation[i].ns : 0;
    return sum;
}

static double sum_of_cell(const struct cluster *c, uint32_t cell)
{
    double sum = 0;
    for (unsigned i = 0; i < c->count; i++)
        sum += c->operation[i].cell == cell ? c->operation[i].ns : 0;
    return sum;
}

/* A product of sums is a sum of products: each operation adds its own with the others. */
static void add_up(const struct cluster *c)
{
    double all = 0;
    for (unsigned i = 0; i < c->count; i++)
        all += c->operation[i].ns;
    for (unsigned i = 0; i < c->count; i++) {
        double ns = c->operation[i].part * c->operation[i].ns;
        double of_row = sum_of_row(c, c->operation[i].row);
        struct ct_in_common *to = &ct_row(c->operation[i].row)->in_common;
        to->of_cells_ns2 += ns * (of_row - sum_of_cell(c, c->operation[i].cell));
        to->with_others_ns2 += ns * (all - of_row);
    }
}

void ct_common_error_add(const struct ct_op *op, double distance_ns)
{
    struct cluster *c = &open[op->cluster % CT_CLUSTERS_OPEN];
    if (op->cluster != c->number || c->count == CT_CLUSTER) {
        add_up(c);
        c->number = op->cluster;
        c->count = 0;
    }
    c->operation[c->count].row = op->row;
    c->operation[c->count].cell = op->cell;
    c->operation[c->count].part = 1 - 1 / op->weight;
    c->operation[c->count++].ns = distance_ns;
}
