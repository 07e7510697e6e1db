/* SPDX-License-Identifier: MIT */
/* Modules of two profiles, for the page. */
#ifndef CT_PAGE_MODULES_H
#define CT_PAGE_MODULES_H

#include <jansson.h>

#include "report/reports/diff.h"

/*
 * Columns with one element for each module, those that others are in before these: its parent (a
 * number from 1 on, 0: none), its name (a number among `names`), a short form of its path, and the
 * times and launches of both sides, with the modules in it and without. NULL: a side has no
 * modules.
 */
json_t *ct_page_modules_compare(const struct ct_diff *d);

#endif
