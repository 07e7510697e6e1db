/* SPDX-License-Identifier: MIT */
/*
 * NVML, as far as it is used here, from its public documentation: nvml.h of CUDA 11 to 13. The
 * library is loaded when it is asked for and never unloaded; functions that it lacks are NULL.
 */
#ifndef CT_NVML_H
#define CT_NVML_H

#include "base/base.h"

/* nvmlReturn_t */
enum ct_nvml_result {
    CT_NVML_SUCCESS = 0,
    CT_NVML_NOT_SUPPORTED = 3,
    CT_NVML_NOT_FOUND = 6,
    CT_NVML_DRIVER_NOT_LOADED = 9,
    CT_NVML_FUNCTION_NOT_FOUND = 13,
    CT_NVML_GPU_IS_LOST = 15,
    CT_NVML_LIB_RM_VERSION_MISMATCH = 18,
    CT_NVML_ARGUMENT_VERSION_MISMATCH = 25,
};

typedef struct ct_nvml_device *ct_nvml_device;
typedef struct ct_nvml_sample *ct_nvml_sample;

struct ct_nvml_memory {
    unsigned long long total, free, used;
};

struct ct_nvml_utilization {
    unsigned gpu, memory;
};

struct ct_nvml_gpm_support {
    unsigned version, is_supported;
};

struct ct_nvml_gpm_metric {
    unsigned id;
    int result;
    double value;
    char *names[3];
};

/* Newer headers have more metrics, under the same version: a library may clear all that it knows.
 */
#define CT_NVML_GPM_METRICS 333

struct ct_nvml_gpm {
    unsigned version, count;
    ct_nvml_sample older, newer;
    struct ct_nvml_gpm_metric metric[CT_NVML_GPM_METRICS];
};

_Static_assert(sizeof(struct ct_nvml_gpm_metric) == 40, "NVML's size");
_Static_assert(sizeof(struct ct_nvml_gpm) == 13344, "NVML's size");

enum { CT_NVML_GPM_VERSION = 1, CT_NVML_SM = 1, CT_NVML_SENSOR_GPU = 0 };
enum { CT_NVML_GPM_SM = 2, CT_NVML_GPM_TENSOR = 5, CT_NVML_GPM_DRAM = 10 };

/* Member, symbol, arguments. */
#define CT_NVML_FUNCTIONS(X)                                                                       \
    X(init, nvmlInit_v2, (void))                                                                   \
    X(shutdown, nvmlShutdown, (void))                                                              \
    X(by_uuid, nvmlDeviceGetHandleByUUID, (const char *, ct_nvml_device *))                        \
    X(clock, nvmlDeviceGetClockInfo, (ct_nvml_device, int, unsigned *))                            \
    X(most_clock, nvmlDeviceGetMaxClockInfo, (ct_nvml_device, int, unsigned *))                    \
    X(reasons, nvmlDeviceGetCurrentClocksEventReasons, (ct_nvml_device, unsigned long long *))     \
    X(old_reasons, nvmlDeviceGetCurrentClocksThrottleReasons,                                      \
      (ct_nvml_device, unsigned long long *))                                                      \
    X(power, nvmlDeviceGetPowerUsage, (ct_nvml_device, unsigned *))                                \
    X(power_limit, nvmlDeviceGetEnforcedPowerLimit, (ct_nvml_device, unsigned *))                  \
    X(energy, nvmlDeviceGetTotalEnergyConsumption, (ct_nvml_device, unsigned long long *))         \
    X(temperature, nvmlDeviceGetTemperature, (ct_nvml_device, int, unsigned *))                    \
    X(memory, nvmlDeviceGetMemoryInfo, (ct_nvml_device, struct ct_nvml_memory *))                  \
    X(utilization, nvmlDeviceGetUtilizationRates, (ct_nvml_device, struct ct_nvml_utilization *))  \
    X(gpm_support, nvmlGpmQueryDeviceSupport, (ct_nvml_device, struct ct_nvml_gpm_support *))      \
    X(gpm_alloc, nvmlGpmSampleAlloc, (ct_nvml_sample *))                                           \
    X(gpm_free, nvmlGpmSampleFree, (ct_nvml_sample))                                               \
    X(gpm_sample, nvmlGpmSampleGet, (ct_nvml_device, ct_nvml_sample))                              \
    X(gpm_metrics, nvmlGpmMetricsGet, (struct ct_nvml_gpm *))

struct ct_nvml {
#define X(member, symbol, arguments) int(*member) arguments;
    CT_NVML_FUNCTIONS(X)
#undef X
};

/* Loads the library; takes the loader's lock and the heap. False: there is none. */
bool ct_nvml_load(struct ct_nvml *nvml);

#endif
