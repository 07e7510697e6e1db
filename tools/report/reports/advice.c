/* SPDX-License-Identifier: MIT */
#include "report/reports/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/reports/advice_facts.h"
#include "report/units.h"

/* A tenth of the time is worth a change of the program, and is five times its scatter. */
#define SHARE_LEAST 0.10

/* A device that waits for launches a fifth of its time has no work ahead; less comes with any
 * start. */
#define LAUNCH_SHARE_LEAST 0.20

/* Few of a kind are not worth a graph, or a batch, and say little about a loop. */
#define MANY 100

/* Launches of kernels that are shorter than a launch: of all launches. */
#define SMALL_SHARE_LEAST 0.50

/* Small copies are mostly fixed cost: 64 KiB are 2.6 us at 25 GB/s. */
#define SMALL_TIME_SHARE_LEAST 0.05

/*
 * Copies and kernels run beside each other for less than a tenth of the possible time: streams that
 * overlap do for more.
 */
#define OVERLAP_MOST 0.10

/* One copy cannot run beside the kernel that needs it, or that made its bytes. */
#define OVERLAP_COPIES_LEAST 2

/* Pageable copies so near to the rate of the process's pinned ones have nothing to gain. */
#define PAGEABLE_NEAR 0.80

/* Memory that kernels read over the bus matters where kernels are most of the device's work. */
#define MAPPED_SHARE_LEAST 0.50

/* Pinning that took so many times as long as the copies that it sped up did not pay. */
#define PINNING_TIMES 2
#define PINNING_NS_LEAST 1000000.0

/* Share of the time of the rank that has the most: so long the others wait on average. */
#define IMBALANCE_LEAST 0.20

/* Clocks go down by a few percent at any load; less than a tenth of the time may be the start. */
#define CLOCK_MOST 0.95

/* Kernels that only copy reach some 90 % of the bandwidth; so much leaves little for others. */
#define DRAM_LEAST 70.0

/* Readings of a second or so are few. */
#define READING_NS_LEAST 1000000000u

struct finder {
    struct ct_advice *a;
    const struct ct_merged *m;
    struct ct_advice_facts f;
};

/* Numbers as the table writes them. */
struct number {
    char text[CT_UNITS_BYTES];
};

static struct number time_text(double ns)
{
    struct number n;
    ct_units_time(n.text, ct_view_whole_ns(ns), 8);
    return n;
}

static struct number size_text(double bytes)
{
    struct number n;
    ct_units_size(n.text, ct_view_whole_ns(bytes));
    return n;
}

static double rate(const struct ct_advice_copies *c)
{
    return c->ns > 0 ? c->bytes / c->ns : 0;
}

static struct number rate_text(const struct ct_advice_copies *c)
{
    struct number n;
    ct_units_bandwidth(n.text, rate(c) * 1e9);
    return n;
}

static const char *plural(double n)
{
    return n > 1 ? "s" : "";
}

static double share(const struct finder *x, double ns)
{
    return ns / x->f.time_ns;
}

static double percent(const struct finder *x, double ns)
{
    return 100 * share(x, ns);
}

/*
 * Parts of the device's busy time: they add up to 100 %, and to more by work that ran beside other
 * work.
 */
static double busy_percent(const struct finder *x, double ns)
{
    return x->f.sum.busy_ns ? 100 * ns / (double)x->f.sum.busy_ns : 0;
}

__attribute__((format(printf, 5, 6))) static void say(struct finder *x, const char *key, double ns,
                                                      double count, const char *format, ...)
{
    struct ct_advice *a = x->a;
    va_list args;
    a->lines = ct_memory_grow(a->lines, &a->size, a->count + 1, sizeof(*a->lines));
    struct ct_advice_line *line = &a->lines[a->count++];
    *line = (struct ct_advice_line){.key = key,
                                    .percent = percent(x, ns),
                                    .ns = ct_view_whole_ns(ns),
                                    .count = ct_view_whole_ns(count)};
    va_start(args, format);
    if (vasprintf(&line->text, format, args) < 0)
        ct_memory_fail();
    va_end(args);
}

/* ---- the device waits for the host ---- */

static bool is_launch_bound(const struct ct_advice_facts *f)
{
    return f->launching.count >= MANY && f->launching.ns >= LAUNCH_SHARE_LEAST * f->time_ns;
}

static void find_launch_bound(struct finder *x)
{
    const struct ct_advice_idle *i = &x->f.launching;
    if (is_launch_bound(&x->f))
        say(x, "launch_bound", i->ns, i->count,
            "launch-bound: the GPU was idle %.1f%% of its observed time while the host launched, "
            "%s in %.0f "
            "gaps of %s on average; larger kernels, fewer of them, or a CUDA graph would help",
            percent(x, i->ns), time_text(i->ns).text, i->count, time_text(i->ns / i->count).text);
}

static void find_host_bound(struct finder *x)
{
    const struct ct_advice_idle *i = &x->f.elsewhere;
    if (share(x, i->ns) >= LAUNCH_SHARE_LEAST)
        say(x, "host_bound", i->ns, i->count,
            "the GPU was idle %.1f%% of its observed time while the host did something else before "
            "the next "
            "launch, %s in %.0f gap%s",
            percent(x, i->ns), time_text(i->ns).text, i->count, plural(i->count));
}

static void find_stalls(struct finder *x)
{
    const struct ct_advice_idle *i = &x->f.after_wait;
    const struct ct_advice_calls *c = &x->f.waiting;
    if (share(x, i->ns) < SHARE_LEAST || !c->calls)
        return;
    struct ct_string name = {0};
    ct_name_api(&name, c->name);
    say(x, "synchronous_calls", i->ns, c->calls,
        "the GPU was idle %.1f%% of its observed time after the host had waited for it and before "
        "the next "
        "launch, %s in %.0f gap%s; %s: %.0f call%s, %s; wait less often, or launch ahead",
        percent(x, i->ns), time_text(i->ns).text, i->count, plural(i->count), name.data,
        c->name_calls, plural(c->name_calls), time_text(c->name_ns).text);
    ct_string_free(&name);
}

/* A launch that takes longer than its kernel matters only where the device waits for launches. */
static void find_small_kernels(struct finder *x)
{
    const struct ct_advice_facts *f = &x->f;
    if (f->small_launches < MANY || f->small_launches < SMALL_SHARE_LEAST * f->launches ||
        share(x, f->launching.ns) < SHARE_LEAST)
        return;
    say(x, "small_kernels", f->small_ns, f->small_launches,
        "%.0f of %.0f launches were of kernels of %s on average, less than the %s that launching "
        "one takes the host: several could be one, or a CUDA graph could launch them",
        f->small_launches, f->launches, time_text(f->small_ns / f->small_launches).text,
        time_text(f->launch_ns).text);
}

/* ---- copies ---- */

static void find_pageable(struct finder *x)
{
    const struct ct_advice_copies *c = &x->f.pageable;
    bool is_fast = rate(&x->f.pinned) > 0 && rate(c) > PAGEABLE_NEAR * rate(&x->f.pinned);
    if (share(x, c->busy_ns) < SHARE_LEAST || is_fast)
        return;
    say(x, "pageable_copies", c->busy_ns, c->count,
        "copies from or to pageable memory took %.1f%% of the GPU's busy time, %s for %s at %s; "
        "pinned "
        "memory (cudaHostAlloc, cudaHostRegister) is faster, and without it %s",
        busy_percent(x, c->busy_ns), time_text(c->busy_ns).text, size_text(c->bytes).text,
        rate_text(c).text,
        x->f.has_async_copies ? "cudaMemcpyAsync waits like cudaMemcpy"
                              : "copies cannot run beside kernels");
}

static void find_no_overlap(struct finder *x)
{
    const struct ct_file_activity *a = &x->f.sum;
    double least_ns = a->copy_ns < a->compute_ns ? (double)a->copy_ns : (double)a->compute_ns;
    double more_ns = least_ns - (double)a->both_ns;
    if (x->f.all.count < OVERLAP_COPIES_LEAST || share(x, more_ns) < SHARE_LEAST ||
        (double)a->both_ns > OVERLAP_MOST * least_ns)
        return;
    say(x, "no_overlap", more_ns, x->f.all.count,
        "copies took %.1f%% of the GPU's busy time and kernels %.1f%%, but beside each other only "
        "%.1f%%; in several streams, from pinned memory, up to %s of it could be saved",
        busy_percent(x, (double)a->copy_ns), busy_percent(x, (double)a->compute_ns),
        busy_percent(x, (double)a->both_ns), time_text(more_ns).text);
}

static void find_small_copies(struct finder *x)
{
    const struct ct_advice_copies *c = &x->f.small;
    if (c->count < MANY || share(x, c->busy_ns) < SMALL_TIME_SHARE_LEAST)
        return;
    say(x, "small_copies", c->busy_ns, c->count,
        "%.0f copies of %s on average took %.1f%% of the GPU's busy time at %s; what is copied "
        "together "
        "could be one copy",
        c->count, size_text(c->bytes / c->count).text, busy_percent(x, c->busy_ns),
        rate_text(c).text);
}

static void find_mapped(struct finder *x)
{
    const struct ct_advice_facts *f = &x->f;
    if (!f->mapped_calls || f->to_device.bytes > 0 ||
        share(x, (double)f->sum.compute_ns) < MAPPED_SHARE_LEAST)
        return;
    say(x, "mapped_memory", (double)f->sum.compute_ns, f->mapped_calls,
        "kernels took %.1f%% of the GPU's busy time, nothing was copied to the GPU, and %.0f times "
        "the "
        "address of host memory for kernels was asked for: what they read there more than once, "
        "over the bus each time, is faster when copied first",
        busy_percent(x, (double)f->sum.compute_ns), f->mapped_calls);
}

static void find_pinning(struct finder *x)
{
    const struct ct_advice_facts *f = &x->f;
    if (f->pinned.ns <= 0 || f->pinning.ns < PINNING_NS_LEAST ||
        f->pinning.ns < PINNING_TIMES * f->pinned.ns)
        return;
    struct ct_string name = {0};
    ct_name_api(&name, f->pinning.name);
    say(x, "pinning", 0, f->pinning.calls,
        "pinning memory took the host %s (%s: %.0f call%s), all copies from and to it only %s: it "
        "pays when the memory is used again",
        time_text(f->pinning.ns).text, name.data, f->pinning.name_calls,
        plural(f->pinning.name_calls), time_text(f->pinned.ns).text);
    ct_string_free(&name);
}

/* ---- streams and ranks ---- */

static void find_default_stream(struct finder *x)
{
    const struct ct_file_activity *a = &x->f.sum;
    double turns = (double)a->turns, operations = (double)a->operations;
    if (turns < MANY || turns < SHARE_LEAST * operations ||
        (double)a->beside_ns > OVERLAP_MOST * (double)a->busy_ns)
        return;
    say(x, "default_stream", 0, turns,
        "the legacy default stream and other streams waited for each other %.0f times in %.0f "
        "operations; streams with cudaStreamNonBlocking, or the per-thread default stream, would "
        "not",
        turns, operations);
}

static void find_imbalance(struct finder *x)
{
    const struct ct_advice_ranks *r = &x->f.ranks;
    if (r->count < 2 || r->most_ns - r->mean_ns < IMBALANCE_LEAST * r->most_ns)
        return;
    say(x, "imbalance", 0, r->count,
        "%s %u had %s of work for its GPU, %.0f%% more than the mean of %.0f %s, %s: the "
        "others wait",
        r->has_rank ? "rank" : "process", r->most, time_text(r->most_ns).text,
        100 * (r->most_ns / r->mean_ns - 1), r->count, r->has_rank ? "ranks" : "processes",
        time_text(r->mean_ns).text);
}

/* ---- the device ---- */

static unsigned gpu_of(const struct finder *x, const struct ct_file_sensor *s)
{
    return x->m->devices[s->device].sum.ordinal;
}

/* An idle device, or one whose clock follows another's, has nothing to be helped. */
static void find_held_clock(struct finder *x, const struct ct_file_sensor *s)
{
    const struct ct_file_sensor *clock =
        ct_merged_sensors_find(&x->m->sensors, s->device, CT_SENSOR_SM_CLOCK);
    if (!ct_sensor_is_reason(s) || s->kind == CT_SENSOR_IDLE || s->kind == CT_SENSOR_SYNC_BOOST ||
        !clock || !(ct_sensor_mean(s) >= SHARE_LEAST) || s->time_ns < READING_NS_LEAST ||
        !(ct_sensor_clock(s) <= CLOCK_MOST * clock->limit))
        return;
    say(x, "clock_held", 0, (double)s->samples,
        "GPU %u: clock %.0f of %.0f MHz for %.0f%% of the time: %s", gpu_of(x, s),
        ct_sensor_clock(s), clock->limit, 100 * ct_sensor_mean(s), ct_sensor_name(s->kind));
}

static void find_memory_bound(struct finder *x, const struct ct_file_sensor *s)
{
    if (s->kind != CT_SENSOR_DRAM_ACTIVITY || s->time_ns < READING_NS_LEAST ||
        !(ct_sensor_mean(s) >= DRAM_LEAST))
        return;
    say(x, "memory_bound", 0, (double)s->samples,
        "GPU %u: memory-bound: its DRAM took %.0f%% of the possible bandwidth on average over %s; "
        "fewer bytes would help more than fewer operations",
        gpu_of(x, s), ct_sensor_mean(s), time_text((double)s->time_ns).text);
}

static void find_of_sensors(struct finder *x)
{
    for (uint32_t i = 0; i < x->m->sensors.keys.count; i++) {
        find_held_clock(x, &x->m->sensors.rows[i]);
        find_memory_bound(x, &x->m->sensors.rows[i]);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct ct_advice_line *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return strcmp(x->key, y->key);
}

void ct_advice_find(struct ct_advice *a, const struct ct_merged *m)
{
    struct finder x = {.a = a, .m = m};
    ct_advice_gather(&x.f, m);
    if (x.f.is_known) {
        find_launch_bound(&x);
        find_host_bound(&x);
        find_stalls(&x);
        find_small_kernels(&x);
        find_pageable(&x);
        find_no_overlap(&x);
        find_small_copies(&x);
        find_mapped(&x);
        find_pinning(&x);
        find_default_stream(&x);
    }
    if (x.f.time_ns > 0)
        find_imbalance(&x);
    find_of_sensors(&x);
    if (a->count)
        qsort(a->lines, a->count, sizeof(*a->lines), by_time);
}

void ct_advice_free(struct ct_advice *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->lines[i].text);
    free(a->lines);
    memset(a, 0, sizeof(*a));
}

struct ct_headline ct_headline_of(const struct ct_merged *m)
{
    struct ct_advice_facts f;
    struct ct_headline h = {0};
    ct_advice_gather(&f, m);
    if (!f.is_known)
        return h;
    h.known = true;
    h.time_ns = ct_view_whole_ns(f.time_ns);
    h.busy_percent = 100 * (double)f.sum.busy_ns / f.time_ns;
    h.compute_percent = 100 * (double)f.sum.compute_ns / f.time_ns;
    h.copy_percent = 100 * (double)f.sum.copy_ns / f.time_ns;
    h.launch_percent = 100 * f.launching.ns / f.time_ns;
    h.is_launch_bound = is_launch_bound(&f);
    for (unsigned i = 0; i < CT_IDLE_COUNT; i++)
        if (i != CT_IDLE_OFF && i != CT_IDLE_MEASURING)
            h.idle_percent[i] = 100 * (double)f.sum.idle_ns[i] / f.time_ns;
    return h;
}
