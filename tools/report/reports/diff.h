/* SPDX-License-Identifier: MIT */
/* Two profiles that are compared, as the operands of the report "diff" name them. */
#ifndef CT_REPORT_DIFF_H
#define CT_REPORT_DIFF_H

#include "report/profile/pairs.h"
#include "report/report_options.h"

#define CT_DIFF_OVER_LIMIT 3 /* exit status */

struct ct_diff {
    const struct ct_options *o;
    struct ct_merged before, after;
    struct ct_pairs pairs; /* of both; none where a side has no process */
};

/* False: a file could not be read, which was said. Both are to be freed in either case. */
bool ct_diff_read(struct ct_diff *d, const struct ct_options *o);
void ct_diff_free(struct ct_diff *d);

static inline bool ct_diff_has_sides(const struct ct_diff *d)
{
    return d->before.process_count && d->after.process_count;
}

/* Whether anything is over the limit of --fail-over. */
bool ct_diff_is_over(const struct ct_diff *d);

#endif
