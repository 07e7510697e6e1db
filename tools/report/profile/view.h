/* SPDX-License-Identifier: MIT */
/* The lines of the summary table: their content, not their format. */
#ifndef CT_REPORT_VIEW_H
#define CT_REPORT_VIEW_H

#include "report/profile/merge.h"

#define CT_VIEW_ALL_DEVICES UINT32_MAX

static inline bool ct_view_is_of(uint32_t device, uint32_t wanted)
{
    return wanted == CT_VIEW_ALL_DEVICES || device == wanted;
}

/*
 * Sums of ct_file_row for the operations that a sample stands for; all zero: nothing was sampled
 * out.
 */
struct ct_sampled {
    double variance_ns2;
    double third_ns3;
    double freedom_ns4;
    double with_others_ns2; /* covariance with the others; of a view the sum */
};

struct ct_line {
    char *name;
    uint64_t calls;
    uint64_t bytes;    /* copies, sets and prefetches: of the calls */
    uint64_t timed;    /* calls with a duration; 0: the times below mean nothing */
    uint64_t total_ns; /* of all calls: measured, or estimated from the timed ones */
    uint64_t avg_ns;   /* of the calls in total_ns */
    uint64_t min_ns;   /* of the timed, as max_ns */
    uint64_t max_ns;
    uint64_t doubt_ns;   /* of the sum of the timed */
    uint64_t bounds;     /* of the timed: upper bounds; raw brackets are none */
    double estimated;    /* calls with a duration and those sampled out that they stand for, */
    double estimated_ns; /* and the sum of theirs */
    bool uncertain;      /* the average is less than twice its doubt */
    bool bound;          /* it is an upper bound: more than one in 20 of the timed are */
    struct ct_sampled sampled;
    uint32_t kind; /* enum ct_row_kind, and of graphs the content and the number of nodes */
    uint32_t content;
    uint32_t detail;
    uint32_t names;                  /* kernels that a group is of; 0: it is none */
    uint32_t origin;                 /* see graph_lines.h */
    const struct ct_merged_row *row; /* of all devices added up; NULL: a line of calls */
    struct ct_merged_row *own_row;   /* row, when this line owns it; NULL: the profile does */
    const struct ct_merged_api *api; /* NULL: not a line of calls */
    uint64_t ordinals;               /* bits: these devices; the last: and others above */
};

/* One section of the table, longest total first, lines without times last. */
struct ct_view {
    struct ct_line *lines;
    size_t count;
    size_t size;
    uint64_t total_ns;
    struct ct_sampled sampled;
};

struct ct_view_options {
    bool demangle;
    bool base; /* kernels are known by their function's name alone: those with the same are one */
    bool grouped; /* kernels of traces are; a profile was read that way, or not */
    bool raw;     /* durations are those of the raw brackets */
};

/* The work of the GPU: on one device of the merged table or on all of them added up. */
void ct_view_gpu(struct ct_view *v, const struct ct_merged *m, uint32_t device,
                 const struct ct_view_options *o);
void ct_view_apis(struct ct_view *v, const struct ct_merged *m);
void ct_view_free(struct ct_view *v);

/* Longest total first, lines without times last. */
void ct_view_sort(struct ct_view *v);

/* Whether its time is of more calls than were timed. */
static inline bool ct_view_is_estimate(const struct ct_line *line)
{
    uint64_t timed = line->api ? line->api->sum.timed : line->timed;
    return line->timed && timed < line->calls;
}

double ct_view_percent(const struct ct_view *v, const struct ct_line *line);

/* Half of the 95 % interval of the total of all lines or of one, and how many have one. */
double ct_view_half_ns(const struct ct_view *v);
double ct_view_line_half_ns(const struct ct_line *line);
/* Rows that are estimated from a sample, with the calls of these. */
struct ct_sampled_rows {
    size_t rows;
    uint64_t timed;
    uint64_t calls;
};
struct ct_sampled_rows ct_view_sampled_rows(const struct ct_view *v);

/* Figures of the timed operations of a row: of their durations or of the raw brackets. */
struct ct_durations {
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t doubt_ns; /* doubt of the total; 0: not known, or raw */
    double estimated;  /* operations that the next two are of: the timed, or those they stand for */
    double estimated_ns;
    double estimated_square_ns2;
    const struct ct_merged_hist *hist;
};

struct ct_durations ct_view_durations(const struct ct_merged_row *row, bool raw);
uint64_t ct_view_whole_ns(double ns);

/* Times of a kernel in a graph, of which at least one run is timed. */
struct ct_node_times {
    uint64_t total_ns; /* of all runs: as long as the timed ones on average */
    uint64_t avg_ns;
    uint64_t doubt_ns; /* doubt of the average; 0: not known, or raw */
    bool uncertain;
};

struct ct_node_times ct_view_node(const struct ct_file_node *node, uint64_t runs, bool raw);

/* Whether it is a graph of which the kernels are known. */
static inline bool ct_view_has_nodes(const struct ct_line *line)
{
    return line->kind == CT_ROW_GRAPH && line->content != CT_MERGE_NONE;
}

/* Whether a sum is less than twice its doubt. */
bool ct_view_uncertain(uint64_t total_ns, uint64_t doubt_ns);

/* Operations of a row that ran on the GPU and were not excluded by the user. */
uint64_t ct_view_calls(const struct ct_file_row *row);

/* Why a duration may be too long, and for how many of a row's that is the reason. */
enum ct_view_mark {
    CT_VIEW_OVERLAPPED,
    CT_VIEW_LEGACY_WAIT,
    CT_VIEW_OTHER_MARK,
    CT_VIEW_MARKS,
};

uint64_t ct_view_marked(const struct ct_file_row *row, enum ct_view_mark mark);
const char *ct_view_mark_text(enum ct_view_mark mark);

/* The kind of a stream, in words. */
const char *ct_view_stream_kind(const struct ct_file_stream *s);

/* The number of operations of a row that are lost, and the text of a reason. */
uint64_t ct_view_lost(const struct ct_file_row *row);
const char *ct_view_loss_text(int loss);

#endif
