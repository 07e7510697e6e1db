/* SPDX-License-Identifier: MIT */
/*
 * The thread that reads the sensors of the process's devices, twice a second at most. It is started
 * half a second after the first context was met, so that short programs have none, and NVML is
 * loaded there and by nobody else. It ends by itself where there is nothing to read.
 */
#ifndef CT_SENSOR_THREAD_H
#define CT_SENSOR_THREAD_H

#include "base/base.h"
#include "cutrace/format_device.h"

#define CT_SENSOR_PERIOD_NS 500000000u

/* The drain thread, now and then: starts the thread when it is time. */
void ct_sensor_thread_tend(void);

/*
 * The process ends: a last reading of the energy, and no more. Waits so long at most; the thread
 * may be in NVML, and is left there then. Not in a signal handler.
 */
void ct_sensor_thread_stop(uint64_t patience_ns);

/* Threads that there are of it: 0 or 1. */
uint32_t ct_sensor_threads(void);

/* Any thread: the readings so far; false: there are none, or the lock could not be had. */
bool ct_sensor_readings(uint32_t device, struct ct_file_sensor to[CT_SENSOR_COUNT]);

/* Any thread: the last reading of a kind, and whether there is one. */
bool ct_sensor_last(uint32_t device, enum ct_sensor kind, double *value);

/*
 * Around a fork: waits for the loader's lock, which the thread may have while NVML is loaded, for a
 * second at most; in the child all is gone.
 */
void ct_sensor_thread_before_fork(void);
void ct_sensor_thread_forget(void);

#endif
