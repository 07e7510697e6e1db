/* SPDX-License-Identifier: MIT */
#include "launch/witness.h"

#include <errno.h>

#include "counts/sample.h"
#include "launch/bracket.h"
#include "launch/depth.h"
#include "state/capture.h"
#include "state/context.h"
#include "state/note.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/cancel.h"
#include "system/clock.h"
#include "system/spin.h"

#define SPIN_NS 2000 /* the kernel ends when the GPU has been told of the stop record */
#define GROUP 4
#define WAIT_NS 1000000
#define GROUP_NS 75000u      /* the program's time for a group */
#define SHORTEST_NS 1000000u /* from a group to the next, at least */
#define PART 32              /* and one part in so many of the time since loading */
#define LONGEST_NS 100000000u
#define DISTURBED_NS 1000000000u
#define BUDGET_PART 8    /* groups get one part in so many of a budget */
#define SETTLED 64       /* operations that a stream has had: in a new one all take longer */
#define MOST_STREAMS 256 /* streams that are looked at */

/* A group that hangs in the driver is waited for so long: the program must not hang as well. */
#define END_NS_MOST 100000000

static const char failed[] = "No kernel of known duration could be launched: times of kernels that "
                             "find the GPU idle may be off by a tenth of a microsecond or two";

static struct ct_witness witnesses[CT_CONTEXTS];
static CT_PROCESS _Atomic uint64_t
    due_ticks; /* of the next group; UINT64_MAX: a thread launches one */

struct ct_witness *ct_witness_of(const struct ct_context *c)
{
    return &witnesses[ct_context_index(c)];
}

void ct_witness_begin(struct ct_context *c)
{
    *ct_witness_of(c) = (struct ct_witness){0};
}

enum outcome { DONE, DISTURBED, REFUSED };

/* Whether no other thread has ever made a call. */
static bool is_only_thread(const struct ct_thread *t)
{
    return ct_threads_first() == t && !t->next;
}

/*
 * A stream that another thread may destroy now is not touched, as the program's wait was not for
 * it. A new thread whose first call destroys it waits for us: ct_witness_end_group().
 */
static bool is_safe(const struct ct_thread *t, const struct ct_stream *s)
{
    return s->special != CT_STREAM_CREATED || is_only_thread(t);
}

static struct ct_stream *waited_for(struct ct_thread *t, CUstream stream)
{
    if (stream)
        return ct_stream_known(t, stream);
    const struct ct_stream *s = t->last_stream;
    return s && is_safe(t, s) ? ct_stream_known(t, s->handle) : NULL;
}

/*
 * A launch into the legacy default stream makes blocking streams wait for each other: one of them
 * may hold work that another is to release. Even an unused one counts, as another thread may be
 * about to use it.
 */
static bool is_barrier(const struct ct_thread *t, const struct ct_stream *s,
                       const struct ct_stream *other)
{
    return s->special == CT_STREAM_LEGACY && !ct_stream_is_non_blocking(other) &&
           !atomic_load_explicit(&other->gone, memory_order_relaxed) &&
           (ct_stream_was_used(other) || !is_only_thread(t));
}

/* Whether the program waited for the whole context, or the work of its other streams is over. */
static bool is_alone(const struct ct_thread *t, const struct ct_stream *s, bool waited_for_all)
{
    uint32_t count = ct_streams_count();
    for (uint32_t i = 0; i < ct_min(count, MOST_STREAMS); i++) {
        const struct ct_stream *other = ct_stream(i);
        if (other == s || other->context != s->context)
            continue;
        if (is_barrier(t, s, other) || (!waited_for_all && !ct_stream_is_over(other)))
            return false;
    }
    return count <= MOST_STREAMS && !ct_stream_has_open(s);
}

/* Not behind operations that went by unseen: loading might wait for them, and they for us. */
static bool is_fit(const struct ct_thread *t, const struct ct_stream *s, bool waited_for_all,
                   CUcontext context)
{
    const struct ct_context *c = ct_context(s->context);
    return (!context || context == c->handle) && ct_recording() && !ct_recording_off_operations() &&
           !ct_captures_are_open() && !t->nccl_depth &&
           atomic_load_explicit(&c->state, memory_order_relaxed) == CT_CONTEXT_LIVE &&
           c->handle == ct_context_current_handle() &&
           atomic_load_explicit(&s->settled, memory_order_relaxed) >= SETTLED &&
           is_alone(t, s, waited_for_all);
}

/*
 * A GPU that serves another process for a while takes longer than that. The kernel left behind ends
 * while the program queues, and is no sign that the program's own work moves: it is a gate.
 */
static bool await(struct ct_stream *s)
{
    uint64_t end = ct_ticks() + ct_ns_to_ticks(WAIT_NS);
    while (!ct_stream_is_idle(s))
        if (ct_ticks() > end) {
            ct_depth_gate(s);
            return false;
        }
    return true;
}

static enum outcome load(struct ct_witness *w, const struct ct_context *c)
{
    CUstreamCaptureMode mode;
    if (!ct_selftimed_is_possible() || !ct_relaxed_enter(&mode))
        return REFUSED;
    bool ok = ct_selftimed_load(&w->kernels, c);
    ct_relaxed_leave(mode);
    w->since_ticks = ct_ticks();
    if (ok)
        atomic_store_explicit(&w->state, CT_WITNESS_LOADED, memory_order_relaxed);
    return ok ? DONE : REFUSED;
}

static void take_stamps(struct ct_witness *w)
{
    for (uint32_t i = 0; i < w->unread; i++) {
        uint64_t number = w->launched - w->unread + 1 + i;
        uint64_t ns = w->kernels.words[2 + 2 * i] - w->kernels.words[1 + 2 * i];
        ns = ct_min(ns, UINT32_MAX);
        atomic_store_explicit(&w->inside[number % CT_WITNESS_WAITING], number << 32 | ns,
                              memory_order_relaxed);
        atomic_store_explicit(&w->inside_ns, (uint32_t)ns, memory_order_relaxed);
    }
    w->unread = 0;
}

/* Stamps of the group before, by a launch that takes longer: it is the first behind a wait. */
static enum outcome read_stamps(struct ct_witness *w, struct ct_stream *s)
{
    if (!ct_capture_ask_enter(s->handle))
        return DISTURBED;
    ct_stream_break(s);
    CUresult r = ct_selftimed_launch_read(&w->kernels, s->handle, GROUP);
    ct_capture_ask_leave();
    if (r != CUDA_SUCCESS)
        return REFUSED;
    if (!await(s))
        return DISTURBED;
    take_stamps(w);
    return DONE;
}

static enum outcome launch(struct ct_witness *w, struct ct_thread *t, struct ct_stream *s)
{
    struct ct_bracket b;
    const struct ct_work work = {
        .kind = CT_WORK_WITNESS, .stream = s->handle, .bytes = w->launched + 1};
    if (!ct_bracket_open(&b, &work, t) || b.state != CT_BRACKET_OPEN)
        return DISTURBED;
    uint64_t call_ticks = ct_ticks();
    CUresult r = ct_selftimed_launch(&w->kernels, s->handle, SPIN_NS, w->unread);
    ct_bracket_close(&b, &work, r, call_ticks, ct_ticks());
    if (b.state != CT_BRACKET_OPEN)
        ct_stream_break(s);
    if (r != CUDA_SUCCESS)
        return REFUSED;
    w->launched++;
    w->unread++;
    return DONE;
}

static enum outcome launch_and_wait(struct ct_witness *w, struct ct_thread *t, struct ct_stream *s)
{
    if (!ct_capture_ask_enter(s->handle))
        return DISTURBED;
    enum outcome o = launch(w, t, s);
    ct_capture_ask_leave();
    return o == DONE && !await(s) ? DISTURBED : o;
}

static enum outcome launch_group(struct ct_witness *w, struct ct_thread *t, struct ct_stream *s)
{
    enum outcome o = read_stamps(w, s);
    while (o == DONE && w->unread < GROUP)
        o = launch_and_wait(w, t, s);
    if (o != DONE)
        w->unread = 0; /* the stamps may still be on their way */
    return o;
}

/*
 * The error that witnesses show changes within tens of milliseconds: groups are to be where the
 * program's kernels are, in a program of a second as in one of an hour. In the first second, which
 * a budget leaves out, they come as often as without one.
 */
static uint64_t pause_ns(const struct ct_witness *w)
{
    uint64_t ns = ct_ticks_to_ns(ct_ticks_between(w->since_ticks, ct_ticks())) / PART;
    ns = ct_max(SHORTEST_NS, ct_min(ns, LONGEST_NS));
    uint64_t budget_ppm = ct_sample_policy()->budget_ppm;
    if (!budget_ppm || atomic_load_explicit(&ct_purse.early, memory_order_relaxed))
        return ns;
    return ct_max(ns, GROUP_NS * BUDGET_PART * (uint64_t)1000000 / budget_ppm);
}

/* Loads or launches: loading takes a while, so a group waits for the next look at other threads. */
static uint64_t go_on(struct ct_witness *w, struct ct_thread *t, struct ct_stream *s)
{
    bool is_loaded = atomic_load_explicit(&w->state, memory_order_relaxed) == CT_WITNESS_LOADED;
    enum outcome o = is_loaded ? launch_group(w, t, s) : load(w, ct_context(s->context));
    if (o == REFUSED) {
        ct_note(CT_NOTE_WARNING, failed);
        atomic_store_explicit(&w->state, CT_WITNESS_FAILED, memory_order_relaxed);
    }
    return o == DISTURBED ? DISTURBED_NS : pause_ns(w);
}

/* Nanoseconds until the next group is due, or until the next look whether one may be launched. */
static uint64_t call(struct ct_thread *t, CUstream stream, CUcontext context)
{
    struct ct_stream *s = waited_for(t, stream);
    if (!s)
        return SHORTEST_NS;
    struct ct_witness *w = ct_witness_of(ct_context(s->context));
    uint32_t state = atomic_load_explicit(&w->state, memory_order_relaxed);
    bool may = state == CT_WITNESS_WANTED || state == CT_WITNESS_LOADED;
    return may && is_fit(t, s, !stream, context) ? go_on(w, t, s) : SHORTEST_NS;
}

void ct_witness_waited(struct ct_thread *t, CUstream stream, CUcontext context)
{
    uint64_t begin = ct_ticks(), due = atomic_load_explicit(&due_ticks, memory_order_relaxed);
    if (ct_likely(begin < due) || !atomic_compare_exchange_strong(&due_ticks, &due, UINT64_MAX))
        return;
    int saved_errno = errno, cancel = ct_cancel_disable();
    atomic_thread_fence(memory_order_seq_cst); /* before the look at which threads there are */
    uint64_t ns = call(t, stream, context), end = ct_ticks();
    if (t->runtime_depth) {
        t->ours_ticks = end - begin;
        t->ours_end = end;
    }
    atomic_store(&due_ticks, end + ct_ns_to_ticks(ns));
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

void ct_witness_end_group(void)
{
    atomic_thread_fence(memory_order_seq_cst); /* behind this thread's entry in the list */
    if (ct_likely(atomic_load(&due_ticks) != UINT64_MAX))
        return;
    uint64_t since = ct_ticks();
    for (unsigned tries = 1;
         atomic_load(&due_ticks) == UINT64_MAX && ct_ticks_to_ns(ct_ticks() - since) < END_NS_MOST;
         tries++)
        ct_spin_pause(tries);
}
