/* SPDX-License-Identifier: MIT */
#include "drain/anchor.h"
#include "drain/stamps.h"

/*
 * A bracket without a start record begins where one that was made just before the call would have
 * been stamped on an idle stream; behind the bracket before in any case.
 */
static enum ct_loss work_out_start(const struct ct_stream *s, const struct ct_op *op,
                                   bool has_reference, struct ct_measured *m)
{
    struct ct_context *c = ct_context(op->context);
    if (!ct_anchor_read(c, op->stop_event, &m->stop_ns))
        return CT_LOSS_EVENT_ERROR;
    bool is_tied = ct_gpu_clock_at(&c->clock, op->call_ticks, &m->start_ns);
    if (!is_tied && !has_reference)
        return CT_LOSS_NO_START;
    if (has_reference && (!is_tied || m->start_ns < s->last_stop_ns))
        m->start_ns = s->last_stop_ns;
    m->start_ns = ct_min(m->start_ns, m->stop_ns);
    m->times.raw_ns = m->stop_ns - m->start_ns;
    return CT_LOSS_COUNT;
}

static enum ct_loss read_raw(const struct ct_context *c, uint32_t start, uint32_t stop,
                             struct ct_measured *m)
{
    int64_t raw_ns;
    if (!ct_elapsed_ns(c, start, stop, &raw_ns))
        return CT_LOSS_EVENT_ERROR;
    m->times.raw_ns = raw_ns > 0 ? (uint64_t)raw_ns : 0;
    m->stop_ns = m->start_ns + m->times.raw_ns;
    return CT_LOSS_COUNT;
}

/*
 * The bracket before on the stream, by number, is another thread's that came into this one. The
 * operation began behind the last bracket that nobody came into, and after its own call.
 */
static enum ct_loss read_stop(const struct ct_stream *s, const struct ct_op *op,
                              struct ct_measured *m)
{
    struct ct_context *c = ct_context(op->context);
    uint64_t call_ns = 0;
    if (!ct_anchor_read(c, op->stop_event, &m->stop_ns))
        return CT_LOSS_EVENT_ERROR;
    if (!s->alone_stop_ns || s->alone_context != op->context)
        return CT_LOSS_NO_START;
    m->start_ns = s->alone_stop_ns;
    if (op->flags & CT_OP_TOLD_START && ct_gpu_clock_at(&c->clock, op->call_ticks, &call_ns))
        m->start_ns = ct_max(m->start_ns, call_ns);
    m->start_ns = ct_min(m->start_ns, m->stop_ns);
    m->times.raw_ns = m->stop_ns - m->start_ns;
    return CT_LOSS_COUNT;
}

enum ct_loss ct_stamps_read(const struct ct_stream *s, const struct ct_op *op,
                            struct ct_measured *m)
{
    struct ct_context *c = ct_context(op->context);
    enum ct_loss loss = CT_LOSS_EVENT_ERROR;
    bool has_reference = s->last_stop_sequence && s->last_stop_context == op->context;
    bool follows = has_reference && s->last_stop_sequence + 1 == op->sequence;
    if (op->flags & CT_OP_OVERLAPPED && !ct_op_has_start_record(op)) {
        loss = read_stop(s, op, m);
    } else if (op->flags & CT_OP_TOLD_START) {
        loss = work_out_start(s, op, follows, m);
    } else if (op->flags & CT_OP_SHARED_START) {
        m->start_ns = s->last_stop_ns;
        loss = follows ? read_raw(c, s->last_stop, op->stop_event, m) : CT_LOSS_NO_START;
    } else if (ct_anchor_read(c, op->start_event, &m->start_ns)) {
        loss = read_raw(c, op->start_event, op->stop_event, m);
    }
    m->times.gap_ns = !has_reference                    ? CT_GAP_UNKNOWN
                      : m->start_ns > s->latest_stop_ns ? m->start_ns - s->latest_stop_ns
                                                        : 0;
    return loss;
}
