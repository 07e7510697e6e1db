/* SPDX-License-Identifier: MIT */
#include "drain/witness_error.h"

#include "base/config.h"
#include "base/sort.h"
#include "cutrace/format.h"
#include "state/context.h"
#include "time/estimate.h"
#include "time/measured.h"

/* Witnesses are wanted after so many kernels, so short, that the GPU waited for. */
#define WANTED_KERNELS 300
#define SHORT_NS 20000

#define FEWEST 12  /* witnesses to go by */
#define STEP 4     /* the excess is worked out anew after so many more */
#define TRIMMED 10 /* one in so many is left out at either end: a host that was interrupted */
#define WIDEST_NS 3000

static bool is_late(const struct ct_measured *m, const struct ct_estimate *e)
{
    return e->is_clean && ct_gpu_waited(&m->times);
}

void ct_witness_see(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e)
{
    if (w->late_kernels >= WANTED_KERNELS || ct_config.calibrate == CT_CALIBRATE_OFF ||
        e->time_ns > SHORT_NS || !is_late(m, e) ||
        !ct_tells_host(ct_device(m->device)->calibration))
        return;
    w->late_kernels += (uint32_t)ct_min(ct_op_stands_for(&m->op), WANTED_KERNELS);
    if (w->late_kernels >= WANTED_KERNELS)
        atomic_store_explicit(&w->state, CT_WITNESS_WANTED, memory_order_relaxed);
}

/* The latest by device, as contexts come and go. */
static CT_PROCESS struct ct_witnesses of_device[CT_DEVICES];

static int32_t sorted[CT_WITNESS_REMEMBERED];

static bool is_later(unsigned a, unsigned b)
{
    return sorted[a] > sorted[b];
}

static void swap(unsigned a, unsigned b)
{
    int32_t was = sorted[a];
    sorted[a] = sorted[b];
    sorted[b] = was;
}

static int64_t trimmed_mean(const int32_t *x, unsigned n)
{
    int64_t sum = 0;
    unsigned least = n / TRIMMED;
    __builtin_memcpy(sorted, x, n * sizeof(*x));
    ct_sort(n, is_later, swap);
    for (unsigned i = least; i < n - least; i++)
        sum += sorted[i];
    return sum / (int64_t)(n - 2 * least);
}

static void tell(struct ct_witness *w, int64_t error_ns)
{
    error_ns = error_ns > INT32_MAX ? INT32_MAX : error_ns < INT32_MIN ? INT32_MIN : error_ns;
    w->error_ns[w->told++ % CT_WITNESS_REMEMBERED] = (int32_t)error_ns;
    uint32_t n = (uint32_t)ct_min(w->told, CT_WITNESS_REMEMBERED);
    if (n < FEWEST || w->told % STEP)
        return;
    int64_t ns = trimmed_mean(w->error_ns, n);
    w->excess_ns = -WIDEST_NS < ns && ns < WIDEST_NS ? ns : 0;
}

/* The witnesses whose own stamps have been read by now. */
static void tell_what_is_known(struct ct_witness *w)
{
    for (unsigned i = 0; i < CT_WITNESS_WAITING; i++) {
        uint32_t number = w->bracketed[i].number;
        uint64_t inside = atomic_load_explicit(&w->inside[i], memory_order_relaxed);
        if (!number || inside >> 32 != number)
            continue;
        tell(w, (int64_t)w->bracketed[i].time_ns - (uint32_t)inside - w->by->outside_ns);
        w->bracketed[i].number = 0;
    }
}

int64_t ct_witness_excess_ns(const struct ct_witness *w, uint64_t host_record_ns)
{
    if (w->told < FEWEST)
        return 0;
    int64_t usual_ns = w->by->host_record_ns;
    return w->excess_ns + (usual_ns ? ((int64_t)host_record_ns - usual_ns) / CT_HOST_PART : 0);
}

/* Errors from other figures are forgotten: these are wrong by something else. */
static void hold_against(struct ct_witness *w, const struct ct_calibration *figures)
{
    if (w->by == figures)
        return;
    w->by = figures;
    w->told = 0;
    w->excess_ns = 0;
}

/*
 * The first witness of a group is left out: it stands behind a launch without a bracket, and its
 * start is known in another way.
 */
void ct_witness_add(struct ct_witness *w, const struct ct_measured *m, const struct ct_estimate *e)
{
    uint32_t number = (uint32_t)m->op.bytes;
    uint64_t host_record_ns = ct_context(m->op.context)->clock.host_record_ns;
    hold_against(w, ct_device(m->device)->calibration);
    tell_what_is_known(w);
    if (w->told >= FEWEST)
        of_device[m->device] =
            (struct ct_witnesses){w->told, (int32_t)ct_witness_excess_ns(w, host_record_ns)};
    if (!is_late(m, e) || m->op.flags & CT_OP_AFTER_BREAK)
        return;
    w->bracketed[number % CT_WITNESS_WAITING].number = number;
    w->bracketed[number % CT_WITNESS_WAITING].time_ns = (uint32_t)ct_min(e->time_ns, UINT32_MAX);
}

uint32_t ct_witness_inside_ns(const struct ct_witness *w)
{
    return atomic_load_explicit(&w->inside_ns, memory_order_relaxed);
}

struct ct_witnesses ct_witnesses_of(uint32_t device)
{
    return of_device[device];
}
