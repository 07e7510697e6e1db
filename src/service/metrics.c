/* SPDX-License-Identifier: MIT */
#include "service/metrics.h"

#include <errno.h>
#include <time.h>

#include "base/config.h"
#include "drain/drain.h"
#include "output/exposition.h"
#include "service/metrics_file.h"
#include "service/metrics_http.h"
#include "system/clock.h"
#include "system/log.h"
#include "system/proc.h"

static bool confined;

static uint64_t thread_cpu_ns(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ct_metrics_start(void)
{
    ct_metrics_file_start();
    ct_metrics_http_start();
}

/* A program that restricts its system calls after that may be ended by one of ours. */
static bool is_allowed(void)
{
    if (!confined && ct_proc_is_confined()) {
        confined = true;
        ct_log(1, "no more metrics, as the program restricts its system calls (seccomp)", NULL,
               NULL);
    }
    return !confined;
}

void ct_metrics_take(bool finished)
{
    if (finished && ct_config.metrics_directory && is_allowed())
        ct_metrics_file_take(NULL);
}

void ct_metrics_write(void)
{
    ct_metrics_file_write();
}

static void tend(uint64_t now_ns, bool http, bool file)
{
    uint64_t cpu_ns = thread_cpu_ns();
    if (!is_allowed())
        return;
    if (http)
        ct_metrics_http_tend(now_ns);
    if (file) {
        ct_drain_look(ct_metrics_file_take, NULL);
        ct_metrics_file_write();
    }
    ct_metrics_cost(thread_cpu_ns() - cpu_ns);
}

void ct_metrics_tend(void)
{
    if (!ct_config_wants_metrics() || confined)
        return;
    int saved_errno = errno;
    uint64_t now_ns = ct_clock_monotonic_ns();
    bool http = ct_metrics_http_is_due(now_ns), file = ct_metrics_file_is_due(now_ns);
    if (http || file)
        tend(now_ns, http, file);
    errno = saved_errno;
}

void ct_metrics_drop(void)
{
    confined = false;
    ct_metrics_http_forget();
}
