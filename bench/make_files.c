/* SPDX-License-Identifier: MIT */
/*
 * make_files DIRECTORY FILES KERNELS: writes profiles 0.bin, 1.bin, ... as FILES processes of one
 * program leave them, for measuring cutrace-report: the same kernels everywhere, each with 4
 * shapes and a histogram of 24 buckets, 60 API functions, and times that differ.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hist.h"
#include "build_file.h"

#define SHAPES 4
#define BUCKETS 24
#define APIS 60

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* The number of the first. */
static uint32_t add_buckets(struct ct_build *b, const uint64_t *ns, uint64_t more_ns)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        struct ct_file_bucket bucket = {ct_hist_bucket(ns[i] + more_ns), 1};
        uint32_t at = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
        first = i ? first : at;
    }
    return first;
}

static void add_kernel(struct ct_build *b, unsigned number, uint32_t *random)
{
    char name[128];
    snprintf(name, sizeof(name),
             "_ZN5bench15kernel_no_%05uILi%uEfSt5arrayIPcLm3EENS_7FunctorIffEEEEvT0_PKfPfl",
             number % 100000, number);
    struct ct_file_row row = {.kind = CT_ROW_KERNEL, .name = ct_build_text(b, name)};
    uint64_t ns[BUCKETS];
    for (uint32_t i = 0; i < BUCKETS; i++) {
        ns[i] = 2000 + number * 10 + i * 100 + next_random(random) % 50;
        ct_build_time(&row, ns[i]);
    }
    row.bucket_first = add_buckets(b, ns, 0);
    row.raw_bucket_first = add_buckets(b, ns, CT_BUILD_BIAS_NS);
    row.bucket_count = row.raw_bucket_count = BUCKETS;
    for (uint32_t i = 0; i < SHAPES; i++) {
        struct ct_file_shape shape = {{i + 1, 1, 1}, {256, 1, 1}, 0, BUCKETS / SHAPES};
        uint32_t at = ct_build_add(b, CT_SECTION_SHAPES, &shape);
        row.shape_first = i ? row.shape_first : at;
    }
    row.shape_count = SHAPES;
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static void fill(struct ct_build *b, unsigned file, unsigned kernels)
{
    uint32_t random = file;
    ct_build_start(b);
    ct_build_process(b, 1000 + file, "./train --of many ranks");
    ct_build_device(b, file % 8, "Bench GPU");
    for (unsigned i = 0; i < kernels; i++)
        add_kernel(b, i, &random);
    for (unsigned i = 0; i < APIS; i++) {
        char name[64];
        uint64_t ns[] = {500 + next_random(&random) % 1000, 700};
        snprintf(name, sizeof(name), "cudaFunctionNumber%u", i);
        ct_build_api(b, name, ns, 2);
    }
}

int main(int argc, char **argv)
{
    unsigned files = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned kernels = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (!files || !kernels) {
        fputs("usage: make_files DIRECTORY FILES KERNELS\n", stderr);
        return 2;
    }
    for (unsigned i = 0; i < files; i++) {
        struct ct_build b;
        char path[4096];
        snprintf(path, sizeof(path), "%s/%u.bin", argv[1], i);
        fill(&b, i, kernels);
        if (!ct_build_save(&b, path)) {
            perror(path);
            return 1;
        }
        ct_build_free(&b);
    }
    return 0;
}
