/* SPDX-License-Identifier: MIT */
/*
 * Every beginning, every byte with a bit turned, every number at its edges, spliced and mutated:
 * valid files with checksums made right again, the same in every run. SWEEP_ROUNDS=N: more of the
 * mutated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "one.h"
#include "profiles.h"

#define MOST_BYTES (1 << 16)
#define MUTATIONS 700
#define EDGES 3 /* at each number; the next one gets others */

/* An input of fuzz_one() and a copy that is changed. */
struct subject {
    uint8_t *good;
    uint8_t *bad;
    size_t bytes;
    unsigned long tried;
};

static void try(struct subject *s, size_t bytes)
{
    s->bad[1] = (uint8_t)(37 * s->tried++); /* all forms in turn */
    fuzz_one(s->bad, bytes);
}

static void restore(struct subject *s)
{
    memcpy(s->bad, s->good, s->bytes);
}

static void make(struct subject *s, const char *profile, enum fuzz_kind kind)
{
    struct ct_build b;
    ct_build_start(&b);
    ct_profile_fill(&b, profile);
    char *data =
        kind == FUZZ_FILE ? ct_build_image(&b, &s->bytes) : ct_build_payload(&b, &s->bytes);
    s->good = calloc(2, MOST_BYTES);
    if (!s->good || s->bytes > MOST_BYTES - FUZZ_START)
        abort();
    s->bad = s->good + MOST_BYTES;
    s->good[0] = kind;
    memcpy(s->good + FUZZ_START, data, s->bytes);
    s->bytes += FUZZ_START;
    restore(s);
    free(data);
    ct_build_free(&b);
}

static void cut(struct subject *s)
{
    for (size_t bytes = 0; bytes < s->bytes; bytes++)
        try(s, bytes);
}

static void turn_bits(struct subject *s)
{
    for (size_t i = FUZZ_START; i < s->bytes; i++) {
        s->bad[i] ^= (uint8_t)(1u << (i * 5 + i / 8) % 8);
        mutate_repair(s->bad, s->bytes);
        try(s, s->bytes);
        restore(s);
    }
}

/* Fields are four or eight bytes at multiples of their size. */
static void put_edges(struct subject *s)
{
    for (size_t i = FUZZ_START; i + 8 <= s->bytes; i += 4) {
        for (unsigned n = 0; n < EDGES; n++) {
            uint64_t value = mutate_edge((unsigned)i / 4 * 7 + n * (MUTATE_EDGES / EDGES));
            memcpy(s->bad + i, &value, i % 8 == FUZZ_START ? 8 : 4);
            mutate_repair(s->bad, s->bytes);
            try(s, s->bytes);
            restore(s);
        }
    }
}

/* The beginning of one and the end of the other, at every eighth byte. */
static void splice(struct subject *s, const struct subject *other)
{
    for (size_t i = FUZZ_START; i < s->bytes && i < other->bytes; i += 8) {
        memcpy(s->bad + i, other->good + i, other->bytes - i);
        mutate_repair(s->bad, other->bytes);
        try(s, other->bytes);
        restore(s);
    }
}

static void change(struct subject *s, unsigned long rounds)
{
    for (uint64_t i = 0; i < rounds * MUTATIONS; i++) {
        uint64_t state = i;
        uint8_t kind = s->good[0];
        size_t bytes = mutate(s->bad, s->bytes, MOST_BYTES, &state);
        try(s, bytes);
        restore(s);
        s->bad[0] = kind;
    }
}

int main(void)
{
#if defined(__SANITIZE_THREAD__) /* there is one: it can see nothing here, and takes minutes for it */
    return 77;
#endif
    const char *text = getenv("SWEEP_ROUNDS");
    unsigned long rounds = text ? strtoul(text, NULL, 10) : 1, tried = 0;
    struct subject before = {0};
    for (size_t i = 0; ct_profile_names[i]; i++) {
        struct subject file = {0}, payload = {0};
        make(&file, ct_profile_names[i], FUZZ_FILE);
        make(&payload, ct_profile_names[i], FUZZ_PAYLOAD);
        cut(&payload);
        turn_bits(&payload);
        put_edges(&payload);
        change(&payload, rounds);
        change(&file, rounds);
        if (before.good)
            splice(&payload, &before);
        tried += file.tried + payload.tried;
        free(file.good);
        free(before.good);
        before = payload;
    }
    free(before.good);
    printf("%lu inputs\n", tried);
    return 0;
}
