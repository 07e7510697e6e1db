/* SPDX-License-Identifier: MIT */
/* Readings of a device whose NVML is a few functions here: which calls are made, and their sums. */
#include <math.h>
#include <string.h>

#include "case_main.h"
#include "device/sensors.h"
#include "system/clock.h"

static struct {
    unsigned calls, us;
    int result;
    unsigned mw;
    unsigned long long mj, reasons;
    unsigned mhz;
    char asked[2][64];
} fake;

static int find(const char *uuid, ct_nvml_device *d)
{
    snprintf(fake.asked[fake.calls++ % 2], 64, "%s", uuid);
    *d = (ct_nvml_device)(uintptr_t)1;
    return fake.result;
}

static int find_part(const char *uuid, ct_nvml_device *d)
{
    find(uuid, d);
    return strncmp(uuid, "MIG-", 4) ? CT_NVML_NOT_FOUND : 0;
}

static int power(ct_nvml_device d, unsigned *mw)
{
    (void)d;
    fake.calls++;
    usleep(fake.us);
    *mw = fake.mw;
    return fake.result;
}

static int energy(ct_nvml_device d, unsigned long long *mj)
{
    (void)d;
    *mj = fake.mj;
    return 0;
}

static int clock_of(ct_nvml_device d, int type, unsigned *mhz)
{
    (void)d;
    *mhz = type == CT_NVML_SM ? fake.mhz : 0;
    return 0;
}

static int most_clock(ct_nvml_device d, int type, unsigned *mhz)
{
    (void)d;
    *mhz = type == CT_NVML_SM ? 2000 : 0;
    return 0;
}

static int reasons(ct_nvml_device d, unsigned long long *mask)
{
    (void)d;
    *mask = fake.reasons;
    return 0;
}

static struct ct_sensors s;
static struct ct_nvml nvml;
static const uint8_t uuid[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};

static void begin(void)
{
    ct_clock_start();
    memset(&fake, 0, sizeof(fake));
    memset(&s, 0, sizeof(s));
    nvml = (struct ct_nvml){.by_uuid = find};
    ct_sensors_open(&s, &nvml, uuid);
    ck_assert_int_eq(s.state, CT_SENSORS_READ);
    ck_assert_str_eq(fake.asked[0], "GPU-01234567-89ab-cdef-fedc-ba9876543210");
    fake.calls = 0;
}

static const struct ct_file_sensor *read_times(enum ct_sensor kind, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        ct_sensors_read(&s, &nvml, false);
    return &s.sensor[kind];
}

/* A function that is missing is a failed call, once. */
START_TEST(missing)
{
    const struct ct_file_sensor *f = read_times(CT_SENSOR_POWER, 3);
    ck_assert_uint_eq(f->calls, 1);
    ck_assert_uint_eq(f->samples, 0);
    ck_assert_uint_eq(f->result, CT_NVML_FUNCTION_NOT_FOUND);
    ck_assert_int_eq(s.state, CT_SENSORS_READ);
}
END_TEST

static const struct {
    int result;
    unsigned us, calls; /* of three readings */
    int state;
} answers[] = {
    {0, 0, 3, CT_SENSORS_READ},
    {0, 2000, 2, CT_SENSORS_READ},
    {CT_NVML_NOT_SUPPORTED, 0, 1, CT_SENSORS_READ},
    {CT_NVML_ARGUMENT_VERSION_MISMATCH, 0, 1, CT_SENSORS_READ},
    {999, 0, 1, CT_SENSORS_READ}, /* and again in ten seconds */
    {CT_NVML_GPU_IS_LOST, 0, 1, CT_SENSORS_LOST},
};

START_TEST(answer)
{
    nvml.power = power;
    fake.result = answers[_i].result;
    fake.us = answers[_i].us;
    const struct ct_file_sensor *f = read_times(CT_SENSOR_POWER, 3);
    ck_assert_uint_ge(fake.calls, answers[_i].us ? answers[_i].calls : 1);
    ck_assert_uint_le(fake.calls, answers[_i].calls);
    ck_assert_uint_eq(f->calls, fake.calls);
    ck_assert_uint_eq(f->samples, fake.result ? 0 : fake.calls);
    ck_assert_int_eq(s.state, answers[_i].state);
    ck_assert_uint_ge(f->longest_call_ns, 1000u * answers[_i].us);
    bool never = s.call[2].due_ns == UINT64_MAX;
    ck_assert_int_eq(never, fake.result == CT_NVML_NOT_SUPPORTED ||
                                fake.result == CT_NVML_ARGUMENT_VERSION_MISMATCH);
}
END_TEST

/* As all calls were due: on a machine that is busy with others any may have taken long. */
static void read_anyway(bool last)
{
    for (unsigned i = 0; i < CT_SENSORS_CALLS; i++)
        s.call[i].due_ns = 0;
    ct_sensors_read(&s, &nvml, last);
}

/* Each reading is of the time since the one before; 200 W twice as long as 100 W. */
START_TEST(mean_over_time)
{
    nvml.power = power;
    static const unsigned mw[] = {900000, 100000, 200000}, us[] = {0, 20000, 40000};
    uint64_t ns[3], at_ns = 0;
    for (int i = 0; i < 3; i++) {
        usleep(us[i]);
        fake.mw = mw[i];
        read_anyway(false);
        ns[i] = s.call[2].read_ns - at_ns;
        at_ns = s.call[2].read_ns;
    }
    const struct ct_file_sensor *f = &s.sensor[CT_SENSOR_POWER];
    ck_assert_uint_eq(f->samples, 3);
    ck_assert_uint_eq(f->time_ns, ns[1] + ns[2]);
    ck_assert_double_eq_tol(f->sum, 100.0 * (double)ns[1] + 200.0 * (double)ns[2], 1e3);
    ck_assert_double_eq(f->least, 100);
    ck_assert_double_eq(f->most, 900);
}
END_TEST

/* The counter's difference by its time; one that begins anew says nothing. */
START_TEST(energy_counter)
{
    nvml.energy = energy;
    static const unsigned long long mj[] = {5000, 5300, 100, 150};
    double watts_ns = 0;
    for (int i = 0; i < 4; i++) {
        fake.mj = mj[i];
        usleep(10000);
        read_anyway(i == 3);
        watts_ns += i == 1 ? 300e6 : i == 3 ? 50e6 : 0;
    }
    const struct ct_file_sensor *f = &s.sensor[CT_SENSOR_ENERGY];
    ck_assert_double_eq_tol(f->sum, watts_ns, 1);
    ck_assert_uint_eq(f->samples, 2);
}
END_TEST

START_TEST(held_clock)
{
    nvml.clock = clock_of;
    nvml.most_clock = most_clock;
    nvml.reasons = reasons;
    ct_sensors_open(&s, &nvml, uuid);
    for (int i = 0; i < 5; i++) {
        fake.mhz = i % 2 ? 1410 : 2000;
        fake.reasons = i % 2 ? 0x4 : 0x1;
        usleep(2000);
        read_anyway(false);
    }
    const struct ct_file_sensor *cap = &s.sensor[CT_SENSOR_POWER_CAP];
    const struct ct_file_sensor *f = &s.sensor[CT_SENSOR_SM_CLOCK];
    ck_assert_double_eq_tol(cap->clock_sum / cap->sum, 1410, 1e-6);
    ck_assert_double_eq_tol(cap->sum + s.sensor[CT_SENSOR_IDLE].sum, (double)cap->time_ns, 1);
    ck_assert_double_eq(f->limit, 2000);
    ck_assert_uint_gt(f->part_ns[5], 0); /* 1,410 of 2,000 */
    ck_assert_uint_gt(f->part_ns[7], 0);
    ck_assert_uint_eq(f->part_ns[5] + f->part_ns[7], f->time_ns);
}
END_TEST

START_TEST(part)
{
    nvml.by_uuid = find_part;
    ct_sensors_open(&s, &nvml, uuid);
    ck_assert_int_eq(s.state, CT_SENSORS_PART);
    ck_assert_str_eq(fake.asked[1], "MIG-01234567-89ab-cdef-fedc-ba9876543210");
    nvml.power = power;
    fake.calls = 0;
    read_times(CT_SENSOR_POWER, 2);
    ck_assert_uint_eq(fake.calls, 0);
    nvml.by_uuid = NULL;
    ct_sensors_open(&s, &nvml, uuid);
    ck_assert_int_eq(s.state, CT_SENSORS_NOT_FOUND);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("sensors");
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, missing);
    tcase_add_loop_test(tests, answer, 0, sizeof(answers) / sizeof(answers[0]));
    tcase_add_test(tests, mean_over_time);
    tcase_add_test(tests, energy_counter);
    tcase_add_test(tests, held_clock);
    tcase_add_test(tests, part);
    return ct_case_main("sensors", tests);
}
