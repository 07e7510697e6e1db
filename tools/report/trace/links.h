/* SPDX-License-Identifier: MIT */
/*
 * A number for each correlation of a trace, 0 at first, by which readers tie operations to the
 * calls that submitted them. Correlations are counted up by the process, so that those in a file
 * lie close together, and few pages have nearly all of them.
 */
#ifndef CT_REPORT_LINKS_H
#define CT_REPORT_LINKS_H

#include <stddef.h>
#include <stdint.h>

/* All zero at first. */
struct ct_links {
    uint32_t **pages;
    size_t pages_size;
    size_t page_count;
    size_t set; /* numbers that were asked for to be set */
};

/*
 * The place of a correlation's number, or NULL: 0, and correlations far off all others, have none.
 */
uint32_t *ct_links_at(struct ct_links *l, uint64_t correlation);
uint32_t ct_links_get(const struct ct_links *l, uint64_t correlation);
void ct_links_free(struct ct_links *l);

#endif
