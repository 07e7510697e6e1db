/* SPDX-License-Identifier: MIT */
/* The traces among the files, for the page's timeline. */
#ifndef CT_PAGE_TIMELINE_H
#define CT_PAGE_TIMELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "page/lane.h"
#include "report/profile/merge.h"
#include "report/report_options.h"

/* Items in all lanes: a browser draws so many at ease, and they are worth their bytes. */
#define CT_PAGE_MOST_ITEMS ((uint64_t)3 << 20)

/* All zero at first, but for the limit. */
struct ct_page_timeline {
    uint64_t most_items;
    struct ct_lane *lanes;
    size_t lane_count, lanes_size;
    json_t *facts; /* facts for the page beside the columns; NULL: there is no trace */
};

/* False: a file could not be read, or is of none of m's processes, which was said. */
bool ct_page_timeline_read(struct ct_page_timeline *t, const struct ct_merged *m,
                           const struct ct_options *o);

/* The columns of all lanes, one after the other, packed by zlib (RFC 1950), in base64. */
void ct_page_timeline_print(const struct ct_page_timeline *t, FILE *out);
void ct_page_timeline_free(struct ct_page_timeline *t);

#endif
