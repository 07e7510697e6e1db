/* SPDX-License-Identifier: MIT */
#include "page/utilization.h"

#include "page/json.h"
#include "report/names.h"
#include "report/reports/advice.h"

static const char *const idles[CT_FILE_IDLES] = {
#define X(id, text) [CT_IDLE_##id] = text,
    CT_IDLES(X)
#undef X
};

static json_t *idle_of(const struct ct_file_activity *a)
{
    json_t *to = ct_json_array();
    for (int i = 0; i < CT_FILE_IDLES; i++) {
        json_t *pair = ct_json_array();
        ct_json_append_text(pair,
                            idles[i] ? idles[i] : "for a reason that this program does not know");
        ct_json_append_count(pair, a->idle_ns[i]);
        ct_json_append(to, pair);
    }
    return to;
}

json_t *ct_page_occupancy(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->activity.device_keys.count; i++) {
        const struct ct_file_activity *a = &m->activity.devices[i];
        json_t *to = ct_json_object();
        ct_json_count(to, "device", a->device);
        ct_json_count(to, "span", ct_activity_span_ns(a));
        ct_json_count(to, "time", ct_activity_time_ns(a));
        ct_json_count(to, "busy", a->busy_ns);
        ct_json_count(to, "compute", a->compute_ns);
        ct_json_count(to, "copy", a->copy_ns);
        ct_json_count(to, "both", a->both_ns);
        ct_json_count(to, "beside", a->beside_ns);
        ct_json_count(to, "gaps", a->gaps);
        ct_json_count(to, "longest_gap", a->longest_gap_ns);
        ct_json_real(to, "known", ct_activity_coverage(m, a->device));
        ct_json_set(to, "idle", idle_of(a));
        ct_json_append(all, to);
    }
    return all;
}

json_t *ct_page_streams(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (size_t i = 0; i < m->stream_count; i++) {
        const struct ct_file_stream *s = &m->streams[i];
        json_t *to = ct_json_object();
        ct_json_count(to, "id", s->id);
        ct_json_count(to, "device", s->device);
        ct_json_text(to, "kind", ct_view_stream_kind(s));
        ct_json_safe(to, "name", ct_merge_name(m, s->name));
        ct_json_set(to, "priority", json_integer(s->priority));
        ct_json_count(to, "operations", s->operations);
        ct_json_count(to, "timed", s->timed);
        ct_json_count(to, "waits", s->waits);
        ct_json_count(to, "span", s->last_ns > s->first_ns ? s->last_ns - s->first_ns : 0);
        ct_json_count(to, "busy", s->busy_ns);
        ct_json_count(to, "beside", s->beside_ns);
        ct_json_count(to, "gaps", s->gaps);
        ct_json_count(to, "longest_gap", s->longest_gap_ns);
        ct_json_append(all, to);
    }
    return all;
}

static const char *memory_of(uint32_t memory)
{
    static const char *const names[] = {
#define X(id, text) [CT_MEMORY_##id] = text,
        CT_MEMORIES(X)
#undef X
    };
    return memory < sizeof(names) / sizeof(names[0]) ? names[memory] : "of a new kind";
}

json_t *ct_page_transfers(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    struct ct_string name = {0};
    for (uint32_t i = 0; i < m->activity.transfer_keys.count; i++) {
        const struct ct_file_transfer *t = &m->activity.transfers[i];
        json_t *to = ct_json_object();
        ct_string_clear(&name);
        ct_name_row(&name, m, &m->rows[t->row].sum, true);
        ct_json_text(to, "name", name.data);
        ct_json_text(to, "from", memory_of(t->from));
        ct_json_text(to, "to", memory_of(t->to));
        ct_json_count(to, "octave", t->octave);
        ct_json_count(to, "timed", t->timed);
        ct_json_count(to, "bytes", t->bytes);
        ct_json_count(to, "ns", t->total_ns);
        ct_json_append(all, to);
    }
    ct_string_free(&name);
    return all;
}

json_t *ct_page_headline(const struct ct_merged *m)
{
    struct ct_headline h = ct_headline_of(m);
    json_t *to = ct_json_object();
    ct_json_flag(to, "known", h.known);
    ct_json_count(to, "time", h.time_ns);
    ct_json_real(to, "busy", h.busy_percent);
    ct_json_real(to, "compute", h.compute_percent);
    ct_json_real(to, "copy", h.copy_percent);
    ct_json_real(to, "launch", h.launch_percent);
    ct_json_flag(to, "launch_bound", h.is_launch_bound);
    return to;
}

json_t *ct_page_advice(const struct ct_merged *m)
{
    struct ct_advice advice = {0};
    json_t *all = ct_json_array();
    ct_advice_find(&advice, m);
    for (size_t i = 0; i < advice.count; i++)
        ct_json_append_text(all, advice.lines[i].text);
    ct_advice_free(&advice);
    return all;
}
