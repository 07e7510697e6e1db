/* SPDX-License-Identifier: MIT */
#include "managed/unified.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/config.h"
#include "launch/bracket.h"
#include "managed/uvm.h"
#include "state/context.h"
#include "state/note.h"
#include "system/clock.h"
#include "system/log.h"
#include "system/mem.h"
#include "system/proc.h"

/* Period of asking the driver for events that it would keep until it has something to do. */
#define FLUSH_NS 1000000000u

#define BATCHES 64 /* batches of faults before their replay: the driver works on one a GPU */
#define NOBODY CT_DEVICES
#define TABLE_LOOKS 64 /* looks into the driver's table for unknown processors */

/* Faults that the driver deals with together. */
struct batch {
    uint64_t begin_ns; /* first fault, by the host's clock */
    uint64_t faults;   /* 0: none */
    uint32_t number;
    uint8_t gpu;
};

struct unified {
    struct ct_uvm uvm;
    struct ct_file_unified figures[CT_DEVICES][CT_UNIFIED_COUNT];
    struct batch batch[BATCHES];
    uint32_t next_batch;
    uint64_t elsewhere;
    uint64_t flushed_ns;
    uint32_t looks;
    uint8_t uuids[CT_UVM_PROCESSORS][CT_UVM_UUID_BYTES];
};

enum state { OFF, STARTING, ON, REFUSED, ENDED };

static _Atomic uint32_t state;
static struct unified *all;

static const char refused[] = "Managed memory was not watched: /dev/nvidia-uvm-tools is not there, "
                              "not for this user, or of another version";
static const char never[] = "Managed memory was not watched: no address space for it was found";
static const char ended[] = "Managed memory was not watched to the end: the program closed the "
                            "descriptor";

/* ---- which device ---- */

static uint32_t device_with(const uint8_t *uuid)
{
    for (uint32_t i = 0; i < ct_devices_count(); i++)
        if (!__builtin_memcmp(ct_device(i)->uuid.bytes, uuid, CT_UVM_UUID_BYTES))
            return i;
    return NOBODY;
}

/* A part of a GPU (MIG) has its own UUID, the driver tells the GPU's: the only device is meant. */
static uint32_t device_of(uint32_t processor)
{
    uint32_t device = NOBODY;
    if (!processor || processor >= CT_UVM_PROCESSORS)
        return NOBODY;
    device = device_with(all->uuids[processor]);
    if (device == NOBODY && all->looks < TABLE_LOOKS) {
        all->looks++;
        ct_uvm_uuids(&all->uvm, all->uuids);
        device = device_with(all->uuids[processor]);
    }
    return device == NOBODY && ct_devices_count() == 1 ? 0 : device;
}

/* ---- events ---- */

static struct ct_file_unified *figures_of(uint32_t processor, enum ct_unified kind)
{
    uint32_t device = device_of(processor);
    all->elsewhere += device == NOBODY;
    return device == NOBODY ? NULL : &all->figures[device][kind];
}

static void count_at(struct ct_file_unified *f, uint64_t address, uint64_t bytes)
{
    uint64_t last = address + (bytes ? bytes - 1 : 0);
    f->first_address = f->last_address ? ct_min(f->first_address, address) : address;
    f->last_address = ct_max(f->last_address, last);
}

static void count_time(struct ct_file_unified *f, uint64_t begin_ns, uint64_t end_ns)
{
    if (!begin_ns || end_ns < begin_ns)
        return;
    uint64_t ns = end_ns - begin_ns;
    f->min_ns = f->timed ? ct_min(f->min_ns, ns) : ns;
    f->max_ns = ct_max(f->max_ns, ns);
    f->total_ns += ns;
    f->timed++;
}

static void migrated(const union ct_uvm_entry *e)
{
    uint32_t from = e->migration.from, to = e->migration.to, cause = e->migration.cause;
    enum ct_unified kind = !from ? CT_UNIFIED_HTOD : !to ? CT_UNIFIED_DTOH : CT_UNIFIED_DTOD;
    if (!from && !to) /* between parts of the host's memory */
        return;
    struct ct_file_unified *f = figures_of(to ? to : from, kind);
    if (!f)
        return;
    uint64_t bytes = e->migration.bytes;
    f->min_bytes = f->count ? ct_min(f->min_bytes, bytes) : bytes;
    f->max_bytes = ct_max(f->max_bytes, bytes);
    f->bytes += bytes;
    f->cause_bytes[cause < CT_UNIFIED_CAUSE_COUNT ? cause : CT_UNIFIED_CAUSE_OTHER] += bytes;
    f->count++;
    count_at(f, e->migration.address, bytes);
    count_time(f, e->migration.gpu_begin_ns, e->migration.gpu_end_ns);
}

static struct batch *batch_of(uint8_t gpu, uint32_t number)
{
    for (uint32_t i = 0; i < BATCHES; i++) {
        struct batch *b = &all->batch[(all->next_batch - i) % BATCHES];
        if (b->faults && b->gpu == gpu && b->number == number)
            return b;
    }
    return NULL;
}

/* Counts a batch and frees its place. end_ns 0: it was never replayed, or its replay was lost. */
static void end_batch(struct batch *b, uint64_t end_ns)
{
    struct ct_file_unified *f = b->faults ? figures_of(b->gpu, CT_UNIFIED_GPU_FAULTS) : NULL;
    if (f) {
        f->count++;
        f->faults += b->faults;
        count_time(f, b->begin_ns, end_ns);
    }
    b->faults = 0;
}

static void gpu_faulted(const union ct_uvm_entry *e)
{
    struct batch *b = batch_of(e->gpu_fault.gpu, e->gpu_fault.batch);
    if (!b) {
        b = &all->batch[++all->next_batch % BATCHES];
        end_batch(b, 0);
        *b = (struct batch){e->gpu_fault.ns, 0, e->gpu_fault.batch, e->gpu_fault.gpu};
    }
    b->faults++;
    struct ct_file_unified *f = figures_of(e->gpu_fault.gpu, CT_UNIFIED_GPU_FAULTS);
    if (f)
        count_at(f, e->gpu_fault.address, 0);
}

/* The driver tells of all replays, also those of other processes' faults. */
static void replayed(const union ct_uvm_entry *e)
{
    struct batch *b = batch_of(e->replay.gpu, e->replay.batch);
    if (b)
        end_batch(b, e->replay.ns);
}

static void cpu_faulted(const union ct_uvm_entry *e)
{
    struct ct_file_unified *f = &all->figures[0][CT_UNIFIED_CPU_FAULTS];
    f->count++;
    count_at(f, e->cpu_fault.address, 0);
}

static void take(const union ct_uvm_entry *e, void *recording)
{
    if (!recording)
        return;
    switch (e->type) {
    case CT_UVM_MIGRATION:
        migrated(e);
        break;
    case CT_UVM_GPU_FAULT:
        gpu_faulted(e);
        break;
    case CT_UVM_REPLAY:
        replayed(e);
        break;
    case CT_UVM_CPU_FAULT:
        cpu_faulted(e);
        break;
    default:
        break;
    }
}

/* ---- from start to end ---- */

static void start(void)
{
    uint32_t off = OFF;
    if (!atomic_compare_exchange_strong(&state, &off, STARTING))
        return;
    enum ct_uvm_result r = CT_UVM_REFUSED;
    if (!all)
        all = ct_map(sizeof(*all));
    if (all)
        r = ct_uvm_open(&all->uvm);
    atomic_store(&state, r == CT_UVM_OPEN ? ON : r == CT_UVM_NOT_YET ? OFF : REFUSED);
    if (r == CT_UVM_REFUSED)
        ct_log(1, refused, NULL, NULL);
}

void ct_unified_start(void)
{
    if (!ct_config.unified || atomic_load(&state) != OFF)
        return;
    int saved_errno = errno;
    if (!ct_proc_is_confined())
        start();
    errno = saved_errno;
}

void ct_unified_forget(void)
{
    if (all)
        ct_uvm_close(&all->uvm);
    all = NULL;
    atomic_store(&state, OFF);
}

bool ct_unified_is_watched(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == ON;
}

/* A filter of system calls that came since might end the program for our flush: none is made. */
static bool flush(void)
{
    all->flushed_ns = ct_clock_monotonic_ns();
    return ct_proc_is_confined() || ct_uvm_flush(&all->uvm);
}

static bool take_all(void)
{
    return ct_uvm_queue_take(&all->uvm.queue, take, ct_recording() ? all : NULL) > 0;
}

/* When all entries are taken: until then recording does not end without coming here. */
static void end(void)
{
    atomic_store(&state, ENDED);
    ct_note(CT_NOTE_WARNING, ended);
}

static bool collect(bool flushes)
{
    bool is_open = !flushes || flush();
    bool any = take_all();
    if (!is_open)
        end();
    return any;
}

bool ct_unified_collect(void)
{
    return ct_unified_is_watched() &&
           collect(ct_clock_monotonic_ns() - all->flushed_ns >= FLUSH_NS);
}

void ct_unified_settle(void)
{
    if (ct_unified_is_watched())
        collect(true);
}

void ct_unified_finish(void)
{
    ct_unified_settle();
    uint32_t s = atomic_load(&state);
    if (s == OFF && ct_config.unified && ct_devices_count())
        ct_note(CT_NOTE_WARNING, never);
    if (s == REFUSED)
        ct_note(CT_NOTE_WARNING, refused);
    if (s != ON && s != ENDED)
        return;
    for (uint32_t i = 0; i < BATCHES; i++)
        end_batch(&all->batch[i], 0);
    ct_uvm_close(&all->uvm);
    atomic_store(&state, ENDED);
}

bool ct_unified_figures(uint32_t device, uint32_t kind, struct ct_file_unified *figures)
{
    uint32_t s = atomic_load_explicit(&state, memory_order_acquire);
    if ((s != ON && s != ENDED) || device >= CT_DEVICES || !all->figures[device][kind].count)
        return false;
    *figures = all->figures[device][kind];
    figures->device = device;
    figures->kind = kind;
    return true;
}

uint64_t ct_unified_lost(enum ct_unified_loss loss)
{
    uint32_t s = atomic_load_explicit(&state, memory_order_acquire);
    uint64_t n = 0;
    if (s != ON && s != ENDED)
        return 0;
    if (loss == CT_UNIFIED_LOSS_ELSEWHERE)
        return all->elsewhere;
    for (uint32_t type = 0; all->uvm.queue.control && type < CT_UVM_TYPES; type++)
        n += atomic_load_explicit(&all->uvm.queue.control->dropped[type], memory_order_relaxed);
    return n;
}
