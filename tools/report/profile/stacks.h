/* SPDX-License-Identifier: MIT */
/* Where operations were launched from: summaries added up. */
#ifndef CT_REPORT_STACKS_H
#define CT_REPORT_STACKS_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/intern.h"

struct ct_merged;

/* Elements as in a file, texts of ct_merged.names. All zero at first. */
struct ct_merged_stacks {
    struct ct_intern line_keys;
    struct ct_file_line *lines;
    size_t lines_size;
    struct ct_intern module_keys;
    struct ct_file_module *modules; /* those that others are in come before these */
    size_t modules_size;
    struct ct_intern frame_keys;
    struct ct_file_frame *frames; /* those above come before what they called */
    size_t frames_size;
    struct ct_intern keys;
    struct ct_file_stack *stacks;
    size_t stacks_size;

    uint32_t *line_map; /* of the file being added: its index to ours */
    size_t line_map_size;
    uint32_t *module_map;
    size_t module_map_size;
    uint32_t *frame_map;
    size_t frame_map_size;
};

/* After rows of the file have been added. */
void ct_stacks_add(struct ct_merged *m, const struct ct_summary *s);
void ct_stacks_free(struct ct_merged_stacks *k);

#endif
