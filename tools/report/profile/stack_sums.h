/* SPDX-License-Identifier: MIT */
/* Where operations were launched from: summaries added up. */
#ifndef CT_REPORT_STACK_SUMS_H
#define CT_REPORT_STACK_SUMS_H

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/key_table.h"

struct ct_merged;

/* Runs of a graph's nodes of one name that are from one frame, as in struct ct_file_inside. */
struct ct_inside {
    uint32_t row;  /* of the graph */
    uint32_t name; /* of the nodes in its content */
    uint32_t frame;
    uint64_t count;
    uint64_t timed;
    uint64_t total_ns;
};

/* Elements as in a file, texts of ct_merged.names. All zero at first. */
struct ct_merged_stacks {
    struct ct_key_table line_keys;
    struct ct_file_line *lines;
    size_t lines_size;
    struct ct_key_table module_keys;
    struct ct_file_module *modules; /* those that others are in come before these */
    size_t modules_size;
    struct ct_key_table frame_keys;
    struct ct_file_frame *frames; /* those above come before what they called */
    size_t frames_size;
    struct ct_key_table keys;
    struct ct_file_stack *stacks;
    size_t stacks_size;
    struct ct_key_table inside_keys;
    struct ct_inside *inside;
    size_t inside_size;

    /* Our lines for each of the file being added, the innermost first, as an address
       of native code has one for each function that was inlined there; where these begin. */
    uint32_t *chain;
    size_t chain_size;
    size_t *chain_first;
    size_t chain_first_size;
    uint32_t *module_map; /* its index to ours, as the next */
    size_t module_map_size;
    uint32_t *frame_map;
    size_t frame_map_size;
};

/* After rows of the file, and names of its nodes, have been added. */
void ct_stacks_add(struct ct_merged *m, const struct ct_summary *s);
void ct_stacks_free(struct ct_merged_stacks *k);

#endif
