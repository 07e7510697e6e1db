/* SPDX-License-Identifier: MIT */
/* The number of steps that a program made, by how often it launched things: a pure function. */
#ifndef CT_REPORT_STEP_COUNT_H
#define CT_REPORT_STEP_COUNT_H

#include <stddef.h>

#define CT_STEP_TOLERANCE 0.05 /* counts that differ by that, and by one at the ends, are alike */

/* Launches of a kernel or another row, and the time of them. */
struct ct_step_launches {
    double calls, ns;
};

/*
 * The least number of launches that a tenth of the rows have in common. Layers have more, and what
 * is done at the start, or now and then, takes too little time to be asked. 0: there is none. The
 * array is put into another order.
 */
double ct_step_count(struct ct_step_launches *rows, size_t count);

#endif
