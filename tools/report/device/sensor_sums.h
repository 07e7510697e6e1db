/* SPDX-License-Identifier: MIT */
/* Readings of devices (cutrace/format_device.h), by device and kind: summaries added up. */
#ifndef CT_REPORT_SENSORS_H
#define CT_REPORT_SENSORS_H

#include <math.h>

#include "cutrace/format.h"
#include "format/read.h"
#include "report/profile/key_table.h"

/* Elements as in a file, with our devices. All zero at first. */
struct ct_merged_sensors {
    struct ct_key_table keys; /* by device and kind */
    struct ct_file_sensor *rows;
    size_t size;
};

/* device_map: of the file's devices to ours. */
void ct_merged_sensors_add(struct ct_merged_sensors *m, const struct ct_summary *s,
                           const uint32_t *device_map);
void ct_merged_sensors_free(struct ct_merged_sensors *m);

/* NULL: there are none. */
const struct ct_file_sensor *ct_merged_sensors_find(const struct ct_merged_sensors *m,
                                                    uint32_t device, enum ct_sensor kind);

/* Kinds, their units, and reasons why a device is not read; newer files may have others. */
const char *ct_sensor_name(uint32_t kind);
const char *ct_sensor_unit(uint32_t kind);
const char *ct_sensor_state_text(uint32_t state);

static inline bool ct_sensor_is_reason(const struct ct_file_sensor *s)
{
    return s->kind >= CT_SENSOR_FIRST_REASON && s->kind < CT_SENSOR_COUNT;
}

/* Over the time; NAN: there was none. */
static inline double ct_sensor_mean(const struct ct_file_sensor *s)
{
    return s->time_ns ? s->sum / (double)s->time_ns : NAN;
}

/* The SM clock while a reason held, MHz; NAN: it never did. */
static inline double ct_sensor_clock(const struct ct_file_sensor *s)
{
    return s->sum > 0 ? s->clock_sum / s->sum : NAN;
}

#endif
