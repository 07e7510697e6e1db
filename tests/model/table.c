/* SPDX-License-Identifier: MIT */
/* The table of handles: what is found belongs to the key, whatever is put and emptied meanwhile. */
#include "containers/table.h"
#include "subjects.h"

#define BITS 2 /* one line of four slots: it is full with three */

static struct ct_table table;

static uint64_t value_of(uint64_t key)
{
    return 100 + key;
}

static void begin(void)
{
    ct_table_init(&table, BITS);
    ct_table_put(&table, 1, value_of(1));
}

static void find_1(void)
{
    uint64_t value;
    if (ct_table_find(&table, 1, &value))
        MODEL_ASSERT(value == value_of(1));
}

static void find_2(void)
{
    uint64_t value;
    if (ct_table_find(&table, 2, &value))
        MODEL_ASSERT(value == value_of(2));
}

/* The slot of one becomes the other's, and the first one's again. */
static void swap_twice(void)
{
    ct_table_clear(&table);
    ct_table_put(&table, 2, value_of(2));
    ct_table_clear(&table);
    ct_table_put(&table, 1, value_of(1));
}

static void put_2(void)
{
    ct_table_put(&table, 2, value_of(2));
}

static void put_2_too(void)
{
    ct_table_put(&table, 2, value_of(2));
    find_2();
}

static void clear(void)
{
    ct_table_clear(&table);
}

static void end(void)
{
    find_1();
    find_2();
}

/* What a value points to is whole for whoever finds it. */
static unsigned thing;

static void put_thing(void)
{
    thing = 7;
    ct_table_put(&table, 2, (uintptr_t)&thing);
}

static void find_thing(void)
{
    uint64_t value;
    if (ct_table_find(&table, 2, &value))
        MODEL_ASSERT(*(unsigned *)(uintptr_t)value == 7);
}

static void nothing(void)
{
}

const struct model subject_table[] = {
    {"table: found while it is put", begin, {put_thing, find_thing}, nothing, NULL},
    {"table: put twice", begin, {put_2, put_2_too, find_1}, end, NULL},
    {"table: emptied", begin, {clear, put_2, find_2}, end, NULL},
    {"table: emptied twice", begin, {swap_twice, find_1}, end, NULL},
    {0},
};
