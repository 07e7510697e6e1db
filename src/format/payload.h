/* SPDX-License-Identifier: MIT */
/* Turns a payload's bytes, whose checksum was right, into a checked struct ct_summary. */
#ifndef CT_PAYLOAD_H
#define CT_PAYLOAD_H

#include "format/read.h"

/* Sets error->text and returns `code`. */
__attribute__((format(printf, 3, 4))) int ct_read_fail(struct ct_read_error *error, int code,
                                                       const char *format, ...);

/* Opens a regular file for reading: the descriptor, or -errno. */
int ct_read_open(const char *path, struct ct_read_error *error);

/* Points the sections of *s into s->payload, `bytes` long, and checks all. 0 or -errno. */
int ct_payload_parse(struct ct_summary *s, size_t bytes, struct ct_read_error *error);

/* Points at bytes that this program has made: their contents are not checked. 0 or -errno. */
int ct_payload_point(struct ct_summary *s, size_t bytes, struct ct_read_error *error);

/* Lets go of the sections, not of the payload's buffer. */
void ct_payload_forget(struct ct_summary *s);

#endif
