/* SPDX-License-Identifier: MIT */
/* The GPU's clock, from pins alone; and the host's. */
#include <stdlib.h>

#include "base/config.h"
#include "case_main.h"
#include "drain/anchor.h"
#include "state/context.h"
#include "system/clock.h"
#include "time/gpu_clock.h"

#define SECOND 1000000000u
#define EVERY_NS 100000 /* between two pins */

static struct ct_gpu_clock clock_;
static uint64_t host_ns = SECOND, gpu_ns = SECOND;

static void set_up(void)
{
    ct_config.events = 256;
    ct_clock_start();
    ck_assert(ct_contexts_init() && ct_events_init(&ct_context(0)->events, ct_config.events));
}

/* Both clocks go on; the GPU's by so many ppm faster. */
static void pin(unsigned pins, double ppm)
{
    for (unsigned i = 0; i < pins; i++) {
        host_ns += EVERY_NS;
        gpu_ns += (uint64_t)(EVERY_NS * (1 + ppm * 1e-6) + 0.5);
        ct_gpu_clock_pin(&clock_, ct_ns_to_ticks(host_ns), gpu_ns);
    }
}

/* By how much the clock is wrong, so much later. */
static double off_ns(uint64_t later_ns, double ppm)
{
    uint64_t at_ns;
    ct_assert(ct_gpu_clock_at(&clock_, ct_ns_to_ticks(host_ns + later_ns), &at_ns));
    return (double)(int64_t)(at_ns - gpu_ns) - (double)later_ns * (1 + ppm * 1e-6);
}

START_TEST(clocks_drift_apart)
{
    static const double ppm[] = {-500, -20, 0, 20, 500};
    pin(2000, ppm[_i]);
    ck_assert(clock_.ns_per_tick > 0);
    ck_assert_double_le(off_ns(20000000, ppm[_i]), 1000);
    ck_assert_double_ge(off_ns(20000000, ppm[_i]), -1000);
}
END_TEST

/*
 * A program that loads its kernels, which takes a while, and goes on. What the host's own rate is
 * wrong by adds up meanwhile, which is to be in no rate, wherever there are first enough pins.
 */
START_TEST(a_pause_is_in_no_rate)
{
    pin((unsigned)_i, 20);
    host_ns += 117 * (uint64_t)1000000;
    gpu_ns += 117 * (uint64_t)1000020;
    for (unsigned i = 0; i < 1000; i++) {
        pin(1, 20);
        ck_assert_double_le(off_ns(0, 20), 200); /* as in 10 ms */
        ck_assert_double_ge(off_ns(0, 20), -200);
    }
    ck_assert_double_le(off_ns(20000000, 20), 100);
    ck_assert_double_ge(off_ns(20000000, 20), -100);
}
END_TEST

/* A virtual machine that was moved, a GPU that was reset: one of the clocks takes a step. */
START_TEST(a_step_is_no_rate)
{
    static const int64_t steps_ns[] = {300000000, 1000000, -1000000, -300000000};
    pin(2000, 20);
    double rate = clock_.ns_per_tick;
    gpu_ns += (uint64_t)steps_ns[_i];
    for (unsigned i = 0; i < 200; i++) {
        pin(10, 20);
        ck_assert_double_le(clock_.ns_per_tick, rate * (1 + 1e-3));
        ck_assert_double_ge(clock_.ns_per_tick, rate * (1 - 1e-3));
    }
    ck_assert_double_le(off_ns(20000000, 20), 1000);
    ck_assert_double_ge(off_ns(20000000, 20), -1000);
}
END_TEST

/*
 * So long without a measurement that the anchor is lost, and a step meanwhile that is small enough
 * to pass for a rate: pins from before it make none with those behind.
 */
START_TEST(a_lost_anchor_is_in_no_rate)
{
    struct ct_context *c = ct_context(0);
    c->clock = clock_;
    ct_anchor_give(c, 1, gpu_ns);
    clock_ = c->clock;
    pin(2000, 20);
    double rate = clock_.ns_per_tick;
    ck_assert(rate > 0);
    host_ns += 600 * (uint64_t)1000000;
    gpu_ns += 600 * (uint64_t)1000000 + (_i ? 400000 : -400000);
    c->clock = clock_;
    ct_anchor_give(c, 2, gpu_ns);
    clock_ = c->clock;
    for (unsigned i = 0; i < 200; i++) {
        pin(10, 20);
        ck_assert_double_le(clock_.ns_per_tick, rate * (1 + 5e-5));
        ck_assert_double_ge(clock_.ns_per_tick, rate * (1 - 5e-5));
    }
}
END_TEST

/* Most records find cold caches, and some are interrupted: what the host needs are the quickest. */
START_TEST(the_host_s_records_are_followed)
{
    struct ct_gpu_clock clock = {0};
    uint64_t known_ns = ct_gpu_clock_host_record(&clock, 1000000);
    ck_assert_uint_lt(known_ns, 1500);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t ns = i % 50 == 7 ? 80000 : 2000 + i * 7919 % 1000;
        known_ns = ct_gpu_clock_host_record(&clock, ns);
        if (i > 1000) {
            ck_assert_uint_ge(known_ns, 1850); /* a tenth are below 2100 */
            ck_assert_uint_le(known_ns, 2350);
        }
    }
}
END_TEST

/*
 * By how much a moment is another one by the rate than by the clock; as exactly as can be read,
 * which is between two ticks that differ: an emulator's counter takes a step each microsecond.
 */
static int64_t rate_is_off_ns(uint64_t *width_ns)
{
    int64_t off_ns = 0;
    *width_ns = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t before = ct_ticks(), ns, after;
        do {
            ns = ct_clock_monotonic_ns();
            after = ct_ticks();
        } while (after == before);
        if (ct_ticks_to_ns(after - before) >= *width_ns)
            continue;
        *width_ns = ct_ticks_to_ns(after - before);
        off_ns = (int64_t)(ct_clock_at_ns(before + (after - before) / 2) - ns);
    }
    return off_ns;
}

/* By that of the first millisecond it would be off by a microsecond, most often. */
START_TEST(the_host_s_rate_is_refined)
{
    uint64_t end_ns = ct_clock_monotonic_ns() + SECOND / 5, width_ns;
    while (ct_clock_monotonic_ns() < end_ns)
        ct_clock_refine();
    int64_t off_ns = rate_is_off_ns(&width_ns);
    ck_assert_int_lt(llabs(off_ns), 100 + (int64_t)width_ns);
}
END_TEST

/* What is written to a trace at different times, of the same moment. */
START_TEST(a_moment_stays_where_it_is)
{
    static struct {
        uint64_t ticks, ns;
    } moment[4000];
    unsigned n = 0;
    uint64_t now_ns, next_ns = 0, end_ns = ct_clock_monotonic_ns() + SECOND / 5;
    while ((now_ns = ct_clock_monotonic_ns()) < end_ns) {
        ct_clock_refine();
        if (now_ns < next_ns)
            continue;
        next_ns = now_ns + SECOND / 10000;
        moment[n].ticks = ct_ticks();
        moment[n].ns = ct_clock_at_ns(moment[n].ticks);
        n++;
    }
    for (unsigned i = 0; i < n; i++) {
        ck_assert_uint_eq(ct_clock_at_ns(moment[i].ticks), moment[i].ns);
        ck_assert(!i || moment[i].ns >= moment[i - 1].ns);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("clock");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, clocks_drift_apart, 0, 5);
    tcase_add_loop_test(t, a_pause_is_in_no_rate, 1, 64);
    tcase_add_loop_test(t, a_step_is_no_rate, 0, 4);
    tcase_add_loop_test(t, a_lost_anchor_is_in_no_rate, 0, 2);
    tcase_add_test(t, the_host_s_records_are_followed);
    tcase_add_loop_test(t, the_host_s_rate_is_refined, 0, 4);
    tcase_add_test(t, a_moment_stays_where_it_is);
    return ct_case_main("unit_clock", t);
}
