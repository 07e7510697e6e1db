/* SPDX-License-Identifier: MIT */
/* Report "device": clocks, power, memory and load of each GPU, and reasons that held its clock. */
#include <stdlib.h>

#include "report/device/sensor_sums.h"
#include "report/reports.h"
#include "report/sinks/per.h"
#include "report/units.h"

#define GIB 1073741824.0

enum { GPU, SENSOR, UNIT, MEAN, LEAST, MOST, LIMIT, TIME, SAMPLES, CALL, LONGEST, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
    [SENSOR] = {"sensor", "Sensor", CT_CELL_NAME, CT_FOLD_NONE, 0},
    [UNIT] = {"unit", "Unit", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [MEAN] = {"mean", "Mean", CT_CELL_NUMBER, CT_FOLD_NONE, 1},
    [LEAST] = {"least", "Least", CT_CELL_NUMBER, CT_FOLD_NONE, 1},
    [MOST] = {"most", "Most", CT_CELL_NUMBER, CT_FOLD_NONE, 1},
    [LIMIT] = {"limit", "Limit", CT_CELL_NUMBER, CT_FOLD_NONE, 1},
    [TIME] = {"time_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [SAMPLES] = {"samples", "Readings", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [CALL] = {"call_ns", "Call", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [LONGEST] = {"longest_call_ns", "Longest call", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2)},
};
static const struct ct_relation relation = {"device", "Devices, read by NVML", columns, COLUMNS};

enum { R_GPU, R_SHARE, R_TIME, R_CLOCK, R_MOST, R_REASON, R_COLUMNS };

static const struct ct_column reason_columns[R_COLUMNS] = {
    [R_GPU] = {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, CT_OF_DEVICE},
    [R_SHARE] = {"time_percent", "Time(%)", CT_CELL_PERCENT, CT_FOLD_NONE, 2},
    [R_TIME] = {"time_ns", "Time", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    [R_CLOCK] = {"sm_mhz", "SM MHz", CT_CELL_NUMBER, CT_FOLD_NONE, 0},
    [R_MOST] = {"highest_sm_mhz", "Highest", CT_CELL_NUMBER, CT_FOLD_NONE, 0},
    [R_REASON] = {"reason", "Clock held by", CT_CELL_NAME, CT_FOLD_NONE, 0},
};
static const struct ct_relation reasons = {"clock_reasons", "Clocks below the highest",
                                           reason_columns, R_COLUMNS};

/* ---- readings ---- */

/* Bytes would be many digits of little use. */
static bool is_bytes(const struct ct_file_sensor *s)
{
    return s->kind == CT_SENSOR_MEMORY;
}

static struct ct_cell value(const struct ct_file_sensor *s, double value)
{
    return s->samples ? ct_cell_number(is_bytes(s) ? value / GIB : value) : ct_cell_none();
}

static void put_sensor(struct ct_sink *sink, const struct ct_merged *m,
                       const struct ct_file_sensor *s)
{
    if (!s->calls || ct_sensor_is_reason(s))
        return;
    ct_sink_row(sink, (struct ct_cell[COLUMNS]){
                          [GPU] = ct_cell_count(m->devices[s->device].sum.ordinal),
                          [SENSOR] = ct_cell_text(ct_sensor_name(s->kind)),
                          [UNIT] = ct_cell_text(is_bytes(s) ? "GiB" : ct_sensor_unit(s->kind)),
                          [MEAN] = value(s, ct_sensor_mean(s)),
                          [LEAST] = value(s, s->least),
                          [MOST] = value(s, s->most),
                          [LIMIT] = s->limit > 0 ? value(s, s->limit) : ct_cell_none(),
                          [TIME] = ct_cell_count(s->time_ns),
                          [SAMPLES] = ct_cell_count(s->samples),
                          [CALL] = ct_cell_count(s->call_ns / s->calls),
                          [LONGEST] = ct_cell_count(s->longest_call_ns),
                      });
}

/* A counter is the device's: two processes' readings of it are of the same energy. */
static void note_energy(struct ct_sink *sink, const struct ct_merged *m,
                        const struct ct_file_sensor *s)
{
    char text[128], time[CT_UNITS_BYTES];
    if (s->kind != CT_SENSOR_ENERGY || s->processes != 1 || !s->time_ns)
        return;
    ct_units_time(time, s->time_ns, 8);
    snprintf(text, sizeof(text), "GPU %u: %.1f J in %s, whoever used it",
             m->devices[s->device].sum.ordinal, s->sum / 1e9, time);
    ct_sink_note(sink, text);
}

static void note_state(struct ct_sink *sink, const struct ct_merged *m,
                       const struct ct_file_sensor *s)
{
    struct ct_string text = {0};
    if (s->kind || s->state == CT_SENSORS_READ)
        return;
    ct_string_printf(&text, "GPU %u is %s: %s", m->devices[s->device].sum.ordinal,
                     s->samples ? "no longer read" : "not read", ct_sensor_state_text(s->state));
    if (s->result)
        ct_string_printf(&text, " (NVML's error %u)", s->result);
    ct_sink_note(sink, text.data);
    ct_string_free(&text);
}

/* ---- reasons ---- */

static void put_reason(struct ct_sink *sink, const struct ct_merged *m,
                       const struct ct_file_sensor *s)
{
    const struct ct_file_sensor *clock =
        ct_merged_sensors_find(&m->sensors, s->device, CT_SENSOR_SM_CLOCK);
    if (!ct_sensor_is_reason(s) || !(s->sum > 0))
        return;
    ct_sink_row(sink, (struct ct_cell[R_COLUMNS]){
                          [R_GPU] = ct_cell_count(m->devices[s->device].sum.ordinal),
                          [R_SHARE] = ct_cell_number(100 * ct_sensor_mean(s)),
                          [R_TIME] = ct_cell_whole(s->sum),
                          [R_CLOCK] = ct_cell_number(ct_sensor_clock(s)),
                          [R_MOST] = clock && clock->limit > 0 ? ct_cell_number(clock->limit)
                                                               : ct_cell_none(),
                          [R_REASON] = ct_cell_text(ct_sensor_name(s->kind)),
                      });
}

/* ---- the report ---- */

static void each(const struct ct_input *in, struct ct_sink *sink,
                 void (*put)(struct ct_sink *, const struct ct_merged *,
                             const struct ct_file_sensor *))
{
    const struct ct_merged_sensors *s = &in->m->sensors;
    uint32_t *order = ct_per_devices(in->m);
    for (uint32_t i = 0; i < in->m->device_keys.count; i++)
        for (uint32_t at = 0; at < s->keys.count; at++)
            if (s->rows[at].device == order[i] && ct_view_is_of(order[i], in->device))
                put(sink, in->m, &s->rows[at]);
    free(order);
}

int ct_report_device(const struct ct_input *in, struct ct_sink *sink)
{
    ct_sink_begin(sink, &relation);
    each(in, sink, put_sensor);
    each(in, sink, note_energy);
    each(in, sink, note_state);
    if (!in->m->sensors.keys.count)
        ct_sink_note(sink, "Nothing was read: CUTRACE_SENSORS was off, or the process used no GPU "
                           "for half a second");
    ct_sink_end(sink);
    ct_sink_begin(sink, &reasons);
    each(in, sink, put_reason);
    ct_sink_end(sink);
    return 0;
}
