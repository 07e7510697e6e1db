/* SPDX-License-Identifier: MIT */
#include "drain/activity.h"

#include "launch/bracket.h"
#include "state/context.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/lead.h"

/* `projected`: the figures of `sweep` as of the last ct_activity_project(). */
struct device {
    struct ct_sweep sweep;
    struct ct_sweep_figures projected;
};

struct streams {
    struct ct_stream_activity known[CT_STREAMS_LISTED]; /* of the streams that the profile lists */
    struct ct_stream_activity projected[CT_STREAMS_LISTED];
};

static CT_PROCESS struct device *devices[CT_DEVICES];
static CT_PROCESS struct streams *streams;
static CT_PROCESS struct ct_sweep *scratch;

static struct device *device_of(uint32_t index)
{
    if (ct_unlikely(!devices[index]) && (devices[index] = ct_map(sizeof(struct device))))
        devices[index]->sweep.streams = streams->known;
    return devices[index];
}

/* An entry of the table of streams becomes another stream's with that stream's first operation. */
static uint32_t stream_of(uint32_t index, uint64_t id)
{
    if (index >= CT_STREAMS_LISTED)
        return CT_SWEEP_NO_STREAM;
    struct ct_stream_activity *s = &streams->known[index];
    if (s->stream_id != id)
        *s = (struct ct_stream_activity){.stream_id = id};
    return index;
}

static uint64_t on_line(const struct ct_op *op, uint64_t ns, uint64_t start_ns)
{
    return ct_gpu_clock_steady(&ct_context(op->context)->clock, ns, op->open_ticks, start_ns);
}

/* A call that waits for its copy tells the GPU of it as it begins, not as it returns. */
static bool find_told(const struct ct_measured *m, uint64_t *told_ns)
{
    *told_ns = m->start_ns + (uint64_t)m->times.lead_ns;
    return m->times.work != CT_CLASS_WAIT ||
           ct_gpu_clock_at(&ct_context(m->op.context)->clock, m->op.call_ticks, told_ns);
}

static void find_host_times(const struct ct_measured *m, struct ct_sweep_op *to)
{
    uint64_t told_ns, waited_ns;
    if (!ct_tells_host(ct_device(m->device)->calibration) || m->times.lead_ns == CT_LEAD_UNKNOWN ||
        !find_told(m, &told_ns))
        return;
    to->told_ns = on_line(&m->op, told_ns, m->start_ns);
    if (m->op.waited_ticks &&
        ct_gpu_clock_at(&ct_context(m->op.context)->clock, m->op.waited_ticks, &waited_ns))
        to->waited_ns = on_line(&m->op, waited_ns, m->start_ns);
}

/* The bracket's time on the GPU between the end of the operation before and this one's start. */
static uint32_t gpu_cost_ns(const struct ct_measured *m)
{
    bool has_record = ct_op_has_start_record(&m->op);
    const struct ct_calibration *c = ct_device(m->device)->calibration;
    return c->bias_busy_ns + (has_record ? ct_record_ns(c) : 0);
}

void ct_activity_add(const struct ct_measured *m, uint32_t kind, uint64_t time_ns)
{
    if (ct_unlikely(!streams) && !(streams = ct_map(sizeof(*streams))))
        return;
    struct device *d = device_of(m->device);
    if (!d)
        return;
    uint64_t end_ns =
        on_line(&m->op, ct_lead_end_ns(ct_device(m->device)->calibration, m, time_ns), m->start_ns);
    struct ct_sweep_op op = {
        .start_ns = end_ns - time_ns,
        .end_ns = end_ns,
        .told_ns = CT_SWEEP_UNKNOWN,
        .stream_id = m->stream_id,
        .operations = m->op.operations,
        .period = ct_recording_period(m->op.open_ticks),
        .stream = stream_of(m->op.stream, m->stream_id),
        .gpu_cost_ns = gpu_cost_ns(m),
        .host_cost_ns = (uint32_t)ct_min(m->times.record_ns + m->times.stop_record_ns, UINT32_MAX),
        .is_copy = kind == CT_ROW_COPY || kind == CT_ROW_PREFETCH,
    };
    find_host_times(m, &op);
    ct_sweep_add(&d->sweep, &op);
}

/* Operations that wait are put into their places in a copy; in the original they wait on. */
void ct_activity_project(void)
{
    if (!streams || (!scratch && !(scratch = ct_map(sizeof(*scratch)))))
        return;
    __builtin_memcpy(streams->projected, streams->known, sizeof(streams->known));
    for (uint32_t i = 0; i < CT_DEVICES; i++) {
        if (!devices[i])
            continue;
        __builtin_memcpy(scratch, &devices[i]->sweep, sizeof(*scratch));
        scratch->streams = streams->projected;
        ct_sweep_finish(scratch);
        devices[i]->projected = scratch->figures;
    }
}

const struct ct_sweep_figures *ct_activity_of(uint32_t device)
{
    const struct device *d = devices[device];
    return d && d->projected.sum.operations ? &d->projected : NULL;
}

const struct ct_stream_activity *ct_activity_of_stream(const struct ct_stream *s)
{
    uint32_t i = ct_stream_index(s);
    uint64_t id = atomic_load_explicit(&s->id, memory_order_relaxed);
    bool is_known = streams && i < CT_STREAMS_LISTED && streams->projected[i].stream_id == id;
    return is_known ? &streams->projected[i] : NULL;
}
