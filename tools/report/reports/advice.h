/* SPDX-License-Identifier: MIT */
/*
 * Advice that the figures give without being asked: one sentence for each thing that costs a good
 * part of the time and could be helped, with the numbers that say so; and a headline. Only from
 * measured figures, and only with a margin: each threshold has its reason in advice.c.
 */
#ifndef CT_REPORT_ADVICE_H
#define CT_REPORT_ADVICE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/profile/merge.h"
#include "report/profile/view.h"

struct ct_advice_line {
    const char *key; /* "launch_bound" and so on */
    char *text;      /* a sentence without a full stop; names in it are safe to show */
    double percent;  /* as ct_headline's: the time that the thing costs; 0: none is named */
    uint64_t ns;     /* the cost */
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
 * Percentages are of the observed time: from each device's first operation to its last, less the
 * time that was not recorded and the cost of timing.
 */
struct ct_headline {
    bool known;       /* false: too few operations are known for the rest */
    uint64_t time_ns; /* observed */
    double busy_percent;
    double compute_percent;
    double copy_percent;
    double launch_percent; /* idle because the host launched too slowly */
    bool is_launch_bound;
    double idle_percent[CT_IDLE_COUNT]; /* 0 for reasons that the observed time excludes */
};

struct ct_headline ct_headline_of(const struct ct_merged *m);

#endif
