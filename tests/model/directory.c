/* SPDX-License-Identifier: MIT */
/* The directory of handles: what was put is found, also while its shelf is rebuilt, until it goes.
 */
#include "containers/directory.h"
#include "subjects.h"

static struct ct_directory directory;
static uint64_t key[16]; /* of one shelf: 13 make it rebuild */

static void find_keys(void)
{
    uint64_t k = 0;
    for (unsigned i = 0; i < 16; i++) {
        do
            k++;
        while (ct_directory_hash(k) >> (64 - CT_DIRECTORY_SHELF_BITS));
        key[i] = k;
    }
}

/* Full, of removed entries but for the first. */
static void begin(void)
{
    find_keys();
    ct_directory_init(&directory, NULL);
    ct_directory_put(&directory, key[0], 100);
    for (unsigned i = 1; i < 12; i++) {
        ct_directory_put(&directory, key[i], 100 + i);
        ct_directory_remove(&directory, key[i], 100 + i);
    }
}

static void find_first(void)
{
    uint64_t value;
    MODEL_ASSERT(ct_directory_find(&directory, key[0], &value) && value == 100);
}

static void find_new(void)
{
    uint64_t value;
    if (ct_directory_find(&directory, key[12], &value))
        MODEL_ASSERT(value == 112);
}

/* Into the spare slots, and back into those of before. */
static void rebuild_twice(void)
{
    ct_directory_put(&directory, key[12], 112);
    for (unsigned i = 1; i < 12; i++) {
        ct_directory_put(&directory, key[i], 100 + i);
        ct_directory_remove(&directory, key[i], 100 + i);
    }
    ct_directory_put(&directory, key[13], 113);
}

static void put_new(void)
{
    ct_directory_put(&directory, key[12], 112);
}

static void put_and_remove(void)
{
    ct_directory_put(&directory, key[13], 113);
    ct_directory_remove(&directory, key[13], 113);
}

/* The handle of what goes is another one's already. */
static void put_again(void)
{
    ct_directory_put(&directory, key[0], 200);
}

static void remove_first(void)
{
    ct_directory_remove(&directory, key[0], 100);
}

static void end_again(void)
{
    uint64_t value;
    MODEL_ASSERT(ct_directory_find(&directory, key[0], &value) && value == 200);
}

static void end(void)
{
    uint64_t value;
    find_first();
    MODEL_ASSERT(ct_directory_find(&directory, key[12], &value) && value == 112);
}

static void end_both(void)
{
    uint64_t value;
    end();
    MODEL_ASSERT(!ct_directory_find(&directory, key[13], &value));
}

const struct model subject_directory[] = {
    {"directory: found while it is rebuilt", begin, {put_new, find_first, find_new}, end, NULL},
    {"directory: put by two", begin, {put_new, put_and_remove}, end_both, NULL},
    {"directory: found while it is rebuilt twice", begin, {rebuild_twice, find_first}, end, NULL},
    {"directory: removed when it was put again", begin, {put_again, remove_first}, end_again, NULL},
    {0},
};
