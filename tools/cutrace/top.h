/* SPDX-License-Identifier: MIT */
/* cutrace ctl PID top: where the GPU's time goes, while it goes. */
#ifndef TOP_H
#define TOP_H

#include <stddef.h>
#include <stdint.h>

#include "launcher_options.h"
#include "link.h"
#include "report/profile/key_table.h"

/* An operation, or a line of Python: times and calls are then with all that it called. */
struct top_row {
    char *name;       /* as it can be shown */
    uint32_t number;  /* in top.known, or known_lines */
    bool uncertain;   /* the average is, as in the summary */
    bool bound;       /* the average is an upper bound */
    uint64_t last_ns; /* since the table before */
    uint64_t last_calls;
    uint64_t total_ns; /* 0: no operation is timed */
    uint64_t calls;
    uint64_t avg_ns; /* of operations alone, as the next two */
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t own_ns; /* of lines alone */
};

struct top_table {
    struct top_row *rows;
    size_t count, size;
};

/* A reading of the first GPU: sums so far, and the mean since the table before. */
struct top_sensor {
    double sum, mean, limit; /* limit 0: not known */
    uint64_t time_ns;        /* 0: never read */
};

enum top_sensors { TOP_CLOCK, TOP_POWER, TOP_TEMPERATURE, TOP_SENSORS };

enum top_rows { TOP_OPERATIONS, TOP_LINES, TOP_TABLES };

struct top {
    struct link link;
    bool recording;
    struct ct_string command, device; /* the program's; the first GPU's name */
    size_t devices;
    uint64_t age_ns, last_ns; /* of the process, of the interval */
    uint64_t busy_ns;         /* of all GPUs that are in use, since the start and in the interval */
    uint64_t last_busy_ns;
    uint64_t active_devices;
    struct top_sensor sensors[TOP_SENSORS];
    struct ct_key_table known; /* keys that tell operations apart: names of graphs change hands */
    struct ct_key_table known_lines;
    struct top_table tables[TOP_TABLES];
    enum top_rows shown;
};

enum top_order { TOP_INTERVAL, TOP_TOTAL, TOP_CALLS, TOP_AVG, TOP_NAME, TOP_ORDERS };

/* Asks the process anew, and sorts the rows. */
enum link_result top_take(struct top *t, enum top_order order);
void top_sort(struct top *t, enum top_order order);
const char *top_order_name(enum top_order order);

/*
 * Lines over the table, its heading, and a row, all without an end of line. width: columns of the
 * terminal; 0: no limit.
 */
#define TOP_HEAD 2
void top_line(struct ct_string *out, const struct top *t, int line);
void top_heading(struct ct_string *out, const struct top *t, int width);
void top_row(struct ct_string *out, const struct top *t, const struct top_row *r, int width);

/* The command: returns the exit status. */
int top(const struct link *l, const struct options *o);

/* Tables until a key, `times` or the process ends them; the last answer. Needs ncurses. */
enum link_result top_screen(struct top *t, enum top_order order, unsigned delay_ms,
                            unsigned long times);

#endif
