/* SPDX-License-Identifier: MIT */
/*
 * The exported functions. Each asks the settings whether to fail, takes the lock, and calls
 * sim_<name> (model.h).
 */
#include "driver/entry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cuda/args.h"
#include "cudasim.h"
#include "driver/model.h"

#define POLL_NS 50000
/* A real one takes longer still: no program with CUDA is over within a tick of /proc/PID/stat. */
#define INIT_US 12000

const char *const sim_names[SIM_ID_COUNT] = {
#define ROW(fn, ...) #fn,
#define ROW_TWIN(suffix, fn, ...) #fn,
#include "common/each_row.h"
};

__thread struct sim_thread sim_self;

/* A signal handler may end the process from within a call: the thread goes on with its own lock. */
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed;
static atomic_uint threads;
static atomic_bool initialised, shut_down, in_child;
static atomic_ullong breaches;
static pid_t initialised_in;

cudasim_end_fn cudasim_stream_end;
cudasim_count_fn cudasim_breaches, cudasim_events_alive, cudasim_open_handles, cudasim_pending;

void sim_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* CUDA does not survive a fork. The lock was the forking thread's, others may have been waiting. */
static void after_fork(void)
{
    lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    make_condition();
    if (initialised)
        in_child = true;
}

__attribute__((constructor)) static void start(void)
{
    make_condition();
    pthread_atfork(sim_lock, sim_unlock, after_fork);
}

void sim_wake(void)
{
    pthread_cond_broadcast(&changed);
}

void sim_wait_signal(void)
{
    struct timespec until;
    if (sim_idle()) {
        pthread_cond_wait(&changed, &lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&changed, &lock, &until);
}

void sim_wait_until(bool (*done)(void *arg), void *arg)
{
    while (sim_progress(), !done(arg))
        if (!sim_skip_wait())
            sim_wait_signal();
}

void sim_breach(const char *what)
{
    atomic_fetch_add(&breaches, 1);
    sim_log("BREACH %s", what);
    fprintf(stderr, "simulated device: breach: %s\n", what);
    if (sim_settings.strict)
        _exit(99);
}

static bool needs_no_init(uint32_t id)
{
    return id == SIM_ID_cuInit || id == SIM_ID_cuDriverGetVersion || id == SIM_ID_cuGetErrorName ||
           id == SIM_ID_cuGetErrorString || id == SIM_ID_cuGetProcAddress ||
           id == SIM_ID_cuGetProcAddress_v2 || id == SIM_ID_cuGetExportTable;
}

bool sim_survives_error(uint32_t id)
{
    switch (id) {
    case SIM_ID_cuCtxGetCurrent:
    case SIM_ID_cuCtxSetCurrent:
    case SIM_ID_cuCtxPushCurrent_v2:
    case SIM_ID_cuCtxPopCurrent_v2:
    case SIM_ID_cuCtxGetDevice:
    case SIM_ID_cuCtxDestroy_v2:
    case SIM_ID_cuDeviceGet:
    case SIM_ID_cuDeviceGetCount:
    case SIM_ID_cuDevicePrimaryCtxRelease_v2:
    case SIM_ID_cuDevicePrimaryCtxReset_v2:
        return true;
    default:
        return needs_no_init(id);
    }
}

/* Whether the call may not reach the model, and what it answers. */
static bool refused(uint32_t id, CUresult *result)
{
    if (atomic_load_explicit(&shut_down, memory_order_acquire) && id != SIM_ID_cuGetErrorName &&
        id != SIM_ID_cuGetErrorString) {
        *result = CUDA_ERROR_DEINITIALIZED;
        return true;
    }
    if (sim_control_intercept(id, sim_names[id], result))
        return true;
    if (in_child ||
        (!atomic_load_explicit(&initialised, memory_order_acquire) && !needs_no_init(id))) {
        *result = CUDA_ERROR_NOT_INITIALIZED;
        return !needs_no_init(id) || (in_child && id == SIM_ID_cuInit);
    }
    return false;
}

static CUresult leave(uint32_t id, CUresult result)
{
    if (sim_self.slow_us)
        usleep((useconds_t)sim_self.slow_us);
    sim_self.slow_us = 0;
    if (sim_log_on())
        sim_log("%u %s = %d", sim_self.id, sim_names[id], (int)result);
    return result;
}

static bool enter(uint32_t id, bool per_thread, CUresult *result)
{
    if (!sim_self.id)
        sim_self.id = atomic_fetch_add(&threads, 1) + 1;
    if (refused(id, result)) {
        leave(id, *result);
        return false;
    }
    sim_lock();
    sim_self.per_thread = per_thread;
    sim_progress();
    return true;
}

#define CALL(id, per_thread, name, fn, ...)                                                        \
    __attribute__((visibility("default"))) CUresult name(CT_PARAMS(__VA_ARGS__))                   \
    {                                                                                              \
        CUresult result;                                                                           \
        sim_self.caller = __builtin_return_address(0);                                             \
        if (!enter(id, per_thread, &result))                                                       \
            return result;                                                                         \
        result = sim_##fn(CT_ARGS(__VA_ARGS__));                                                   \
        sim_unlock();                                                                              \
        return leave(id, result);                                                                  \
    }
#define ROW(fn, ...) CALL(SIM_ID_##fn, false, fn, fn, __VA_ARGS__)
#define ROW_TWIN(suffix, fn, ...)                                                                  \
    CALL(SIM_ID_##fn, false, fn, fn, __VA_ARGS__)                                                  \
    CALL(SIM_ID_##fn, true, fn##suffix, fn, __VA_ARGS__)
#include "common/each_row.h"

/* ---- start and end of the process ---- */

static void shut(void)
{
    if (getpid() != initialised_in)
        return;
    sim_lock();
    sim_progress();
    if (sim_log_on())
        sim_log_open_things();
    if (sim_settings.truth_path)
        sim_truth_write(sim_settings.truth_path);
    atomic_store_explicit(&shut_down, true, memory_order_release);
    sim_unlock();
}

CUresult sim_cuInit(unsigned int flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_settings.devices)
        return CUDA_ERROR_NO_DEVICE;
    if (!initialised) {
        usleep(INIT_US);
        initialised_in = getpid();
        atexit(shut);
        atomic_store_explicit(&initialised, true, memory_order_release);
    }
    return CUDA_SUCCESS;
}

/* ---- for tests ---- */

static uint64_t locked(uint64_t (*count)(void))
{
    sim_lock();
    uint64_t n = count();
    sim_unlock();
    return n;
}

static uint64_t events(void)
{
    return sim_alive(SIM_EVENT);
}

static uint64_t handles(void)
{
    uint64_t n = 0;
    for (enum sim_type t = 0; t < SIM_TYPES; t++)
        n += sim_alive(t);
    return n;
}

uint64_t cudasim_breaches(void)
{
    return breaches;
}

uint64_t cudasim_events_alive(void)
{
    return locked(events);
}

uint64_t cudasim_open_handles(void)
{
    return locked(handles);
}

uint64_t cudasim_stream_end(void *stream)
{
    CUstream s;
    sim_lock();
    uint64_t ns = sim_stream_of(stream, &s) == CUDA_SUCCESS ? (uint64_t)s->tail_ns : 0;
    sim_unlock();
    return ns;
}

uint64_t cudasim_pending(void)
{
    return locked(sim_pending);
}
