/* SPDX-License-Identifier: MIT */
#include "time/figures.h"

#include "base/text.h"

#define FEWEST 12
#define FEWEST_READY 4
#define MOST 128
#define HIGHEST_NS 20000        /* no figure can be above */
#define WIDEST_NS 2000          /* half of the range of the values, at most */
#define SUBMIT_LOWEST_NS (-500) /* a little below 0 is noise */

enum {
#define HOST(column, device) column,
#include "time/figures.def"
    HOSTS
};

/*
 * Names are whole, as the driver has them: another name that has one of these in it (a GH200, an
 * NVL, a MIG slice) is another device, on which nothing was measured.
 */
static const struct {
    const char *name;
    struct ct_calibration figures;
} known[HOSTS] = {
#define HOST(column, device)                                                                       \
    [column].name = (device), [column].figures.source = CT_CALIBRATION_TABLE,
#define FIGURE(member, unit, sim, sim_slow, h200, h200_slow, h100, h100_slow, ...)                 \
    [SIM].figures.member = (sim), [SIM_SLOW].figures.member = (sim_slow),                          \
    [H200].figures.member = (h200), [H200_SLOW].figures.member = (h200_slow),                      \
    [H100].figures.member = (h100), [H100_SLOW].figures.member = (h100_slow),
#define NODE_FIGURE(member, ...) FIGURE(node.member, __VA_ARGS__)
#include "time/figures.def"
};

static const struct ct_calibration none = {.source = CT_CALIBRATION_NONE};

/* The first of those that stand for a device; HOSTS: none does. */
static unsigned first_of(const char *device_name)
{
    unsigned i = 0;
    while (i < HOSTS && !ct_streq(device_name, known[i].name))
        i++;
    return i;
}

/* Hosts of one device follow each other, the slower ones behind. */
static bool is_same_device(unsigned a, unsigned b)
{
    return b < HOSTS && ct_streq(known[a].name, known[b].name);
}

const struct ct_calibration *ct_calibration_of(const char *device_name, uint32_t seen_ns)
{
    unsigned first = first_of(device_name), best = first;
    if (first == HOSTS)
        return &none;
    for (unsigned i = first + 1; is_same_device(first, i); i++)
        if (known[i].figures.record_ns <= seen_ns + seen_ns / 10)
            best = i;
    return &known[best].figures;
}

bool ct_calibration_varies(const char *device_name)
{
    unsigned first = first_of(device_name);
    return first < HOSTS && is_same_device(first, first + 1);
}

static void sort(int64_t *x, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        int64_t v = x[i];
        unsigned k = i;
        for (; k && x[k - 1] > v; k--)
            x[k] = x[k - 1];
        x[k] = v;
    }
}

/*
 * The mean of the half of sorted values that lies closest together. The program's work on the GPU
 * makes some brackets longer and none shorter; a median would follow them.
 */
static int64_t centre(const int64_t *x, unsigned n)
{
    unsigned half = (n + 1) / 2, best = 0;
    int64_t sum = 0;
    for (unsigned i = 1; i + half <= n; i++)
        if (x[i + half - 1] - x[i] < x[best + half - 1] - x[best])
            best = i;
    for (unsigned i = best; i < best + half; i++)
        sum += x[i];
    return sum / (int64_t)half;
}

/* Half of the distance between the 5 % and the 95 % quantile. */
static int64_t half_range(const int64_t *x, unsigned n)
{
    return (x[n - 1 - n / 20] - x[n / 20]) / 2;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t ct_figures_timer_step(const uint64_t *stamps, unsigned n)
{
    uint64_t step = 0;
    for (unsigned i = 1; i < n; i++)
        step = common_divisor(step, stamps[i] > stamps[0] ? stamps[i] - stamps[0]
                                                          : stamps[0] - stamps[i]);
    return step;
}

/* The first one of a batch has no gap. */
static bool is_busy(const struct ct_trial *t)
{
    return t->in_time && t->gap_ns >= 0;
}

unsigned ct_figures_count_busy(const struct ct_trial *trials, unsigned n)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < n; i++)
        busy += is_busy(&trials[i]);
    return busy;
}

static int64_t median(int64_t *x, unsigned n)
{
    sort(x, n);
    return x[n / 2];
}

uint32_t ct_figures_record_ns(int64_t *gap_ns, int64_t *host_ns, unsigned n)
{
    int64_t gap = median(gap_ns, n), host = median(host_ns, n);
    bool is_gpu_s = gap > host + host / 5 && gap <= HIGHEST_NS;
    return is_gpu_s ? (uint32_t)gap : 0;
}

bool ct_figures_busy(const struct ct_trial *trials, unsigned n, struct ct_calibration *out)
{
    int64_t bias[MOST], ready[MOST], gap[MOST];
    unsigned busy = 0, long_ones = 0, short_ones = 0;
    for (unsigned i = 0; i < n && busy < MOST; i++) {
        const struct ct_trial *t = &trials[i];
        if (!is_busy(t))
            continue;
        int64_t ns = t->raw_ns - t->inside_ns - CT_FIGURES_OUTSIDE_NS;
        gap[busy++] = t->gap_ns;
        if (t->following >= CT_LONG_QUEUE)
            bias[long_ones++] = ns;
        else if (t->following <= CT_SHORT_QUEUE)
            ready[short_ones++] = ns;
    }
    if (long_ones < FEWEST || short_ones < FEWEST_READY)
        return false;
    sort(bias, long_ones);
    sort(ready, short_ones);
    sort(gap, busy);
    int64_t bias_ns = centre(bias, long_ones), width_ns = half_range(bias, long_ones);
    int64_t ready_ns = centre(ready, short_ones);
    int64_t record_ns = centre(gap, busy);
    int64_t gap_ns = record_ns * 5 / 4; /* a quarter more: a limit, not an average */
    if (bias_ns <= 0 || bias_ns > HIGHEST_NS || ready_ns <= 0 || ready_ns > HIGHEST_NS ||
        gap_ns > HIGHEST_NS || width_ns > WIDEST_NS)
        return false;
    out->record_ns = (uint32_t)record_ns;
    out->bias_busy_ns = (uint32_t)bias_ns;
    out->bias_ready_ns = (uint32_t)ready_ns;
    out->gap_busy_ns = (uint32_t)gap_ns;
    out->uncertainty_ns = (uint32_t)width_ns;
    return true;
}

bool ct_figures_idle(const struct ct_trial *trials, unsigned n, struct ct_calibration *out)
{
    int64_t submit[MOST], excess_sum_ns = 0, host_sum_ns = 0;
    n = n < MOST ? n : MOST;
    for (unsigned i = 0; i < n; i++) {
        const struct ct_trial *t = &trials[i];
        int64_t excess_ns =
            t->raw_ns - t->inside_ns - CT_FIGURES_OUTSIDE_NS - (int64_t)out->bias_busy_ns;
        submit[i] = t->host_ns - excess_ns;
        excess_sum_ns += excess_ns;
        host_sum_ns += t->host_ns;
    }
    if (n < FEWEST)
        return false;
    if (excess_sum_ns < host_sum_ns / 8) {
        out->submit_ns = UINT32_MAX;
        out->idle_uncertainty_ns = 0;
        return true;
    }
    sort(submit, n);
    int64_t submit_ns = centre(submit, n), width_ns = half_range(submit, n);
    if (submit_ns < SUBMIT_LOWEST_NS || submit_ns > HIGHEST_NS || width_ns > 2 * WIDEST_NS)
        return false;
    out->submit_ns = submit_ns > 0 ? (uint32_t)submit_ns : 0;
    out->idle_uncertainty_ns = (uint32_t)width_ns;
    return true;
}

static uint32_t less(uint32_t ns, uint32_t by_ns)
{
    return ns > by_ns ? ns - by_ns : 0;
}

/* Figures that need a second clock beside the device's own are the H200's. */
static void inherit(struct ct_calibration *out)
{
#define MEASURED(member, h200)
#define NONE(member, h200)
#define INHERITED(member, h200) out->member = (h200);
#define FIGURE(member, unit, sim, sim_slow, h200, h200_slow, h100, h100_slow, others, ...)         \
    others(member, h200)
#include "time/figures.def"
}

void ct_figures_finish(struct ct_calibration *out)
{
    out->bias_copy_ns = out->bias_set_ns = out->bias_wait_ns = out->bias_busy_ns;
    if (out->submit_ns == UINT32_MAX)
        return;
    inherit(out);
    out->bias_busy_ns += CT_FIGURES_LONGER_NS;
    out->bias_ready_ns += CT_FIGURES_LONGER_NS;
    out->bias_set_ns = less(out->set_floor_ns, CT_SMALLEST_SET_NS);
    out->bias_copy_ns = less(out->copy_floor_ns, CT_SMALLEST_COPY_NS);
    out->bias_wait_ns = out->bias_copy_ns + CT_WAIT_NS + out->record_ns * CT_WAIT_TENTHS / 10;
}
