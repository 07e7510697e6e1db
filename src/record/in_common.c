/* SPDX-License-Identifier: MIT */
#include "record/in_common.h"

#include "record/cluster.h"
#include "record/row.h"

/* The last cluster of which an operation came. */
static struct {
    uint32_t number;
    unsigned count;
    struct {
        uint32_t row, cell;
        double ns;
    } operation[CT_CLUSTER];
} last;

static double sum_of_row(uint32_t row)
{
    double sum = 0;
    for (unsigned i = 0; i < last.count; i++)
        sum += last.operation[i].row == row ? last.operation[i].ns : 0;
    return sum;
}

static double sum_of_cell(uint32_t cell)
{
    double sum = 0;
    for (unsigned i = 0; i < last.count; i++)
        sum += last.operation[i].cell == cell ? last.operation[i].ns : 0;
    return sum;
}

/* A product of sums is a sum of products: each operation has its own with the others. */
static void add_up(void)
{
    double all = 0;
    for (unsigned i = 0; i < last.count; i++)
        all += last.operation[i].ns;
    for (unsigned i = 0; i < last.count; i++) {
        double ns = last.operation[i].ns, of_row = sum_of_row(last.operation[i].row);
        struct ct_in_common *c = &ct_row(last.operation[i].row)->in_common;
        c->of_cells_ns2 += ns * (of_row - sum_of_cell(last.operation[i].cell));
        c->with_others_ns2 += ns * (all - of_row);
    }
}

void ct_in_common_add(uint32_t cluster, uint32_t row, uint32_t cell, double distance_ns)
{
    if (cluster != last.number || last.count == CT_CLUSTER) {
        add_up();
        last.number = cluster;
        last.count = 0;
    }
    last.operation[last.count].row = row;
    last.operation[last.count].cell = cell;
    last.operation[last.count++].ns = distance_ns;
}

void ct_in_common_forget(void)
{
    last.count = 0;
}
