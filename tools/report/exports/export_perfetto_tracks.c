/* SPDX-License-Identifier: MIT */
#include "report/exports/export_perfetto.h"

static void put_track(struct ct_perfetto *p, PB(TrackDescriptor) * track, struct ct_track own,
                      uint32_t parent)
{
    PB(TracePacket) packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    track->has_uuid = true;
    track->uuid = own.id;
    track->has_parent_uuid = parent != 0;
    track->parent_uuid = parent;
    packet.track_descriptor = track;
    ct_perfetto_put_packet(p, &packet);
}

static uint32_t process_of(struct ct_perfetto *p, const struct ct_timeline_file *f)
{
    struct ct_track own = ct_track_process(&p->tracks, f);
    if (!own.is_new)
        return own.id;
    struct ct_string name = {0};
    PB(ProcessDescriptor) process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
    PB(TrackDescriptor) track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    ct_track_process_name(&name, f);
    process.has_pid = true;
    process.pid = (int32_t)ct_track_pid(&p->tracks, f);
    process.process_name = name.data;
    track.process = &process;
    put_track(p, &track, own, 0);
    ct_string_free(&name);
    return own.id;
}

static uint32_t thread_of(struct ct_perfetto *p, const struct ct_timeline_file *f, uint32_t at)
{
    uint32_t process = process_of(p, f);
    struct ct_track own = ct_track_thread(&p->tracks, f, at);
    if (!own.is_new)
        return own.id;
    struct ct_string name = {0};
    PB(ThreadDescriptor) thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
    PB(TrackDescriptor) track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    ct_track_thread_name(&name, f, at);
    thread.has_pid = thread.has_tid = true;
    thread.pid = (int32_t)ct_track_pid(&p->tracks, f);
    thread.tid = (int32_t)f->t->threads.at[at].tid;
    thread.thread_name = name.data;
    track.thread = &thread;
    put_track(p, &track, own, process);
    ct_string_free(&name);
    return own.id;
}

uint32_t ct_perfetto_thread(struct ct_perfetto *p, const struct ct_event *e)
{
    return thread_of(p, e->file, e->call.thread);
}

/* A line that a name is all of; the name is freed. */
static uint32_t put_named(struct ct_perfetto *p, struct ct_track own, uint32_t parent,
                          struct ct_string *name)
{
    PB(TrackDescriptor) track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    track.name = name->data;
    put_track(p, &track, own, parent);
    ct_string_free(name);
    return own.id;
}

uint32_t ct_perfetto_ranges(struct ct_perfetto *p, const struct ct_event *e, uint32_t lane)
{
    uint32_t thread = thread_of(p, e->file, e->range.thread);
    struct ct_track own = ct_track_ranges(&p->tracks, e, lane);
    if (!own.is_new)
        return own.id;
    struct ct_string name = {0};
    ct_track_ranges_name(&name, e, lane);
    return put_named(p, own, thread, &name);
}

static uint32_t device_of(struct ct_perfetto *p, const struct ct_event *e)
{
    uint32_t process = process_of(p, e->file);
    uint32_t device = e->file->t->streams.at[e->op.stream].device;
    struct ct_track own = ct_track_device(&p->tracks, e->file, device);
    if (!own.is_new)
        return own.id;
    struct ct_string name = {0};
    ct_string_put(&name, ct_event_device(&p->names, e->file, device));
    ct_name_given(&name, e->file->t->devices.at[device].given_name);
    return put_named(p, own, process, &name);
}

uint32_t ct_perfetto_stream(struct ct_perfetto *p, const struct ct_event *e)
{
    uint32_t device = device_of(p, e);
    struct ct_track own = ct_track_stream(&p->tracks, e->file, (uint32_t)e->op.stream);
    if (!own.is_new)
        return own.id;
    struct ct_string name = {0};
    ct_track_stream_name(&name, e->file, (uint32_t)e->op.stream);
    return put_named(p, own, device, &name);
}
