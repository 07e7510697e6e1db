/* SPDX-License-Identifier: MIT */
/* The functions of cutrace/cutrace.h, as they are exported. */
#include <errno.h>

#include "base/base.h"
#include "base/text.h"
#include "counts/range.h"
#include "counts/row.h"
#include "cutrace/cutrace.h"
#include "drain/drain.h"
#include "drain/row_sums.h"
#include "launch/bracket.h"
#include "preload/init.h"
#include "preload/wrap.h"
#include "service/profile.h"
#include "state/context.h"

/* A program's first call may be one of these, before any of CUDA's, or beside it. */
static bool is_on(void)
{
    return ct_is_on() || ct_arm();
}

static int set_recording(bool on)
{
    if (!is_on())
        return ECANCELED;
    ct_drain_record(on);
    return 0;
}

CT_EXPORT int cutrace_v1_pause(void)
{
    return set_recording(false);
}

CT_EXPORT int cutrace_v1_resume(void)
{
    return set_recording(true);
}

CT_EXPORT int cutrace_v1_is_recording(void)
{
    return is_on() && ct_recording();
}

CT_EXPORT int cutrace_v1_flush(unsigned timeout_ms)
{
    if (!is_on())
        return ECANCELED;
    int saved_errno = errno;
    int error = ct_drain_flush((uint64_t)timeout_ms * 1000000u);
    errno = saved_errno;
    return error ? error : ct_profile_is_kept() ? 0 : EIO;
}

/* ---- ranges ---- */

/* A domain of its own: NVTX's answers about its own ranges stay as they are. */
#define DOMAIN "cutrace"

/* Returns the thread's state, and errno before it was made. NULL: nothing is recorded here. */
static struct ct_thread *enter(int *saved_errno)
{
    *saved_errno = errno;
    return is_on() ? ct_wrap_enter() : NULL;
}

CT_EXPORT int cutrace_v1_range_push(const char *name)
{
    int saved_errno;
    if (!name || !*name)
        return EINVAL;
    struct ct_thread *t = enter(&saved_errno);
    if (t)
        ct_range_push(t, &(struct ct_range_label){
                             .text = name,
                             .bytes = (uint32_t)ct_strnlen(name, CT_RANGE_NAME_BYTES - 1),
                             .domain = ct_range_domain(DOMAIN, sizeof(DOMAIN) - 1),
                         });
    errno = saved_errno;
    return t ? 0 : ECANCELED;
}

CT_EXPORT int cutrace_v1_range_pop(void)
{
    int saved_errno;
    struct ct_thread *t = enter(&saved_errno);
    int level = t ? ct_range_pop(t, ct_range_domain(DOMAIN, sizeof(DOMAIN) - 1)) : 0;
    errno = saved_errno;
    return !t ? ECANCELED : level < 0 ? ENOENT : 0;
}

/* ---- statistics ---- */

struct question {
    const char *name; /* NULL: the row at the cursor, or the next kernel's, is meant */
    uint32_t *cursor;
    struct cutrace_kernel answer;
    uint64_t doubt_ns;
    double estimated; /* calls that estimated_ns holds */
    double estimated_ns;
};

/* Launches that ran on the GPU; captured ones run in graphs, if at all. */
static uint64_t calls_of(struct ct_row *r)
{
    uint64_t calls = r->timed;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++)
        if (i != CT_LOSS_CAPTURED && i != CT_LOSS_EXCLUDED)
            calls += atomic_load_explicit(&r->lost[i], memory_order_relaxed);
    return calls;
}

static void add(struct question *q, struct ct_row *r)
{
    struct cutrace_kernel *k = &q->answer;
    k->device = r->device < ct_devices_count() ? (int32_t)ct_device(r->device)->handle : 0;
    k->name = r->name;
    k->calls += calls_of(r);
    if (!r->timed)
        return;
    k->min_ns = k->timed ? ct_min(k->min_ns, r->time.min_ns) : r->time.min_ns;
    k->max_ns = ct_max(k->max_ns, r->time.max_ns);
    k->timed += r->timed;
    k->total_ns += r->time.total_ns;
    k->upper_bounds += r->marked;
    q->doubt_ns += r->doubt_ns;
    q->estimated += (double)r->timed + r->projection.operations;
    q->estimated_ns += (double)r->time.total_ns + r->projection.total_ns;
}

/* A row may be there before its first launch is counted, or for captured launches alone. */
static bool is_asked_for(const struct question *q, struct ct_row *r)
{
    return r->kind == CT_ROW_KERNEL && (!q->name || ct_streq(r->name, q->name)) && calls_of(r);
}

static void answer(void *arg)
{
    struct question *q = arg;
    uint32_t i = q->cursor ? *q->cursor : 0;
    ct_rows_project();
    for (; i < ct_rows_count() && !(q->cursor && q->answer.name); i++)
        if (is_asked_for(q, ct_row(i)))
            add(q, ct_row(i));
    if (q->cursor)
        *q->cursor = i;
    else if (q->answer.name)
        q->answer.device = -1;
}

/* Programs that were built with an older or newer header have a structure of another size. */
static int ask(struct question *q, struct cutrace_kernel *k, size_t size)
{
    if (!is_on())
        return ECANCELED;
    int saved_errno = errno;
    bool looked = ct_drain_look(answer, q);
    errno = saved_errno;
    if (!looked)
        return ETIMEDOUT;
    if (!q->answer.name)
        return ENOENT;
    if (q->answer.timed) {
        q->answer.uncertainty_ns = q->doubt_ns / q->answer.timed;
        q->answer.estimated_ns =
            (uint64_t)(q->estimated_ns / q->estimated * (double)q->answer.calls);
    }
    __builtin_memset(k, 0, size);
    __builtin_memcpy(k, &q->answer, ct_min(size, sizeof(q->answer)));
    return 0;
}

CT_EXPORT int cutrace_v1_kernel(const char *name, struct cutrace_kernel *k, size_t size)
{
    struct question q = {.name = name};
    return name && k ? ask(&q, k, size) : EINVAL;
}

CT_EXPORT int cutrace_v1_next_kernel(uint32_t *cursor, struct cutrace_kernel *k, size_t size)
{
    struct question q = {.cursor = cursor};
    return cursor && k ? ask(&q, k, size) : EINVAL;
}
