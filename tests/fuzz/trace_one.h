/* SPDX-License-Identifier: MIT */
/* One hostile trace: its blocks are whole, what is in them is the input's. */
#ifndef TRACE_ONE_H
#define TRACE_ONE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The input is blocks: their type, two bytes of their length, and what is in them. Reads them, and
 * ends the process where a record refers to what is not there.
 */
void trace_one(const uint8_t *data, size_t bytes);

#endif
