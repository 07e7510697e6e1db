/* SPDX-License-Identifier: MIT */
/*
 * Kernels by the names that people use: thousands of instances of a template, of tiles of a matrix
 * product or of kernels that a compiler has numbered are one group each.
 */
#ifndef CT_REPORT_KERNEL_GROUP_H
#define CT_REPORT_KERNEL_GROUP_H

#include <stdbool.h>

#include "report/host_memory.h"

/*
 * A rule is for kernels whose function matches `select`: the name without return type, template
 * arguments and parameters. The first rule counts that has a group and whose `where` is found in
 * the template arguments; `group` is the name then, with \1 to \9 of `where`. After that the first
 * rule without a group counts: where its `where` is found, the name ends. All are extended regular
 * expressions.
 */
struct ct_kernel_rule {
    const char *select;
    const char *where;
    const char *group;
    const char *example; /* as c++filt has it */
    const char *shown;
};

/* Ends with an empty one. */
extern const struct ct_kernel_rule ct_kernel_rules[];

/*
 * Turns a name, as ct_name_kernel() spells it, into its group's; one that is not understood stays.
 * Thread-safe.
 */
void ct_kernel_group(struct ct_string *name);

/*
 * That name only where a rule with a group has one, which stands for what is in the brackets of a
 * template; false: there is none, and the name stays.
 */
bool ct_kernel_named(struct ct_string *name);

#endif
