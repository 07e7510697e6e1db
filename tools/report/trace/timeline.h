/* SPDX-License-Identifier: MIT */
/*
 * The operations and calls of any number of traces on one clock, in the order of their starts.
 *
 * A trace is in this order only roughly: streams and threads are interleaved as they were drained.
 * So files are read twice. The first time finds facts that the first printed line needs (columns,
 * units, the start of the clock), and from which record on nothing starts before a given time. The
 * second time, records wait for those before them: in memory there are the few that are out of
 * order, not the trace. Or they come as they are in the files.
 */
#ifndef CT_REPORT_TIMELINE_H
#define CT_REPORT_TIMELINE_H

#include <stdbool.h>

#include "format/trace_read.h"
#include "report/host_memory.h"
#include "report/trace/links.h"

/* The meaning of a link, the number that a file has for a correlation; see links.h. */
enum ct_timeline_links {
    CT_TIMELINE_NO_LINKS,
    CT_TIMELINE_KERNELS,    /* 1 + the row of its kernel */
    CT_TIMELINE_OPERATIONS, /* how many operations it has */
};

struct ct_timeline_options {
    bool ops;
    bool calls;
    bool ranges;
    enum ct_timeline_links links;
    bool as_read;      /* file by file as they are, for who looks at each stream by itself */
    uint64_t since_ns; /* of the timeline's clock; records that overlap this span are there */
    uint64_t until_ns; /* UINT64_MAX: to the end */
};

struct ct_timeline_file {
    const char *path;
    uint32_t index;
    uint64_t bytes;
    struct ct_trace_reader *t; /* its tables, as of the newest record that was read */
    struct ct_links links;
    struct ct_trace_losses losses;
    const char *ending;            /* NULL, or why the file ends before the process did */
    struct ct_timeline_part *part; /* see timeline_part.h */
};

/* Times are of the timeline's clock, which is 0 where the first of all records starts. */
struct ct_event {
    uint64_t start_ns;
    uint64_t end_ns;
    struct ct_timeline_file *file;
    bool is_call;
    bool is_range; /* where one begins or ends: see open_ranges.h */
    union {
        struct ct_trace_op op;
        struct ct_trace_call call;
        struct ct_trace_range range;
    };
};

/* Figures of the records that are in the timeline. */
struct ct_timeline_facts {
    uint64_t ops;
    uint64_t calls;
    uint64_t ranges; /* records of them */
    uint64_t kernels;
    uint64_t moves;    /* copies, sets and prefetches */
    uint64_t lanes;    /* streams and threads of all files, and lanes of ranges if as_read */
    uint64_t first_ns; /* where the first one starts: 0 unless records before it are left out */
    uint64_t last_start_ns;
    uint64_t end_ns;
    uint64_t longest_ns;
    uint64_t most_static_bytes;
    uint64_t most_dynamic_bytes;
    uint64_t most_bytes;
    double most_rate; /* bytes per second */
};

struct ct_timeline {
    struct ct_timeline_options o;
    struct ct_timeline_file *files; /* those that could be read */
    uint32_t file_count;
    struct ct_timeline_facts facts;
    uint64_t zero_unix_ns; /* where the clock is 0 */
    bool failed;           /* something could not be read; it was said on standard error */

    /* timeline*.c's own */
    struct ct_progress *progress;       /* of the first reading; NULL later */
    struct ct_range_lanes *range_lanes; /* of the first reading, too */
    uint64_t zero_ns; /* where the timeline's 0 is in the clock of the file that began first */
    uint32_t *heap;   /* files by their next record */
    uint32_t heap_count;
    bool given;       /* the record of the heap's first file has been handed out */
    uint32_t reading; /* as_read: index of the file that is being read */
    struct ct_event event;
};

void ct_timeline_open(struct ct_timeline *tl, char *const *paths, int count,
                      const struct ct_timeline_options *o);

/* False: there are no more. Valid until the next call; tables may move then, too. */
bool ct_timeline_next(struct ct_timeline *tl, const struct ct_event **e);

/*
 * As ct_timeline_next(), but records of one file alone, with as_read: the file's tables are
 * complete when there are no more records, and stay until it is closed.
 */
bool ct_timeline_next_in(struct ct_timeline *tl, struct ct_timeline_file *f,
                         const struct ct_event **e);
void ct_timeline_close_file(struct ct_timeline_file *f);

/* Appends to *lines the losses of the traces: a line for each reason, begun with `prefix`. */
void ct_timeline_notes(const struct ct_timeline *tl, const char *prefix, struct ct_string *lines);
/* The losses on standard error, for formats that have no place for sentences. */
void ct_timeline_say_notes(const struct ct_timeline *tl);

void ct_timeline_close(struct ct_timeline *tl);

#endif
