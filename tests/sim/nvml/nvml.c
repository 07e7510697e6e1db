/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for NVML with a device for each UUID that it is asked for. Its readings follow from
 * the number of calls: the clock is 1,410 MHz under a power cap in one of SIM_NVML_CAP readings,
 * else 1,980; energy is 100 mJ for each millisecond since the start. Built with SIM_NVML_OLD it
 * lacks what came after CUDA 11.
 *
 *   SIM_NVML_FAIL=FUNCTION:RESULT,...  that function's results, from SIM_NVML_FAIL_AFTER calls on
 *   SIM_NVML_SLOW=FUNCTION:US,...      it takes so long
 *   SIM_NVML_UUID=GPU|MIG              prefix of UUIDs that it knows
 *   SIM_NVML_FORKS=1                   it starts with a child of its own
 *   SIM_NVML_CALLS=FILE                a line for each call: its name, thread and process
 *
 * The driver is asked for nothing: a library that needs it would hide that ours does.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define API(name, ...)                                                                             \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    int name(__VA_ARGS__)

struct device {
    char uuid[96];
};

static struct device devices[16];
static atomic_uint calls, clocks;
static struct timespec begun;

static long number_of(const char *variable, const char *function, long otherwise)
{
    const char *list = getenv(variable);
    size_t len = strlen(function);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (!strncmp(p, function, len) && p[len] == ':')
            return atol(p + len + 1);
    }
    return otherwise;
}

/* Notes the call, takes its time, and returns its result. */
static int enter(const char *function)
{
    const char *file = getenv("SIM_NVML_CALLS"), *after = getenv("SIM_NVML_FAIL_AFTER");
    FILE *f = file ? fopen(file, "a") : NULL;
    if (f) {
        fprintf(f, "%s %ld %d\n", function, syscall(SYS_gettid), (int)getpid());
        fclose(f);
    }
    unsigned count = atomic_fetch_add(&calls, 1);
    usleep((useconds_t)number_of("SIM_NVML_SLOW", function, 0));
    if (after && count < (unsigned)atoi(after))
        return 0;
    return (int)number_of("SIM_NVML_FAIL", function, 0);
}

#define ENTER()                                                                                    \
    do {                                                                                           \
        int result_ = enter(__func__);                                                             \
        if (result_)                                                                               \
            return result_;                                                                        \
    } while (0)

static int is_capped(unsigned n)
{
    const char *cap = getenv("SIM_NVML_CAP");
    return cap && n % (unsigned)atoi(cap) == 0;
}

API(nvmlInit_v2, void)
{
    pid_t child = getenv("SIM_NVML_FORKS") ? fork() : -1;
    if (!child)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    ENTER();
    clock_gettime(CLOCK_MONOTONIC, &begun);
    return 0;
}

API(nvmlShutdown, void)
{
    ENTER();
    return 0;
}

API(nvmlDeviceGetHandleByUUID, const char *uuid, struct device **d)
{
    const char *known = getenv("SIM_NVML_UUID");
    ENTER();
    if (strncmp(uuid, known ? known : "GPU", 3) || strlen(uuid) != 40)
        return 6;
    for (unsigned i = 0; i < 16; i++) {
        if (*devices[i].uuid && strcmp(devices[i].uuid, uuid))
            continue;
        strcpy(devices[i].uuid, uuid);
        *d = &devices[i];
        return 0;
    }
    return 6;
}

API(nvmlDeviceGetClockInfo, struct device *d, int type, unsigned *mhz)
{
    (void)d;
    ENTER();
    *mhz = type != 1 ? 0 : is_capped(atomic_load(&clocks)) ? 1410 : 1980;
    return 0;
}

API(nvmlDeviceGetMaxClockInfo, struct device *d, int type, unsigned *mhz)
{
    (void)d;
    ENTER();
    *mhz = type == 1 ? 1980 : 0;
    return 0;
}

static int get_reasons(unsigned long long *mask)
{
    *mask = is_capped(atomic_fetch_add(&clocks, 1)) ? 4 : 0;
    return 0;
}

API(nvmlDeviceGetCurrentClocksThrottleReasons, struct device *d, unsigned long long *mask)
{
    (void)d;
    ENTER();
    return get_reasons(mask);
}

API(nvmlDeviceGetPowerUsage, struct device *d, unsigned *mw)
{
    (void)d;
    ENTER();
    *mw = 690000;
    return 0;
}

API(nvmlDeviceGetEnforcedPowerLimit, struct device *d, unsigned *mw)
{
    (void)d;
    ENTER();
    *mw = 700000;
    return 0;
}

API(nvmlDeviceGetTemperature, struct device *d, int sensor, unsigned *c)
{
    (void)d;
    ENTER();
    *c = sensor ? 0 : 61;
    return 0;
}

API(nvmlDeviceGetMemoryInfo, struct device *d, unsigned long long memory[3])
{
    (void)d;
    ENTER();
    memory[0] = 80ull << 30;
    memory[2] = 20ull << 30;
    memory[1] = memory[0] - memory[2];
    return 0;
}

API(nvmlDeviceGetUtilizationRates, struct device *d, unsigned percent[2])
{
    (void)d;
    ENTER();
    percent[0] = 97;
    percent[1] = 55;
    return 0;
}

#ifndef SIM_NVML_OLD
static unsigned long long ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)((now.tv_sec - begun.tv_sec) * 1000 +
                                (now.tv_nsec - begun.tv_nsec) / 1000000);
}

API(nvmlDeviceGetCurrentClocksEventReasons, struct device *d, unsigned long long *mask)
{
    (void)d;
    ENTER();
    return get_reasons(mask);
}

API(nvmlDeviceGetTotalEnergyConsumption, struct device *d, unsigned long long *mj)
{
    (void)d;
    ENTER();
    *mj = 1000000 + 100 * ms();
    return 0;
}

/* ---- metrics of two samples ---- */

struct sample {
    unsigned long long ms;
    int is_taken;
};

struct metric {
    unsigned id;
    int result;
    double value;
    char *names[3];
};

struct metrics {
    unsigned version, count;
    struct sample *older, *newer;
    struct metric metric[];
};

API(nvmlGpmQueryDeviceSupport, struct device *d, unsigned support[2])
{
    (void)d;
    ENTER();
    support[1] = support[0] == 1;
    return 0;
}

API(nvmlGpmSampleAlloc, struct sample **s)
{
    ENTER();
    *s = calloc(1, sizeof(**s));
    return *s ? 0 : 20;
}

API(nvmlGpmSampleFree, struct sample *s)
{
    ENTER();
    free(s);
    return 0;
}

API(nvmlGpmSampleGet, struct device *d, struct sample *s)
{
    (void)d;
    ENTER();
    *s = (struct sample){ms(), 1};
    return 0;
}

/* Samples have to be 100 ms apart, and in their order. */
API(nvmlGpmMetricsGet, struct metrics *m)
{
    ENTER();
    if (m->version != 1 || !m->older->is_taken || m->newer->ms < m->older->ms + 100)
        return 2;
    for (unsigned i = 0; i < m->count; i++) {
        unsigned id = m->metric[i].id;
        m->metric[i].result = 0;
        m->metric[i].value = id == 2 ? 95 : id == 5 ? 12 : id == 10 ? 87 : 0;
    }
    return 0;
}
#endif
