/* SPDX-License-Identifier: MIT */
/* Counts of operations without a duration: what was counted arrives in the rows, once. */
#include "counts/tally.h"
#include "subjects.h"

static struct ct_tallies tallies;
static struct ct_row some_rows[2];

static void begin(void)
{
    ct_rows = some_rows;
    tallies = (struct ct_tallies){0};
    for (int i = 0; i < 2; i++)
        some_rows[i] = (struct ct_row){0};
}

static void count(void)
{
    ct_tally_lose(&tallies, 0, CT_LOSS_SAMPLED, 1, 8);
    ct_tally_lose(&tallies, 1, CT_LOSS_SAMPLED, 3, 0);
    ct_tally_lose(&tallies, 0, CT_LOSS_SAMPLED, 1, 8);
}

static void collect(void)
{
    ct_tallies_collect(&tallies);
    MODEL_ASSERT(atomic_load(&some_rows[0].lost[CT_LOSS_SAMPLED]) <= 2);
    ct_tallies_collect(&tallies);
}

static void all_is_there(void)
{
    ct_tallies_collect(&tallies);
    MODEL_ASSERT(atomic_load(&some_rows[0].lost[CT_LOSS_SAMPLED]) == 2);
    MODEL_ASSERT(atomic_load(&some_rows[0].bytes) == 16);
    MODEL_ASSERT(atomic_load(&some_rows[1].lost[CT_LOSS_SAMPLED]) == 3);
}

/* The last look at a thread that has ended: nothing stays behind. */
static atomic_uint state;

static void begin_to_end(void)
{
    begin();
    atomic_store(&state, 0);
}

static void count_and_end(void)
{
    ct_tally_lose(&tallies, 0, CT_LOSS_SAMPLED, 1, 8);
    ct_tally_lose(&tallies, 0, CT_LOSS_SAMPLED, 1, 8);
    atomic_store_explicit(&state, 1, memory_order_release);
}

static void look_at_the_end(void)
{
    ct_tallies_collect(&tallies);
    bool ended = atomic_load_explicit(&state, memory_order_acquire);
    ct_tallies_collect(&tallies);
    if (ended)
        MODEL_ASSERT(atomic_load(&some_rows[0].lost[CT_LOSS_SAMPLED]) == 2);
}

static void nothing(void)
{
}

const struct model subject_tally[] = {
    {"tally", begin, {count, collect}, all_is_there, NULL},
    {"tally: of a thread that ends", begin_to_end, {count_and_end, look_at_the_end}, nothing, NULL},
    {0},
};
