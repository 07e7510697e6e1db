/* SPDX-License-Identifier: MIT */
/* The table of streams: what it does when streams come and go, and when it is full. */
#include "base/config.h"
#include "case_main.h"
#include "fake_driver.h"
#include "state/program_event.h"
#include "state/stream.h"
#include "state/thread.h"
#include "system/clock.h"

static uint64_t context[2];
static unsigned current; /* of these */
static unsigned calls;
static struct ct_thread thread;

static CUresult fake_current(CUcontext *out)
{
    calls++;
    *out = (CUcontext)&context[current];
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    ct_config.events = 64;
    ck_assert(ct_contexts_init() && ct_streams_init());
}

static CUstream handle(uint64_t i)
{
    return (CUstream)(uintptr_t)(0x10000 + 16 * i);
}

static void create(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        ct_stream_created(handle(i), 0, 0);
}

START_TEST(entries_go_round)
{
    create(0, 100);
    for (uint64_t n = 0; n < 100000; n++) {
        uint64_t i = 100 + n % 5000;
        create(i, 1);
        ct_assert(ct_stream_find(handle(i)));
        ct_stream_destroyed(handle(i));
    }
    ck_assert_uint_eq(ct_streams_count(), CT_STREAMS_LISTED + 1);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_ptr_eq(ct_stream_find(handle(i)), ct_stream(i));
}
END_TEST

/* However many handles come and go. */
START_TEST(streams_that_live_are_found)
{
    create(0, 100);
    for (uint64_t n = 100; n < 300000; n++) {
        create(n, 1);
        ct_stream_destroyed(handle(n));
    }
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_ptr_eq(ct_stream_find(handle(i)), ct_stream(i));
    ck_assert_uint_eq(ct_streams_count(), CT_STREAMS_LISTED + 1);
}
END_TEST

/* A gate is known however many events there are, and without room for more still. */
START_TEST(events_behind_a_gate_are_known)
{
    ck_assert(ct_program_events_init());
    ct_program_event_recorded((CUevent)handle(0), true, 8);
    ck_assert_uint_eq(ct_program_event_stream((CUevent)handle(0)), 8);
    for (uint64_t i = 1; i < 1500000; i++)
        ct_program_event_made((CUevent)handle(i), CU_EVENT_DISABLE_TIMING);
    ck_assert(ct_program_event_is_behind_gate((CUevent)handle(0)));
    ck_assert(!ct_program_event_is_behind_gate((CUevent)handle(7)));
    ct_program_event_gone((CUevent)handle(0));
    ck_assert(!ct_program_event_is_behind_gate((CUevent)handle(0)));
}
END_TEST

/* A name is a stream's, and not that of the next one with its handle or its entry. */
START_TEST(names_go_with_their_streams)
{
    create(0, CT_STREAMS_LISTED);
    create(5000, 1);
    ck_assert(ct_stream_give_name(&thread, handle(5000), "gone"));
    struct ct_stream *s = ct_stream_find(handle(5000));
    ck_assert_str_eq(s->name, "gone");
    ct_stream_destroyed(handle(5000));
    create(5000, 1);
    ck_assert_ptr_eq(ct_stream_find(handle(5000)), s);
    ck_assert_ptr_null(s->name);
}
END_TEST

static bool captures;
static unsigned asked;

static CUresult fake_is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult fake_flags(CUstream stream, unsigned *flags)
{
    (void)stream;
    asked++;
    *flags = 0;
    return CUDA_SUCCESS;
}

/* To meet a stream is to ask for what would end its capture. */
START_TEST(to_name_one_that_captures_is_to_ask_nothing)
{
    FAKE(cuStreamIsCapturing, fake_is_capturing);
    FAKE(cuStreamGetFlags, fake_flags);
    captures = true;
    ck_assert(!ct_stream_give_name(&thread, handle(0), "unknown"));
    ck_assert_uint_eq(asked, 0);
    create(1, 1);
    ck_assert(ct_stream_give_name(&thread, handle(1), "known"));
    ck_assert_uint_eq(asked, 0);
    captures = false;
    ck_assert(ct_stream_give_name(&thread, handle(0), "now"));
    ck_assert_uint_eq(asked, 1);
    ck_assert_str_eq(ct_stream_find(handle(0))->name, "now");
}
END_TEST

/* How often a stream must be met to get an entry; 0: too often. */
static unsigned meetings(uint64_t i)
{
    for (unsigned n = 1; n <= 10; n++) {
        create(i, 1);
        if (ct_stream_find(handle(i)))
            return n;
    }
    return 0;
}

/* Of the first nineteen the drain thread still has brackets. */
START_TEST(entries_in_use_are_left_alone)
{
    create(0, CT_STREAMS);
    for (uint32_t i = 2000; i < 2020; i++) {
        atomic_fetch_add(&ct_stream(i)->opened, i < 2019);
        ct_stream_destroyed(handle(i));
    }
    ck_assert_uint_eq(meetings(CT_STREAMS), 3);
    ck_assert_ptr_eq(ct_stream_find(handle(CT_STREAMS)), ct_stream(2019));
    ck_assert_uint_eq(meetings(CT_STREAMS + 1), 0);
    atomic_fetch_add(&ct_stream(2003)->abandoned, 1);
    ck_assert_uint_ne(meetings(CT_STREAMS + 1), 0);
    ck_assert_ptr_eq(ct_stream_find(handle(CT_STREAMS + 1)), ct_stream(2003));
}
END_TEST

START_TEST(what_finds_no_entry_asks_nothing)
{
    create(0, CT_STREAMS);
    ck_assert_ptr_nonnull(ct_stream_get(&thread, handle(5)));
    ck_assert_uint_eq(ct_streams_count(), CT_STREAMS);
    calls = 0;
    for (int i = 0; i < 100; i++)
        ck_assert_ptr_null(ct_stream_get(&thread, handle(CT_STREAMS)));
    ck_assert_uint_eq(calls, 0);
    ct_stream_destroyed(handle(7)); /* listed: the last to be used again */
    ck_assert_ptr_eq(ct_stream_get(&thread, handle(CT_STREAMS)), ct_stream(7));
}
END_TEST

/* The default stream has one handle in all contexts: which one it is the current context tells. */
START_TEST(a_default_stream_is_its_context_s)
{
    struct ct_stream *of[2];
    for (unsigned i = 0; i < 6; i++) {
        current = i % 2;
        struct ct_stream *s = ct_stream_get(&thread, CU_STREAM_LEGACY);
        ck_assert_ptr_nonnull(s);
        if (i < 2)
            of[i] = s;
        ck_assert_ptr_eq(s, of[current]);
        ck_assert_ptr_eq(ct_stream_get(&thread, CU_STREAM_LEGACY), s); /* as it was found last */
        ck_assert_ptr_eq((void *)ct_context(s->context)->handle, &context[current]);
    }
    ck_assert_ptr_ne(of[0], of[1]);
    ct_streams_of_context_gone(of[1]->context);
    struct ct_stream *anew = ct_stream_get(&thread, CU_STREAM_LEGACY);
    ck_assert_ptr_nonnull(anew);
    ck_assert(!anew->gone);
    ct_context(anew->context)->state = CT_CONTEXT_GONE; /* and its stream is not known to be */
    ck_assert_ptr_ne(ct_stream_get(&thread, CU_STREAM_LEGACY), anew);
}
END_TEST

/* A bracket of the thread's that has ended. */
static void bracket(struct ct_stream *s, struct ct_thread *t)
{
    atomic_fetch_add(&s->opened, 1);
    ct_stream_recorded(s, t, 1, true, false);
}

/* Till a start record is due again; and only behind brackets of the thread's own. */
START_TEST(the_clock_serves_between_two_start_records)
{
    static struct ct_thread other;
    uint64_t ticks, long_ago = ct_ticks() - ct_ns_to_ticks(300000);
    thread.number = 1;
    other.number = 2;
    create(0, 1);
    struct ct_stream *s = ct_stream_find(handle(0));
    bracket(s, &thread);
    ck_assert_uint_eq(ct_stream_spares_start(s, &thread, &ticks),
                      0); /* nobody has said that it could */
    s->clock_until = UINT64_MAX;
    ct_stream_start_recorded(s, long_ago);
    ck_assert_uint_eq(ct_stream_spares_start(s, &thread, &ticks), 0);
    ct_stream_start_recorded(s, ct_ticks() + ct_ns_to_ticks(1000000000)); /* however slow this is */
    ck_assert_uint_eq(ct_stream_spares_start(s, &thread, &ticks), CT_OP_TOLD_START);
    ck_assert_uint_eq(ct_stream_spares_start(s, &other, &ticks), 0);
    ct_stream_break(s);
    ck_assert_uint_eq(ct_stream_spares_start(s, &thread, &ticks), 0);
    bracket(s, &other);
    ck_assert_uint_eq(ct_stream_spares_start(s, &thread, &ticks), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("stream");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, entries_go_round);
    tcase_add_test(t, streams_that_live_are_found);
    tcase_add_test(t, events_behind_a_gate_are_known);
    tcase_add_test(t, names_go_with_their_streams);
    tcase_add_test(t, a_default_stream_is_its_context_s);
    tcase_add_test(t, to_name_one_that_captures_is_to_ask_nothing);
    tcase_add_test(t, entries_in_use_are_left_alone);
    tcase_add_test(t, the_clock_serves_between_two_start_records);
    tcase_add_test(t, what_finds_no_entry_asks_nothing);
    return ct_case_main("unit_stream", t);
}
