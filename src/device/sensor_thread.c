/* SPDX-License-Identifier: MIT */
#include "device/sensor_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "base/config.h"
#include "device/sensors.h"
#include "state/context.h"
#include "system/clock.h"
#include "system/elf.h"
#include "system/futex.h"
#include "system/log.h"
#include "system/mem.h"
#include "system/proc.h"
#include "system/schedule.h"
#include "system/spare.h"
#include "system/spin.h"

#define STACK_BYTES (256 * 1024)
#define FORK_WAIT_NS 1000000000u
#define NAP_NS 1000000u
#define LOCK_NS 10000000u

enum phase { NOT_STARTED, RUNNING, STOPPING, STOPPED };

/* One device as others see it; under the lock. */
struct shown {
    bool is_known;
    uint32_t has_last; /* bits of sensors */
    struct ct_file_sensor sensor[CT_SENSOR_COUNT];
    double last[CT_SENSOR_COUNT];
};

/* The thread's own, and what it shows; from the kernel, at its start. */
struct watch {
    struct ct_nvml nvml;
    struct ct_sensors device[CT_DEVICES];
    struct shown shown[CT_DEVICES];
};

static CT_PROCESS _Atomic uint32_t phase, loading;
static CT_PROCESS uint64_t first_ns; /* a device was there */
static CT_PROCESS struct watch *watch;
static CT_PROCESS struct ct_spin lock;
static CT_TLS bool is_sensor_thread;

/* ---- the thread ---- */

static void show(uint32_t device)
{
    const struct ct_sensors *s = &watch->device[device];
    struct shown *to = &watch->shown[device];
    ct_spin_lock(&lock);
    to->is_known = true;
    for (unsigned i = 0; i < CT_SENSOR_COUNT; i++) {
        to->sensor[i] = s->sensor[i];
        to->sensor[i].device = device;
        to->sensor[i].kind = i;
        to->sensor[i].state = s->state;
        to->sensor[i].processes = 1;
    }
    to->has_last = s->state == CT_SENSORS_READ ? s->last_known : 0;
    __builtin_memcpy(to->last, s->last, sizeof(to->last));
    ct_spin_unlock(&lock);
}

static void show_none(enum ct_sensor_state why)
{
    for (uint32_t i = 0; i < ct_devices_count(); i++) {
        watch->device[i].state = why;
        show(i);
    }
}

static bool is_ready(const struct ct_nvml *nvml)
{
    return nvml->init && nvml->shutdown && nvml->init() == CT_NVML_SUCCESS;
}

/* The state in which there is nothing to read; CT_SENSORS_READ: NVML is there. */
static enum ct_sensor_state start(void)
{
    atomic_store(&loading, 1);
    enum ct_sensor_state state = !ct_nvml_load(&watch->nvml) ? CT_SENSORS_NO_LIBRARY
                                 : !is_ready(&watch->nvml)   ? CT_SENSORS_REFUSED
                                                             : CT_SENSORS_READ;
    atomic_store(&loading, 0);
    ct_futex_wake(&loading);
    return state;
}

/* False: the program has a filter of system calls since, which may end it at one of NVML's. */
static bool read_all(bool last)
{
    if (ct_proc_is_confined()) {
        show_none(CT_SENSORS_CONFINED);
        return false;
    }
    for (uint32_t i = 0; i < ct_devices_count(); i++) {
        if (!watch->device[i].is_open)
            ct_sensors_open(&watch->device[i], &watch->nvml,
                            (const uint8_t *)ct_device(i)->uuid.bytes);
        ct_sensors_read(&watch->device[i], &watch->nvml, last);
        show(i);
    }
    return true;
}

static void watch_devices(void)
{
    while (atomic_load(&phase) == RUNNING) {
        uint64_t begin_ns = ct_clock_monotonic_ns();
        if (!read_all(false))
            return;
        uint64_t end_ns = begin_ns + CT_SENSOR_PERIOD_NS, now_ns;
        while (atomic_load(&phase) == RUNNING && (now_ns = ct_clock_monotonic_ns()) < end_ns)
            ct_futex_wait(&phase, RUNNING, end_ns - now_ns);
    }
    if (!read_all(true))
        return;
    for (uint32_t i = 0; i < ct_devices_count(); i++)
        if (watch->device[i].is_open)
            ct_sensors_close(&watch->device[i], &watch->nvml);
    watch->nvml.shutdown();
}

static void *run(void *unused)
{
    static const char *const whys[] = {
#define X(id, text) text,
        CT_SENSOR_STATES(X)
#undef X
    };
    (void)unused;
    prctl(PR_SET_NAME, "cutrace device");
    is_sensor_thread = true;
    enum ct_sensor_state state = start();
    if (state == CT_SENSORS_READ) {
        watch_devices();
    } else {
        show_none(state);
        ct_log(2, "devices are not read: ", whys[state], NULL);
    }
    atomic_store(&phase, STOPPED);
    ct_futex_wake(&phase);
    return NULL;
}

/* ---- its life ---- */

/* Signals are blocked by then: it is the drain thread that calls. */
static bool start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    uint32_t none = NOT_STARTED;
    if (pthread_attr_init(&attr))
        return false;
    pthread_attr_setstacksize(&attr, STACK_BYTES + ct_objects_tls_bytes());
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    ct_schedule_ordinary(&attr);
    bool ok = atomic_compare_exchange_strong(&phase, &none, RUNNING) && /* it ends meanwhile */
              pthread_create(&thread, &attr, run, NULL) == 0;
    pthread_attr_destroy(&attr);
    return ok;
}

void ct_sensor_thread_tend(void)
{
    if (!ct_config.sensors || atomic_load_explicit(&phase, memory_order_relaxed) != NOT_STARTED ||
        !ct_devices_count())
        return;
    uint64_t now_ns = ct_clock_monotonic_ns();
    if (!first_ns)
        first_ns = now_ns;
    if (now_ns - first_ns < CT_SENSOR_PERIOD_NS)
        return;
    int saved_errno = errno;
    if (!ct_spare() && !ct_proc_is_confined())
        watch = ct_map(sizeof(*watch));
    if (!watch || !start_thread())
        atomic_store(&phase, STOPPED);
    errno = saved_errno;
}

void ct_sensor_thread_stop(uint64_t patience_ns)
{
    uint32_t running = RUNNING, none = NOT_STARTED;
    uint64_t now_ns = ct_clock_monotonic_ns(), end_ns = now_ns + patience_ns;
    atomic_compare_exchange_strong(&phase, &none, STOPPED);
    if (atomic_compare_exchange_strong(&phase, &running, STOPPING))
        ct_futex_wake(&phase);
    while (atomic_load(&phase) == STOPPING && (now_ns = ct_clock_monotonic_ns()) < end_ns)
        ct_futex_wait(&phase, STOPPING, ct_min(end_ns - now_ns, NAP_NS));
}

uint32_t ct_sensor_threads(void)
{
    uint32_t p = atomic_load(&phase);
    return p == RUNNING || p == STOPPING;
}

/* NVML may start a program, such as one that loads the kernel's module. */
void ct_sensor_thread_before_fork(void)
{
    if (is_sensor_thread || !atomic_load(&loading))
        return; /* another thread may just be starting the clock */
    uint64_t now_ns = ct_clock_monotonic_ns(), end_ns = now_ns + FORK_WAIT_NS;
    while (atomic_load(&loading) && (now_ns = ct_clock_monotonic_ns()) < end_ns)
        ct_futex_wait(&loading, 1, ct_min(end_ns - now_ns, NAP_NS));
}

void ct_sensor_thread_forget(void)
{
    if (watch)
        ct_unmap(watch, sizeof(*watch));
}

/* ---- readings ---- */

static bool look(uint32_t device)
{
    uint32_t p = atomic_load(&phase);
    return p != NOT_STARTED && watch && device < CT_DEVICES &&
           ct_spin_lock_until(&lock, ct_clock_monotonic_ns() + LOCK_NS);
}

bool ct_sensor_readings(uint32_t device, struct ct_file_sensor to[CT_SENSOR_COUNT])
{
    if (!look(device))
        return false;
    bool is_known = watch->shown[device].is_known;
    __builtin_memcpy(to, watch->shown[device].sensor, sizeof(watch->shown[device].sensor));
    ct_spin_unlock(&lock);
    return is_known;
}

bool ct_sensor_last(uint32_t device, enum ct_sensor kind, double *value)
{
    if (!look(device))
        return false;
    bool is_known = watch->shown[device].has_last >> kind & 1;
    *value = watch->shown[device].last[kind];
    ct_spin_unlock(&lock);
    return is_known;
}
