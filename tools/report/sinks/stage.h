/* SPDX-License-Identifier: MIT */
/* --filter, --sort and --top: the stage that rows pass between a report and its format. */
#ifndef CT_REPORT_STAGE_H
#define CT_REPORT_STAGE_H

#include "report/report_options.h"
#include "report/sinks/relation.h"

/*
 * A sink in front of another, which it closes with itself; the other one alone when there is
 * nothing to do. *status becomes 2 when a column is asked for that no relation has; it is said by
 * then.
 */
struct ct_sink *ct_stage_open(struct ct_sink *to, const struct ct_options *o, int *status);
/* Whether the relation has the columns of --sort; a missing one is said. */
bool ct_stage_has_columns(const struct ct_relation *relation, const struct ct_options *o);

#endif
