/* SPDX-License-Identifier: MIT */
/* Terminals: width, colours, pager. */
#ifndef CT_REPORT_TERMINAL_H
#define CT_REPORT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "report/host_memory.h"
#include "report/report_options.h"

#define CT_TERMINAL_BOLD "\033[1m"
#define CT_TERMINAL_NAME "\033[36m"
#define CT_TERMINAL_PLAIN "\033[0m"

/* Columns that a text of shown characters (base/printable.h) takes. */
int ct_terminal_width(const char *text);

/* The text in that many columns: the part left out of its middle becomes "…". */
void ct_terminal_shorten(struct ct_string *out, const char *text, int width);

/*
 * Lines in that many columns: those that begin with a prefix of "==" are wrapped at blanks, others,
 * of tables, shortened.
 */
void ct_terminal_fit(FILE *out, const char *text, int width);

/* Lines of words, wrapped at blanks; width 0: as they are. */
void ct_terminal_wrap(FILE *out, const char *text, int width);

/* Columns of the terminal behind a descriptor; 0: it is none. */
int ct_terminal_columns(int fd);

/* Whether to colour output to a descriptor; -1: to a file. */
bool ct_terminal_color(enum ct_color color, int fd);

#endif
