/* SPDX-License-Identifier: MIT */
/* What kernels of our own show, and what comes of it. */
#include <check.h>

#include "base/config.h"
#include "base/process.h"
#include "case_main.h"
#include "cutrace/format.h"
#include "drain/settle.h"
#include "drain/witness_error.h"
#include "state/context.h"

#define INSIDE_NS 1490u /* by the kernel's own stamps */
#define TRUE_NS 2000u   /* and so much by CUPTI's, but for what it needs less of the front end */
#define OTHERS_NS 250u  /* more of that outside, by the other figures */
#define LATE_NS 4000
#define READY_NS (-5000)

static const struct ct_calibration figures = {
    .source = CT_CALIBRATION_TABLE,
    .bias_busy_ns = 2900,
    .bias_ready_ns = 2300,
    .submit_ns = 1500,
    .outside_ns = TRUE_NS - INSIDE_NS,
    .uncertainty_ns = 200,
};

static const struct ct_calibration other_figures = {
    .source = CT_CALIBRATION_DEVICE,
    .submit_ns = 1400,
    .outside_ns = TRUE_NS - INSIDE_NS + OTHERS_NS,
};

static const struct ct_calibration nothing_of_the_host = {
    .source = CT_CALIBRATION_TABLE,
    .submit_ns = UINT32_MAX,
};

static struct ct_witness w;

static void begin(void)
{
    w = (struct ct_witness){0};
    ct_process_forget();
    ck_assert(ct_contexts_init());
    ct_device_calibrated(0, &figures);
    ct_config.calibrate = CT_CALIBRATE_AUTO;
}

static struct ct_measured kernel(int64_t lead_ns, uint32_t flags)
{
    return (struct ct_measured){.op = {.flags = flags},
                                .times = {.work = CT_CLASS_KERNEL, .lead_ns = lead_ns}};
}

/* Stamps are read before the bracket is settled, or after it. */
static void read_stamps(uint64_t number, uint32_t inside_ns)
{
    atomic_store(&w.inside[number % CT_WITNESS_WAITING], number << 32 | inside_ns);
}

static void add_one(struct ct_measured m, uint64_t time_ns, bool is_clean)
{
    m.op.bytes = ++w.launched;
    ct_witness_add(&w, &m, &(struct ct_estimate){.is_clean = is_clean, .time_ns = time_ns});
}

static void add(unsigned n, uint64_t time_ns)
{
    for (unsigned i = 0; i < n; i++) {
        read_stamps(w.launched + 1, INSIDE_NS);
        add_one(kernel(LATE_NS, 0), time_ns, true);
    }
}

static void see(unsigned n, uint64_t time_ns, bool is_clean, int64_t lead_ns)
{
    struct ct_measured m = kernel(lead_ns, 0);
    for (unsigned i = 0; i < n; i++)
        ct_witness_see(&w, &m, &(struct ct_estimate){.is_clean = is_clean, .time_ns = time_ns});
}

START_TEST(a_few_tell_nothing)
{
    add(12, TRUE_NS + 100);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 0);
    ck_assert_uint_eq(ct_witnesses_of(0).count, 0);
    add(8, TRUE_NS + 100);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 100);
    ck_assert_uint_gt(ct_witnesses_of(0).count, 0);
}
END_TEST

/* On some hosts the program's launches have more that witnesses have not. */
START_TEST(a_slow_host_has_more_in_a_launch)
{
    struct ct_calibration far = figures;
    far.host_record_ns = 1300;
    add(32, TRUE_NS + 40);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 2500), 40);
    ct_device_calibrated(0, &far);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 2500), 40); /* until there are others by that */
    add(1, TRUE_NS);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 2500), 0);
    add(40, TRUE_NS + 40);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 1300), 40);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 2500), 140);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 100), -60);
    ct_context(0)->clock.host_record_ns = 1900;
    add(8, TRUE_NS + 40);
    ck_assert_int_eq(ct_witnesses_of(0).excess_ns, 90);
}
END_TEST

/* Each by its own: the GPU's clock may have become another one in between. */
START_TEST(each_is_held_against_its_own_stamps)
{
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t longer_ns = i * 10;
        add_one(kernel(LATE_NS, 0), TRUE_NS + longer_ns + 70, true);
        if (i % 3)
            read_stamps(w.launched, INSIDE_NS + longer_ns);
    }
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 70);
    ck_assert_uint_le(ct_witnesses_of(0).count, 134);
}
END_TEST

START_TEST(only_good_ones_tell)
{
    add(200, TRUE_NS - 150);
    for (unsigned i = 0; i < 1000; i++) {
        read_stamps(w.launched + 1, INSIDE_NS);
        switch (i % 4) {
        case 0:
            add_one(kernel(LATE_NS, 0), 9000, false);
            break;
        case 1:
            add_one(kernel(READY_NS, 0), 9000, true);
            break;
        case 2:
            add_one(kernel(CT_LEAD_UNKNOWN, 0), 9000, true);
            break;
        default:
            add_one(kernel(LATE_NS, CT_OP_AFTER_BREAK), 9000, true);
            break;
        }
    }
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), -150);
}
END_TEST

START_TEST(a_few_that_were_held_up_are_no_matter)
{
    for (unsigned i = 0; i < 64; i++) {
        add(15, TRUE_NS + 50);
        add(1, i % 2 ? 1300000 : 100000);
    }
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 50);
}
END_TEST

START_TEST(what_cannot_be_is_not_believed)
{
    add(100, TRUE_NS + 5000);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 0);
}
END_TEST

START_TEST(older_ones_are_forgotten)
{
    add(10000, TRUE_NS);
    add(300, TRUE_NS + 100);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 100);
}
END_TEST

START_TEST(other_figures_are_held_against_anew)
{
    add(100, TRUE_NS + 100);
    ct_device_calibrated(0, &other_figures);
    add(10, TRUE_NS + OTHERS_NS);
    ck_assert_int_eq(ct_witness_excess_ns(&w, 0), 0);
    add(100, TRUE_NS + OTHERS_NS + 20);
    ck_assert_int_gt(ct_witness_excess_ns(&w, 0), 0);
    ck_assert_int_le(ct_witness_excess_ns(&w, 0), 20);
}
END_TEST

START_TEST(what_it_is_good_for)
{
    see(299, 2000, true, LATE_NS);
    see(1000, 50000, true, LATE_NS);
    see(1000, 2000, false, LATE_NS);
    see(1000, 2000, true, READY_NS);
    see(1000, 2000, true, CT_LEAD_UNKNOWN);
    ck_assert_uint_eq(w.state, CT_WITNESS_UNWANTED);
    see(1, 2000, true, LATE_NS);
    ck_assert_uint_eq(w.state, CT_WITNESS_WANTED);
    w.state = CT_WITNESS_FAILED;
    see(1000, 2000, true, LATE_NS);
    ck_assert_uint_eq(w.state, CT_WITNESS_FAILED);
}
END_TEST

/* With a budget one bracket in many: the program has as many kernels all the same. */
START_TEST(sampled_ones_stand_for_others)
{
    struct ct_measured m = kernel(LATE_NS, 0);
    const struct ct_estimate e = {.is_clean = true, .time_ns = 2000};
    m.op.weight = 50;
    for (unsigned i = 0; i < 5; i++)
        ct_witness_see(&w, &m, &e);
    ck_assert_uint_eq(w.state, CT_WITNESS_UNWANTED);
    ct_witness_see(&w, &m, &e);
    ck_assert_uint_eq(w.state, CT_WITNESS_WANTED);
}
END_TEST

START_TEST(what_it_is_not_good_for)
{
    ct_config.calibrate = CT_CALIBRATE_OFF;
    see(1000, 2000, true, LATE_NS);
    ct_config.calibrate = CT_CALIBRATE_AUTO;
    ct_device_calibrated(0, &nothing_of_the_host);
    see(1000, 2000, true, LATE_NS);
    ck_assert_uint_eq(w.state, CT_WITNESS_UNWANTED);
}
END_TEST

static uint64_t estimate(int64_t lead_ns, int64_t witness_ns)
{
    return ct_estimate(&figures,
                       &(struct ct_bracket_times){
                           .work = CT_CLASS_KERNEL,
                           .raw_ns = 9000,
                           .gap_ns = 1280,
                           .launch_ns = 9000,
                           .lead_ns = lead_ns,
                           .slack_ns = 50000,
                           .witness_ns = witness_ns,
                       })
        .time_ns;
}

START_TEST(it_comes_off_late_kernels)
{
    ck_assert_uint_eq(estimate(LATE_NS, 120), estimate(LATE_NS, 0) - 120);
    ck_assert_uint_eq(estimate(LATE_NS, -120), estimate(LATE_NS, 0) + 120);
    ck_assert_uint_eq(estimate(READY_NS, 120), estimate(READY_NS, 0));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("witness");
    tcase_add_checked_fixture(t, begin, NULL);
    tcase_add_test(t, a_few_tell_nothing);
    tcase_add_test(t, a_slow_host_has_more_in_a_launch);
    tcase_add_test(t, each_is_held_against_its_own_stamps);
    tcase_add_test(t, only_good_ones_tell);
    tcase_add_test(t, a_few_that_were_held_up_are_no_matter);
    tcase_add_test(t, what_cannot_be_is_not_believed);
    tcase_add_test(t, older_ones_are_forgotten);
    tcase_add_test(t, other_figures_are_held_against_anew);
    tcase_add_test(t, what_it_is_good_for);
    tcase_add_test(t, sampled_ones_stand_for_others);
    tcase_add_test(t, what_it_is_not_good_for);
    tcase_add_test(t, it_comes_off_late_kernels);
    return ct_case_main("unit_witness", t);
}
