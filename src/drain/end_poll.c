/* SPDX-License-Identifier: MIT */
#include "drain/end_poll.h"

#include "counts/row.h"
#include "drain/anchor.h"
#include "state/context.h"
#include "state/host_wait.h"
#include "state/thread.h"
#include "time/lead.h"

#define NARROW_PART 4 /* a doubt of this part of a duration is good enough */

/* The stamp, on an idle stream, of a record of which the GPU was told at `ticks`. */
static uint64_t place(const struct ct_gpu_clock *clock, uint64_t ticks, uint64_t otherwise_ns)
{
    uint64_t ns;
    return ticks && ct_gpu_clock_roughly(clock, ticks, &ns) ? ns : otherwise_ns;
}

/* The operation begins where the one before ended. */
static enum ct_loss follow(const struct ct_stream *s, struct ct_measured *m, uint64_t *doubt_ns)
{
    const struct ct_op *op = &m->op;
    if (s->polled_sequence + 1 == op->sequence) {
        m->start_ns = s->polled_stop_ns;
        *doubt_ns = s->polled_doubt_ns;
    } else if (s->last_stop_sequence && s->last_stop_sequence + 1 == op->sequence) {
        m->start_ns = s->last_stop_ns;
    } else {
        return CT_LOSS_NO_START;
    }
    return CT_LOSS_COUNT;
}

static enum ct_loss read_start(struct ct_measured *m)
{
    const struct ct_op *op = &m->op;
    struct ct_context *c = ct_context(op->context);
    if (!ct_anchor_read(c, op->start_event, &m->start_ns))
        return CT_LOSS_EVENT_ERROR;
    ct_lead_follow(&c->clock, m);
    return CT_LOSS_COUNT;
}

/* No operation begins before its call: its thread may have lost its processor before that. */
enum ct_loss ct_end_poll_start(const struct ct_stream *s, struct ct_measured *m, uint64_t *doubt_ns)
{
    const struct ct_gpu_clock *clock = &ct_context(m->op.context)->clock;
    *doubt_ns = 0;
    enum ct_loss loss = m->op.flags & CT_OP_SHARED_START ? follow(s, m, doubt_ns) : read_start(m);
    m->start_ns = ct_max(m->start_ns, place(clock, m->op.call_ticks, 0));
    return loss;
}

/* The stamp of the next start; UINT64_MAX: there is none, or it has not been stamped yet. */
static uint64_t next_start_ns(struct ct_context *c, const struct ct_pending *p)
{
    const struct ct_op *op = p->next ? &p->next->op : NULL;
    uint64_t ns;
    if (!op || op->start_event == CT_EVENT_NONE || op->context != p->op.context ||
        CT_ASK_IN(c, cuEventQuery, ct_event(c, op->start_event)) != CUDA_SUCCESS ||
        !ct_anchor_read(c, op->start_event, &ns))
        return UINT64_MAX;
    return ns;
}

/* The front end's share in a bracket ahead of the operation. */
static uint64_t front_ns(const struct ct_calibration *f, enum ct_work_class work)
{
    uint32_t bias_ns = work == CT_CLASS_KERNEL ? f->bias_busy_ns : f->bias_copy_ns;
    bias_ns = bias_ns ? bias_ns : CT_H200_bias_busy_ns;
    return bias_ns > ct_record_ns(f) ? bias_ns - ct_record_ns(f) : 0;
}

static uint64_t less(uint64_t ns, uint64_t by_ns)
{
    return ns > by_ns ? ns - by_ns : 0;
}

/* When a call that waited for the operation had come back; 0: none has. */
static uint64_t over_ticks(const struct ct_pending *p)
{
    uint64_t ticks = ct_host_wait_ticks(p->thread, &p->op);
    if (p->op.flags & CT_OP_WAITED_FOR)
        ticks = ct_min(ticks, p->op.done_ticks);
    return ticks == UINT64_MAX ? 0 : ticks;
}

/*
 * Where the bounds are far apart, as with operations shorter than the time between two questions,
 * others of the row tell more: those that are known well, or the lowest upper bounds.
 */
static void settle(struct ct_estimate *e, const struct ct_measured *m)
{
    uint64_t doubt_ns = ct_max(e->high_ns - e->time_ns, e->time_ns - e->low_ns);
    e->was_held = true;
    if (doubt_ns <= e->time_ns / NARROW_PART)
        e->doubt_ns = doubt_ns;
    else
        ct_estimate_settle(e, &ct_row(m->op.row)->prior);
}

enum ct_loss ct_end_poll_duration(struct ct_measured *m, const struct ct_pending *p,
                                  uint64_t seen_ticks, struct ct_estimate *e)
{
    struct ct_context *c = ct_context(m->op.context);
    const struct ct_calibration *f = ct_device(m->device)->calibration;
    uint64_t before_ns = m->times.shared_start ? 0 : ct_record_ns(f);
    uint64_t outside_ns = before_ns + front_ns(f, m->times.work);
    uint64_t low_ns = place(&c->clock, p->asked_ticks, 0);
    uint64_t high_ns = place(&c->clock, seen_ticks, UINT64_MAX);
    uint64_t next_ns = next_start_ns(c, p);
    if (high_ns == UINT64_MAX && next_ns == UINT64_MAX)
        return CT_LOSS_NO_START;
    high_ns = ct_min(high_ns, place(&c->clock, over_ticks(p), UINT64_MAX));
    low_ns = ct_max(low_ns, m->start_ns + before_ns);
    high_ns = ct_max(ct_min(high_ns, next_ns), low_ns);
    m->stop_ns = high_ns == next_ns ? next_ns : low_ns + (high_ns - low_ns) / 2;
    *e = (struct ct_estimate){.time_ns = less(m->stop_ns, m->start_ns + outside_ns),
                              .low_ns = less(low_ns, m->start_ns + outside_ns),
                              .high_ns = less(high_ns, m->start_ns + outside_ns)};
    settle(e, m);
    m->stop_ns = ct_max(low_ns, ct_min(high_ns, m->start_ns + outside_ns + e->time_ns));
    m->times.raw_ns = m->stop_ns - m->start_ns;
    return CT_LOSS_COUNT;
}
