/* SPDX-License-Identifier: MIT */
/*
 * What the figures say without being asked: one sentence for each thing that costs a good part of
 * the time and could be helped, with the numbers that say so; and a headline. Only from what was
 * measured, and only with a margin: each threshold has its reason in advice.c.
 */
#ifndef CT_REPORT_ADVICE_H
#define CT_REPORT_ADVICE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/profile/merge.h"
#include "report/profile/view.h"

struct ct_advice_line {
    const char *key; /* "launch_bound" and so on: what it is about */
    char *text;      /* a sentence without a full stop; names in it are safe to show */
    double percent;  /* as ct_headline's, of what it is about; 0: of none */
    uint64_t ns;     /* the same */
    uint64_t count;  /* gaps, copies, launches or calls that it is about */
};

/* The one with the most time first. All zero at first. */
struct ct_advice {
    struct ct_advice_line *lines;
    size_t count;
    size_t size;
};

void ct_advice_find(struct ct_advice *a, const struct ct_merged *m);
void ct_advice_free(struct ct_advice *a);

/* A line for each, below a table; nothing if there is none. */
void ct_advice_print(FILE *out, const char *prefix, const struct ct_merged *m);

/*
 * In parts of the time from each device's first operation to its last, less what was not recorded
 * and what timing cost, in percent.
 */
struct ct_headline {
    bool known;       /* false: too little of what ran is known for the rest */
    uint64_t time_ns; /* that time */
    double busy_percent;
    double compute_percent;
    double copy_percent;
    double launch_percent; /* idle because the host launched too slowly */
    bool is_launch_bound;
    double idle_percent[CT_IDLE_COUNT]; /* without what that time is without */
};

struct ct_headline ct_headline_of(const struct ct_merged *m);

#endif
