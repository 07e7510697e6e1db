/* SPDX-License-Identifier: MIT */
/*
 * A slice of Perfetto's format, encoded field by field: nearly all packets of a trace are of
 * slices, and by way of the structures of protobuf-c they took half the time of an export.
 */
#ifndef CT_REPORT_PERFETTO_SLICE_H
#define CT_REPORT_PERFETTO_SLICE_H

#include <stddef.h>
#include <stdint.h>

#include "format/varint.h"

#define CT_PERFETTO_SEQUENCE 1  /* that all packets are of */
#define CT_PERFETTO_PACKET 0x0a /* before each, with its length: field 1 of the trace */

#define CT_PERFETTO_ANNOTATIONS 17 /* at most; their names are numbers below 128 */
#define CT_PERFETTO_ANNOTATION_BYTES (6 + CT_VARINT_MOST)
#define CT_PERFETTO_SLICE_BYTES 1024 /* both packets, whatever is in them */

/* Types of values, by the numbers of their fields in DebugAnnotation. */
enum ct_perfetto_value { CT_PERFETTO_UINT = 3, CT_PERFETTO_INT = 4, CT_PERFETTO_TEXT = 17 };

/* All zero at first, but for the annotations; texts are the numbers of interned ones. */
struct ct_perfetto_slice {
    uint64_t track;
    uint64_t category;
    uint64_t name;
    uint64_t flow; /* 0: none */
    size_t annotation_bytes;
    uint8_t annotations[CT_PERFETTO_ANNOTATIONS * CT_PERFETTO_ANNOTATION_BYTES];
};

void ct_perfetto_annotate(struct ct_perfetto_slice *s, uint8_t name, enum ct_perfetto_value kind,
                          uint64_t value);

/* Writes one packet of a slice; returns the place behind its last byte. */
enum ct_perfetto_phase { CT_PERFETTO_BEGIN = 1, CT_PERFETTO_END = 2, CT_PERFETTO_INSTANT = 3 };
uint8_t *ct_perfetto_put_phase(uint8_t *to, const struct ct_perfetto_slice *s,
                               enum ct_perfetto_phase phase, uint64_t ns);
/* Writes the packets of a slice's begin and end. */
uint8_t *ct_perfetto_put_slice(uint8_t *to, const struct ct_perfetto_slice *s, uint64_t begin_ns,
                               uint64_t end_ns);

#endif
