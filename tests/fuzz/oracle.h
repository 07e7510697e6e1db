/* SPDX-License-Identifier: MIT */
/* What must hold of everything that is printed, whatever the file says. */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * NULL, or what is wrong: bytes that a terminal acts upon or that are no UTF-8, a line that is not
 * ended, and in CSV a cell that begins like a formula, or with a quote that its line does not end.
 */
const char *oracle_complaint(const char *text, size_t len, bool csv);

#endif
