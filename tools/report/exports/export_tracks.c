/* SPDX-License-Identifier: MIT */
#include "report/exports/export_tracks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/names.h"
#include "report/trace/open_ranges.h"

#define OTHER_PIDS 1000000000u /* above those of Linux */

static struct ct_file_tracks *tracks_of(struct ct_tracks *t, const struct ct_timeline_file *f)
{
    t->files = ct_memory_grow(t->files, &t->files_size, (size_t)f->index + 1, sizeof(*t->files));
    return &t->files[f->index];
}

static struct ct_track take(struct ct_tracks *t, uint32_t *id)
{
    bool is_new = !*id;
    if (is_new)
        *id = ++t->count;
    return (struct ct_track){*id, is_new};
}

static struct ct_track take_from(struct ct_tracks *t, struct ct_track_list *list, uint32_t at)
{
    list->at = ct_memory_grow(list->at, &list->size, (size_t)at + 1, sizeof(*list->at));
    return take(t, &list->at[at]);
}

/* Processes of other hosts, and those before, may have had the same number. */
struct ct_track ct_track_process(struct ct_tracks *t, const struct ct_timeline_file *f)
{
    struct ct_file_tracks *tracks = tracks_of(t, f);
    struct ct_track track = take(t, &tracks->process);
    if (track.is_new) {
        uint32_t pid = f->t->process.pid, before = t->pids.count;
        ct_key_table_add(&t->pids, &pid, sizeof(pid));
        tracks->pid = t->pids.count > before ? pid : OTHER_PIDS + f->index;
    }
    return track;
}

struct ct_track ct_track_thread(struct ct_tracks *t, const struct ct_timeline_file *f, uint32_t at)
{
    return take_from(t, &tracks_of(t, f)->threads, at);
}

struct ct_track ct_track_device(struct ct_tracks *t, const struct ct_timeline_file *f, uint32_t at)
{
    return take_from(t, &tracks_of(t, f)->devices, at);
}

struct ct_track ct_track_stream(struct ct_tracks *t, const struct ct_timeline_file *f, uint32_t at)
{
    return take_from(t, &tracks_of(t, f)->streams, at);
}

struct ct_track ct_track_lane(struct ct_tracks *t, uint32_t stream, uint32_t lane)
{
    uint32_t key[] = {stream, lane};
    return take_from(t, &t->further, ct_key_table_add(&t->lines, key, sizeof(key)));
}

static const struct ct_trace_label *label_of(const struct ct_event *e)
{
    return &e->file->t->labels.at[e->range.label];
}

struct ct_track ct_track_ranges(struct ct_tracks *t, const struct ct_event *e, uint32_t lane)
{
    struct ct_string key = {0};
    ct_open_ranges_key(&key, e, e->range.number ? lane : 0);
    uint32_t line = ct_key_table_text(&t->lines, key.data);
    ct_string_free(&key);
    return take_from(t, &t->further, line);
}

uint32_t ct_track_pid(const struct ct_tracks *t, const struct ct_timeline_file *f)
{
    return t->files[f->index].pid;
}

void ct_track_process_name(struct ct_string *out, const struct ct_timeline_file *f)
{
    const struct ct_trace_process *p = &f->t->process;
    ct_name_safe(out, p->command && *p->command ? p->command : "process");
    if (p->host && *p->host) {
        ct_string_put(out, " on ");
        ct_name_safe(out, p->host);
    }
}

void ct_track_thread_name(struct ct_string *out, const struct ct_timeline_file *f, uint32_t at)
{
    const char *name = f->t->threads.at[at].name;
    ct_name_safe(out, name && *name ? name : "thread");
}

void ct_track_stream_name(struct ct_string *out, const struct ct_timeline_file *f, uint32_t at)
{
    static const char *const special[] = {"", " (legacy default)", " (per-thread default)"};
    const struct ct_trace_stream *s = &f->t->streams.at[at];
    ct_string_printf(out, "stream %" PRIu64 "%s", s->id, s->special < 3 ? special[s->special] : "");
    ct_name_given(out, s->name);
}

void ct_track_ranges_name(struct ct_string *out, const struct ct_event *e, uint32_t lane)
{
    ct_string_put(out, e->range.number ? "started ranges of " : "ranges of ");
    ct_track_thread_name(out, e->file, e->range.thread);
    if (*label_of(e)->domain) {
        ct_string_put(out, " in ");
        ct_name_safe(out, label_of(e)->domain);
    }
    if (lane && e->range.number)
        ct_string_printf(out, " (%u)", lane + 1);
}

void ct_tracks_free(struct ct_tracks *t)
{
    for (size_t i = 0; i < t->files_size; i++) {
        free(t->files[i].threads.at);
        free(t->files[i].devices.at);
        free(t->files[i].streams.at);
    }
    free(t->files);
    ct_key_table_free(&t->pids);
    ct_key_table_free(&t->lines);
    free(t->further.at);
    *t = (struct ct_tracks){0};
}
