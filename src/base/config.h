/* SPDX-License-Identifier: MIT */
/* The user's settings, filled in once before anything is recorded (src/options/setting.c). */
#ifndef CT_CONFIG_H
#define CT_CONFIG_H

#include "base/base.h"
#include "base/rank.h"

enum ct_calibrate {
    CT_CALIBRATE_AUTO, /* where no table has figures for the device */
    CT_CALIBRATE_ON,
    CT_CALIBRATE_OFF,
};

enum ct_stack_kind {
    CT_STACKS_OFF,
    CT_STACKS_PYTHON,
    CT_STACKS_NATIVE,
};

#define CT_EVENTS_MOST ((uint32_t)1 << 20) /* the largest CUTRACE_EVENTS */

/* The address to listen at; ports are tried upwards from the first. */
struct ct_config_address {
    bool wanted;
    uint16_t port; /* 0: any that is free */
    bool is_ipv6;
    uint8_t ip[16]; /* IPv4: the first four */
};

struct ct_config {
    const char *output; /* pattern of the profile's name */
    bool print;
    bool print_asked;     /* by the user, not by default; see system/spare.h */
    bool start;           /* record from the start on */
    const char *capture;  /* record while a range RANGE@DOMAIN is open; NULL: none */
    bool time_all;        /* time each operation, unless a rate or a budget is given */
    uint32_t sample;      /* time one operation in this many */
    uint32_t budget_ppm;  /* the share of the run time for timing; 0: no limit */
    uint32_t events;      /* most events per context */
    uint32_t graph_nodes; /* time the kernels in graphs at one launch in this many; 0: never */
    bool graph_nodes_auto; /* that within bounds (launch/replica_limit.h) */
    uint32_t exit_timeout_s;
    const char *kernels; /* list of patterns, NULL: all */
    const char *devices; /* list of ordinals, NULL: all */
    const char *ranks;   /* list of ranks, NULL: all */
    struct ct_rank rank; /* this process's */
    bool without_gpu;    /* time nothing on the GPU */
    bool without_api;    /* list no API calls */
    bool without_memory; /* count no allocations */
    bool arguments;      /* write the arguments of the command line, too */
    bool alone;          /* leave descendants alone */
    const char *run;     /* the launcher's list (cutrace/run.h); NULL: there is no launcher */
    const char *report;  /* path or name of the report tool */
    bool unified;        /* watch managed memory */
    bool control;        /* answer `cutrace ctl` */
    bool control_asked;
    uint32_t watchdog_factor;  /* limit of an operation in times of its row's p99; 0: none */
    uint64_t watchdog_ns;      /* and in time; 0: none */
    bool sensors;              /* read the devices' clocks, power and load */
    enum ct_stack_kind stacks; /* those that operations were launched from */
    bool force;
    enum ct_calibrate calibrate; /* measure the device's figures on the device */
    const char *brackets;        /* path of the journal; NULL: none */
    const char *trace;    /* pattern of the trace's name, "1": beside the profile; NULL: none */
    uint64_t trace_bytes; /* the trace's largest size */
    const char *metrics_directory; /* pattern; NULL: none */
    struct ct_config_address metrics;
    uint32_t log_level;
};

extern struct ct_config ct_config;

static inline bool ct_config_wants_metrics(void)
{
    return ct_config.metrics_directory || ct_config.metrics.wanted;
}

#endif
