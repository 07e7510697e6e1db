/* SPDX-License-Identifier: MIT */
/* Names of things as they are shown. All functions append to *out. */
#ifndef CT_REPORT_NAMES_H
#define CT_REPORT_NAMES_H

#include <stdbool.h>

#include "report/merge.h"

/* Text of a file on a terminal: control characters and what is no UTF-8 become "\x1b". */
void ct_name_safe(struct ct_string *out, const char *text);

/* A kernel's name, demangled if it can be and is wanted. */
void ct_name_kernel(struct ct_string *out, const char *mangled, bool demangle);

/* An exported symbol as its function is known: without version and stream suffixes. */
void ct_name_api(struct ct_string *out, const char *symbol);

/* The operation of a row: "[CUDA memcpy HtoD]", or the kernel. */
void ct_name_row(struct ct_string *out, const struct ct_merged *m, const struct ct_file_row *row,
                 bool demangle);

#endif
