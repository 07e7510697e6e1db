/* SPDX-License-Identifier: MIT */
#include "record/polled.h"

#include "record/context.h"
#include "record/lead.h"

/* Where a record that was told then would be stamped on an idle stream. */
static uint64_t place(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t otherwise_ns)
{
    uint64_t ns;
    return ticks && ct_gpu_clock_about(clock, ticks, &ns) ? ns : otherwise_ns;
}

/* UINT64_MAX: there is none, or it has not been stamped yet. */
static uint64_t next_start_ns(struct ct_context *c, const struct ct_pending *p)
{
    const struct ct_op *op = p->next ? &p->next->op : NULL;
    uint64_t ns;
    if (!op || op->start_event == CT_EVENT_NONE || op->context != p->op.context ||
        CT_ASK_IN(c, cuEventQuery, ct_event(c, op->start_event)) != CUDA_SUCCESS ||
        !ct_gpu_clock_read(c, op->start_event, &ns))
        return UINT64_MAX;
    return ns;
}

/* A bracket's share of the front end that is before the operation. */
static uint64_t front_ns(const struct ct_calibration *f, enum ct_work_class work)
{
    static const uint32_t usual_ns = 2910; /* an H200's bracket on a busy stream */
    uint32_t bias_ns = work == CT_CLASS_KERNEL ? f->bias_busy_ns : f->bias_copy_ns;
    bias_ns = bias_ns ? bias_ns : usual_ns;
    return bias_ns > ct_record_ns(f) ? bias_ns - ct_record_ns(f) : 0;
}

enum ct_loss ct_polled_end(struct ct_measured *m, const struct ct_pending *p, uint64_t seen_ticks,
                           uint64_t *time_ns, uint64_t *doubt_ns)
{
    struct ct_context *c = ct_context(m->op.context);
    const struct ct_calibration *f = ct_device(m->device)->calibration;
    uint64_t record_ns = ct_record_ns(f);
    uint64_t low_ns = place(&c->clock, p->asked_ticks, 0);
    uint64_t high_ns = place(&c->clock, seen_ticks, UINT64_MAX);
    uint64_t next_ns = next_start_ns(c, p);
    if (high_ns == UINT64_MAX && next_ns == UINT64_MAX)
        return CT_LOSS_NO_START;
    low_ns = ct_max(low_ns, m->start_ns + record_ns);
    high_ns = ct_max(ct_min(high_ns, next_ns), low_ns);
    m->stop_ns = high_ns == next_ns ? next_ns : low_ns + (high_ns - low_ns) / 2;
    m->times.raw_ns = m->stop_ns - m->start_ns;
    *doubt_ns = ct_max(high_ns - m->stop_ns, m->stop_ns - low_ns);
    uint64_t outside_ns = record_ns + front_ns(f, m->times.work);
    *time_ns = m->times.raw_ns > outside_ns ? m->times.raw_ns - outside_ns : 0;
    return CT_LOSS_COUNT;
}
