/* SPDX-License-Identifier: MIT */
/* A device's figures from brackets around self-timed kernels, good ones and disturbed ones. */
#include <stdio.h>
#include <string.h>

#include "case_main.h"
#include "launch/selftimed.h"
#include "time/figures.h"

#define BIAS_NS 2910
#define GAP_NS 1280
#define SUBMIT_NS 1300

static uint32_t random_state = 12345;

/* Uniform in -range..range. */
static int64_t noise(int64_t range)
{
    random_state = random_state * 1664525u + 1013904223u;
    return range ? (int64_t)(random_state >> 8) % (2 * range + 1) - range : 0;
}

static void fill_busy(struct ct_trial *t, unsigned n, int64_t range)
{
    for (unsigned i = 0; i < n; i++) {
        t[i].inside_ns = 4000 + 150 * (int64_t)i;
        t[i].raw_ns = t[i].inside_ns + CT_FIGURES_OUTSIDE_NS + BIAS_NS + noise(range);
        t[i].gap_ns = i % 16 ? GAP_NS + noise(range / 10) : -1;
        t[i].in_time = true;
        t[i].following = i % 4 == 3 ? 5 : 40;
    }
}

static void fill_idle(struct ct_trial *t, unsigned n, int64_t range)
{
    for (unsigned i = 0; i < n; i++) {
        t[i].inside_ns = 4000 + 150 * (int64_t)i;
        t[i].host_ns = 5000 + 400 * (int64_t)i;
        t[i].raw_ns = t[i].inside_ns + CT_FIGURES_OUTSIDE_NS + BIAS_NS + t[i].host_ns - SUBMIT_NS +
                      noise(range);
        t[i].gap_ns = 100000;
    }
}

static void check_near(int64_t x, int64_t y, int64_t range)
{
    ck_assert_int_ge(x, y - range);
    ck_assert_int_le(x, y + range);
}

START_TEST(busy_figures_are_exact)
{
    struct ct_trial t[32];
    struct ct_calibration c = {0};
    fill_busy(t, 32, 0);
    ck_assert(ct_figures_busy(t, 32, &c));
    ck_assert_uint_eq(c.bias_busy_ns, BIAS_NS);
    ck_assert_uint_eq(c.record_ns, 1280);
    ck_assert_uint_eq(c.gap_busy_ns, 1600);
    ck_assert_uint_eq(c.uncertainty_ns, 0);
}
END_TEST

/* The host is faster, interrupted once, and one stamp came late: the GPU's own pace shows. */
START_TEST(what_a_record_takes)
{
    int64_t gap[20], host[20];
    for (unsigned i = 0; i < 20; i++) {
        gap[i] = 2900 + (i % 3) * 32;
        host[i] = 800 + 10 * i;
    }
    host[3] = 90000;
    gap[7] = 4100;
    gap[8] = 1700;
    ck_assert_uint_eq(ct_figures_record_ns(gap, host, 20), 2932);
}
END_TEST

START_TEST(a_slow_host_shows_its_own_pace)
{
    int64_t gap[20], host[20];
    for (unsigned i = 0; i < 20; i++)
        gap[i] = (host[i] = 1500) + (i % 2);
    ck_assert_uint_eq(ct_figures_record_ns(gap, host, 20), 0);
    for (unsigned i = 0; i < 20; i++)
        gap[i] = 300000;
    ck_assert_uint_eq(ct_figures_record_ns(gap, host, 20), 0); /* no GPU's */
}
END_TEST

/* Two in five stood behind something of the program's. */
START_TEST(long_brackets_do_not_count)
{
    struct ct_trial t[64];
    struct ct_calibration c = {0};
    fill_busy(t, 64, 200);
    for (unsigned i = 0; i < 64; i++)
        t[i].raw_ns += i % 5 < 2 ? 300 + 20 * (int64_t)i : 0;
    ck_assert(ct_figures_busy(t, 64, &c));
    check_near(c.bias_busy_ns, BIAS_NS, 150);
    ck_assert_uint_gt(c.uncertainty_ns, 150);
}
END_TEST

/* The host was late with half of them: there the stream was idle, and its time is in the bracket.
 */
START_TEST(late_launches_do_not_count)
{
    struct ct_trial t[64];
    struct ct_calibration c = {0};
    fill_busy(t, 64, 0);
    for (unsigned i = 0; i < 64; i += 2) {
        t[i].in_time = false;
        t[i].raw_ns += 3000;
    }
    ck_assert_uint_eq(ct_figures_count_busy(t, 64), 32);
    ck_assert(ct_figures_busy(t, 64, &c));
    ck_assert_uint_eq(c.bias_busy_ns, BIAS_NS);
    ck_assert_uint_eq(c.gap_busy_ns, 1600);
    for (unsigned i = 0; i < 64; i++)
        t[i].in_time = i < 12;
    ck_assert(!ct_figures_busy(t, 64, &c));
}
END_TEST

START_TEST(nonsense_is_refused)
{
    struct ct_trial t[32];
    struct ct_calibration c = {0};
    const int64_t add[] = {-BIAS_NS - 1, 18000, -1000000, 1000000};
    for (unsigned k = 0; k < ct_countof(add); k++) {
        fill_busy(t, 32, 0);
        for (unsigned i = 0; i < 32; i++)
            t[i].raw_ns += add[k];
        ck_assert(!ct_figures_busy(t, 32, &c));
    }
    fill_busy(t, 32, 6000);
    ck_assert(!ct_figures_busy(t, 32, &c));
    fill_busy(t, 32, 0);
    for (unsigned i = 0; i < 32; i++)
        t[i].gap_ns = -1;
    ck_assert(!ct_figures_busy(t, 32, &c));
    ck_assert(!ct_figures_busy(t, 0, &c));
}
END_TEST

/* Both ends fall into steps of a microsecond: on average the steps do not matter. */
START_TEST(coarse_timer)
{
    struct ct_trial t[64];
    struct ct_calibration c = {0};
    uint64_t stamps[128];
    uint64_t now_ns = 1234567;
    fill_busy(t, 64, 0);
    for (unsigned i = 0; i < 64; i++) {
        uint64_t begin = now_ns, end = now_ns + (uint64_t)t[i].inside_ns;
        stamps[2 * i] = begin - begin % 1024;
        stamps[2 * i + 1] = end - end % 1024;
        t[i].inside_ns = (int64_t)(stamps[2 * i + 1] - stamps[2 * i]);
        now_ns = end + 5990;
    }
    ck_assert_uint_eq(ct_figures_timer_step(stamps, 128), 1024);
    ck_assert(ct_figures_busy(t, 64, &c));
    check_near(c.bias_busy_ns, BIAS_NS, 250);
    ck_assert_uint_gt(c.uncertainty_ns, 300);
}
END_TEST

START_TEST(timer_steps)
{
    uint64_t fine[] = {1000032, 1000064, 1000160, 1004192}, still[] = {5, 5, 5};
    ck_assert_uint_eq(ct_figures_timer_step(fine, 4), 32);
    ck_assert_uint_eq(ct_figures_timer_step(still, 3), 0);
}
END_TEST

START_TEST(idle_figures)
{
    struct ct_trial t[16];
    struct ct_calibration c = {.bias_busy_ns = BIAS_NS};
    fill_idle(t, 16, 0);
    ck_assert(ct_figures_idle(t, 16, &c));
    ck_assert_uint_eq(c.submit_ns, SUBMIT_NS);
    ck_assert_uint_eq(c.idle_uncertainty_ns, 0);
    fill_idle(t, 16, 300);
    ck_assert(ct_figures_idle(t, 16, &c));
    check_near(c.submit_ns, SUBMIT_NS, 200);
    ck_assert_uint_gt(c.idle_uncertainty_ns, 100);
    for (unsigned i = 0; i < 16; i++)
        t[i].raw_ns += 3000; /* more than the host's time: the GPU did something else */
    ck_assert(!ct_figures_idle(t, 16, &c));
    ck_assert(!ct_figures_idle(t, 11, &c));
}
END_TEST

/* A device whose brackets know nothing of the host's time. */
START_TEST(idle_without_host_time)
{
    struct ct_trial t[16];
    struct ct_calibration c = {.bias_busy_ns = BIAS_NS};
    fill_idle(t, 16, 0);
    for (unsigned i = 0; i < 16; i++)
        t[i].raw_ns -= t[i].host_ns - SUBMIT_NS;
    ck_assert(ct_figures_idle(t, 16, &c));
    ck_assert_uint_eq(c.submit_ns, UINT32_MAX);
}
END_TEST

/* What cannot be measured is an H200's, but where brackets know nothing of the host's time. */
START_TEST(finished_figures)
{
    struct ct_calibration c = {.record_ns = 1250,
                               .bias_busy_ns = BIAS_NS,
                               .bias_ready_ns = BIAS_NS - 600,
                               .copy_floor_ns = 3500,
                               .set_floor_ns = 500};
    ct_figures_finish(&c);
    ck_assert_uint_eq(c.bias_busy_ns, BIAS_NS + 155);
    ck_assert_uint_eq(c.bias_ready_ns, BIAS_NS - 600 + 155);
    ck_assert_uint_eq(c.bias_copy_ns, 3500 - 2300);
    ck_assert_uint_eq(c.bias_set_ns, 0);
    ck_assert_uint_eq(c.bias_wait_ns, 3500 - 2300 + 2300 + 2000);
    ck_assert_uint_eq(c.outside_ns, 630);
    c = (struct ct_calibration){.bias_busy_ns = BIAS_NS, .submit_ns = UINT32_MAX};
    ct_figures_finish(&c);
    ck_assert_uint_eq(c.bias_busy_ns, BIAS_NS);
    ck_assert_uint_eq(c.outside_ns, 0);
}
END_TEST

/* What the C code says of the kernels is what their text says. */
START_TEST(names_and_slots)
{
    char room[64];
    ck_assert_ptr_nonnull(strstr(ct_selftimed_ptx, ".entry " CT_SELFTIMED_KERNEL "("));
    ck_assert_ptr_nonnull(strstr(ct_selftimed_ptx, ".entry " CT_SELFTIMED_READ "("));
    snprintf(room, sizeof(room), ".b64 stamps[%d];", CT_SELFTIMED_THREADS * CT_SELFTIMED_APART / 8);
    ck_assert_ptr_nonnull(strstr(ct_selftimed_ptx, room));
    snprintf(room, sizeof(room), "%%to, %%thread, %d, %%to;", CT_SELFTIMED_APART);
    ck_assert_ptr_nonnull(strstr(ct_selftimed_ptx, room));
    ck_assert_uint_le(16 * CT_SELFTIMED_SLOTS, CT_SELFTIMED_APART);
}
END_TEST

/* A row that lacks a field does not compile. */
#define SAID(quantity, data, n, spread)                                                            \
    ck_assert_msg(quantity[0] && data[0] && n[0] && spread[0], "nothing is said: %s", quantity);

START_TEST(figures_say_where_they_are_from)
{
    unsigned figures_seen = 0;
#define FIGURE(member, unit, sim, sim_slow, h200, h200_slow, h100, h100_slow, others, quantity,    \
               data, n, spread)                                                                    \
    SAID(quantity, data, n, spread) figures_seen++;
#define NODE_FIGURE FIGURE
#define CONSTANT(name, unit, value, quantity, data, n, spread) SAID(quantity, data, n, spread)
#define BESIDE(name, start, stop, data, n, spread) SAID(#name, data, n, spread)
#include "time/figures.def"
    ck_assert_uint_gt(figures_seen, 20);
}
END_TEST

/* The names of other devices have a known one in them. */
START_TEST(devices_have_whole_names)
{
    const char *const others[] = {"NVIDIA GH200 480GB",
                                  "NVIDIA H200 NVL",
                                  "NVIDIA H100 PCIe",
                                  "NVIDIA H200 MIG 1g.18gb",
                                  "H200",
                                  "Simulated NVIDIA H200",
                                  ""};
    for (unsigned i = 0; i < ct_countof(others); i++) {
        ck_assert_uint_eq(ct_calibration_of(others[i], 0)->source, CT_CALIBRATION_NONE);
        ck_assert(!ct_calibration_varies(others[i]));
    }
#define HOST(column, device)                                                                       \
    ck_assert_uint_eq(ct_calibration_of(device, 0)->source, CT_CALIBRATION_TABLE);                 \
    ck_assert(ct_calibration_varies(device));
#include "time/figures.def"
}
END_TEST

/* With an argument: the kernels' text, for ptx.sh. */
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return fputs(ct_selftimed_ptx, stdout) < 0;
    TCase *t = tcase_create("figures");
    tcase_add_test(t, busy_figures_are_exact);
    tcase_add_test(t, what_a_record_takes);
    tcase_add_test(t, a_slow_host_shows_its_own_pace);
    tcase_add_test(t, long_brackets_do_not_count);
    tcase_add_test(t, late_launches_do_not_count);
    tcase_add_test(t, nonsense_is_refused);
    tcase_add_test(t, coarse_timer);
    tcase_add_test(t, timer_steps);
    tcase_add_test(t, idle_figures);
    tcase_add_test(t, idle_without_host_time);
    tcase_add_test(t, finished_figures);
    tcase_add_test(t, names_and_slots);
    tcase_add_test(t, figures_say_where_they_are_from);
    tcase_add_test(t, devices_have_whole_names);
    return ct_case_main("figures", t);
}
