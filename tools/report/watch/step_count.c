/* SPDX-License-Identifier: MIT */
#include "report/watch/step_count.h"

#include <stdlib.h>

#include "base/base.h"

#define SHARE 10  /* one row in so many is launched once in a step */
#define TIME 0.99 /* rows that make up that of the time are asked */

static int by_time(const void *a, const void *b)
{
    double x = ((const struct ct_step_launches *)a)->ns;
    double y = ((const struct ct_step_launches *)b)->ns;
    return (x < y) - (x > y);
}

static int by_calls(const void *a, const void *b)
{
    double x = ((const struct ct_step_launches *)a)->calls;
    double y = ((const struct ct_step_launches *)b)->calls;
    return (x > y) - (x < y);
}

/* Those that are asked come first: rows with more than one launch. */
static size_t choose(struct ct_step_launches *rows, size_t count)
{
    double all_ns = 0, so_far_ns = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        all_ns += rows[i].ns;
    qsort(rows, count, sizeof(*rows), by_time);
    for (size_t i = 0; i < count && so_far_ns < TIME * all_ns; i++) {
        so_far_ns += rows[i].ns;
        if (rows[i].calls > 1.5)
            rows[kept++] = rows[i];
    }
    return kept;
}

double ct_step_count(struct ct_step_launches *rows, size_t count)
{
    count = choose(rows, count);
    size_t least = ct_max(ct_min(count, 2), (count + SHARE - 1) / SHARE);
    qsort(rows, count, sizeof(*rows), by_calls);
    for (size_t i = 0; least && i + least <= count; i++)
        if (rows[i + least - 1].calls <= rows[i].calls * (1 + CT_STEP_TOLERANCE) + 1)
            return rows[i].calls;
    return 0;
}
