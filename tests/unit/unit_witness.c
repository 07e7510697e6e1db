/* SPDX-License-Identifier: MIT */
/* What kernels of our own show, and what comes of it. */
#include <check.h>

#include "base/config.h"
#include "case_main.h"
#include "cutrace/format.h"
#include "record/context.h"
#include "record/settle.h"
#include "record/witness.h"

#define INSIDE_PS 1500000u /* by the kernel's own stamps */
#define TRUE_NS 2000u      /* and so much by CUPTI's, but for what it needs less of the front end */
#define LATE_NS 4000
#define READY_NS (-5000)

static const struct ct_calibration figures = {
    .source = CT_CALIBRATION_TABLE,
    .bias_busy_ns = 2900,
    .bias_ready_ns = 2300,
    .submit_ns = 1500,
};

static const struct ct_calibration nothing_of_the_host = {
    .source = CT_CALIBRATION_TABLE,
    .submit_ns = UINT32_MAX,
};

static struct ct_witness w;

static void begin(void)
{
    w = (struct ct_witness){.inside_mean_ps = INSIDE_PS};
    ck_assert(ct_contexts_init());
    ct_device_calibrated(0, &figures);
    ct_config.calibrate = CT_CALIBRATE_AUTO;
}

static struct ct_measured kernel(int64_t lead_ns)
{
    return (struct ct_measured){.times = {.work = CT_CLASS_KERNEL, .lead_ns = lead_ns}};
}

static void add(unsigned n, uint64_t time_ns, bool is_clean, int64_t lead_ns)
{
    struct ct_measured m = kernel(lead_ns);
    for (unsigned i = 0; i < n; i++)
        ct_witness_add(&w, &m, &(struct ct_estimate){.is_clean = is_clean, .time_ns = time_ns});
}

static void see(unsigned n, uint64_t time_ns, bool is_clean, int64_t lead_ns)
{
    struct ct_measured m = kernel(lead_ns);
    for (unsigned i = 0; i < n; i++)
        ct_witness_see(&w, &m, &(struct ct_estimate){.is_clean = is_clean, .time_ns = time_ns});
}

START_TEST(a_few_tell_nothing)
{
    add(23, TRUE_NS + 100, true, LATE_NS);
    ck_assert_int_eq(ct_witness_excess_ns(&w), 0);
    add(1, TRUE_NS + 100, true, LATE_NS);
    ck_assert_int_eq(ct_witness_excess_ns(&w), 100);
    w.inside_mean_ps = 0; /* no stamps have been read */
    ck_assert_int_eq(ct_witness_excess_ns(&w), 0);
}
END_TEST

START_TEST(only_good_ones_tell)
{
    add(30, TRUE_NS - 150, true, LATE_NS);
    add(1000, 9000, false, LATE_NS);
    add(1000, 9000, true, READY_NS);
    add(1000, 9000, true, CT_LEAD_UNKNOWN);
    ck_assert_int_eq(ct_witness_excess_ns(&w), -150);
}
END_TEST

START_TEST(what_cannot_be_is_not_believed)
{
    add(30, TRUE_NS + 5000, true, LATE_NS);
    ck_assert_int_eq(ct_witness_excess_ns(&w), 0);
}
END_TEST

START_TEST(older_ones_count_less)
{
    add(100000, TRUE_NS, true, LATE_NS);
    add(1000, TRUE_NS + 100, true, LATE_NS);
    ck_assert_int_gt(ct_witness_excess_ns(&w), 90);
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
    tcase_add_test(t, only_good_ones_tell);
    tcase_add_test(t, what_cannot_be_is_not_believed);
    tcase_add_test(t, older_ones_count_less);
    tcase_add_test(t, what_it_is_good_for);
    tcase_add_test(t, what_it_is_not_good_for);
    tcase_add_test(t, it_comes_off_late_kernels);
    return ct_case_main("unit_witness", t);
}
