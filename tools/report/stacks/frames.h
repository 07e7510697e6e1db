/* SPDX-License-Identifier: MIT */
/*
 * Numbers from 0 on for documents that list their frames: the lines of Python in the profile's
 * order, then operations by name, as those of several devices are one frame.
 */
#ifndef CT_REPORT_FRAMES_H
#define CT_REPORT_FRAMES_H

#include "report/stacks/calls.h"

struct ct_frames {
    uint32_t lines;                 /* how many, of ct_merged_stacks.lines */
    struct ct_key_table operations; /* names; their frames come behind those of lines */
    uint32_t *of_row;               /* frame; of rows without a stack it means nothing */
    uint32_t *of_inside;            /* likewise, by ct_call.inside */
};

/* The frame of an operation, not of a frame. */
static inline uint32_t ct_frames_of(const struct ct_frames *f, const struct ct_call *call)
{
    return call->inside ? f->of_inside[call->inside] : f->of_row[call->row];
}

void ct_frames_list(struct ct_frames *f, const struct ct_calls *c, const struct ct_merged *m,
                    const struct ct_options *o);
void ct_frames_free(struct ct_frames *f);

/* Program and arguments of the first process; "": there is none. */
void ct_frames_command(struct ct_string *out, const struct ct_merged *m);

/* Says, on standard error, what a document has no place for: see ct_calls_notes(). */
void ct_frames_say(const struct ct_calls *c);

#endif
