/* SPDX-License-Identifier: MIT */
/* From brackets to durations, and the two clocks. */
#include <stdlib.h>

#include "case_main.h"
#include "counts/sample.h"
#include "cutrace/format.h"
#include "system/clock.h"
#include "time/estimate.h"
#include "time/gpu_clock.h"
#include "time/lead.h"

static const struct ct_calibration figures = {
    .source = CT_CALIBRATION_TABLE,
    .bias_busy_ns = 2900,
    .bias_ready_ns = 2200,
    .gap_busy_ns = 1600,
    .submit_ns = 1400,
    .bias_copy_ns = 1250,
    .bias_set_ns = 1500,
    .bias_wait_ns = 5600,
    .last_blocks_ns = 1500,
    .registers_ns = 80,
    .late_kib_ns = 50,
    .busy_kib_ns = 140,
    .ready_kib_ns = 60,
    .intake_ns = 1000,
    .hop_ns = 3000,
    .uncertainty_ns = 200,
    .idle_uncertainty_ns = 300,
};

/* A kernel in a long queue: nothing unusual. */
static struct ct_bracket_times usual(uint64_t raw_ns)
{
    return (struct ct_bracket_times){
        .work = CT_CLASS_KERNEL,
        .long_queue = true,
        .raw_ns = raw_ns,
        .gap_ns = 1280,
        .record_ns = 500,
        .launch_ns = 3000,
        .stop_record_ns = 500,
        .lead_ns = -50000,
        .slack_ns = 50000,
    };
}

static uint64_t time_of(const struct ct_bracket_times *t)
{
    return ct_estimate(&figures, t).time_ns;
}

static struct ct_estimate settled(const struct ct_bracket_times *t, struct ct_prior *prior)
{
    struct ct_estimate e = ct_estimate(&figures, t);
    ct_estimate_settle(&e, prior);
    return e;
}

START_TEST(devices_are_known_by_name)
{
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H200", 0)->source, CT_CALIBRATION_TABLE);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H100 80GB HBM3", 0)->source, CT_CALIBRATION_TABLE);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H100 PCIe", 0)->source, CT_CALIBRATION_NONE);
    ck_assert_uint_eq(ct_calibration_of("Another GPU", 0)->source, CT_CALIBRATION_NONE);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA GH200 480GB", 0)->source, CT_CALIBRATION_NONE);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H200 NVL", 0)->source, CT_CALIBRATION_NONE);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 0)->source,
                      CT_CALIBRATION_NONE);
    ck_assert_uint_eq(ct_calibration_of("H200", 0)->source, CT_CALIBRATION_NONE);
    ck_assert(!ct_calibration_varies("NVIDIA H200 NVL"));
    ck_assert_uint_eq(ct_calibration_of("Another GPU", 1280)->source, CT_CALIBRATION_NONE);
    struct ct_bracket_times t = usual(5000);
    struct ct_estimate e = ct_estimate(ct_calibration_of("Another GPU", 0), &t);
    ck_assert_uint_eq(e.time_ns, 5000);
    ck_assert_uint_gt(e.doubt_ns, 0);
}
END_TEST

START_TEST(hosts_are_known_by_their_records)
{
    const struct ct_calibration *fast = ct_calibration_of("NVIDIA H200", 0);
    const struct ct_calibration *slow = ct_calibration_of("NVIDIA H200", 2900);
    ck_assert_uint_eq(fast->record_ns, 1280);
    ck_assert_uint_eq(slow->record_ns, 2900);
    ck_assert_uint_gt(slow->bias_busy_ns, fast->bias_busy_ns);
    ck_assert_ptr_eq(ct_calibration_of("NVIDIA H200", 1312), fast);
    ck_assert_ptr_eq(ct_calibration_of("NVIDIA H200", 1), fast);
    ck_assert_ptr_eq(ct_calibration_of("NVIDIA H200", 2300), fast); /* a short queue */
    ck_assert_ptr_eq(ct_calibration_of("NVIDIA H200", 2700), slow);
    ck_assert_ptr_eq(ct_calibration_of("NVIDIA H200", 20000), slow);
    ck_assert_ptr_ne(ct_calibration_of("NVIDIA H100 80GB HBM3", 2700), slow);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H100 80GB HBM3", 2700)->record_ns, 2900);
    ck_assert_uint_eq(ct_calibration_of("NVIDIA H100 80GB HBM3", 2300)->record_ns, 1280);
    ck_assert(ct_calibration_varies("NVIDIA H200"));
    ck_assert(ct_calibration_varies("NVIDIA H100 80GB HBM3"));
    ck_assert(!ct_calibration_varies("Another GPU"));
    /* A name that contains another one has its own. */
    ck_assert_uint_eq(ct_calibration_of("Simulated H200", 2900)->record_ns, 1280);
}
END_TEST

/* Such a host or device is not in the table, but may be measured. */
START_TEST(a_long_way_to_the_device_adds_nothing)
{
    struct ct_calibration far = figures;
    far.submit_ns = 6000;
    uint64_t before_ns = UINT64_MAX;
    for (int64_t lead_ns = -1000; lead_ns < 12000; lead_ns += 100) {
        struct ct_bracket_times t = usual(20000);
        t.long_queue = false;
        t.lead_ns = lead_ns;
        t.launch_ns = 20000;
        struct ct_estimate e = ct_estimate(&far, &t);
        ck_assert_uint_le(e.time_ns, 20000 - far.bias_ready_ns);
        ck_assert_uint_le(e.time_ns, before_ns);
        before_ns = e.time_ns;
    }
}
END_TEST

START_TEST(a_queue_costs_by_its_length)
{
    struct ct_bracket_times t = usual(12900);
    ck_assert_uint_eq(time_of(&t), 10000);
    t.shared_start = true;
    ck_assert_uint_eq(time_of(&t), 10000);
    t.long_queue = false;
    ck_assert_uint_eq(time_of(&t), 10700);
    t.raw_ns = 1000;
    ck_assert_uint_eq(time_of(&t), 0);
}
END_TEST

START_TEST(what_the_host_took_is_not_the_kernels)
{
    struct ct_bracket_times t = usual(12900);
    t.lead_ns = 3400; /* submitted 2 us too late for the start stamp */
    t.launch_ns = 3400;
    ck_assert_uint_eq(time_of(&t), 8000);
    /* the start stamp was late itself: the GPU has waited less than the host took */
    t.launch_ns = 9000;
    ck_assert_uint_eq(time_of(&t), 8000);
}
END_TEST

/* It begins when the front end is ready for it and it is there: whichever is later. */
START_TEST(a_little_late_costs_nothing)
{
    struct ct_bracket_times t = usual(12900);
    t.long_queue = false;
    for (t.lead_ns = -1000; t.lead_ns <= 1400 - 700; t.lead_ns += 100)
        ck_assert_uint_eq(time_of(&t), 10700);
    t.lead_ns = 1400 - 700 + 300;
    ck_assert_uint_eq(time_of(&t), 10400);
    t.long_queue = true;
    t.lead_ns = 1300;
    ck_assert_uint_eq(time_of(&t), 10000);
    t.lead_ns = 1500;
    ck_assert_uint_eq(time_of(&t), 9900);
}
END_TEST

/* A device of which no figures are known: a thread that lost its processor before its launch. */
START_TEST(a_late_submission_shows_on_any_device)
{
    struct ct_calibration plain = {.source = CT_CALIBRATION_DEVICE, .submit_ns = UINT32_MAX};
    struct ct_bracket_times t = usual(3870000);
    t.lead_ns = 3850000;
    t.launch_ns = 3853000;
    ck_assert_uint_le(ct_estimate(&plain, &t).high_ns, 22000);
    t.launch_ns = 3000; /* the clock is off: the host was not that late */
    ck_assert_uint_ge(ct_estimate(&plain, &t).time_ns, 3866000);
}
END_TEST

/* All of a multiprocessor's registers in a block, and 2 KiB of parameters. */
START_TEST(a_large_kernel_takes_longer_to_begin)
{
    struct ct_bracket_times t = usual(12900), small = t;
    t.block_registers = 65536;
    t.parameter_bytes = 2048;
    ck_assert_uint_eq(time_of(&t), 10000 - 2 * 140);
    t.long_queue = small.long_queue = false;
    ck_assert_uint_eq(time_of(&t), time_of(&small) - 2 * 60);
    t.lead_ns = small.lead_ns = 5000;
    ck_assert_uint_eq(time_of(&t), time_of(&small) - 80 - 2 * 50);
    t.block_registers = 2 * 65536; /* no multiprocessor has */
    ck_assert_uint_eq(time_of(&t), time_of(&small) - 80 - 2 * 50);
}
END_TEST

START_TEST(the_estimate_has_no_steps)
{
    struct ct_bracket_times t = usual(20000);
    uint64_t last = 0;
    t.launch_ns = 100000;
    t.long_queue = false;
    for (t.lead_ns = -3000; t.lead_ns < 8000; t.lead_ns += 10) {
        uint64_t now = time_of(&t);
        if (last) {
            ck_assert_uint_le(now, last);
            ck_assert_uint_le(last - now, 10);
        }
        last = now;
    }
}
END_TEST

START_TEST(a_set_s_estimate_has_no_steps)
{
    struct ct_bracket_times t = usual(20000);
    uint64_t last = 20000 - 1500;
    t.work = CT_CLASS_SET;
    for (t.lead_ns = -3000; t.lead_ns < 8000; t.lead_ns += 10) {
        uint64_t now = time_of(&t);
        ck_assert_uint_le(now, last);
        ck_assert_uint_le(last - now, 15);
        last = now;
    }
}
END_TEST

/* Where a ready one takes long, one that comes a little late has less in its bracket. */
START_TEST(a_late_set_may_have_less_in_its_bracket_than_a_ready_one)
{
    const struct ct_calibration *slow = ct_calibration_of("NVIDIA H200", 2900);
    struct ct_bracket_times t = usual(20000);
    t.work = CT_CLASS_SET;
    ck_assert_uint_eq(ct_estimate(slow, &t).time_ns, 20000 - 3800);
    t.lead_ns = 1500;
    ck_assert_uint_eq(ct_estimate(slow, &t).time_ns, 20000 - (3750 - 600 + 1500 - 1595));
    t.lead_ns = 5000;
    ck_assert_uint_eq(ct_estimate(slow, &t).time_ns, 20000 - (3750 - 600 + 5000 - 1595));
}
END_TEST

/* On a device with next to no bias. */
START_TEST(a_set_is_never_longer_than_its_bracket)
{
    struct ct_calibration c = figures;
    struct ct_bracket_times t = usual(20000);
    c.bias_busy_ns = c.bias_set_ns = 300;
    t.work = CT_CLASS_SET;
    t.lead_ns = 1000;
    ck_assert_uint_eq(ct_estimate(&c, &t).time_ns, 20000);
}
END_TEST

/* No common clock: an idle stream, whose record the GPU was told of 300 ns before its end. */
static struct ct_bracket_times without_clock(uint64_t raw_ns)
{
    struct ct_bracket_times t = usual(raw_ns);
    t.lead_ns = t.slack_ns = CT_LEAD_UNKNOWN;
    t.long_queue = false;
    t.gap_ns = 20000;
    t.record_ns = 1000;
    t.launch_ns = 3100; /* 2 us too late for the start stamp */
    return t;
}

START_TEST(without_a_clock_the_gap_decides)
{
    struct ct_bracket_times t = without_clock(12900);
    struct ct_estimate idle = ct_estimate(&figures, &t);
    ck_assert(idle.is_clean);
    ck_assert_uint_eq(idle.time_ns, 8000);
    t.gap_ns = CT_GAP_UNKNOWN;
    ck_assert_uint_eq(time_of(&t), 8000);
    t.told_ns = 400;
    ck_assert_uint_eq(time_of(&t), 8400);
    t.shared_start = true; /* the stream was seen busy */
    ck_assert_uint_eq(time_of(&t), 10000);
}
END_TEST

/*
 * The GPU came to the start record only when the operation was there, as it may after a pause: the
 * bracket cannot hold all of the call. Nothing was behind it.
 */
START_TEST(a_gpu_may_be_late_itself)
{
    struct ct_prior prior = {0};
    struct ct_bracket_times t = without_clock(4400);
    t.launch_ns = 27000;
    t.gap_ns = CT_GAP_UNKNOWN;
    struct ct_estimate e = ct_estimate(&figures, &t);
    ck_assert(!e.is_clean);
    ct_estimate_settle(&e, &prior);
    ck_assert(e.is_bound);
    ck_assert_uint_eq(e.time_ns, 4400 - 2200);
    prior = (struct ct_prior){.count = 3, .total_ns = 3 * 1900};
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 1900);
    t.raw_ns = 2900 + 26000; /* all of it, but for what the front end would have done anyway */
    ck_assert(ct_estimate(&figures, &t).is_clean);
}
END_TEST

START_TEST(a_gap_may_leave_it_open)
{
    struct ct_prior prior = {0};
    struct ct_bracket_times t = without_clock(12900), idle = t;
    t.gap_ns = 2500; /* too long for most busy streams, too short for most idle ones */
    struct ct_estimate e = settled(&t, &prior);
    ck_assert(!e.is_clean);
    ck_assert_uint_eq(e.time_ns, 10000);
    ck_assert_uint_ge(e.doubt_ns, 1000); /* half of what the host was late */
    idle.raw_ns = 13900;
    for (int i = 0; i < 3; i++) {
        e = settled(&idle, &prior);
    }
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 9000);
    t.raw_ns = 20000; /* it was longer than the others, then, and by how much at least is known */
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 20000 - 2900 - 2000 - 200);
}
END_TEST

START_TEST(an_interrupted_record_is_a_bound)
{
    struct ct_prior prior = {.count = 3, .total_ns = 3 * 5000};
    struct ct_bracket_times t = without_clock(12900);
    t.record_ns = 50000; /* before or after the GPU was told */
    struct ct_estimate e = ct_estimate(&figures, &t);
    ck_assert(!e.is_clean);
    ct_estimate_settle(&e, &prior);
    ck_assert_uint_eq(e.time_ns, 5000);
    t = usual(12900);
    t.stop_record_ns = 9000; /* with a clock: the stop stamp is late then, */
    t.slack_ns = 300 + 2600; /* unless there was work until after its end */
    e = ct_estimate(&figures, &t);
    ck_assert(!e.is_clean);
    ck_assert_uint_eq(e.time_ns, 10000);
    ct_estimate_settle(&e, &prior);
    ck_assert_uint_eq(e.time_ns, 5000);
    t.slack_ns = 300 + 2700;
    ck_assert(ct_estimate(&figures, &t).is_clean);
}
END_TEST

START_TEST(copies_have_their_own_bias)
{
    struct ct_bracket_times t = usual(12900);
    t.work = CT_CLASS_COPY;
    ck_assert_uint_eq(time_of(&t), 11650);
    t.work = CT_CLASS_WAIT;
    ck_assert_uint_eq(time_of(&t), 7300);
}
END_TEST

START_TEST(engines_have_to_wait_for_each_other)
{
    struct ct_bracket_times t = usual(12900);
    uint64_t doubt_ns = ct_estimate(&figures, &t).doubt_ns;
    t.hopped = true;
    ck_assert_uint_eq(time_of(&t), 8000);
    ck_assert_uint_eq(ct_estimate(&figures, &t).doubt_ns, doubt_ns + 2000);
    t.work = CT_CLASS_COPY;
    ck_assert_uint_eq(time_of(&t), 8650);
    t.work = CT_CLASS_SET;
    ck_assert_uint_eq(time_of(&t), 10400);
    t.work = CT_CLASS_WAIT; /* the host waits so long anyway */
    ck_assert_uint_eq(time_of(&t), 7300);
}
END_TEST

START_TEST(what_comes_late_does_not_wait_for_an_engine)
{
    struct ct_bracket_times t = usual(12900);
    t.lead_ns = t.launch_ns = 3400;
    ck_assert_uint_eq(time_of(&t), 8000);
    t.hopped = true;
    ck_assert_uint_eq(time_of(&t), 8000);
    t.work = CT_CLASS_SET; /* which needs 600 ns less than a late kernel */
    ck_assert_uint_eq(time_of(&t), 8600);
    t.work = CT_CLASS_COPY;
    ck_assert_uint_eq(time_of(&t), 10150);
    t.hopped = false;
    ck_assert_uint_eq(time_of(&t), 11650);
}
END_TEST

START_TEST(a_copy_with_the_host_inside_is_only_a_bound)
{
    struct ct_bracket_times t = usual(50000);
    t.work = CT_CLASS_COPY;
    ck_assert(ct_estimate(&figures, &t).is_clean);
    t.launch_ns = 40000;
    ck_assert(!ct_estimate(&figures, &t).is_clean);
    t.launch_ns = 3000;
    t.work = CT_CLASS_WAIT;
    ck_assert(!ct_estimate(&figures, &t).is_clean);
}
END_TEST

/* By a clock that is off a kernel of 2 ms was submitted 2 ms after its start stamp. */
START_TEST(a_lead_is_no_longer_than_the_host_took)
{
    struct ct_bracket_times t = usual(2000000);
    t.long_queue = false;
    t.record_ns = 2000;
    t.launch_ns = 9000;
    t.lead_ns = 2500000;
    ck_assert_uint_ge(time_of(&t), 2000000 - 2900 - 11000);
}
END_TEST

START_TEST(a_late_stop_is_only_a_bound)
{
    struct ct_prior prior = {0};
    struct ct_bracket_times t = usual(4900);
    t.slack_ns = 100;
    struct ct_estimate e = settled(&t, &prior);
    ck_assert(!e.is_clean);
    ck_assert_uint_eq(e.time_ns, 2000); /* nothing better is known yet */
    ck_assert(e.is_bound);
    ck_assert_uint_eq(prior.count, 0);
    t.slack_ns = 5000;
    t.raw_ns = 4000;
    for (int i = 0; i < 3; i++) {
        e = settled(&t, &prior);
        ck_assert(e.is_clean);
    }
    t.slack_ns = 100;
    t.raw_ns = 4900;
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 1100);
    ck_assert(!e.is_bound);
    t.raw_ns = 3500; /* shorter than the others: that it was, at most */
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 600 + 200); /* as well as brackets tell */
}
END_TEST

START_TEST(a_late_stop_of_a_set_is_a_bound)
{
    struct ct_bracket_times t = usual(4900);
    t.slack_ns = 100;
    t.work = CT_CLASS_SET;
    ck_assert(!ct_estimate(&figures, &t).is_clean);
    t.work = CT_CLASS_COPY;
    ck_assert(ct_estimate(&figures, &t).is_clean);
}
END_TEST

START_TEST(a_stop_may_have_waited_for_the_next_submission)
{
    struct ct_prior prior = {.count = 10, .total_ns = 10 * 10000};
    struct ct_bracket_times t = usual(10600 + 2900);
    ck_assert(ct_estimate(&figures, &t).is_clean);
    t.met_intake = true;
    struct ct_estimate e = settled(&t, &prior);
    ck_assert(!e.is_clean && !e.is_bound);
    ck_assert_uint_eq(e.time_ns, 10000);
    prior.total_ns = prior.count * 5000; /* so long nothing waits */
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 10600 - 1000 - 200);
    struct ct_calibration other = figures;
    other.intake_ns = 0;
    ck_assert(ct_estimate(&other, &t).is_clean);
}
END_TEST

/* 10,000 ns, and up to 8,000 more until its end was asked for. */
static struct ct_estimate settle_held(struct ct_prior *prior, uint64_t more_ns)
{
    uint64_t ns = 10000 + more_ns;
    struct ct_estimate e = {
        .was_held = true, .time_ns = ns, .low_ns = ns - 9200, .high_ns = ns + 200};
    ct_estimate_settle(&e, prior);
    return e;
}

START_TEST(the_lowest_bounds_tell_where_none_is_clean)
{
    struct ct_prior prior = {0};
    ck_assert_uint_eq(settle_held(&prior, 8000).time_ns, 18000);
    for (unsigned i = 0; i < 500; i++)
        settle_held(&prior, (uint64_t)rand() % 8000);
    struct ct_estimate e = settle_held(&prior, 8000);
    ck_assert(!e.is_clean);
    ck_assert_uint_ge(e.time_ns, 10000);
    ck_assert_uint_le(e.time_ns, 12500);
    /* A few that are clean were late, and change nothing, */
    prior.count = 10;
    prior.total_ns = 10 * 15000;
    prior.median_ns = 15000;
    ck_assert_uint_le(settle_held(&prior, 8000).time_ns, e.time_ns + 200);
    ck_assert(settle_held(&prior, 8000).is_bound);
    /* nor do more of them that were a little late; */
    prior.count = 100;
    prior.total_ns = 100 * 12500;
    prior.median_ns = 12500;
    e = settle_held(&prior, 8000);
    ck_assert_uint_le(e.time_ns, 12000);
    ck_assert(e.is_bound);
    /* most of them decide. */
    prior.count = 1000;
    prior.total_ns = 1000 * 12500;
    e = settle_held(&prior, 8000);
    ck_assert_uint_eq(e.time_ns, 12500);
    ck_assert(!e.is_bound);
}
END_TEST

START_TEST(the_lowest_bounds_are_of_the_shortest_operations)
{
    struct ct_prior prior = {.count = 100, .total_ns = 100 * 15000, .median_ns = 15000};
    for (unsigned i = 0; i < 500; i++)
        settle_held(&prior, (uint64_t)rand() % 8000);
    struct ct_estimate e = settle_held(&prior, 8000);
    ck_assert_uint_eq(e.time_ns, 15000);
    ck_assert(!e.is_bound);
}
END_TEST

/* One in ten had waited as well, for something unseen. */
START_TEST(the_median_tells_where_some_only_pass_for_clean)
{
    struct ct_prior prior = {0};
    for (unsigned i = 0; i < 500; i++) {
        struct ct_bracket_times t = usual(12900 + (i % 10 ? 0 : 40000));
        ck_assert(settled(&t, &prior).is_clean);
        settle_held(&prior, 5000 + (uint64_t)rand() % 8000);
        settle_held(&prior, 5000 + (uint64_t)rand() % 8000);
    }
    struct ct_estimate e = settle_held(&prior, 8000);
    ck_assert_uint_ge(e.time_ns, 9000);
    ck_assert_uint_le(e.time_ns, 11000);
}
END_TEST

START_TEST(behind_a_kernel_that_fills_the_device)
{
    struct ct_prior prior = {0};
    struct ct_bracket_times t = usual(40000);
    t.filled_ns = 28000;
    struct ct_estimate e = settled(&t, &prior);
    ck_assert(!e.is_clean);
    ck_assert_uint_eq(e.time_ns, 12000 + 1500); /* from the last blocks of the other one on */
    ck_assert(e.is_bound);
    ck_assert_uint_eq(prior.held, 0);
    /* What it takes alone may be more, up to the whole bracket. */
    prior = (struct ct_prior){.count = 10, .total_ns = 10 * 16000};
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 16000);
    prior.total_ns = 10 * 90000;
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 40000 - 2900 + 200);
    /* Over before that one: it may have been short. */
    t.filled_past = true;
    prior.total_ns = 10 * 3000;
    e = settled(&t, &prior);
    ck_assert_uint_eq(e.time_ns, 3000);
    t.filled_past = false;
    t.filled_ns = 1000; /* that was over before it could have begun */
    ck_assert(ct_estimate(&figures, &t).is_clean);
    t.filled_ns = 28000;
    struct ct_calibration other = figures;
    other.last_blocks_ns = 0;
    ck_assert(ct_estimate(&other, &t).is_clean); /* of this device nothing is known */
}
END_TEST

/* What witnesses tell is true of the kernels before as well: by those another one is judged. */
START_TEST(a_row_s_usual_length_follows_the_witnesses)
{
    struct ct_prior prior = {0};
    struct ct_bracket_times late = usual(20000), ready = usual(20000);
    late.lead_ns = 3000;
    uint64_t late_ns = settled(&late, &prior).time_ns, ready_ns = 0;
    for (unsigned i = 0; i < 3; i++) {
        settled(&late, &prior);
        ready_ns = settled(&ready, &prior).time_ns;
    }
    late.slack_ns = -5000; /* so that it is known to be shorter than its bracket only */
    late.raw_ns = 30000;
    ck_assert_uint_eq(settled(&late, &prior).time_ns, (4 * late_ns + 3 * ready_ns) / 7);
    late.witness_ns = -140;
    ck_assert_uint_eq(settled(&late, &prior).time_ns, (4 * (late_ns + 140) + 3 * ready_ns) / 7);
}
END_TEST

/* ---- clocks ---- */

#define TICKS_PER_US 1000 /* as the host's clock has it that was not started */
#define LATENCY_NS 700

/* A GPU whose clock runs 40 ppm fast. */
static uint64_t gpu_ns(uint64_t ticks)
{
    return ((uint64_t)1 << 41) + (uint64_t)((double)ticks / TICKS_PER_US * 1000 * 1.00004);
}

static int64_t error_at(const struct ct_gpu_clock *clock, uint64_t ticks)
{
    uint64_t ns = 0;
    ck_assert(ct_gpu_clock_at(clock, ticks, &ns));
    return (int64_t)(ns - gpu_ns(ticks) - LATENCY_NS);
}

/* Pins every 20 us; most within 200 ns, one in four of a stream that was busy unseen. */
static uint64_t pin_for_ms(struct ct_gpu_clock *clock, uint64_t ticks, unsigned ms)
{
    for (unsigned i = 0; i < ms * 50; i++) {
        ticks += 20 * TICKS_PER_US;
        uint64_t late = i % 4 == 3 ? 3000 + (uint64_t)(rand() % 20000) : (uint64_t)(rand() % 200);
        ct_gpu_clock_pin(clock, ticks, gpu_ns(ticks) + LATENCY_NS + late - 100);
    }
    return ticks;
}

START_TEST(clocks_are_tied_together)
{
    struct ct_gpu_clock clock = {0};
    uint64_t ns, ticks = 1000000;
    ck_assert(!ct_gpu_clock_at(&clock, ticks, &ns));
    clock.ns_per_tick = 1000.0 / TICKS_PER_US;
    ticks = pin_for_ms(&clock, ticks, 100);
    ck_assert_int_lt(llabs(error_at(&clock, ticks)), 100);
    /* the drift is known: 100 ms without a pin, in which it makes 4 us */
    ck_assert_int_lt(llabs(error_at(&clock, ticks + 100000 * TICKS_PER_US)), 500);
    /* what was before the newest pin is known as well */
    ck_assert_int_lt(llabs(error_at(&clock, ticks - 500 * TICKS_PER_US)), 150);
}
END_TEST

/* With a budget there is a pin now and then; the rate is what a short while at the start told. */
/* A minute of records of which nobody knows whether their streams were idle: few were. */
START_TEST(a_tie_follows_the_earliest_records)
{
    struct ct_gpu_clock clock = {0};
    uint64_t ns, ticks = 1000000;
    ck_assert(!ct_gpu_clock_roughly(&clock, ticks, &ns));
    for (unsigned i = 0; i < 60000; i++) {
        ticks += 1000 * TICKS_PER_US;
        uint64_t late = i % 20 ? (uint64_t)(rand() % 1000000) : 0;
        ct_gpu_clock_follow(&clock, ticks, gpu_ns(ticks) + LATENCY_NS + late);
        ck_assert(ct_gpu_clock_roughly(&clock, ticks, &ns));
        ck_assert_int_lt(llabs((int64_t)(ns - gpu_ns(ticks) - LATENCY_NS)),
                         i < 20 ? 1000000 : 60000);
    }
}
END_TEST

START_TEST(clocks_are_tied_together_by_rare_pins)
{
    struct ct_gpu_clock clock = {0};
    uint64_t ticks = pin_for_ms(&clock, 1000000, 25);
    for (unsigned i = 0; i < 400; i++) {
        ticks += (2000 + (unsigned)rand() % 6000) * TICKS_PER_US;
        ct_gpu_clock_pin(&clock, ticks,
                         gpu_ns(ticks) + LATENCY_NS + (uint64_t)(rand() % 600) - 300);
        if (i > 100)
            ck_assert_int_lt(llabs(error_at(&clock, ticks + 1000 * TICKS_PER_US)), 300);
    }
}
END_TEST

/* As a thread sees them that moves to a processor whose clock is behind. */
START_TEST(ticks_may_go_back)
{
    ck_assert_uint_eq(ct_ticks_between(1000, 1010), 10);
    ck_assert_uint_eq(ct_ticks_between(1010, 1000), 0);
    ck_assert_uint_eq(ct_told_ticks(1010, 1000), 1000);
}
END_TEST

START_TEST(a_clock_that_jumped_is_found_again)
{
    struct ct_gpu_clock clock = {.ns_per_tick = 1000.0 / TICKS_PER_US};
    uint64_t ticks = 1000000;
    /* a program that starts with a stream that looks idle and is not */
    for (int i = 0; i < 100; i++, ticks += 20 * TICKS_PER_US)
        ct_gpu_clock_pin(&clock, ticks, gpu_ns(ticks) + 1000000);
    ticks = pin_for_ms(&clock, ticks, 2);
    ck_assert_int_lt(llabs(error_at(&clock, ticks)), 200);
}
END_TEST

/* Where operations go by without a bracket, those that wait tell nothing of the queue. */
START_TEST(a_host_far_ahead_has_a_long_queue)
{
    struct ct_gpu_clock clock = {.ns_per_tick = 1000.0 / TICKS_PER_US};
    uint64_t ticks = pin_for_ms(&clock, 1000000, 10);
    struct ct_measured m = {.times = usual(20000)};
    m.op.open_ticks = m.op.call_ticks = m.op.done_ticks = m.op.closed_ticks = ticks;
    m.start_ns = gpu_ns(ticks) + 100000;
    m.stop_ns = m.start_ns + m.times.raw_ns;
    ct_lead_find(&clock, &m);
    ck_assert(!m.times.long_queue);
    m.op.cell = CT_CELL_NONE + 1;
    ct_lead_find(&clock, &m);
    ck_assert(m.times.long_queue);
    m.start_ns = gpu_ns(ticks) + 20000;
    m.stop_ns = m.start_ns + m.times.raw_ns;
    ct_lead_find(&clock, &m);
    ck_assert(!m.times.long_queue);
}
END_TEST

static struct ct_measured asked_and_stamped(uint64_t ticks, uint64_t late_ns)
{
    struct ct_measured m = {.times = usual(20000)};
    m.op.open_ticks = m.op.call_ticks = ticks;
    m.start_ns = gpu_ns(ticks) + late_ns;
    m.times.gap_ns = CT_GAP_UNKNOWN;
    return m;
}

/* How long after its record was asked for, by the clock, the start was stamped. */
static int64_t late_by(const struct ct_gpu_clock *clock, const struct ct_measured *m)
{
    uint64_t ns;
    ck_assert(ct_gpu_clock_about(clock, m->op.call_ticks, &ns));
    return (int64_t)(m->start_ns - ns);
}

/*
 * All that began while the clocks were not tied, the second one behind something unseen: what was
 * stamped soonest tells of the others, before it or behind.
 */
START_TEST(the_earliest_stamp_tells_before_clocks_are_tied)
{
    struct ct_gpu_clock clock = {.ns_per_tick = 1000.0 / TICKS_PER_US};
    struct ct_measured m[] = {asked_and_stamped(1000000, 30000), asked_and_stamped(2000000, 0),
                              asked_and_stamped(3000000, 450000)};
    for (unsigned i = 0; i < ct_countof(m); i++)
        ct_lead_guess(&clock, &m[i]);
    for (unsigned i = 0; i < ct_countof(m); i += 2) {
        int64_t late_ns = late_by(&clock, &m[i]);
        ck_assert_int_lt(llabs(late_ns - (i ? 450000 : 30000)), 100);
    }
    struct ct_measured stalled = asked_and_stamped(3500000, 450000);
    stalled.op.flags = CT_OP_AFTER_BREAK | CT_OP_FOUND_IDLE; /* when it was asked */
    ct_lead_guess(&clock, &stalled);
    ck_assert_int_gt(late_by(&clock, &stalled), 400000);
    struct ct_measured shared = asked_and_stamped(4000000, 0);
    shared.op.flags = CT_OP_SHARED_START; /* the stop before: long before it was asked for */
    shared.start_ns -= 700000;
    ct_lead_guess(&clock, &shared);
    ck_assert_int_gt(late_by(&clock, &m[2]), 400000);
    struct ct_measured later = asked_and_stamped(4000000 + 60000 * TICKS_PER_US, 450000);
    ct_lead_guess(&clock, &later);
    uint64_t ns; /* that was too long ago */
    ck_assert(!ct_gpu_clock_about(&clock, later.op.call_ticks, &ns));
}
END_TEST

/* It lost its processor within the record, behind the moment that the GPU was told. */
static struct ct_measured stamped_while_held_up(uint64_t ticks, uint64_t held_us)
{
    struct ct_measured m = asked_and_stamped(ticks, 0);
    m.op.call_ticks += held_us * TICKS_PER_US;
    m.times.record_ns = held_us * 1000;
    return m;
}

START_TEST(records_that_were_held_up_move_no_guess)
{
    struct ct_gpu_clock guessed = {.ns_per_tick = 1000.0 / TICKS_PER_US}, followed = guessed;
    for (unsigned i = 0; i < 3; i++) {
        struct ct_measured m =
            i == 1 ? stamped_while_held_up(2000000, 400) : asked_and_stamped(1000000 * (i + 1), 0);
        ct_lead_guess(&guessed, &m);
        ct_lead_follow(&followed, &m);
        uint64_t by_guess_ns, by_follow_ns;
        ck_assert(ct_gpu_clock_about(&guessed, m.op.open_ticks, &by_guess_ns));
        ck_assert(ct_gpu_clock_roughly(&followed, m.op.open_ticks, &by_follow_ns));
        ck_assert_int_lt(llabs((int64_t)(by_guess_ns - m.start_ns)), 1000);
        ck_assert_int_lt(llabs((int64_t)(by_follow_ns - m.start_ns)), 1000);
    }
}
END_TEST

static int64_t lead_on_host(uint64_t record_ns)
{
    struct ct_gpu_clock clock = {.ns_per_tick = 1000.0 / TICKS_PER_US};
    uint64_t ticks = pin_for_ms(&clock, 1000000, 10);
    for (unsigned i = 0; i < 200; i++)
        ct_gpu_clock_host_record(&clock, record_ns);
    struct ct_measured m = {.start_ns = gpu_ns(ticks)};
    m.times = usual(20000);
    m.times.stop_record_ns = record_ns;
    m.op.open_ticks = m.op.call_ticks = ticks + 1000;
    m.op.done_ticks = m.op.closed_ticks = ticks + 9000;
    m.stop_ns = m.start_ns + m.times.raw_ns;
    ct_lead_find(&clock, &m);
    return m.times.lead_ns;
}

/* What it does between telling the GPU and coming back takes it longer, in each of its calls. */
START_TEST(a_slow_host_comes_back_later)
{
    int64_t earlier_ns = lead_on_host(1000) - lead_on_host(2000);
    ck_assert_int_lt(llabs(earlier_ns - (int64_t)ct_after_told(1000)), 60);
}
END_TEST

/* What comes behind telling the GPU was held up, too, if by far less. */
START_TEST(a_call_that_was_held_up_comes_back_later)
{
    struct ct_bracket_times t = usual(20000);
    ck_assert_uint_eq(ct_lead_told_ns(1000, &t), 300);
    t.launch_ns += 6400;
    ck_assert_uint_eq(ct_lead_told_ns(1000, &t), 300 + 100);
    t.record_ns = 1000 + 6400;
    ck_assert_uint_eq(ct_lead_told_ns(1000, &t), 300 + 100 + 200);
    ck_assert_uint_eq(ct_lead_told_ns(8000, &t), 2400); /* as long as they always take there */
    t.launch_ns += 90000;                               /* an interruption is at one place */
    ck_assert_uint_eq(ct_lead_told_ns(1000, &t), 300 + 15000 / 64 + 200);
}
END_TEST

/* Whether one ties the clocks so long after another. */
static bool is_pin_of(uint64_t host_record_ns, uint64_t record_ns, unsigned later_ms)
{
    struct ct_gpu_clock clock = {.host_record_ns = host_record_ns};
    struct ct_measured m = {.times = usual(20000), .start_ns = 1000000, .stop_ns = 1020000};
    ct_gpu_clock_pin(&clock, 1000000, 1000000);
    m.op.open_ticks = m.op.call_ticks = 1000000 + ct_ns_to_ticks(later_ms * UINT64_C(1000000));
    m.op.done_ticks = m.op.closed_ticks = m.op.call_ticks;
    m.times.record_ns = record_ns;
    m.times.stop_record_ns = host_record_ns;
    m.times.gap_ns = 50000;
    ct_lead_find(&clock, &m);
    return clock.pinned > 1;
}

/* When the GPU was told of one that was held up is not known well. */
START_TEST(records_that_were_held_up_tie_no_clocks)
{
    ck_assert(is_pin_of(1000, 2900, 1));
    ck_assert(!is_pin_of(1000, 3100, 1));
    ck_assert(is_pin_of(2000, 3700, 1));
    ck_assert(!is_pin_of(2000, 4300, 1));
    ck_assert(is_pin_of(2000, 5500, 60)); /* unless there is nothing better */
    ck_assert(!is_pin_of(2000, 6300, 60));
}
END_TEST

/* A bracket behind untimed work: the stream was asked, which a clock without a recent pin is not
 * worth. */
START_TEST(behind_a_break_the_stream_was_asked)
{
    struct ct_gpu_clock clock = {.ns_per_tick = 1000.0 / TICKS_PER_US};
    uint64_t ticks = pin_for_ms(&clock, 1000000, 10);
    struct ct_measured m = {.op.flags = CT_OP_AFTER_BREAK};
    m.times = usual(20000);
    m.op.open_ticks = m.op.call_ticks = ticks + 1000;
    m.op.done_ticks = m.op.closed_ticks = ticks + 9000;
    m.times.gap_ns = 900000;
    m.times.lead_ns = CT_LEAD_UNKNOWN;
    m.start_ns = gpu_ns(ticks);
    m.stop_ns = m.start_ns + m.times.raw_ns;
    ct_lead_find(&clock, &m);
    ck_assert_int_ne(m.times.lead_ns, CT_LEAD_UNKNOWN);
    ck_assert_uint_eq(m.times.gap_ns, 0);

    uint64_t second = 1000000 * TICKS_PER_US + ct_ns_to_ticks(1000000000);
    m.times.lead_ns = CT_LEAD_UNKNOWN;
    m.op.done_ticks += second;
    m.op.closed_ticks += second;
    ct_lead_find(&clock, &m);
    ck_assert_int_eq(m.times.lead_ns, CT_LEAD_UNKNOWN);
    ck_assert_uint_eq(m.times.gap_ns,
                      0); /* whatever the call took: it stood in the queue meanwhile */
    m.times.launch_ns = 15000;
    ck_assert_uint_eq(ct_estimate(&figures, &m.times).time_ns, 17100);

    m.op.flags |= CT_OP_FOUND_IDLE;
    ct_lead_find(&clock, &m);
    ck_assert_uint_eq(m.times.gap_ns, CT_GAP_UNKNOWN);
}
END_TEST

/* Told at `told_ns` after a stop that was stamped at `stop`, with nothing else near. */
static bool meets_record(const struct ct_gpu_clock *clock, uint64_t stop, int64_t told_ns)
{
    uint64_t told = stop + (uint64_t)(told_ns * TICKS_PER_US / 1000),
             far = told + 100 * TICKS_PER_US;
    struct ct_pending p = {.op = {.open_ticks = told, .call_ticks = told}};
    p.op.done_ticks = p.op.closed_ticks = far;
    return ct_lead_met_intake(clock, gpu_ns(stop), &p);
}

static bool meets_operation(const struct ct_gpu_clock *clock, uint64_t stop, int64_t told_ns)
{
    uint64_t told = stop + (uint64_t)(told_ns * TICKS_PER_US / 1000);
    struct ct_pending p = {.op = {.flags = CT_OP_TOLD_START}};
    p.op.done_ticks = told + ct_ns_to_ticks(ct_after_told(1000));
    p.op.open_ticks = p.op.call_ticks = p.op.done_ticks - 3 * TICKS_PER_US;
    p.op.closed_ticks = p.op.done_ticks + 100 * TICKS_PER_US;
    return ct_lead_met_intake(clock, gpu_ns(stop), &p);
}

/* What comes a little later than the stop stamp may have come before the stop was stamped. */
START_TEST(a_submission_meets_a_stop)
{
    static const int64_t records_ns[] = {400, 600, 850}, others_ns[] = {-5000, -500, 0, 1200, 5000};
    static const int64_t operations_ns[] = {-800, -500, 0, 300, 850},
                         far_ns[] = {-1200, 1200, 5000};
    struct ct_gpu_clock clock = {.host_record_ns = 1000};
    uint64_t stop = 1000000 * TICKS_PER_US;
    ck_assert(!meets_record(&clock, stop, 600)); /* nothing is known yet */
    ct_gpu_clock_pin(&clock, stop, gpu_ns(stop));
    for (unsigned i = 0; i < ct_countof(records_ns); i++)
        ck_assert(meets_record(&clock, stop, records_ns[i]));
    for (unsigned i = 0; i < ct_countof(others_ns); i++)
        ck_assert(!meets_record(&clock, stop, others_ns[i]));
    for (unsigned i = 0; i < ct_countof(operations_ns); i++)
        ck_assert(meets_operation(&clock, stop, operations_ns[i]));
    for (unsigned i = 0; i < ct_countof(far_ns); i++)
        ck_assert(!meets_operation(&clock, stop, far_ns[i]));
}
END_TEST

/* Of two threads in one stream, the one with the later number may have told the GPU earlier. */
START_TEST(a_submission_meets_a_stop_beside_a_later_one)
{
    struct ct_gpu_clock clock = {.host_record_ns = 1000};
    uint64_t stop = 1000000 * TICKS_PER_US, far = stop + 100 * TICKS_PER_US,
             near = stop + 600 * TICKS_PER_US / 1000;
    ct_gpu_clock_pin(&clock, stop, gpu_ns(stop));
    struct ct_pending second = {.op = {.open_ticks = near, .call_ticks = near}};
    second.op.done_ticks = second.op.closed_ticks = far;
    struct ct_pending first = {.next = &second, .op = second.op};
    first.op.open_ticks = first.op.call_ticks = far;
    ck_assert(!ct_lead_met_intake(&clock, gpu_ns(stop), &first));
    first.op.flags = second.op.flags = CT_OP_OVERLAPPED;
    ck_assert(ct_lead_met_intake(&clock, gpu_ns(stop), &first));
}
END_TEST

/* ---- where it lies ---- */

static uint64_t end_of(struct ct_bracket_times t, uint64_t time_ns)
{
    struct ct_measured m = {.times = t, .start_ns = 1000000, .stop_ns = 1000000 + t.raw_ns};
    return ct_lead_end_ns(&figures, &m, time_ns) - m.start_ns;
}

START_TEST(a_record_is_behind_the_operation)
{
    struct ct_bracket_times t = usual(12900);
    ck_assert_uint_eq(end_of(t, 10000), 12900 - 1280);
    ck_assert_uint_eq(end_of(t, 12500), 12900 - 400);
    ck_assert_uint_eq(end_of(t, 13000), 12900);
}
END_TEST

/* The host came late with the stop record: the operation was over when it had begun in time. */
START_TEST(a_late_stop_moves_nothing)
{
    struct ct_bracket_times t = usual(90000);
    t.slack_ns = 0;
    t.lead_ns = 3000;
    ck_assert_uint_eq(end_of(t, 10000), 3000 - 1400 + 2900 - 1280 + 10000);
    t.lead_ns = CT_LEAD_UNKNOWN;
    ck_assert_uint_eq(end_of(t, 10000), 90000 - 1280);
}
END_TEST

/* The host is told that the copy is over, and comes back, before there is a stop record. */
START_TEST(a_call_that_waits_comes_back_after_its_copy)
{
    struct ct_bracket_times t = usual(110000);
    t.work = CT_CLASS_WAIT;
    t.slack_ns = 0;
    t.lead_ns = 104000;
    ck_assert_uint_eq(end_of(t, 100000), 110000 - 1280 - (5600 - 1250));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("estimate");
    tcase_add_test(tests, devices_are_known_by_name);
    tcase_add_test(tests, hosts_are_known_by_their_records);
    tcase_add_test(tests, a_long_way_to_the_device_adds_nothing);
    tcase_add_test(tests, a_queue_costs_by_its_length);
    tcase_add_test(tests, what_the_host_took_is_not_the_kernels);
    tcase_add_test(tests, a_little_late_costs_nothing);
    tcase_add_test(tests, a_late_submission_shows_on_any_device);
    tcase_add_test(tests, a_large_kernel_takes_longer_to_begin);
    tcase_add_test(tests, the_estimate_has_no_steps);
    tcase_add_test(tests, a_set_s_estimate_has_no_steps);
    tcase_add_test(tests, a_set_is_never_longer_than_its_bracket);
    tcase_add_test(tests, a_late_set_may_have_less_in_its_bracket_than_a_ready_one);
    tcase_add_test(tests, without_a_clock_the_gap_decides);
    tcase_add_test(tests, a_gpu_may_be_late_itself);
    tcase_add_test(tests, a_gap_may_leave_it_open);
    tcase_add_test(tests, an_interrupted_record_is_a_bound);
    tcase_add_test(tests, copies_have_their_own_bias);
    tcase_add_test(tests, engines_have_to_wait_for_each_other);
    tcase_add_test(tests, what_comes_late_does_not_wait_for_an_engine);
    tcase_add_test(tests, a_copy_with_the_host_inside_is_only_a_bound);
    tcase_add_test(tests, a_lead_is_no_longer_than_the_host_took);
    tcase_add_test(tests, a_late_stop_is_only_a_bound);
    tcase_add_test(tests, a_late_stop_of_a_set_is_a_bound);
    tcase_add_test(tests, a_stop_may_have_waited_for_the_next_submission);
    tcase_add_test(tests, the_lowest_bounds_tell_where_none_is_clean);
    tcase_add_test(tests, the_lowest_bounds_are_of_the_shortest_operations);
    tcase_add_test(tests, the_median_tells_where_some_only_pass_for_clean);
    tcase_add_test(tests, behind_a_kernel_that_fills_the_device);
    tcase_add_test(tests, a_row_s_usual_length_follows_the_witnesses);
    tcase_add_test(tests, clocks_are_tied_together);
    tcase_add_test(tests, clocks_are_tied_together_by_rare_pins);
    tcase_add_test(tests, a_tie_follows_the_earliest_records);
    tcase_add_test(tests, ticks_may_go_back);
    tcase_add_test(tests, a_clock_that_jumped_is_found_again);
    tcase_add_test(tests, a_slow_host_comes_back_later);
    tcase_add_test(tests, a_call_that_was_held_up_comes_back_later);
    tcase_add_test(tests, records_that_were_held_up_tie_no_clocks);
    tcase_add_test(tests, a_submission_meets_a_stop);
    tcase_add_test(tests, a_submission_meets_a_stop_beside_a_later_one);
    tcase_add_test(tests, behind_a_break_the_stream_was_asked);
    tcase_add_test(tests, a_host_far_ahead_has_a_long_queue);
    tcase_add_test(tests, the_earliest_stamp_tells_before_clocks_are_tied);
    tcase_add_test(tests, records_that_were_held_up_move_no_guess);
    tcase_add_test(tests, a_record_is_behind_the_operation);
    tcase_add_test(tests, a_late_stop_moves_nothing);
    tcase_add_test(tests, a_call_that_waits_comes_back_after_its_copy);
    return ct_case_main("estimate", tests);
}
