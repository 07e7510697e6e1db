/* SPDX-License-Identifier: MIT */
/*
 * replay FILE...: the corpus, and of each file all its beginnings by steps and some thousand
 * mutations that are the same in every run. replay --write DIRECTORY: makes the corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "one.h"
#include "profiles.h"

#define MUTATIONS 1500
#define BEGINNINGS 200

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Sizes and offsets are what readers trust: numbers at the edges are likelier than others. */
static void mutate(uint8_t *data, size_t bytes)
{
    static const uint32_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff};
    for (unsigned n = 1 + (unsigned)(next_random() % 4); n > 0 && bytes > 9; n--) {
        size_t at = 1 + next_random() % (bytes - 5);
        uint32_t word = (uint32_t)next_random();
        if (next_random() % 2)
            word = edges[next_random() % 8];
        memcpy(data + at, &word, next_random() % 2 ? 4 : 1);
    }
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);
    if (!f || !data) {
        perror(path);
        exit(1);
    }
    *bytes = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

static void replay(const char *path)
{
    size_t bytes;
    uint8_t *data = read_file(path, &bytes), *copy = malloc(bytes + 1);
    fuzz_one(data, bytes);
    for (size_t i = 0; i < BEGINNINGS; i++)
        fuzz_one(data, bytes * i / BEGINNINGS);
    for (unsigned i = 0; i < MUTATIONS; i++) {
        memcpy(copy, data, bytes);
        mutate(copy, bytes);
        fuzz_one(copy, bytes);
    }
    free(copy);
    free(data);
}

static int write_seed(const char *directory, const char *profile, bool whole)
{
    struct ct_build b;
    size_t bytes;
    char path[4096];
    ct_build_start(&b);
    if (!ct_profile_fill(&b, profile))
        return 1;
    char *data = whole ? ct_build_image(&b, &bytes) : ct_build_payload(&b, &bytes);
    snprintf(path, sizeof(path), "%s/%s.%s", directory, profile, whole ? "file" : "payload");
    FILE *f = fopen(path, "wb");
    bool good = f && putc(!whole, f) != EOF && fwrite(data, 1, bytes, f) == bytes;
    good = f && !fclose(f) && good;
    free(data);
    ct_build_free(&b);
    return !good;
}

int main(int argc, char **argv)
{
    static const char *const profiles[] = {"basic",   "names", "none", "gpuonly",
                                           "apionly", "multi", "full", "uncertain"};
    int failed = 0;
    if (argc == 3 && !strcmp(argv[1], "--write")) {
        for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
            failed |= write_seed(argv[2], profiles[i], false);
        return failed | write_seed(argv[2], "basic", true);
    }
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d files\n", argc - 1);
    return argc < 2;
}
