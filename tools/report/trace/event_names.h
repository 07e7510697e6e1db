/* SPDX-License-Identifier: MIT */
/* Names of the rows and functions of a timeline, each made once and spelled as a format wants it.
 */
#ifndef CT_REPORT_EVENT_NAMES_H
#define CT_REPORT_EVENT_NAMES_H

#include "report/names.h"
#include "report/trace/timeline.h"

/* Appends a name to *out as a format spells it. */
typedef void ct_event_speller(struct ct_string *out, const char *name);

/* Set `naming` and `spell` (NULL: as it is); all else zero at first. */
struct ct_event_names {
    enum ct_naming naming;
    ct_event_speller *spell;
    struct ct_event_name_list {
        char **at;
        size_t size;
    } * rows, *apis, *devices, *labels, *frames; /* by file */
    size_t rows_size;
    size_t apis_size;
    size_t devices_size;
    size_t labels_size;
    size_t frames_size;
    struct ct_string device_name; /* given by the program: those of the newest event */
    struct ct_string context_name;
    struct ct_string stream_name;
};

const char *ct_event_row(struct ct_event_names *n, const struct ct_timeline_file *f, uint32_t row);
const char *ct_event_api(struct ct_event_names *n, const struct ct_timeline_file *f, uint32_t api);
/* The name of a range. */
const char *ct_event_label(struct ct_event_names *n, const struct ct_timeline_file *f,
                           uint32_t label);
/* "train (train.py:12)" */
const char *ct_event_frame(struct ct_event_names *n, const struct ct_timeline_file *f,
                           uint32_t frame);
/* "NVIDIA H200 (0)" */
const char *ct_event_device(struct ct_event_names *n, const struct ct_timeline_file *f,
                            uint32_t device);
/*
 * The program's own names (NVTX) of the place where an operation ran; valid until the next call.
 * NULL: none.
 */
const char *ct_event_device_name(struct ct_event_names *n, const struct ct_event *op);
const char *ct_event_context_name(struct ct_event_names *n, const struct ct_event *op);
const char *ct_event_stream_name(struct ct_event_names *n, const struct ct_event *op);
void ct_event_names_free(struct ct_event_names *n);

/*
 * The memory (enum ct_memory) of a copy's two ends. Where none was recorded, the direction tells
 * the device's.
 */
uint8_t ct_event_source_memory(const struct ct_event *copy);
uint8_t ct_event_target_memory(const struct ct_event *copy);

/*
 * nvprof's words for the memory at the ends of an operation, "Pageable" for one; NULL: it has none.
 */
const char *ct_event_source(const struct ct_event *op);
const char *ct_event_target(const struct ct_event *op);

#endif
