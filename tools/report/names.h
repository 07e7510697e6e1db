/* SPDX-License-Identifier: MIT */
/* Names of things as they are shown. All functions append to *out. */
#ifndef CT_REPORT_NAMES_H
#define CT_REPORT_NAMES_H

#include <stdbool.h>

#include "report/profile/merge.h"

/*
 * Text of a file on a terminal: characters that cannot be shown (base/printable.h) become "\x1b"
 * and the like.
 */
void ct_name_safe(struct ct_string *out, const char *text);

/* ": name" behind a thing's own designation, if the program gave it a name (NVTX). */
void ct_name_given(struct ct_string *out, const char *name);

/* Forms of a kernel's name. */
enum ct_naming {
    CT_NAMES_MANGLED,
    CT_NAMES_DEMANGLED, /* where it can be */
    CT_NAMES_GROUPED,   /* see kernel_group.h */
    CT_NAMES_BASE,      /* see ct_name_base() */
};

/* Stack of threads that name kernels: a process without a limit has threads with too little. */
#define CT_NAME_STACK_BYTES ((size_t)8 << 20)

void ct_name_kernel(struct ct_string *out, const char *mangled, enum ct_naming naming);

/* Cuts a demangled kernel's name to the function's own: "f" of "void a::f<int>(int *)". */
void ct_name_base(struct ct_string *name);

/* An exported symbol as its function is known: without version and stream suffixes. */
void ct_name_api(struct ct_string *out, const char *symbol);

/* "01234567-89ab-cdef-0123-456789abcdef" */
void ct_name_uuid(struct ct_string *out, const uint8_t uuid[16]);

/* An operation: "[CUDA memcpy HtoD]", or the kernel. */
void ct_name_operation(struct ct_string *out, uint32_t kind, uint32_t detail, const char *mangled,
                       enum ct_naming naming);

/* The operation of a row: kernels are in groups already where the profile was read that way. */
void ct_name_row(struct ct_string *out, const struct ct_merged *m, const struct ct_file_row *row,
                 bool demangle);

/* The operation of a node in a graph. */
void ct_name_node(struct ct_string *out, const struct ct_merged *m, const struct ct_file_node *node,
                  bool demangle);

#endif
