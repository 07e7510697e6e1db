/* SPDX-License-Identifier: MIT */
/*
 * make_files DIRECTORY FILES KERNELS [RUN [JOB]]: writes profiles 0.bin, 1.bin, ... as FILES ranks
 * of one program leave them, eight on a host with a GPU each, for measuring cutrace-report: the
 * same kernels everywhere, each with 4 shapes and histograms of 24 buckets, 60 API functions, and
 * times that differ by up to 3 % from rank to rank; of each 1,000 ranks the 17th takes a quarter
 * longer. In another RUN than 0 each tenth kernel takes a tenth longer, and there is one that RUN 0
 * has not. The files say that the job has JOB ranks, 0 for nothing; otherwise FILES.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "build_file.h"

#define SHAPES 4
#define BUCKETS 24
#define APIS 60
#define LAUNCHES 40 /* of each duration */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* The number of the first. */
static uint32_t add_buckets(struct ct_build *b, const uint64_t *ns, uint64_t more_ns)
{
    uint32_t first = 0, next = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uint32_t bucket = ct_hist_bucket(ns[i] + more_ns);
        next = bucket > next ? bucket : next; /* each once, in their order */
        struct ct_file_bucket full = {next++, LAUNCHES};
        uint32_t at = ct_build_add(b, CT_SECTION_BUCKETS, &full);
        first = i ? first : at;
    }
    return first;
}

struct rank {
    unsigned number;
    unsigned job; /* ranks that it has */
    unsigned run;
    double slow; /* times are so many times as long */
    uint32_t random;
};

static void scale(struct ct_file_row *row)
{
    row->timed *= LAUNCHES;
    row->total_ns *= LAUNCHES;
    row->raw_total_ns *= LAUNCHES;
    row->square_ns2 *= LAUNCHES;
    row->raw_square_ns2 *= LAUNCHES;
    row->doubt_ns = row->timed * 150;
}

static void add_kernel(struct ct_build *b, unsigned number, struct rank *rank)
{
    double slow = rank->slow * (rank->run && number % 10 == 3 ? 1.1 : 1);
    char name[128];
    snprintf(name, sizeof(name),
             "_ZN5bench15kernel_no_%05uILi%uEfSt5arrayIPcLm3EENS_7FunctorIffEEEEvT0_PKfPfl",
             number % 100000, number);
    struct ct_file_row row = {.kind = CT_ROW_KERNEL, .name = ct_build_text(b, name)};
    uint64_t ns[BUCKETS];
    for (uint32_t i = 0; i < BUCKETS; i++) {
        ns[i] = 2000 + number * 100 + i * 100 + next_random(&rank->random) % 50;
        ns[i] = (uint64_t)((double)ns[i] * slow);
        ct_build_time(&row, ns[i]);
    }
    scale(&row);
    row.bucket_first = add_buckets(b, ns, 0);
    row.raw_bucket_first = add_buckets(b, ns, CT_BUILD_BIAS_NS);
    row.bucket_count = row.raw_bucket_count = BUCKETS;
    for (uint32_t i = 0; i < SHAPES; i++) {
        struct ct_file_shape shape = {{i + 1, 1, 1}, {256, 1, 1}, 0, LAUNCHES * BUCKETS / SHAPES};
        uint32_t at = ct_build_add(b, CT_SECTION_SHAPES, &shape);
        row.shape_first = i ? row.shape_first : at;
    }
    row.shape_count = SHAPES;
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

static void add_process(struct ct_build *b, const struct rank *rank)
{
    char host[32];
    struct ct_file_process p = {.pid = 1000 + rank->number,
                                .start_unix_ns = 1700000000u * (uint64_t)1000000000,
                                .duration_ns = 1234567890,
                                .flags = CT_PROCESS_FINISHED,
                                .driver_version = 13000,
                                .written = 1,
                                .rank = rank->number + 1,
                                .ranks = rank->job};
    snprintf(host, sizeof(host), "node%04u", rank->number / 8);
    p.command = ct_build_text(b, "python train.py --of many ranks");
    p.host = ct_build_text(b, host);
    ct_build_add(b, CT_SECTION_PROCESS, &p);
}

/* Each rank's GPU is another one. */
static void add_device(struct ct_build *b, const struct rank *rank)
{
    uint32_t at = ct_build_device(b, rank->number % 8, "Bench GPU");
    struct ct_file_device *d = (struct ct_file_device *)b->parts[CT_SECTION_DEVICES].data + at;
    memcpy(d->uuid, &rank->number, sizeof(rank->number));
}

static void fill(struct ct_build *b, struct rank *rank, unsigned kernels)
{
    ct_build_start(b);
    add_process(b, rank);
    add_device(b, rank);
    for (unsigned i = 0; i < kernels; i++)
        add_kernel(b, i, rank);
    if (rank->run)
        add_kernel(b, kernels, rank);
    for (unsigned i = 0; i < APIS; i++) {
        char name[64];
        uint64_t ns[] = {500 + next_random(&rank->random) % 1000, 700};
        snprintf(name, sizeof(name), "cudaFunctionNumber%u", i);
        ct_build_api(b, name, ns, 2);
    }
}

static bool make(const char *directory, struct rank *rank, unsigned kernels)
{
    struct ct_build b;
    char path[4096];
    snprintf(path, sizeof(path), "%s/%u.bin", directory, rank->number);
    rank->random = rank->number + rank->run * 1000003;
    rank->slow = 1 + next_random(&rank->random) % 300 / 1e4;
    if (rank->number % 1000 == 17)
        rank->slow *= 1.25;
    fill(&b, rank, kernels);
    bool good = ct_build_save(&b, path);
    ct_build_free(&b);
    if (!good)
        perror(path);
    return good;
}

static unsigned number(int argc, char **argv, int i)
{
    return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    unsigned files = number(argc, argv, 2), kernels = number(argc, argv, 3);
    struct rank rank = {.job = argc > 5 ? number(argc, argv, 5) : files,
                        .run = number(argc, argv, 4)};
    if (argc > 6 || !files || !kernels) {
        fputs("usage: make_files DIRECTORY FILES KERNELS [RUN [JOB]]\n", stderr);
        return 2;
    }
    for (; rank.number < files; rank.number++)
        if (!make(argv[1], &rank, kernels))
            return 1;
    return 0;
}
