/* SPDX-License-Identifier: MIT */
/* Rows, made by two threads at once while a third reads what there is. */
#include "base/process.h"
#include "containers/intern.h"
#include "counts/row.h"
#include "subjects.h"

static uint32_t mine[2];

static void begin(void)
{
    ct_process_forget();
    ct_rows_init();
    ct_row_get(CT_ROW_KERNEL, 0, 0, "first");
}

static void meet_one(void)
{
    mine[0] = ct_row_get(CT_ROW_KERNEL, 0, 0, "second");
    ct_row_lose(mine[0], CT_LOSS_SAMPLED, 1, 0);
}

static void meet_two(void)
{
    mine[1] = ct_row_get(CT_ROW_KERNEL, 0, 0, "second");
    ct_row_lose(mine[1], CT_LOSS_SAMPLED, 1, 0);
}

static void set_one(void)
{
    mine[0] = ct_row_get(CT_ROW_SET, 0, 0, NULL);
}

static void set_two(void)
{
    mine[1] = ct_row_get(CT_ROW_SET, 0, 0, NULL);
    MODEL_ASSERT(ct_row(mine[1])->kind == CT_ROW_SET);
}

static void read(void)
{
    uint32_t n = ct_rows_count();
    MODEL_ASSERT(n >= 1 && n <= 2);
    MODEL_ASSERT(ct_row(n - 1)->name && *ct_row(n - 1)->name != '?');
}

static void one_row(void)
{
    MODEL_ASSERT(mine[0] == mine[1] && ct_rows_count() == 2);
}

const struct model subject_rows[] = {
    {"rows: of a kernel", begin, {meet_one, meet_two, read}, one_row, NULL},
    {"rows: without a name", begin, {set_one, set_two}, one_row, NULL},
    {0},
};
