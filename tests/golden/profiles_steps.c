/* SPDX-License-Identifier: MIT */
/* A training loop whose ranges have numbers in their names. */
#include <stdio.h>

#include "profiles.h"

#define STEPS 20
#define LAYERS 3

static uint32_t put_range(struct ct_build *b, uint32_t parent, const char *name, uint64_t count,
                          uint64_t each_ns)
{
    struct ct_file_range r = {.parent = parent,
                              .name = ct_build_text(b, name),
                              .count = count,
                              .total_ns = count * each_ns,
                              .min_ns = each_ns,
                              .max_ns = each_ns};
    return ct_build_add(b, CT_SECTION_RANGES, &r) + 1;
}

static void put_kernels(struct ct_build *b, uint32_t range, uint64_t count, uint64_t each_ns)
{
    struct ct_file_cell c = {.range = range - 1,
                             .section = CT_SECTION_ROWS,
                             .count = count,
                             .total_ns = count * each_ns,
                             .min_ns = each_ns,
                             .max_ns = each_ns};
    ct_build_add(b, CT_SECTION_CELLS, &c);
}

/* step 0 to 19, in each layer.0 to layer.2 and conv2d; epoch 1 around all of them. */
void ct_fill_steps(struct ct_build *b)
{
    struct ct_file_thread thread = {4242, 0, 1};
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z3fwdPf"));
    char name[32];
    for (unsigned i = 0; i < STEPS * (LAYERS + 2) + 100; i++)
        ct_build_time(&row, 1000);
    ct_build_add(b, CT_SECTION_ROWS, &row);
    ct_build_add(b, CT_SECTION_THREADS, &thread);
    uint32_t epoch = put_range(b, 0, "epoch 1", 1, 1000000);
    for (unsigned i = 0; i < STEPS; i++) {
        snprintf(name, sizeof(name), "step %u", i);
        uint32_t step = put_range(b, epoch, name, 1, 40000);
        put_kernels(b, step, 1, 1000);
        for (unsigned k = 0; k < LAYERS; k++) {
            snprintf(name, sizeof(name), "layer.%u", k);
            put_kernels(b, put_range(b, step, name, 1, 10000), 1, 1000);
        }
        put_kernels(b, put_range(b, step, "conv2d", 1, 5000), 1, 1000);
    }
}
