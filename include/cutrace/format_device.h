/* SPDX-License-Identifier: MIT */
/*
 * Readings of devices in summary.bin (format.h has the file and its rules): clocks, power, memory
 * and load, as NVML has them of the whole device, whichever process the work was of.
 */
#ifndef CUTRACE_FORMAT_DEVICE_H
#define CUTRACE_FORMAT_DEVICE_H

#include <stdint.h>

/* Kinds of readings: name and unit. */
#define CT_SENSORS(X)                                                                              \
    X(SM_CLOCK, "SM clock", "MHz")                                                                 \
    X(POWER, "power", "W")                                                                         \
    X(ENERGY, "power by the energy counter", "W")                                                  \
    X(TEMPERATURE, "temperature", "C")                                                             \
    X(MEMORY, "memory in use", "bytes")                                                            \
    X(KERNEL_TIME, "time with a kernel", "%")                                                      \
    X(MEMORY_TIME, "time with memory accesses", "%")                                               \
    X(SM_ACTIVITY, "SMs at work", "%")                                                             \
    X(TENSOR_ACTIVITY, "tensor cores at work", "%")                                                \
    X(DRAM_ACTIVITY, "DRAM bandwidth", "%")                                                        \
    CT_CLOCK_REASONS(X)

/* Reasons for a clock below the highest, by NVML's bits; readings are 0 or 1. */
#define CT_CLOCK_REASONS(X)                                                                        \
    X(IDLE, "idle", "")                                                                            \
    X(CLOCKS_SET, "application clocks", "")                                                        \
    X(POWER_CAP, "power cap", "")                                                                  \
    X(SLOWDOWN, "hardware slowdown", "")                                                           \
    X(SYNC_BOOST, "sync boost group", "")                                                          \
    X(HOT, "temperature", "")                                                                      \
    X(TOO_HOT, "temperature, in hardware", "")                                                     \
    X(POWER_BRAKE, "external power brake", "")                                                     \
    X(DISPLAY, "display clocks", "")

enum ct_sensor {
#define X(id, text, unit) CT_SENSOR_##id,
    CT_SENSORS(X)
#undef X
        CT_SENSOR_COUNT
};

#define CT_SENSOR_FIRST_REASON CT_SENSOR_IDLE

/* Whether a device is read, or why not. */
#define CT_SENSOR_STATES(X)                                                                        \
    X(READ, "it is read")                                                                          \
    X(NO_LIBRARY, "libnvidia-ml.so.1 was not found; containers need the capability utility")       \
    X(REFUSED, "NVML did not start")                                                               \
    X(NOT_FOUND, "NVML does not know it")                                                          \
    X(PART, "it is a part of a GPU (MIG), and readings would be of all of that")                   \
    X(LOST, "NVML lost it")                                                                        \
    X(CONFINED, "the program restricts its system calls (seccomp)")

enum ct_sensor_state {
#define X(id, text) CT_SENSORS_##id,
    CT_SENSOR_STATES(X)
#undef X
        CT_SENSORS_COUNT
};

/* Readings of one kind. Each stands for the time since the one before it. */
struct ct_file_sensor {
    uint32_t device;    /* index into CT_SECTION_DEVICES */
    uint32_t kind;      /* enum ct_sensor; newer writers may have more */
    uint32_t state;     /* enum ct_sensor_state: of the device */
    uint32_t result;    /* NVML's last answer that was no success; 0: none */
    uint32_t processes; /* that readings are of */
    uint32_t reserved;  /* zero */
    uint64_t samples;
    uint64_t time_ns;   /* that they stand for */
    double sum;         /* of readings, each times its time: divided by time_ns the mean */
    double least;       /* of the readings */
    double most;
    double limit;       /* most that a reading may be; 0: not known */
    double clock_sum;   /* of a reason: SM clock while it held, MHz times ns */
    uint64_t calls;     /* of NVML */
    uint64_t call_ns;
    uint64_t longest_call_ns;
    uint64_t part_ns[8]; /* time with readings in each eighth of the limit */
};

#endif
