/* SPDX-License-Identifier: MIT */
/* Objects of a Python program that launched operations, in words. */
#ifndef CT_REPORT_MODULES_H
#define CT_REPORT_MODULES_H

#include "report/stacks/calls.h"

/* Adds "Layer", or "Layer[3]" for one of several of its type. */
void ct_modules_name(struct ct_string *out, const char *type, uint32_t number, bool is_of_several);

/* Adds sentences about a tree of modules, a line each. */
void ct_modules_notes(struct ct_string *out, const struct ct_calls *c);

#endif
