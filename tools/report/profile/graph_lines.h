/* SPDX-License-Identifier: MIT */
/*
 * Lines of a view with the work inside graphs among them: a kernel, copy or set of one name is a
 * line, over all graphs, and time that is known of it is taken out of the lines of its graphs.
 */
#ifndef CT_REPORT_GRAPH_LINES_H
#define CT_REPORT_GRAPH_LINES_H

#include "report/profile/view.h"

/* Before names of work inside graphs. */
#define CT_GRAPH_MARK "[graph] "

/*
 * Longest total first. Lines inside graphs have no row, and `origin` is CT_MERGE_NONE; runs whose
 * time is not known are lines of their own. A graph's line has the time that is not its nodes', and
 * no shortest and longest.
 */
void ct_graph_lines(struct ct_view *v, const struct ct_view *gpu, const struct ct_merged *m,
                    const struct ct_view_options *o);

/* How lines inside graphs are to be read, one sentence a line; nothing: there are none. */
void ct_graph_lines_explain(struct ct_string *out, const struct ct_view *v);

#endif
