/* SPDX-License-Identifier: MIT */
/* Fields of protocol buffers' encoding; a number that is 0 needs none. */
#ifndef CT_REPORT_WIRE_H
#define CT_REPORT_WIRE_H

#include "report/host_memory.h"

/* Adds a number alone, as it stands in a packed list. */
void ct_wire_varint(struct ct_string *to, uint64_t value);
void ct_wire_number(struct ct_string *to, unsigned field, uint64_t value);
/* Adds a text, a packed list or a message, an empty one as well. */
void ct_wire_bytes(struct ct_string *to, unsigned field, const void *data, size_t len);
/* Adds a message, and empties it for the next. */
void ct_wire_message(struct ct_string *to, unsigned field, struct ct_string *message);

#endif
