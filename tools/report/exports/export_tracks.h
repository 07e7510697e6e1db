/* SPDX-License-Identifier: MIT */
/*
 * The lines of a picture of traces: processes, their threads and the ranges of these, the devices
 * they used and the streams there. Each has a number of its own from 1 on, which it gets when it is
 * first seen.
 */
#ifndef CT_REPORT_EXPORT_TRACKS_H
#define CT_REPORT_EXPORT_TRACKS_H

#include "report/profile/key_table.h"
#include "report/trace/timeline.h"

struct ct_track_list {
    uint32_t *at; /* numbers, 0: not seen yet */
    size_t size;
};

struct ct_tracks {
    struct ct_file_tracks {
        uint32_t process;
        uint32_t pid; /* the process's own, or another one where an earlier file has that */
        struct ct_track_list threads;
        struct ct_track_list devices;
        struct ct_track_list streams;
    } * files;
    size_t files_size;
    uint32_t count;
    struct ct_key_table pids;
    struct ct_key_table lines;    /* of ranges, and further ones of streams */
    struct ct_track_list further; /* by these */
};

struct ct_track {
    uint32_t id;
    bool is_new;
};

struct ct_track ct_track_process(struct ct_tracks *t, const struct ct_timeline_file *f);
struct ct_track ct_track_thread(struct ct_tracks *t, const struct ct_timeline_file *f, uint32_t at);
struct ct_track ct_track_device(struct ct_tracks *t, const struct ct_timeline_file *f, uint32_t at);
struct ct_track ct_track_stream(struct ct_tracks *t, const struct ct_timeline_file *f, uint32_t at);

/* A further line of a stream, from 1 on, whose first one has the number. */
struct ct_track ct_track_lane(struct ct_tracks *t, uint32_t stream, uint32_t lane);

/* Pushed ranges of a thread and domain nest in one line; started ones have a line for each lane. */
struct ct_track ct_track_ranges(struct ct_tracks *t, const struct ct_event *e, uint32_t lane);

/* The process's number; valid once ct_track_process() has seen it. */
uint32_t ct_track_pid(const struct ct_tracks *t, const struct ct_timeline_file *f);

/* Labels of the tracks. */
void ct_track_process_name(struct ct_string *out, const struct ct_timeline_file *f);
void ct_track_thread_name(struct ct_string *out, const struct ct_timeline_file *f, uint32_t at);
void ct_track_stream_name(struct ct_string *out, const struct ct_timeline_file *f, uint32_t at);

void ct_track_ranges_name(struct ct_string *out, const struct ct_event *e, uint32_t lane);

void ct_tracks_free(struct ct_tracks *t);

#endif
