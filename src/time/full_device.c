/* SPDX-License-Identifier: MIT */
#include "time/full_device.h"

#include "base/sort.h"
#include "system/mem.h"

#define REMEMBERED 64
#define REMEMBERED_EACH 16 /* of a context */

/* Kernels in flight that fill the device, of which more than a few cannot have any place. */
#define FILLING 32

struct filler {
    uint64_t start_ns;
    uint64_t stop_ns;
    uint32_t stream;
    uint32_t context;
    int32_t priority;
    bool comes_again; /* with the next round */
};

/* Those that are remembered come first. */
static CT_PROCESS struct filler *fillers;
static CT_PROCESS unsigned filler_count;
static CT_PROCESS struct {
    uint32_t stream;
    uint32_t context;
} latest; /* that was settled */

bool ct_full_device_init(void)
{
    fillers = ct_map(sizeof(*fillers) * (CT_FULL_DEVICE_ROOM + REMEMBERED));
    return fillers;
}

/* Most rounds are of one stream: then there is nothing to look at, and no memory to touch. */
static bool is_one_stream(const struct ct_measured *measured, unsigned count)
{
    uint32_t stream = measured->op.stream, context = measured->op.context;
    for (unsigned i = 1; i < count; i++)
        if (measured[i].op.stream != stream || measured[i].op.context != context)
            return false;
    for (unsigned i = 0; i < filler_count; i++)
        if (fillers[i].stream != stream || fillers[i].context != context)
            return false;
    return stream == latest.stream && context == latest.context;
}

bool ct_full_device_is_open(const struct ct_measured *measured, unsigned count)
{
    return count && !is_one_stream(measured, count);
}

/* ---- by context and start ---- */

static bool is_later(unsigned i, unsigned k)
{
    const struct filler *a = &fillers[i], *b = &fillers[k];
    return a->context != b->context ? a->context > b->context : a->start_ns > b->start_ns;
}

static void swap(unsigned a, unsigned b)
{
    struct filler was = fillers[a];
    fillers[a] = fillers[b];
    fillers[b] = was;
}

static void add(const struct ct_measured *m, bool comes_again)
{
    if (m->fills_device)
        fillers[filler_count++] = (struct filler){.start_ns = m->start_ns,
                                                  .stop_ns = m->stop_ns,
                                                  .stream = m->op.stream,
                                                  .context = m->op.context,
                                                  .priority = m->priority,
                                                  .comes_again = comes_again};
}

/* How many are of contexts before the bracket's, or of its own and no later than its start. */
static unsigned begun_by(const struct ct_measured *m)
{
    unsigned low = 0, high = filler_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const struct filler *f = &fillers[middle];
        if (f->context < m->op.context ||
            (f->context == m->op.context && f->start_ns <= m->start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A kernel that begins now has its blocks behind theirs, but for streams of less priority. */
static void find(struct ct_measured *m)
{
    unsigned end = begun_by(m), first = end > FILLING ? end - FILLING : 0;
    for (unsigned i = end; i-- > first && fillers[i].context == m->op.context;) {
        const struct filler *f = &fillers[i];
        if (f->stop_ns <= m->start_ns || f->stream == m->op.stream || f->priority > m->priority)
            continue;
        if (f->stop_ns < m->stop_ns)
            m->times.filled_ns = ct_max(m->times.filled_ns, f->stop_ns - m->start_ns);
        else
            m->times.filled_past = true;
    }
}

/* The latest of each context: a bracket of the next round may have begun beside them. */
static void remember(void)
{
    unsigned kept = 0, each = 0, begin = filler_count;
    uint32_t context = 0;
    while (begin && kept < REMEMBERED) {
        const struct filler *f = &fillers[--begin];
        each = f->context == context ? each : 0;
        context = f->context;
        if (!f->comes_again && each++ < REMEMBERED_EACH)
            swap(filler_count - ++kept, begin);
    }
    __builtin_memmove(fillers, fillers + filler_count - kept, kept * sizeof(*fillers));
    filler_count = kept;
}

void ct_full_device_find(struct ct_measured *measured, unsigned count, unsigned settled)
{
    if (!settled) /* then the remembered ones stay */
        return;
    bool is_one = is_one_stream(measured, count);
    for (unsigned i = 0; i < count; i++) {
        add(&measured[i], i >= settled);
        measured[i].times.filled_ns = 0;
        measured[i].times.filled_past = false;
    }
    latest.stream = measured[settled - 1].op.stream;
    latest.context = measured[settled - 1].op.context;
    if (!filler_count)
        return;
    ct_sort(filler_count, is_later, swap);
    for (unsigned i = 0; i < count && !is_one; i++)
        find(&measured[i]);
    remember();
}
