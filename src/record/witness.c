/* SPDX-License-Identifier: MIT */
#include "record/witness.h"

#include <errno.h>

#include "base/clock.h"
#include "base/config.h"
#include "cutrace/format.h"
#include "record/bracket.h"
#include "record/capture.h"
#include "record/context.h"
#include "record/estimate.h"
#include "record/note.h"
#include "record/row.h"
#include "record/sample.h"
#include "record/settle.h"
#include "record/stream.h"
#include "record/thread.h"

/* What it is for: so many kernels, so short, that the GPU waited for. */
#define WANTED_KERNELS 300
#define SHORT_NS 20000
#define LATE_LEAD_NS 1800

/*
 * CUPTI's duration of the kernel less what the kernel sees of itself, and less what it needs less
 * of the front end than a kernel that writes memory.
 */
#define OUTSIDE_NS 500

#define SPIN_NS 2000 /* it ends when the GPU has been told of the stop record */
#define GROUP 3
#define WAIT_NS 1000000  /* a group's kernel that is not through by then is the last one */
#define GROUP_NS 60000u  /* what a group takes the program */
#define LEARN_GROUPS 100 /* one each millisecond, and then */
#define LEARN_EVERY_NS 1000000
#define EVERY_NS 100000000
#define LOOK_EVERY_NS 1000000
#define BUDGET_PART 8 /* of a budget */
#define MOST_FAILURES 3
#define MOST_STREAMS 64 /* that are looked at */

#define FEWEST 24 /* to go by */
#define MOST 512  /* that are remembered: older ones count half */
#define WIDEST_NS 3000

static const char failed[] =
    "No kernel of known duration could be launched any more: times of kernels that find "
    "the GPU idle may be off by a tenth of a microsecond or two";

static _Atomic uint64_t due_ticks; /* UINT64_MAX: a thread is at it */

/* ---- in the program's thread ---- */

/* What another thread may destroy now is not touched: the call that waited was not for it. */
static struct ct_stream *waited_for(struct ct_thread *t, CUstream stream)
{
    if (stream)
        return ct_stream_known(t, stream);
    const struct ct_stream *s = t->last_stream;
    return s && s->special != CT_STREAM_CREATED ? ct_stream_known(t, s->handle) : NULL;
}

/* All that the context has was waited for, or what its other streams had is over. */
static bool is_alone(const struct ct_stream *s, bool waited_for_all)
{
    uint32_t others = waited_for_all ? 0 : ct_streams_count();
    for (uint32_t i = 0; i < ct_min(others, MOST_STREAMS); i++) {
        const struct ct_stream *other = ct_stream(i);
        if (other != s && other->context == s->context && !ct_stream_is_over(other))
            return false;
    }
    return others <= MOST_STREAMS && !ct_stream_has_open(s);
}

static bool await(const struct ct_stream *s)
{
    uint64_t end = ct_ticks() + ct_ns_to_ticks(WAIT_NS);
    while (!ct_stream_is_idle(s))
        if (ct_ticks() > end)
            return false;
    return true;
}

static bool load(struct ct_witness *w, const struct ct_context *c)
{
    CUstreamCaptureMode mode;
    if (!ct_selftimed_is_possible() || !ct_relaxed_enter(&mode))
        return false;
    bool ok = ct_selftimed_load(&w->kernels, c);
    ct_relaxed_leave(mode);
    if (ok)
        atomic_store_explicit(&w->state, CT_WITNESS_LOADED, memory_order_relaxed);
    return ok;
}

/* The clock may become another one: what was long ago counts less. */
static void take_stamps(struct ct_witness *w)
{
    for (uint32_t i = 0; i < w->unread; i++)
        w->inside_ns += w->kernels.words[2 + 2 * i] - w->kernels.words[1 + 2 * i];
    w->inside_count += w->unread;
    w->unread = 0;
    if (w->inside_count)
        atomic_store_explicit(&w->inside_mean_ps, w->inside_ns * 1000 / w->inside_count,
                              memory_order_relaxed);
    if (w->inside_count >= MOST) {
        w->inside_ns /= 2;
        w->inside_count /= 2;
    }
}

/* The first launch after the program has waited takes longer: it is the one that reads stamps. */
static bool read_stamps(struct ct_witness *w, struct ct_stream *s)
{
    ct_stream_break(s);
    if (ct_selftimed_launch_read(&w->kernels, s->handle, GROUP) != CUDA_SUCCESS || !await(s))
        return false;
    take_stamps(w);
    return true;
}

/* With its bracket open. */
static bool launch(struct ct_witness *w, struct ct_stream *s, struct ct_bracket *b,
                   const struct ct_work *work)
{
    uint64_t call_ticks = ct_ticks();
    CUresult r = ct_selftimed_launch(&w->kernels, s->handle, SPIN_NS, w->unread);
    ct_bracket_close(b, work, r, call_ticks, ct_ticks());
    if (b->state != CT_BRACKET_OPEN)
        ct_stream_break(s);
    w->unread += r == CUDA_SUCCESS;
    return r == CUDA_SUCCESS && await(s);
}

/* One that can have no bracket now ends the group before its time. */
static bool launch_group(struct ct_witness *w, struct ct_thread *t, struct ct_stream *s)
{
    const struct ct_work work = {.kind = CT_WORK_WITNESS, .stream = s->handle};
    struct ct_bracket b;
    bool ok = read_stamps(w, s);
    while (ok && w->unread < GROUP && ct_bracket_open(&b, &work, t) && b.state == CT_BRACKET_OPEN)
        ok = launch(w, s, &b, &work);
    w->groups++;
    return ok;
}

/* Another process may have had the GPU for a while, and it is not to be tried for ever. */
static void fail(struct ct_witness *w)
{
    bool is_loaded = atomic_load_explicit(&w->state, memory_order_relaxed) == CT_WITNESS_LOADED;
    w->unread = 0; /* they may still be on their way */
    if (is_loaded && ++w->failures < MOST_FAILURES)
        return;
    ct_note(CT_NOTE_WARNING, failed);
    atomic_store_explicit(&w->state, CT_WITNESS_FAILED, memory_order_relaxed);
}

static uint64_t pause_ns(const struct ct_witness *w)
{
    uint64_t ns = w->groups < LEARN_GROUPS ? LEARN_EVERY_NS : EVERY_NS;
    uint64_t budget_ppm = ct_sample_policy()->budget_ppm;
    return budget_ppm ? ct_max(ns, GROUP_NS * BUDGET_PART * (uint64_t)1000000 / budget_ppm) : ns;
}

/* Until the next group is due, or whether one can be is to be looked at again. */
static uint64_t call(struct ct_thread *t, CUstream stream)
{
    struct ct_stream *s = waited_for(t, stream);
    if (!s || ct_captures_are_open() || t->nccl_depth || !ct_recording())
        return LOOK_EVERY_NS;
    struct ct_context *c = ct_context(s->context);
    struct ct_witness *w = &c->witness;
    uint32_t state = atomic_load_explicit(&w->state, memory_order_relaxed);
    bool may = state == CT_WITNESS_WANTED || state == CT_WITNESS_LOADED;
    bool is_current = may && ct_context_is_alive(c) && c->handle == ct_context_current_handle();
    if (!is_current || !is_alone(s, !stream))
        return LOOK_EVERY_NS;
    if ((state == CT_WITNESS_WANTED && !load(w, c)) || !launch_group(w, t, s))
        fail(w);
    return pause_ns(w);
}

void ct_witness_forget(void)
{
    atomic_store_explicit(&due_ticks, 0, memory_order_relaxed);
}

void ct_witness_waited(struct ct_thread *t, CUstream stream)
{
    uint64_t due = atomic_load_explicit(&due_ticks, memory_order_relaxed);
    if (ct_likely(ct_ticks() < due) ||
        !atomic_compare_exchange_strong(&due_ticks, &due, UINT64_MAX))
        return;
    int saved_errno = errno;
    uint64_t ns = call(t, stream);
    atomic_store(&due_ticks, ct_ticks() + ct_ns_to_ticks(ns));
    errno = saved_errno;
}

/* ---- in the drain thread ---- */

static bool is_late(const struct ct_measured *m, const struct ct_estimate *e)
{
    return e->is_clean && m->times.work == CT_CLASS_KERNEL && m->times.lead_ns != CT_LEAD_UNKNOWN &&
           m->times.lead_ns > LATE_LEAD_NS;
}

void ct_witness_see(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e)
{
    if (w->late_kernels >= WANTED_KERNELS || ct_config.calibrate == CT_CALIBRATE_OFF ||
        e->time_ns > SHORT_NS || !is_late(m, e) ||
        !ct_tells_host(ct_device(m->device)->calibration))
        return;
    if (++w->late_kernels == WANTED_KERNELS)
        atomic_store_explicit(&w->state, CT_WITNESS_WANTED, memory_order_relaxed);
}

void ct_witness_add(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e)
{
    if (!is_late(m, e))
        return;
    w->total_ns += e->time_ns;
    if (++w->count == MOST) {
        w->total_ns /= 2;
        w->count /= 2;
    }
}

int64_t ct_witness_too_long_ns(const struct ct_witness *w, int64_t time_ns)
{
    uint64_t inside_ps = atomic_load_explicit(&w->inside_mean_ps, memory_order_relaxed);
    return inside_ps ? time_ns - (int64_t)(inside_ps / 1000) - OUTSIDE_NS : 0;
}

int64_t ct_witness_excess_ns(const struct ct_witness *w)
{
    if (w->count < FEWEST)
        return 0;
    int64_t ns = ct_witness_too_long_ns(w, (int64_t)(w->total_ns / w->count));
    return -WIDEST_NS < ns && ns < WIDEST_NS ? ns : 0;
}
