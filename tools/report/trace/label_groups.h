/* SPDX-License-Identifier: MIT */
/* Ranges whose names differ in numbers alone, as "step 1" and "step 2". */
#ifndef CT_REPORT_LABEL_GROUPS_H
#define CT_REPORT_LABEL_GROUPS_H

#include <stdbool.h>

#include "cutrace/trace.h"
#include "report/profile/key_table.h"

struct ct_label_group {
    struct ct_string name; /* safe to show */
    bool is_folded;        /* it has several names */
};

/* All zero at first; numbers are from 0 on, as labels come. */
struct ct_label_groups {
    struct ct_key_table keys; /* domains and names without their numbers */
    struct ct_label_group *at;
    size_t size;
};

uint32_t ct_label_groups_of(struct ct_label_groups *g, const struct ct_trace_label *label);
/* "domain:step #", or the name alone that all have; valid until the next label. */
const char *ct_label_groups_name(const struct ct_label_groups *g, uint32_t number);
void ct_label_groups_free(struct ct_label_groups *g);

#endif
