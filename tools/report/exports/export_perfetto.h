/* SPDX-License-Identifier: MIT */
/* Between the parts of the export to Perfetto's format. */
#ifndef CT_REPORT_EXPORT_PERFETTO_H
#define CT_REPORT_EXPORT_PERFETTO_H

#include <stdio.h>

#include "report/exports/export_tracks.h"
#include "report/trace/event_names.h"
#include "report/trace/open_ranges.h"
#include "track_event.pb-c.h"

#define PB(name) Perfetto__Protos__##name

struct ct_perfetto {
    FILE *out;
    struct ct_timeline tl;
    struct ct_event_names names;
    struct ct_tracks tracks;
    struct ct_open_ranges open;
    struct ct_perfetto_interned *interned; /* by file */
    uint64_t name_count;
    struct ct_key_table values; /* texts of annotations: the number less one */
    uint64_t *ends_ns;          /* by track: where its newest slice ends */
    size_t ends_size;
    struct ct_string bytes; /* not written yet */
};

/* Writes it, or keeps it until there is more to write at once. */
void ct_perfetto_put_packet(struct ct_perfetto *p, PB(TracePacket) * packet);

/* The number of a call's or an operation's track, which is put when it comes first. */
uint32_t ct_perfetto_thread(struct ct_perfetto *p, const struct ct_event *e);
uint32_t ct_perfetto_stream(struct ct_perfetto *p, const struct ct_event *e);
/* The number of a range's track, which lies below its thread's. */
uint32_t ct_perfetto_ranges(struct ct_perfetto *p, const struct ct_event *e, uint32_t lane);

#endif
