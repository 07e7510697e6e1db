/* SPDX-License-Identifier: MIT */
#include "page/facts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page/json.h"
#include "report/names.h"
#include "report/reports/truth.h"

#define MOST_PROCESSES 256 /* of thousands of ranks, the first */

static void set_date(json_t *to, uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm tm;
    char text[64];
    if (unix_ns && gmtime_r(&seconds, &tm) &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
        ct_json_text(to, "start", text);
}

json_t *ct_page_processes(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (size_t i = 0; i < m->process_count && i < MOST_PROCESSES; i++) {
        const struct ct_file_process *p = &m->processes[i];
        json_t *to = ct_json_object();
        char driver[32];
        snprintf(driver, sizeof(driver), "%u.%u", p->driver_version / 1000,
                 p->driver_version % 1000 / 10);
        ct_json_count(to, "pid", p->pid);
        ct_json_safe(to, "host", ct_merge_name(m, p->host));
        ct_json_safe(to, "command", ct_merge_name(m, p->command));
        set_date(to, p->start_unix_ns);
        ct_json_count(to, "duration", p->duration_ns);
        ct_json_text(to, "driver", driver);
        ct_json_flag(to, "finished", p->flags & CT_PROCESS_FINISHED);
        ct_json_append(all, to);
    }
    return all;
}

json_t *ct_page_devices(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->device_keys.count; i++) {
        const struct ct_file_device *d = &m->devices[i].sum;
        json_t *to = ct_json_object();
        bool measured = d->calibration == CT_CALIBRATION_DEVICE;
        char compute[32];
        snprintf(compute, sizeof(compute), "%u.%u", d->compute_major, d->compute_minor);
        ct_json_count(to, "ordinal", d->ordinal);
        ct_json_safe(to, "name", ct_merge_name(m, d->name));
        ct_json_safe(to, "given_name", ct_merge_name(m, d->given_name));
        ct_json_count(to, "memory", d->memory_bytes);
        ct_json_count(to, "sm_count", d->sm_count);
        ct_json_count(to, "clock_khz", d->clock_khz);
        ct_json_count(to, "memory_mbs", d->memory_mbs);
        ct_json_count(to, "link_mbs", d->link_mbs);
        ct_json_text(to, "compute", compute);
        ct_json_text(to, "calibration", m->devices[i].raw ? "none" : measured ? "device" : "table");
        ct_json_count(to, "bias", d->bias_busy_ns);
        ct_json_count(to, "uncertainty", d->uncertainty_ns);
        ct_json_count(to, "idle_uncertainty", d->idle_uncertainty_ns);
        ct_json_append(all, to);
    }
    return all;
}

json_t *ct_page_truth(const struct ct_merged *m, const struct ct_view *gpu,
                      const struct ct_view_options *o)
{
    json_t *all = ct_json_array();
    char *text = NULL, *rest = NULL;
    size_t bytes;
    FILE *lines = open_memstream(&text, &bytes);
    if (!lines)
        ct_memory_fail();
    ct_truth_print(lines, "", m, gpu, o);
    if (fclose(lines))
        ct_memory_fail();
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        ct_json_append_text(all, line);
    free(text);
    return all;
}
