/* SPDX-License-Identifier: MIT */
/* Where operations were launched from: summaries added up, and the tree of it with times. */
#ifndef CT_REPORT_STACKS_H
#define CT_REPORT_STACKS_H

#include <stdbool.h>

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/intern.h"

struct ct_merged;

/* Elements as in a file, texts of ct_merged.names. All zero at first. */
struct ct_merged_stacks {
    struct ct_intern line_keys;
    struct ct_file_line *lines;
    size_t lines_size;
    struct ct_intern frame_keys;
    struct ct_file_frame *frames; /* those above come before what they called */
    size_t frames_size;
    struct ct_intern keys;
    struct ct_file_stack *stacks;
    size_t stacks_size;

    uint32_t *line_map; /* of the file being added: its index to ours */
    size_t line_map_size;
    uint32_t *frame_map;
    size_t frame_map_size;
};

/* After rows of the file have been added. */
void ct_stacks_add(struct ct_merged *m, const struct ct_summary *s);
void ct_stacks_free(struct ct_merged_stacks *k);

/* ---- with times ---- */

/* Operations launched from a frame itself, or as well from what it called. */
struct ct_launched {
    uint64_t count;
    double ns; /* those without a duration taken to be as long as the others */
};

/* A frame, or one row's operations launched from it: these have no children. */
struct ct_call {
    uint32_t parent; /* index; CT_CALL_ROOT of those that nothing called, and of itself */
    uint32_t line;   /* of ct_merged_stacks; of a row's operations that of their frame */
    uint32_t row;    /* CT_CALL_FRAME: it is a frame */
    uint32_t next;   /* of the same parent; 0: the last */
    uint32_t first;  /* child; 0: none */
    struct ct_launched own;
    struct ct_launched all;
};

#define CT_CALL_ROOT 0
#define CT_CALL_FRAME UINT32_MAX

/* Those above come before what they called; children by time, longest first. */
struct ct_calls {
    struct ct_call *call;
    size_t count;        /* with the root, of which `all` is all that has a stack */
    uint64_t graphs;     /* of this: launches of graphs */
    bool is_sampled;     /* some launches were passed over by chance: the rest is a guess */
    double with_rest_ns; /* what has no stack as well; not less than what has one */
};

/* For one device of the merged table, or all of them. */
void ct_calls_of(struct ct_calls *c, const struct ct_merged *m, uint32_t device);
void ct_calls_free(struct ct_calls *c);

#endif
