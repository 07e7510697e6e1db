/* SPDX-License-Identifier: MIT */
/* Events on managed memory: a queue that wraps around, lies, overflows; and what they add up to. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "case_main.h"
#include "drain/drain.h"
#include "fake_driver.h"
#include "launch/bracket.h"
#include "managed/unified.h"
#include "managed/uvm.h"
#include "sim/uvm_tools.h"
#include "state/context.h"
#include "state/note.h"
#include "system/mem.h"

static CUresult fake_current(CUcontext *c)
{
    *c = (CUcontext)0x1000;
    return CUDA_SUCCESS;
}

static CUdevice device;

static CUresult fake_which(CUdevice *out)
{
    *out = device;
    return CUDA_SUCCESS;
}

static const uint8_t uuid[16] = {0x9d, 0x67, 0x9a, 0x40};

static CUresult fake_uuid(CUuuid *out, CUdevice of)
{
    memcpy(out->bytes, uuid, sizeof(uuid));
    out->bytes[15] = (char)of;
    return CUDA_SUCCESS;
}

/* The host is 0, the program's GPU 1, another one 2. */
static void set_up(void)
{
    ct_config.unified = true;
    ct_config.events = 64;
    ck_assert(ct_contexts_init());
    ct_context_hooks.met = ct_unified_start;
    ct_recording_set(true);
    fake_context(fake_current);
    FAKE(cuCtxGetDevice, fake_which);
    FAKE(cuDeviceGetUuid, fake_uuid);
    FAKE(cuDeviceGetUuid_v2, fake_uuid);
    memset(uvm_tools.uuids[0], 0xa6, 16);
    memcpy(uvm_tools.uuids[1], uuid, 16);
    memset(uvm_tools.uuids[2], 0x77, 16);
}

static void start(void)
{
    ck_assert(uvm_tools_start());
    ck_assert_ptr_nonnull(ct_context_get((CUcontext)0x1000));
}

static struct ct_file_unified figures(enum ct_unified kind)
{
    struct ct_file_unified f = {0};
    ct_unified_figures(0, kind, &f);
    return f;
}

static union ct_uvm_entry migration(uint8_t from, uint8_t to, uint64_t address, uint64_t bytes,
                                    uint64_t ns)
{
    return (union ct_uvm_entry){.migration = {.type = CT_UVM_MIGRATION,
                                              .cause = CT_UNIFIED_CAUSE_FAULT,
                                              .from = from,
                                              .to = to,
                                              .address = address,
                                              .bytes = bytes,
                                              .gpu_begin_ns = 1000000,
                                              .gpu_end_ns = 1000000 + ns}};
}

static union ct_uvm_entry fault(uint8_t gpu, uint32_t batch, uint64_t ns)
{
    return (union ct_uvm_entry){
        .gpu_fault = {
            .type = CT_UVM_GPU_FAULT, .gpu = gpu, .address = 0x7000, .ns = ns, .batch = batch}};
}

static union ct_uvm_entry replay(uint8_t gpu, uint32_t batch, uint64_t ns)
{
    return (union ct_uvm_entry){
        .replay = {.type = CT_UVM_REPLAY, .gpu = gpu, .batch = batch, .ns = ns}};
}

#define PUT(event)                                                                                 \
    do {                                                                                           \
        union ct_uvm_entry entry_ = event;                                                         \
        uvm_tools_put(&entry_);                                                                    \
    } while (0)

START_TEST(migrations_add_up)
{
    start();
    ck_assert_uint_eq(uvm_tools.inits, 2); /* the first descriptor is not the one */
    PUT(migration(0, 1, 0x10000, 65536, 500));
    PUT(migration(0, 1, 0x20000, 4096, 300));
    PUT(migration(1, 0, 0x10000, 8192, 700));
    PUT(migration(0, 0, 0x10000, 1 << 20, 700)); /* from node to node */
    ck_assert(ct_unified_collect());
    ck_assert(!ct_unified_collect());
    struct ct_file_unified f = figures(CT_UNIFIED_HTOD);
    ck_assert_uint_eq(f.count, 2);
    ck_assert_uint_eq(f.bytes, 65536 + 4096);
    ck_assert_uint_eq(f.min_bytes, 4096);
    ck_assert_uint_eq(f.max_bytes, 65536);
    ck_assert_uint_eq(f.cause_bytes[CT_UNIFIED_CAUSE_FAULT], 65536 + 4096);
    ck_assert_uint_eq(f.timed, 2);
    ck_assert_uint_eq(f.total_ns, 800);
    ck_assert_uint_eq(f.min_ns, 300);
    ck_assert_uint_eq(f.max_ns, 500);
    ck_assert_uint_eq(f.first_address, 0x10000);
    ck_assert_uint_eq(f.last_address, 0x20fff);
    ck_assert_uint_eq(figures(CT_UNIFIED_DTOH).bytes, 8192);
    ck_assert_uint_eq(figures(CT_UNIFIED_DTOD).count, 0);
    ck_assert_uint_eq(ct_unified_lost(CT_UNIFIED_LOSS_ELSEWHERE), 0);
}
END_TEST

/* A group is what one replay ended; replays of other processes' faults are told, too. */
START_TEST(faults_are_groups)
{
    start();
    for (int i = 0; i < 24; i++)
        PUT(fault(1, 7, 1000 + (uint64_t)i));
    for (int i = 0; i < 3; i++)
        PUT(fault(1, 8, 5000));
    PUT(replay(1, 99, 9000));
    PUT(replay(1, 7, 3000));
    PUT(replay(1, 7, 4000));
    PUT(replay(2, 8, 4000));
    ct_unified_collect();
    struct ct_file_unified f = figures(CT_UNIFIED_GPU_FAULTS);
    ck_assert_uint_eq(f.count, 1);
    ck_assert_uint_eq(f.faults, 24);
    ck_assert_uint_eq(f.total_ns, 2000);
    ct_unified_finish();
    f = figures(CT_UNIFIED_GPU_FAULTS);
    ck_assert_uint_eq(f.count, 2);
    ck_assert_uint_eq(f.faults, 27);
    ck_assert_uint_eq(f.timed, 1);
}
END_TEST

START_TEST(many_batches_may_be_open)
{
    start();
    for (uint32_t i = 0; i < 1000; i++)
        PUT(fault(1, i, 1000));
    ct_unified_collect();
    ct_unified_finish();
    ck_assert_uint_eq(figures(CT_UNIFIED_GPU_FAULTS).count, 1000);
    ck_assert_uint_eq(figures(CT_UNIFIED_GPU_FAULTS).timed, 0);
}
END_TEST

START_TEST(it_wraps_around_and_overflows)
{
    uint64_t put = 0;
    start();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 50000; i++, put++)
            PUT(migration(1, 0, 0x10000, 4096, 10));
        ct_unified_collect();
    }
    ck_assert_uint_eq(figures(CT_UNIFIED_DTOH).count, put);
    ck_assert_uint_eq(ct_unified_lost(CT_UNIFIED_LOSS_FULL), 0);
    for (int i = 0; i < 70000; i++, put++)
        PUT(migration(1, 0, 0x10000, 4096, 10));
    ct_unified_collect();
    ck_assert_uint_gt(ct_unified_lost(CT_UNIFIED_LOSS_FULL), 0);
    ck_assert_uint_eq(figures(CT_UNIFIED_DTOH).count + ct_unified_lost(CT_UNIFIED_LOSS_FULL), put);
}
END_TEST

static void count_call(const union ct_uvm_entry *entry, void *calls)
{
    (void)entry;
    ++*(unsigned *)calls;
}

/* Whatever is in that memory, no more is read than there is. */
START_TEST(nothing_in_it_is_believed)
{
    static union ct_uvm_entry entries[16];
    static struct ct_uvm_control control;
    srand(3);
    start();
    for (int i = 0; i < 100000; i++) {
        union ct_uvm_entry e;
        for (unsigned k = 0; k < 8; k++)
            e.words[k] = (uint64_t)rand() << 33 ^ (uint64_t)rand();
        e.type = (uint8_t)(rand() % 8);
        uvm_tools_put(&e);
        if (i % 1000 == 0)
            ct_unified_collect();
    }
    ct_unified_finish();
    struct ct_uvm_queue q = {entries, &control, 16, 0};
    atomic_store(&control.put_behind, 0xfffffff5);
    unsigned calls = 0;
    ck_assert_uint_eq(ct_uvm_queue_take(&q, count_call, &calls), 5);
    ck_assert_uint_eq(calls, 5);
    ck_assert_uint_eq(atomic_load(&control.get_behind), 5);
}
END_TEST

/* A part of a GPU has a UUID of its own. Of several, none can be told. */
START_TEST(a_part_of_the_only_gpu_is_it)
{
    start();
    PUT(migration(0, 2, 0x10000, 65536, 500));
    ct_unified_collect();
    ck_assert_uint_eq(ct_unified_lost(CT_UNIFIED_LOSS_ELSEWHERE), 0);
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).count, 1);
    device = 1;
    ck_assert_ptr_nonnull(ct_context_get((CUcontext)0x2000));
    PUT(migration(0, 2, 0x10000, 65536, 500));
    PUT(migration(0, 1, 0x10000, 65536, 500));
    ct_unified_collect();
    ck_assert_uint_eq(ct_unified_lost(CT_UNIFIED_LOSS_ELSEWHERE), 1);
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).count, 2);
}
END_TEST

START_TEST(what_is_told_late_is_asked_for)
{
    union ct_uvm_entry e = migration(0, 1, 0x10000, 65536, 500);
    start();
    ct_unified_collect(); /* asks, as nobody has so far */
    uvm_tools_put_late(&e);
    ct_unified_collect();
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).count, 0);
    ct_unified_settle();
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).count, 1);
}
END_TEST

START_TEST(what_happens_while_off_is_not_counted)
{
    start();
    PUT(migration(0, 1, 0x10000, 1, 500));
    ct_drain_record(false);
    PUT(migration(0, 1, 0x10000, 10, 500));
    ct_drain_record(true);
    PUT(migration(0, 1, 0x10000, 100, 500));
    ct_unified_collect();
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).bytes, 101);
}
END_TEST

static bool is_noted(const char *part)
{
    for (uint32_t i = 0; i < ct_notes_count(); i++)
        if (strstr(ct_note_at(i)->text, part))
            return true;
    return false;
}

START_TEST(a_refusal_is_said)
{
    uvm_tools.absent = _i == 0;
    uvm_tools.granted = _i == 1 ? 2 : 0;
    uvm_tools.silent = _i == 2;
    start();
    ck_assert(!ct_unified_is_watched());
    ct_unified_finish();
    ck_assert(is_noted(_i == 2 ? "no address space" : "nvidia-uvm-tools"));
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).count, 0);
}
END_TEST

START_TEST(a_closed_descriptor_is_the_end)
{
    start();
    PUT(migration(0, 1, 0x10000, 65536, 500));
    close_range(3, ~0u, 0);
    int other = open("/dev/null", O_RDWR);
    ct_unified_settle();
    ck_assert(!ct_unified_is_watched());
    ck_assert(is_noted("closed"));
    ck_assert_uint_eq(figures(CT_UNIFIED_HTOD).count, 1);
    ct_unified_finish();
    ck_assert_int_ge(fcntl(other, F_GETFD), 0);
}
END_TEST

START_TEST(nobody_asked)
{
    ct_config.unified = false;
    start();
    ck_assert_uint_eq(uvm_tools.opened, 0);
    ct_unified_finish();
    ck_assert_uint_eq(ct_notes_count(), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("unified");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, migrations_add_up);
    tcase_add_test(tests, faults_are_groups);
    tcase_add_test(tests, many_batches_may_be_open);
    tcase_add_test(tests, it_wraps_around_and_overflows);
    tcase_add_test(tests, nothing_in_it_is_believed);
    tcase_add_test(tests, a_part_of_the_only_gpu_is_it);
    tcase_add_test(tests, what_is_told_late_is_asked_for);
    tcase_add_test(tests, what_happens_while_off_is_not_counted);
    tcase_add_loop_test(tests, a_refusal_is_said, 0, 3);
    tcase_add_test(tests, a_closed_descriptor_is_the_end);
    tcase_add_test(tests, nobody_asked);
    return ct_case_main("unified", tests);
}
