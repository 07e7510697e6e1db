/* SPDX-License-Identifier: MIT */
#include "preload/init.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/elf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cuda/api.h"
#include "cutrace/format.h"
#include "preload/options.h"
#include "preload/profile.h"
#include "preload/show.h"
#include "record/api_stats.h"
#include "record/bracket.h"
#include "record/context.h"
#include "record/drain.h"
#include "record/graph.h"
#include "record/journal.h"
#include "record/kernel.h"
#include "record/note.h"
#include "record/row.h"
#include "record/sample.h"
#include "record/settle.h"
#include "record/stream.h"
#include "record/thread.h"

CT_READ_MOSTLY _Atomic uint32_t ct_state;

static atomic_bool started; /* cuInit has succeeded in this process */

/* The child has none of the parent's threads, and CUDA does not work in it if it did there. */
static void forget_parent(void)
{
    ct_drain_forget();
    ct_threads_forget();
    ct_rows_forget();
    ct_contexts_forget();
    ct_streams_forget();
    ct_kernels_forget();
    ct_graphs_forget();
    ct_api_stats_forget();
    ct_notes_forget();
    ct_settle_forget();
    ct_sample_forget();
    ct_intern_forget();
    ct_profile_forget();
    ct_journal_forget();
    atomic_store(&started, false);
    if (atomic_load(&ct_state) != CT_NEW)
        atomic_store(&ct_state, CT_NEW);
}

/* Then timing events keep streams from running side by side: see doc/internals.md. */
static bool has_one_connection(void)
{
    const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    return connections && ct_streq(connections, "1");
}

static bool start_sampling(void)
{
    bool spare = has_one_connection() && !getenv("CUTRACE_SAMPLE");
    struct ct_sample_policy p = ct_sample_policy_of_config(spare);
    return ct_sample_init(&p);
}

static bool prepare(void)
{
    static atomic_bool has_fork_handler;
    ct_options_read();
    ct_clock_start();
    ct_recording_set(ct_config.start);
    if (!atomic_exchange(&has_fork_handler, true))
        pthread_atfork(NULL, NULL, forget_parent);
    return ct_rows_init() && ct_contexts_init() && ct_streams_init() && ct_kernels_init() &&
           ct_graphs_init() && ct_settle_init() && ct_api_stats_init() && ct_threads_init() &&
           start_sampling();
}

CT_COLD bool ct_arm(void)
{
    uint32_t state = CT_NEW;
    if (!atomic_compare_exchange_strong(&ct_state, &state, CT_ARMING))
        return state == CT_ON;
    int saved_errno = errno;
    bool ok = prepare();
    if (!ok)
        ct_log(1, "not recording: no memory", NULL, NULL);
    atomic_store(&ct_state, ok ? CT_ON : CT_OFF);
    errno = saved_errno;
    return ok;
}

static void finish(void)
{
    if (!atomic_load(&started) || !ct_is_on())
        return;
    int saved_errno = errno;
    ct_recording_set(false);
    bool stopped = ct_drain_stop((uint64_t)ct_config.exit_timeout_s * 1000000000u);
    atomic_store(&ct_state, CT_OFF);
    if (!stopped)
        ct_log(1, "the drain thread did not end in time; the profile lacks the last operations",
               NULL, NULL);
    ct_show();
    errno = saved_errno;
}

#define ONE_CONNECTION                                                                             \
    "CUDA_DEVICE_MAX_CONNECTIONS=1: timing keeps streams from running side by side; "

static void note_serialised_streams(void)
{
    if (!has_one_connection())
        return;
    const char *note = ct_sample_policy()->beside
                           ? ONE_CONNECTION "with several streams few operations are timed "
                                            "(CUTRACE_SAMPLE=1: all)"
                           : ONE_CONNECTION "without CUTRACE_SAMPLE few operations would be timed";
    ct_note(CT_NOTE_WARNING, note);
    ct_log(1, note, NULL, NULL);
}

void ct_cuda_started(void)
{
    if (atomic_exchange(&started, true))
        return;
    int saved_errno = errno;
    int version = 0;
    if (CT_HAS(cuDriverGetVersion))
        CT_REAL(cuDriverGetVersion)(&version);
    ct_profile_start((uint32_t)version);
    note_serialised_streams();
    if (ct_config.brackets && !ct_journal_open(ct_config.brackets))
        ct_log(1, "cannot write CUTRACE_BRACKETS=", ct_config.brackets, NULL);
    atexit(finish);
    if (!ct_drain_start(ct_profile_take, ct_profile_write))
        ct_log(1, "no drain thread could be started; the profile is written at exit", NULL, NULL);
    errno = saved_errno;
}

/* Whether somebody has started CUDA: loading the library alone, as dependencies do, is no use. */
static bool is_driver_in_use(const struct ct_object *o, void *unused)
{
    (void)unused;
    int count;
    __typeof__(cuDeviceGetCount) *ask = NULL;
    if (o->name && ct_contains(o->name, "/libcuda.so"))
        ask = (__typeof__(ask))(uintptr_t)ct_object_symbol(o, "cuDeviceGetCount");
    return ask && ask(&count) != CUDA_ERROR_NOT_INITIALIZED;
}

/* RTLD_DEEPBIND, dlmopen: routes that interposition does not reach should not look like silence. */
__attribute__((destructor)) static void say_if_blind(void)
{
    if (atomic_load(&ct_state) != CT_NEW || !ct_objects_visit(is_driver_in_use, NULL))
        return;
    ct_options_read();
    ct_log(1, "CUDA was used, but none of its calls came by here: there is no profile", NULL, NULL);
}
