/* SPDX-License-Identifier: MIT */
/* Names of things as they are shown. All functions append to *out. */
#ifndef CT_REPORT_NAMES_H
#define CT_REPORT_NAMES_H

#include <stdbool.h>

#include "report/profile/merge.h"

/* Text of a file on a terminal: what cannot be shown (base/shown.h) becomes "\x1b". */
void ct_name_safe(struct ct_string *out, const char *text);

/* A kernel's name, demangled if it can be and is wanted. */
void ct_name_kernel(struct ct_string *out, const char *mangled, bool demangle);

/* Of a demangled kernel the function's own name: "f" of "void a::f<int>(int *)". */
void ct_name_base(struct ct_string *name);

/* An exported symbol as its function is known: without version and stream suffixes. */
void ct_name_api(struct ct_string *out, const char *symbol);

/* "01234567-89ab-cdef-0123-456789abcdef" */
void ct_name_uuid(struct ct_string *out, const uint8_t uuid[16]);

/* An operation: "[CUDA memcpy HtoD]", or the kernel. */
void ct_name_operation(struct ct_string *out, uint32_t kind, uint32_t detail, const char *mangled,
                       bool demangle);

/* The same of a row. */
void ct_name_row(struct ct_string *out, const struct ct_merged *m, const struct ct_file_row *row,
                 bool demangle);

#endif
