/* SPDX-License-Identifier: MIT */
#include "preload/init.h"
#include "base/process.h"
#include "drain/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "containers/intern.h"
#include "counts/api_count.h"
#include "counts/buckets.h"
#include "counts/call_log.h"
#include "counts/filter.h"
#include "counts/pass.h"
#include "counts/range.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "cuda/api.h"
#include "cutrace/format.h"
#include "device/sensor_thread.h"
#include "drain/api_stats.h"
#include "drain/drain.h"
#include "drain/journal.h"
#include "drain/node_time.h"
#include "drain/range_sums.h"
#include "drain/replica_step.h"
#include "drain/settle.h"
#include "drain/tracing.h"
#include "drain/witness_error.h"
#include "launch/bracket.h"
#include "launch/replica.h"
#include "launch/thread_life.h"
#include "launch/witness.h"
#include "managed/unified.h"
#include "options/options.h"
#include "preload/nccl.h"
#include "preload/runtime.h"
#include "service/ctl.h"
#include "service/metrics.h"
#include "service/origin.h"
#include "service/own_library.h"
#include "service/profile.h"
#include "service/run.h"
#include "service/show.h"
#include "service/tool.h"
#include "service/trace_file.h"
#include "stacks/stacks.h"
#include "state/capture_range.h"
#include "state/connections.h"
#include "state/context.h"
#include "state/note.h"
#include "state/program_event.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/cancel.h"
#include "system/clock.h"
#include "system/elf.h"
#include "system/library_copies.h"
#include "system/log.h"
#include "system/proc.h"
#include "system/schedule.h"
#include "system/spare.h"
#include "watch/watchdog.h"
#include "work/allocation.h"
#include "work/collective.h"
#include "work/graph.h"
#include "work/kernel.h"
#include "work/node_stack.h"

#define LONGEST_ARMING_MS 1000
#define ANOTHER_COPY "the library is in this process twice; this copy of it stands aside: "

#define MS_NS 1000000u
#define S_NS 1000000000u

CT_READ_MOSTLY _Atomic uint32_t ct_state;

static CT_PROCESS atomic_bool started; /* cuInit has succeeded in this process, */
static CT_PROCESS atomic_bool
    is_running; /* and since then everything is there that its end needs */
static pid_t started_in;
static CT_PROCESS uint32_t notes_said;

/*
 * The child has none of the parent's threads, and CUDA does not work in it if it did there. First
 * go descriptors, and state that is more than zeroes.
 */
static void forget_parent(void)
{
    ct_ctl_close();
    ct_sensor_thread_forget();
    ct_metrics_drop();
    ct_profile_forget();
    ct_trace_file_forget();
    ct_tracing_forget();
    ct_journal_forget();
    ct_unified_forget();
    ct_proc_forget();
    ct_runtime_forget();
    ct_nccl_forget();
    ct_threads_forget();
    ct_range_names_forget();
    ct_control_forget();
    ct_process_forget();
    if (atomic_load(&ct_state) != CT_NEW)
        atomic_store(&ct_state, CT_NEW);
}

static bool start_sampling(void)
{
    struct ct_sample_policy p = ct_sample_policy_of_config(getenv("CUTRACE_SAMPLE") != NULL);
    ct_connections_init(getenv("CUDA_DEVICE_MAX_CONNECTIONS"));
    ct_call_log_is_on = ct_config.trace;
    ct_api_count_init(ct_config.trace, p.budget_ppm);
    bool ok = ct_sample_init(&p);
    ct_pass_init(!ct_config.trace && (ct_sample_is_on || !ct_filter_takes_all()));
    return ok;
}

/* Early, before the program closes descriptors that it was started with. */
__attribute__((constructor)) static void load(void)
{
    if (ct_stands_aside())
        return;
    ct_log_start();
    ct_proc_loaded();
    ct_schedule_loaded();
    ct_origin_remember();
}

static bool prepare(void)
{
    ct_clock_start();
    ct_context_hooks.begins = ct_witness_begin;
    ct_context_hooks.met = ct_unified_start;
    ct_stacks_init(ct_config.stacks);
    ct_node_stacks_init(ct_stacks_are_on);
    ct_capture_init(ct_drain_settle);
    ct_recording_set(ct_config.start && !ct_config.capture);
    return ct_rows_init() && ct_contexts_init() && ct_allocations_init() && ct_collectives_init() &&
           ct_streams_init() && ct_program_events_init() && ct_kernels_init() && ct_graphs_init() &&
           ct_replicas_init() && (!ct_config.graph_nodes || ct_node_times_init()) &&
           ct_settle_init() && ct_api_stats_init() && ct_threads_init() && start_sampling();
}

CT_COLD void ct_give_up_recording(void)
{
    if (atomic_exchange(&ct_state, CT_OFF) != CT_OFF)
        ct_log(1, "not recording: no memory", NULL, NULL);
}

/*
 * More may be done here than whoever started the program may do, who has set our variables. The
 * loader leaves us out of such programs, unless they were linked with us, or root wants us in all.
 */
static bool is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* Nobody asked for this process. */
static bool is_left_alone(void)
{
    return !ct_rank_is_wanted(ct_config.rank, ct_config.ranks) ||
           (ct_config.alone && ct_proc_parent_has_preloaded("libcutrace.so"));
}

/* A child that did not forget would write its parent's file, or wait for a thread left there. */
static bool handle_forks(void)
{
    static atomic_bool handled;
    if (!atomic_load(&handled))
        atomic_store(&handled,
                     pthread_atfork(ct_sensor_thread_before_fork, NULL, forget_parent) == 0);
    return atomic_load(&handled);
}

/* Two copies at work would time each other's additions. An older copy says nothing of us. */
static bool stand_aside(void)
{
    uint32_t state = CT_NEW;
    if (!ct_stands_aside())
        return false;
    if (atomic_compare_exchange_strong(&ct_state, &state, CT_OFF) && !is_privileged() &&
        !ct_first_copy_tells()) {
        ct_log_start();
        ct_options_read();
        ct_log(1, ANOTHER_COPY, ct_own_library_path(), NULL);
    }
    return true;
}

/* Called by the one thread that has found nothing prepared. */
static bool arm(bool handles_forks)
{
    if (is_privileged()) {
        atomic_store(&ct_state, CT_OFF);
        return false;
    }
    ct_proc_look_for_filters();
    load(); /* another library's constructor may have come here before ours ran */
    bool ok = ct_options_read();
    if (ok && is_left_alone()) {
        atomic_store(&ct_state, CT_OFF);
        return false;
    }
    uint32_t state = CT_ARMING;
    ok = ok && handles_forks && prepare() &&
         atomic_compare_exchange_strong(&ct_state, &state, CT_ON);
    if (!ok)
        ct_give_up_recording();
    return ok;
}

/*
 * Calls that passed through while another thread prepares would be missing for good: cuInit, or
 * those by which the runtime asks for addresses once. Preparing takes milliseconds, or the loader's
 * lock, which we may hold.
 */
static bool wait_for_arming(void)
{
    for (unsigned i = 0; i < LONGEST_ARMING_MS * 10 && atomic_load(&ct_state) == CT_ARMING; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return ct_is_on();
}

static bool arm_once(void)
{
    uint32_t state = CT_NEW;
    bool handles_forks = handle_forks();
    return atomic_compare_exchange_strong(&ct_state, &state, CT_ARMING) ? arm(handles_forks)
                                                                        : wait_for_arming();
}

/*
 * Once the state is off threads only read it: none takes it from the others' caches. Calls of a
 * signal handler that comes meanwhile pass through.
 */
CT_COLD bool ct_arm(void)
{
    static CT_TLS volatile bool is_inside;
    uint32_t state = atomic_load(&ct_state);
    if (state == CT_ON || state == CT_OFF || is_inside)
        return state == CT_ON;
    int saved_errno = errno, cancel = ct_cancel_disable();
    is_inside = true;
    bool ok = !stand_aside() && arm_once();
    is_inside = false;
    ct_cancel_restore(cancel);
    errno = saved_errno;
    return ok;
}

#define MOST_COPIES 8

struct copies {
    const char *name[MOST_COPIES]; /* they are never unloaded */
    unsigned count;
};

static bool take_copy(const struct ct_object *o, void *arg)
{
    struct copies *c = arg;
    if (!ct_object_has(o, (const void *)(uintptr_t)take_copy) && ct_is_copy(o))
        c->name[c->count++] = o->name;
    return c->count == MOST_COPIES;
}

/* Names each copy once: a copy may be loaded before CUDA starts, or while it is in use. */
static void say_copies(void)
{
    static unsigned said;
    struct copies c = {.count = 0};
    ct_objects_visit(take_copy, &c);
    for (; said < c.count; said++)
        ct_log(1, ANOTHER_COPY, c.name[said], NULL);
}

/* Not at the look-ups of such functions: nothing is written there. */
static void say_not_wrapped(void)
{
    for (; notes_said < ct_notes_count(); notes_said++)
        if (ct_note_at(notes_said)->kind == CT_NOTE_NOT_WRAPPED)
            ct_log(2, "asked for, and not wrapped: ", ct_note_at(notes_said)->text, NULL);
}

static void say_stacks_refused(void)
{
    const char *why = ct_stacks_take_refusal();
    bool is_native = ct_config.stacks == CT_STACKS_NATIVE;
    if (why)
        ct_log(1, is_native ? "no native stacks: " : "no Python stacks: ", why, NULL);
}

/*
 * A child made without the C library (clone), and one that shares the parent's memory (vfork), have
 * the parent's state, and no drain thread to wait for.
 */
static bool has_something_to_end(void)
{
    return atomic_load(&is_running) && ct_is_on() && started_in == getpid();
}

static void finish(void)
{
    if (!has_something_to_end())
        return;
    const struct ct_patience patience = {.gpu_ns = (uint64_t)ct_config.exit_timeout_s * S_NS,
                                         .driver_ns = S_NS,
                                         .disk_ns = S_NS + 100 * MS_NS,
                                         .in_order = true};
    int saved_errno = errno, cancel = ct_cancel_disable();
    say_copies();
    ct_show_is_near();
    ct_sensor_thread_stop(100 * MS_NS);
    bool stopped = ct_drain_stop(&patience);
    atomic_store(&ct_state, CT_OFF);
    say_not_wrapped();
    say_stacks_refused();
    ct_filter_end();
    if (stopped)
        ct_ctl_close();
    else
        ct_log(1, "the drain thread did not end in time; the profile lacks the last operations",
               NULL, NULL);
    ct_show();
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

void ct_end_at_once(void)
{
    static const struct ct_patience patience = {
        .gpu_ns = 50 * MS_NS, .driver_ns = 40 * MS_NS, .disk_ns = S_NS};
    if (!has_something_to_end())
        return;
    int saved_errno = errno, cancel = ct_cancel_disable();
    ct_drain_stop(&patience);
    atomic_store(&ct_state, CT_OFF);
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

void ct_flush_before_exec(void)
{
    if (!has_something_to_end())
        return;
    int saved_errno = errno, cancel = ct_cancel_disable();
    ct_drain_flush(100 * MS_NS);
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

static void take(bool finished)
{
    ct_profile_take(finished);
    ct_trace_file_take(finished);
    ct_metrics_take(finished);
    if (finished)
        ct_show_look();
}

static void write_files(void)
{
    ct_profile_write();
    ct_trace_file_write();
    ct_metrics_write();
}

static void tend(void)
{
    say_not_wrapped();
    say_stacks_refused();
    ct_metrics_tend();
    ct_sensor_thread_tend();
    ct_ctl_look();
}

void ct_cuda_started(void)
{
    if (atomic_exchange(&started, true))
        return;
    int saved_errno = errno, cancel = ct_cancel_disable();
    int version = 0;
    ct_proc_look_for_filters(); /* filters of this thread alone, or since it was prepared */
    if (CT_HAS(cuDriverGetVersion))
        CT_REAL(cuDriverGetVersion)(&version);
    started_in = getpid();
    ct_profile_start((uint32_t)version);
    if (!ct_spare() || ct_config.print_asked)
        ct_tool_find();
    ct_show_start();
    ct_run_tell(CT_RUN_STARTED, "", "");
    ct_trace_file_start();
    ct_metrics_start();
    say_copies();
    if (ct_config.brackets && !ct_journal_open(ct_config.brackets))
        ct_log(1, "cannot write CUTRACE_BRACKETS=", ct_config.brackets, NULL);
    atexit(finish);
    if (ct_drain_start(take, write_files, tend)) {
        ct_ctl_open();
        ct_watchdog_start();
    } else {
        ct_log(1,
               ct_spare()
                   ? "under a filter of system calls no thread is started that may not be; the "
                     "profile is written at exit"
                   : "no drain thread could be started; the profile is written at exit",
               NULL, NULL);
    }
    atomic_store(&is_running, true);
    ct_cancel_restore(cancel);
    errno = saved_errno;
}

void ct_cuda_refused(unsigned result)
{
    static atomic_bool told; /* some ask again and again */
    char code[24];
    struct ct_text t = ct_text_in(code, sizeof(code));
    if (atomic_exchange(&told, true))
        return;
    ct_text_add_u64(&t, result);
    ct_run_tell(CT_RUN_REFUSED, code, "");
}

/* Whether somebody has started CUDA: loading the library alone, as dependencies do, is no use. */
static bool is_driver_in_use(const struct ct_object *o, void *unused)
{
    (void)unused;
    int count;
    __typeof__(cuDeviceGetCount) *ask = NULL;
    if (o->name && ct_is_library(o->name, "libcuda.so"))
        ask = (__typeof__(ask))(uintptr_t)ct_object_symbol(o, "cuDeviceGetCount");
    return ask && ask(&count) != CUDA_ERROR_NOT_INITIALIZED;
}

/* RTLD_DEEPBIND, dlmopen: routes that interposition does not reach should not look like silence. */
__attribute__((destructor)) static void say_if_blind(void)
{
    if (atomic_load(&ct_state) != CT_NEW || is_privileged() || !ct_own_library_is_preloaded() ||
        !ct_objects_visit(is_driver_in_use, NULL))
        return;
    ct_options_read();
    ct_log(1, "CUDA was used, but none of its calls came by here: there is no profile", NULL, NULL);
}
