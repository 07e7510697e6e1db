/* SPDX-License-Identifier: MIT */
/*
 * The line of Python that launched most of the time of a line of the summary: the program's own
 * line, as that of a library says little of who wanted it.
 */
#ifndef CT_REPORT_LAUNCHERS_H
#define CT_REPORT_LAUNCHERS_H

#include <stdio.h>

#include "report/host_memory.h"
#include "report/profile/view.h"
#include "report/reports.h"

struct ct_launcher {
    uint32_t line;  /* of ct_merged_stacks.lines; CT_MERGE_NONE: none is known */
    double percent; /* of the operation's time */
};

/* By the view's lines, to be freed; NULL: no stacks are in the profile. The view is of `device`. */
struct ct_launcher *ct_launchers_of(const struct ct_merged *m, const struct ct_view *gpu,
                                    uint32_t device, const struct ct_view_options *o);

/* Adds "file:line", the file alone where the line is not known, or a thread's name. */
void ct_launchers_place(struct ct_string *out, const struct ct_merged *m, uint32_t line);
/* Such a place without directories. */
const char *ct_launchers_short(const char *place);
/* Adds the text in so many columns, of which those from `tail` on, a part of it, are the last to
 * go. */
void ct_launchers_fit(struct ct_string *out, const char *text, const char *tail, int width);

/*
 * Prints them below the table, for so many operations of it as --top says, or the first few; on a
 * terminal in its width.
 */
void ct_launchers_print(FILE *out, const char *prefix, const struct ct_input *in,
                        const struct ct_view *gpu, const struct ct_view_options *o);

#endif
