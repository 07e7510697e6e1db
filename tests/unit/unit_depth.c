/* SPDX-License-Identifier: MIT */
/* How many records go into a stream that may stand still, on a device that does as it is told. */
#include <check.h>

#include "case_main.h"
#include "launch/depth.h"
#include "state/thread.h"

#define DEPTH 1021 /* entries that a stream takes */
#define QUEUED 900 /* launches of a program behind its own gate */
#define EVENTS 65536
#define LAUNCHES 5000

static char handles[EVENTS];
static CUevent events[EVENTS];
static uint64_t ended; /* brackets that the device is through with */
static unsigned asked;
static struct ct_thread thread;

static CUresult fake_query(CUevent e)
{
    asked++;
    return (uint64_t)((char *)e - handles) <= ended ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static void set_up(void)
{
    ct_driver_real[CT_ID_cuEventQuery] = (ct_function)fake_query;
    ck_assert(ct_contexts_init() && ct_streams_init());
    for (unsigned i = 0; i < EVENTS; i++)
        events[i] = (CUevent)&handles[i];
    ct_context(0)->events.event = events;
}

/* A launch; false: it got no bracket. With a shared start there is one record. */
static bool launch(struct ct_stream *s, bool shared)
{
    if (ct_depth_is_reached(s))
        return false;
    uint64_t n = atomic_load(&s->sequence) + 1;
    ct_assert(ct_stream_recorded(s, &thread, (uint32_t)n, shared, false) == n);
    return true;
}

static unsigned records_of(struct ct_stream *s)
{
    return (unsigned)(2 * atomic_load(&s->sequence) - atomic_load(&s->shared));
}

static void run(struct ct_stream *s, uint64_t through, bool drained)
{
    ended = through;
    if (drained)
        atomic_store(&s->done, through);
}

/* What comes before the gate is complete when it closes, and was so many brackets late till then.
 */
static unsigned records_behind_a_gate(unsigned before, unsigned late, bool drained, bool shared)
{
    struct ct_stream *s = ct_stream(0);
    *s = (struct ct_stream){.handle = NULL};
    ended = 0;
    for (unsigned i = 0; i < before; i++) {
        ct_assert(launch(s, shared));
        uint64_t n = atomic_load(&s->sequence);
        run(s, n - ct_min(n, late), drained);
    }
    run(s, before, drained);
    unsigned made = records_of(s);
    for (unsigned i = 0; i < QUEUED; i++)
        launch(s, shared);
    return records_of(s) - made;
}

START_TEST(a_gate_leaves_the_program_its_queue)
{
    static const unsigned late[] = {0, 1, 3, 20};
    for (unsigned before = 0; before < 200; before++)
        for (unsigned l = 0; l < 4; l++) {
            unsigned records = records_behind_a_gate(before, late[l], _i & 1, _i & 2);
            ck_assert_msg(records <= DEPTH - QUEUED, "%u records, %u launches before, %u late",
                          records, before, late[l]);
        }
}
END_TEST

/*
 * Behind so many launches of which the device is still at the first, and comes to the gate while
 * the program queues what is behind it. There are more gates in front of it, which are open, and
 * behind.
 */
static unsigned records_behind_a_known_gate(unsigned before, unsigned gate_every, bool shared)
{
    struct ct_stream *s = ct_stream(0);
    *s = (struct ct_stream){.handle = NULL};
    ended = 0;
    for (unsigned i = 1; i <= before; i++) {
        if (i % gate_every == 0)
            ct_depth_gate(s);
        launch(s, shared);
    }
    uint64_t last = atomic_load(&s->sequence);
    unsigned made = records_of(s);
    ct_depth_gate(s);
    for (unsigned i = 1; i <= QUEUED; i++) {
        run(s, ct_min(last, (uint64_t)i / 2), i % 2);
        if (i % gate_every == 0)
            ct_depth_gate(s);
        launch(s, shared);
    }
    return records_of(s) - made;
}

START_TEST(a_known_gate_leaves_the_program_its_queue)
{
    static const unsigned every[] = {1, 7, 50, 100, 300, 1000};
    for (unsigned before = 0; before < 500; before += 3)
        for (unsigned e = 0; e < 6; e++)
            ck_assert_uint_le(records_behind_a_known_gate(before, every[e], _i), DEPTH - QUEUED);
}
END_TEST

/*
 * The host makes so many launches while the device runs one, until the queue is full; before some
 * the program has a gate which is open when the device comes to it. How many get no bracket.
 */
static unsigned passed_over(unsigned ahead, unsigned gate_every, bool shared, bool drained)
{
    static struct {
        uint64_t brackets, entries; /* that were there once it was queued */
    } at[LAUNCHES + 1];
    struct ct_stream *s = ct_stream(0);
    *s = (struct ct_stream){.handle = NULL};
    unsigned refused = 0, through = 0;
    for (unsigned i = 1; i <= LAUNCHES; i++) {
        bool is_gate = gate_every && i % gate_every == 0;
        unsigned records = records_of(s);
        while (through < ct_min(i / ahead, i - 1) ||
               at[i - 1].entries + 4 > at[through].entries + DEPTH)
            through++;
        run(s, at[through].brackets, drained);
        if (is_gate)
            ct_depth_gate(s);
        refused += !launch(s, shared);
        at[i].brackets = atomic_load(&s->sequence);
        at[i].entries = at[i - 1].entries + 1 + is_gate + records_of(s) - records;
    }
    return refused;
}

/* Whether the drain thread keeps up or is held up: a calibration may keep it for 50 ms. */
START_TEST(a_slow_device_is_no_gate)
{
    for (unsigned ahead = 1; ahead <= 20; ahead++) {
        asked = 0;
        ck_assert_uint_eq(passed_over(ahead, 0, false, _i), 0);
        ck_assert_uint_eq(passed_over(2 * ahead, 0, true, _i), 0);
        ck_assert_uint_lt(asked, 5000);
    }
}
END_TEST

/* Host functions that release buffers, say. Far ahead of the device any of them could be one. */
START_TEST(gates_that_are_open_are_none)
{
    for (unsigned every = 1; every <= 1000; every = 2 * every + 1) {
        ck_assert_uint_eq(passed_over(1, every, false, _i), 0);
        ck_assert_uint_eq(passed_over(1, every, true, _i), 0);
        ck_assert_uint_lt(passed_over(20, every, true, _i), LAUNCHES * 94 / 100);
    }
}
END_TEST

/* A kernel longer than it takes the host to queue what is allowed looks like a gate. */
START_TEST(a_queue_that_moves_again_is_timed_again)
{
    struct ct_stream *s = ct_stream(0);
    while (launch(s, true))
        ;
    asked = 0;
    unsigned markers = 0;
    for (unsigned i = 0; i < 640; i++)
        markers += launch(s, true);
    ck_assert_uint_eq(markers, 10);
    ck_assert_uint_le(asked, 160);
    ended++;
    for (unsigned i = 0; i < 3; i++)
        launch(s, true);
    for (unsigned i = 0; i < 40; i++)
        ck_assert(launch(s, true));
}
END_TEST

/* Two gates: the first one is open when something between them is through, the last one is not. */
START_TEST(a_gate_is_open_when_something_behind_it_is_through)
{
    static const uint64_t gates[] = {3, 6};
    struct ct_stream *s = ct_stream(0);
    for (uint64_t through = 0; through <= 7; through++) {
        *s = (struct ct_stream){.handle = NULL};
        for (unsigned i = 1; i <= 7; i++) {
            launch(s, false);
            if (i == gates[0] || i == gates[1])
                ct_depth_gate(s);
        }
        run(s, through, true);
        ck_assert(ct_depth_is_gated(s) == (through <= gates[1]));
        ck_assert_uint_eq(s->first_gate.before, gates[through > gates[0]]);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("depth");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, a_gate_leaves_the_program_its_queue, 0, 4);
    tcase_add_loop_test(t, a_known_gate_leaves_the_program_its_queue, 0, 2);
    tcase_add_test(t, a_gate_is_open_when_something_behind_it_is_through);
    tcase_add_loop_test(t, a_slow_device_is_no_gate, 0, 2);
    tcase_add_loop_test(t, gates_that_are_open_are_none, 0, 2);
    tcase_add_test(t, a_queue_that_moves_again_is_timed_again);
    return ct_case_main("unit_depth", t);
}
