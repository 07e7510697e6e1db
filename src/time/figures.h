/* SPDX-License-Identifier: MIT */
/*
 * Figures of devices and hosts, in nanoseconds: those that were measured once (figures.def), and a
 * device's own from brackets around the self-timed kernel. No driver call is made here.
 */
#ifndef CT_FIGURES_H
#define CT_FIGURES_H

#include "base/base.h"
#include "cutrace/format.h"

/* Event nodes in a device's graphs. */
struct ct_node_figures {
#define NODE_FIGURE(name, ...) uint32_t name;
#include "time/figures.def"
};

struct ct_calibration {
    uint32_t source; /* enum ct_calibration_source */
#define FIGURE(name, ...) uint32_t name;
#include "time/figures.def"
    struct ct_node_figures node;
};

enum {
#define CONSTANT(name, unit, value, ...) name = (value),
#include "time/figures.def"
#define FIGURE(name, unit, sim, sim_slow, h200, ...) CT_H200_##name = (h200),
#include "time/figures.def"
};

/* Whether brackets tell anything of the host's time; the simulator's do not. */
static inline bool ct_tells_host(const struct ct_calibration *c)
{
    return c->source != CT_CALIBRATION_NONE && c->submit_ns != UINT32_MAX;
}

/*
 * An operation ends so long before its stop stamp, and a stamp is so long after the moment at which
 * the GPU was told of it, at least. A device without figures has an H200's.
 */
static inline uint32_t ct_record_ns(const struct ct_calibration *c)
{
    return c->record_ns ? c->record_ns : CT_H200_record_ns;
}

/*
 * Figures for a device by its whole name; source NONE for unknown devices. Where hosts differ:
 * those of the slowest on which a record takes no longer than was seen here. `seen_ns` is never
 * less than it takes, give or take a tenth: while few records are queued the GPU waits for the
 * next. 0: nothing was seen.
 */
const struct ct_calibration *ct_calibration_of(const char *device_name, uint32_t seen_ns);
/* Whether hosts differ with this device. */
bool ct_calibration_varies(const char *device_name);

/* One launch of the kernel. */
struct ct_trial {
    int64_t raw_ns;     /* its bracket */
    int64_t inside_ns;  /* by the kernel's own stamps */
    int64_t gap_ns;     /* from the stop stamp before to its start stamp; negative: none */
    int64_t host_ns;    /* from the end of the start record to that of the launch: the GPU was told
                           of either by as much before it */
    bool in_time;       /* all of it was queued before the kernel could begin */
    unsigned following; /* records and operations queued after it */
};

/* The kernel's clock moves in steps of so many nanoseconds; 0: it does not move. */
uint64_t ct_figures_timer_step(const uint64_t *stamps, unsigned n);

/*
 * A record's time on the GPU, from records in a row: the distances of their stamps, and how long
 * the host took for each. 0: the host was not faster, and the distances are its own times. Both are
 * sorted.
 */
uint32_t ct_figures_record_ns(int64_t *gap_ns, int64_t *host_ns, unsigned n);

/*
 * From the trials that were queued behind other work: record_ns, bias_busy_ns, bias_ready_ns,
 * gap_busy_ns, uncertainty_ns.
 * False: too few were, or the figures are not plausible.
 */
bool ct_figures_busy(const struct ct_trial *trials, unsigned n, struct ct_calibration *out);
/* Trials that can serve for that. */
unsigned ct_figures_count_busy(const struct ct_trial *trials, unsigned n);

/* With bias_busy_ns known, from trials in an idle stream: submit_ns, idle_uncertainty_ns. */
bool ct_figures_idle(const struct ct_trial *trials, unsigned n, struct ct_calibration *out);

/* With all that and the floors known: the figures that need a second clock beside the GPU's. */
void ct_figures_finish(struct ct_calibration *out);

#endif
