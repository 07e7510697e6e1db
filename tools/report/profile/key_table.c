/* SPDX-License-Identifier: MIT */
#include "report/profile/key_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/seed.h"

static uint64_t hash_of(const char *p, size_t len)
{
    uint64_t h = ct_seed_mix(ct_seed(), len), word;
    for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = ct_seed_mix(h, word);
    }
    word = 0;
    memcpy(&word, p, len);
    return ct_seed_mix(h, word);
}

static void insert(struct ct_key_table *n, uint32_t number)
{
    size_t mask = n->slots_size - 1;
    size_t i = n->entries[number].hash & mask;
    while (n->slots[i])
        i = (i + 1) & mask;
    n->slots[i] = number + 1;
}

/* At most half full, so that runs stay short. */
static void make_room(struct ct_key_table *n)
{
    if ((size_t)n->count * 2 < n->slots_size)
        return;
    size_t need = n->slots_size ? n->slots_size * 2 : 64;
    free(n->slots);
    n->slots = ct_memory_array(need, sizeof(*n->slots));
    n->slots_size = need;
    for (uint32_t i = 0; i < n->count; i++)
        insert(n, i);
}

static uint32_t append(struct ct_key_table *n, uint64_t hash, const void *data, size_t len)
{
    uint32_t number = n->count++;
    n->entries = ct_memory_grow(n->entries, &n->entries_size, n->count, sizeof(*n->entries));
    n->entries[number] = (struct ct_key_table_entry){hash, n->blob.len, len};
    ct_string_add(&n->blob, data, len);
    ct_string_add(&n->blob, "", 1);
    insert(n, number);
    return number;
}

uint32_t ct_key_table_add(struct ct_key_table *n, const void *data, size_t len)
{
    make_room(n);
    uint64_t hash = hash_of(data, len);
    size_t mask = n->slots_size - 1;
    for (size_t i = hash & mask; n->slots[i]; i = (i + 1) & mask) {
        const struct ct_key_table_entry *e = &n->entries[n->slots[i] - 1];
        if (e->hash == hash && e->len == len && !memcmp(n->blob.data + e->offset, data, len))
            return n->slots[i] - 1;
    }
    return append(n, hash, data, len);
}

uint32_t ct_key_table_text(struct ct_key_table *n, const char *text)
{
    return ct_key_table_add(n, text, strlen(text));
}

const char *ct_key_table_get(const struct ct_key_table *n, uint32_t number)
{
    return n->blob.data + n->entries[number].offset;
}

size_t ct_key_table_len(const struct ct_key_table *n, uint32_t number)
{
    return n->entries[number].len;
}

void ct_key_table_free(struct ct_key_table *n)
{
    ct_string_free(&n->blob);
    free(n->entries);
    free(n->slots);
    *n = (struct ct_key_table){0};
}
