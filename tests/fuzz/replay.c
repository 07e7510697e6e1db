/* SPDX-License-Identifier: MIT */
/* replay FILE...: inputs as they are, and what was found once. replay --write DIRECTORY: the seeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "one.h"
#include "profiles.h"

#define MOST_BYTES (1 << 20)

static bool replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(MOST_BYTES);
    if (!f || !data) {
        perror(path);
        return false;
    }
    size_t bytes = fread(data, 1, MOST_BYTES, f);
    fclose(f);
    fuzz_one(data, bytes);
    free(data);
    return true;
}

static bool write_seed(const char *directory, size_t number, enum fuzz_kind kind)
{
    const char *profile = ct_profile_names[number];
    uint32_t length = 0;
    struct ct_build b;
    size_t bytes;
    char path[4096];
    ct_build_start(&b);
    ct_profile_fill(&b, profile);
    char *data = kind == FUZZ_FILE ? ct_build_image(&b, &bytes) : ct_build_payload(&b, &bytes);
    snprintf(path, sizeof(path), "%s/%s.%d", directory, profile, kind);
    FILE *f = fopen(path, "wb");
    bool good = f && putc(kind, f) != EOF && putc((int)number, f) != EOF;
    if (kind == FUZZ_TWO) {
        length = (uint32_t)bytes;
        good = good && fwrite(&length, sizeof(length), 1, f) && fwrite(data, 1, bytes, f) == bytes;
    }
    good = good && fwrite(data, 1, bytes, f) == bytes;
    good = f && !fclose(f) && good;
    free(data);
    ct_build_free(&b);
    return good;
}

static bool write_seeds(const char *directory)
{
    for (size_t i = 0; ct_profile_names[i]; i++)
        for (int kind = 0; kind < FUZZ_NAME; kind++)
            if (!write_seed(directory, i, (enum fuzz_kind)kind))
                return false;
    return true;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;
    if (argc == 3 && !strcmp(argv[1], "--write"))
        return !write_seeds(argv[2]);
    for (int i = 1; i < argc; i++)
        good &= replay(argv[i]);
    printf("%d inputs\n", argc - 1);
    return !good;
}
