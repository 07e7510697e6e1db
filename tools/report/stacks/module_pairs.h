/* SPDX-License-Identifier: MIT */
/* Modules of two runs of a program in one tree: by their types and numbers, from the outermost in.
 */
#ifndef CT_REPORT_MODULE_PAIRS_H
#define CT_REPORT_MODULE_PAIRS_H

#include "report/stacks/change.h"

struct ct_module_pair {
    struct ct_change change; /* its sides are of the calls */
    uint32_t parent;         /* index plus one; 0: it is in none */
    uint32_t depth;          /* from 1 on */
    uint32_t number;         /* as in struct ct_file_module */
    const char *type;        /* of the profiles; not yet safe */
    bool is_of_several;      /* of its type, in its parent */
};

/* Those that launched anything in either; what they are in comes before them. */
struct ct_module_pairs {
    struct ct_module_pair *at;
    size_t count;
    bool is_known; /* each profile has modules: one that is missing there launched nothing */
};

/* Calls as of ct_calls_of_modules(). Both profiles, and their calls, outlive the pairs. */
void ct_module_pairs_make(struct ct_module_pairs *p, const struct ct_merged *before,
                          const struct ct_calls *before_calls, const struct ct_merged *after,
                          const struct ct_calls *after_calls);
void ct_module_pairs_free(struct ct_module_pairs *p);

/* Adds "Model/Layer[3]/Linear". */
void ct_module_pairs_path(struct ct_string *out, const struct ct_module_pairs *p, size_t at);

/* "new" or "vanished"; NULL: both have it, or one profile has no modules at all. */
const char *ct_module_pairs_verdict(const struct ct_module_pairs *p, size_t at);

#endif
