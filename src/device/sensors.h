/* SPDX-License-Identifier: MIT */
/*
 * Readings of one device, asked of NVML and added up. Only calls that are due are made: one that
 * took long, or failed, is asked again later, and one that the device has not, never again.
 */
#ifndef CT_SENSORS_H
#define CT_SENSORS_H

#include "base/base.h"
#include "cutrace/format.h"
#include "cutrace/format_device.h"
#include "device/nvml.h"

/* Calls that took longer twice in a row, as anything may once, are made once in so long. */
#define CT_SENSORS_SLOW_NS 1000000u
#define CT_SENSORS_RARELY_NS 10000000000u

#define CT_SENSORS_CALLS 8

/* One per device, all zero at first; the thread's that reads. */
struct ct_sensors {
    ct_nvml_device handle;
    enum ct_sensor_state state;
    bool is_open;
    struct {
        uint64_t due_ns; /* UINT64_MAX: never again */
        uint64_t read_ns;
        uint64_t took_ns;
    } call[CT_SENSORS_CALLS];
    double clock_mhz; /* of the last reading; 0: not known */
    uint64_t energy_mj;
    ct_nvml_sample sample[2]; /* the newer first */
    bool has_sample;
    uint32_t last_known; /* bits of sensors */
    double last[CT_SENSOR_COUNT];
    struct ct_file_sensor sensor[CT_SENSOR_COUNT];
};

/* Finds the device by its UUID; leaves in `state` why it cannot be read. */
void ct_sensors_open(struct ct_sensors *s, const struct ct_nvml *nvml, const uint8_t uuid[16]);

/* Asks all that is due; `last`: the energy as well, however lately it was asked. */
void ct_sensors_read(struct ct_sensors *s, const struct ct_nvml *nvml, bool last);

void ct_sensors_close(struct ct_sensors *s, const struct ct_nvml *nvml);

#endif
