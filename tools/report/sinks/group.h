/* SPDX-License-Identifier: MIT */
/*
 * A report that runs several times, as one: its relations get columns in front that say which time
 * it was. The first relation goes on as it comes, further ones are kept until the end.
 */
#ifndef CT_REPORT_GROUP_H
#define CT_REPORT_GROUP_H

#include "report/sinks/relation.h"

/* A sink in front of another, which closing it leaves open; the columns may be none. */
struct ct_sink *ct_group_open(struct ct_sink *to, const struct ct_column *columns, size_t count);

/* Sets the columns' cells for the rows from here on; texts are copied. */
void ct_group_enter(struct ct_sink *group, const struct ct_cell *cells);

#endif
