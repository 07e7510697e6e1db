/* SPDX-License-Identifier: MIT */
/*
 * What calibration finds on this device, ten times in a row, on a quiet GPU and beside kernels that
 * fill it: the figures, how long it took, and the trials that they come from. The library's own
 * source runs here, without the library around it.
 *
 *   probe_calibrate [quiet|beside] [all]      all: print each trial
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/calibration.c"

#include "drain/calibrate.h"

#define RUNS 10
#define MUST(call) must((call), #call, __LINE__)

static bool print_all;
static atomic_bool over;
static CUcontext context;

static void must(CUresult r, const char *call, int line)
{
    if (r == CUDA_SUCCESS)
        return;
    printf("line %d: %s = %d\n", line, call, (int)r);
    exit(1);
}

static void find_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    for (uint32_t id = 0; driver && id < CT_DRIVER_COUNT; id++)
        ct_driver_real[id] = (ct_function)(uintptr_t)dlsym(driver, ct_api_names[id]);
    if (!CT_HAS(cuInit))
        exit(77);
}

/* What the driver's compiler says to the kernels. */
static void compile(void)
{
    static char said[8192];
    CUmodule module;
    CUjit_option option[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *value[] = {said, (void *)sizeof(said)};
    uint64_t from = ct_clock_monotonic_ns();
    CUresult r = CT_REAL(cuModuleLoadDataEx)(&module, ct_selftimed_ptx, 2, option, value);
    printf("compiling the kernels: %d after %lu us%s%s\n", (int)r,
           (unsigned long)(ct_clock_monotonic_ns() - from) / 1000, *said ? ": " : "", said);
}

static void print_notes(void)
{
    for (uint32_t i = 0; i < ct_notes_count(); i++)
        printf("  note, %lu times: %s\n", (unsigned long)ct_note_at(i)->count, ct_note_at(i)->text);
}

/* Kernels of 100 us with more blocks than there is room for, eight of them at a time. */
static void *fill_gpu(void *unused)
{
    CUmodule module;
    CUfunction f;
    CUstream s[8];
    uint64_t ticks = 150000, slot = CT_SELFTIMED_SLOTS - 1;
    void *arguments[] = {&ticks, &slot};
    (void)unused;
    MUST(CT_REAL(cuCtxSetCurrent)(context));
    MUST(CT_REAL(cuModuleLoadData)(&module, ct_selftimed_ptx));
    MUST(CT_REAL(cuModuleGetFunction)(&f, module, CT_SELFTIMED_KERNEL));
    for (int i = 0; i < 8; i++)
        MUST(CT_REAL(cuStreamCreate)(&s[i], CU_STREAM_NON_BLOCKING));
    while (!atomic_load(&over))
        for (int i = 0; i < 8; i++) {
            MUST(CT_REAL(cuLaunchKernel)(f, 1000, 1, 1, 1024, 1, 1, 0, s[i], arguments, NULL));
            if (i == 7)
                MUST(CT_REAL(cuStreamSynchronize)(s[0]));
        }
    return NULL;
}

static void print_trials(const struct ct_calibration_job *j, unsigned n, const char *kind)
{
    for (unsigned i = 0; i < n; i++) {
        const struct ct_trial *t = &j->trials[i];
        printf("    %s %2u: raw %6ld inside %6ld gap %6ld host %6ld %s, raw - inside - %d = %ld\n",
               kind, i, (long)t->raw_ns, (long)t->inside_ns, (long)t->gap_ns, (long)t->host_ns,
               t->in_time ? "in time" : "", CT_FIGURES_OUTSIDE_NS,
               (long)(t->raw_ns - t->inside_ns - CT_FIGURES_OUTSIDE_NS));
    }
}

static uint64_t timer_step(const struct ct_calibration_job *j)
{
    uint64_t stamps[2 * CT_JOB_BATCH];
    for (uint32_t i = 0; i < 2 * CT_JOB_BATCH; i++)
        stamps[i] = j->kernels.words[1 + i];
    return ct_figures_timer_step(stamps, 2 * CT_JOB_BATCH);
}

/* Steps until it is over; the trials of a kind are whole when the next phase begins. */
static void run(struct ct_context *c)
{
    uint64_t from = ct_clock_monotonic_ns();
    begin_measuring(c);
    uint64_t loaded = ct_clock_monotonic_ns(), step_ns = 0;
    struct ct_calibration_job *j = ct_calibration_jobs[c->device];
    unsigned steps = 0;
    uint32_t phase = CT_JOB_LOADING;
    while (ct_calibrate_step(0)) {
        if (phase == CT_JOB_BUSY && j->phase != CT_JOB_BUSY) {
            step_ns = timer_step(j);
            if (print_all || j->phase == CT_JOB_OVER)
                print_trials(j, j->batches * CT_JOB_BATCH, "busy");
        }
        if (phase == CT_JOB_IDLE && j->phase != CT_JOB_IDLE &&
            (print_all || j->phase == CT_JOB_OVER))
            print_trials(j, CT_JOB_BATCH, "idle");
        phase = j->phase;
        steps++;
        usleep(50);
    }
    uint64_t done = ct_clock_monotonic_ns();
    const struct ct_calibration *f = ct_device(c->device)->calibration;
    printf("  source %u bias %u gap %u submit %d uncertainty %u idle %u copy %u set %u; timer step "
           "%lu, "
           "batches %u, loading %lu us, the rest %lu us in %u looks\n",
           f->source, f->bias_busy_ns, f->gap_busy_ns, (int)f->submit_ns, f->uncertainty_ns,
           f->idle_uncertainty_ns, f->copy_floor_ns, f->set_floor_ns, (unsigned long)step_ns,
           j ? j->batches : 0, (unsigned long)(loaded - from) / 1000,
           (unsigned long)(done - loaded) / 1000, steps);
}

static void run_all(const char *title)
{
    struct ct_context *c = ct_context_get(context);
    static const struct ct_calibration none;
    atomic_store(&c->state, CT_CONTEXT_LIVE);
    printf("%s:\n", title);
    for (int i = 0; i < RUNS; i++) {
        ct_calibration_jobs[c->device] = NULL;
        ct_device_calibrated(c->device, &none);
        run(c);
    }
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    pthread_t thread;
    print_all = argc > 2;
    find_driver();
    if (CT_REAL(cuInit)(0) != CUDA_SUCCESS)
        return 77;
    MUST(CT_REAL(cuDevicePrimaryCtxRetain)(&context, 0));
    MUST(CT_REAL(cuCtxSetCurrent)(context));
    ct_config.events = 1024;
    ct_config.calibrate = true;
    ct_clock_start();
    if (!ct_contexts_init())
        return 1;
    compile();
    if (strcmp(only, "beside"))
        run_all("calibration on a quiet GPU");
    print_notes();
    if (!strcmp(only, "quiet"))
        return 0;
    pthread_create(&thread, NULL, fill_gpu, NULL);
    usleep(100000);
    run_all("calibration beside kernels that fill the GPU");
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    print_notes();
    return 0;
}
