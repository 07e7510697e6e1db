/* SPDX-License-Identifier: MIT */
/*
 * Calibration on a device that no table knows: the model's figures are found, and whatever goes
 * wrong with it leaves the program as it was and is said in the report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#define STRANGE "CUDASIM_NAME=Strange"
#define LOG "CUDASIM_LOG=calls"

static void check_figures(const struct ct_file_device *d, uint32_t source)
{
    ck_assert_uint_eq(d->calibration, source);
    ck_assert_uint_eq(d->bias_busy_ns, source ? 2910 : 0);
    ck_assert_uint_eq(d->gap_busy_ns, source ? 1600 : 0);
    ck_assert_uint_eq(d->submit_ns, source ? UINT32_MAX : 0);
    ck_assert_uint_eq(d->uncertainty_ns, 0);
    ck_assert_uint_eq(d->idle_uncertainty_ns, 0);
    ck_assert_uint_eq(d->copy_floor_ns, source ? 4110 : 0);
    ck_assert_uint_eq(d->set_floor_ns, source ? 3910 : 0);
}

static uint64_t notes(const struct ct_summary *s, const char *beginning)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->notes_count; i++)
        if (!strncmp(ct_summary_text(s, s->notes[i].text), beginning, strlen(beginning)))
            n += s->notes[i].count;
    return n;
}

/* In the simulator's log; *last: the last one, or as it was. */
static unsigned calls_in(const char *text, const char *name, const char **last)
{
    char pattern[100];
    unsigned n = 0;
    snprintf(pattern, sizeof(pattern), " %s = ", name);
    for (const char *p = text; (p = strstr(p, pattern)); p++, n++)
        *last = p;
    return n;
}

static unsigned calls(const char *name)
{
    char *text = stage_read("calls");
    const char *last;
    unsigned n = calls_in(text, name, &last);
    free(text);
    return n;
}

/* Each duration of the actor's part "small" as the device has it. */
static void check_durations(const struct ct_summary *s)
{
    CHECK_TIMED(stage_kernel(s, "alpha"), 100);
    CHECK_TIMED(stage_kernel(s, "beta"), 50);
    for (size_t i = 0; i < s->rows_count; i++) {
        const struct ct_file_row *r = &s->rows[i];
        uint64_t raw_ns = r->raw_total_ns / r->timed;
        ck_assert_uint_eq(r->total_ns / r->timed,
                          s->devices[0].calibration ? raw_ns - 2910 : raw_ns);
        if (r->kind == CT_ROW_KERNEL)
            ck_assert_uint_eq(raw_ns, 4910);
    }
}

static struct stage_run play_small(const char *a, const char *b, const char *c)
{
    remove("calls"); /* of the play before */
    struct stage_run r = PLAY(.argv = {"small", "100"}, .env = {"CUTRACE_CALIBRATE=on", a, b, c});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_str_eq(r.out, "small: 100 launches, last byte 9\n");
    return r;
}

/* Each device was measured. */
static bool is_measured(void)
{
    struct ct_summary s;
    bool measured = true;
    stage_profile(&s, "summary.bin");
    for (size_t i = 0; i < s.devices_count; i++)
        measured = measured && s.devices[i].calibration == CT_CALIBRATION_DEVICE;
    ct_summary_free(&s);
    return measured;
}

static struct stage_run small(const char *a, const char *b, const char *c)
{
    struct stage_run r;
    STAGE_UNTIL(is_measured(), r, play_small(a, b, c));
    return r;
}

/* Whether the report of the profile says so. */
static bool reported(const char *option, const char *text)
{
    struct stage_run r = PLAY(.program = stage_path_of("cutrace-report"),
                              .argv = {option, "summary.bin"}, .bare = true);
    ck_assert_int_eq(r.status, 0);
    bool found = strstr(r.out, text) || strstr(r.err, text);
    stage_drop(&r);
    return found;
}

START_TEST(the_models_figures)
{
    struct ct_summary s;
    struct stage_run r = small(STRANGE, LOG, NULL);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices_count, 1);
    check_figures(&s.devices[0], CT_CALIBRATION_DEVICE);
    check_durations(&s);
    ck_assert_uint_eq(s.notes_count, 0);
    ck_assert(!reported("--details", "Warning"));
    ck_assert(reported("--details", "device       1.2800us  2.9100us  1.6000us  "));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Nothing of it is in any count: not in the calls, the rows, the streams. */
START_TEST(it_is_not_the_programs)
{
    struct ct_summary s;
    struct stage_run r = small(STRANGE, LOG, NULL);
    ck_assert_uint_eq(calls("cuModuleLoadData"), 1 + 1);
    ck_assert_uint_eq(calls("cuStreamCreate"), 1 + 1);
    ck_assert_uint_eq(calls("cuStreamDestroy_v2"), 1);
    ck_assert_uint_ge(calls("cuLaunchKernel"), 150 + 2 + 2 * 26 + 25 + 1);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_calls(&s, "cuModuleLoadData"), 1);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 150);
    ck_assert_uint_eq(stage_calls(&s, "cuStreamCreate"), 1);
    ck_assert_uint_eq(s.streams_count, 1);
    ck_assert_uint_eq(s.rows_count, 4);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* The stream that goes is what it ends with. */
static bool is_measured_before(unsigned launches)
{
    char *text = stage_read("calls");
    const char *end = text, *last;
    bool is = is_measured() && calls_in(text, "cuStreamDestroy_v2", &end) == 1 &&
              calls_in(end, "cuLaunchKernel", &last) == launches;
    free(text);
    return is;
}

/* Beside it the figures would be wrong, or none. */
START_TEST(the_programs_work_waits)
{
    struct stage_run r;
    STAGE_UNTIL(is_measured_before(150), r, play_small(STRANGE, LOG, NULL));
    ck_assert(is_measured_before(150));
    stage_drop(&r);
}
END_TEST

/* Left for the context's end: one module, and events, which are the pool's. */
START_TEST(what_stays)
{
    struct stage_run r = small(STRANGE, LOG, NULL);
    char *text = stage_read("calls");
    static const char *const open[] = {"context: 1\n", "stream: 1\n", "module: 2\n", "event: "};
    for (unsigned i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        ck_assert_msg(strstr(text, open[i]) != NULL, "%s", open[i]);
    free(text);
    stage_drop(&r);
}
END_TEST

START_TEST(each_device)
{
    struct ct_summary s;
    struct stage_run r;
    STAGE_UNTIL(is_measured(), r, PLAY(.argv = {"devices"}, .env = {STRANGE, "CUDASIM_DEVICES=2"}));
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices_count, 2);
    check_figures(&s.devices[0], CT_CALIBRATION_DEVICE);
    check_figures(&s.devices[1], CT_CALIBRATION_DEVICE);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- without it ---- */

/* The profile of a run with LOG that measured nothing: the only module is the program's. */
static struct ct_summary unmeasured(void)
{
    struct ct_summary s;
    ck_assert_uint_eq(calls("cuModuleLoadData"), 1);
    stage_profile(&s, "summary.bin");
    check_figures(&s.devices[0], CT_CALIBRATION_TABLE);
    return s;
}

/* A device that the table knows, unless it is asked for. */
START_TEST(not_without_need)
{
    struct ct_summary s;
    struct stage_run r = play_small("CUTRACE_CALIBRATE=auto", LOG, NULL);
    s = unmeasured();
    ct_summary_free(&s);
    stage_drop(&r);
    STAGE_UNTIL(is_measured(), r, PLAY(.argv = {"small", "100"}, .env = {STRANGE}));
    stage_profile(&s, "summary.bin");
    check_figures(&s.devices[0], CT_CALIBRATION_DEVICE);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Not even one that no table knows, when nothing of it is to be recorded. */
static const char *const left_out[] = {"CUTRACE_DEVICES=1", "CUTRACE_ACTIVITIES=api"};

START_TEST(not_on_a_device_that_is_left_out)
{
    struct stage_run r = PLAY(.argv = {"small", "100"}, .env = {STRANGE, LOG, left_out[_i]});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_uint_eq(calls("cuModuleLoadData"), 1);
    stage_drop(&r);
}
END_TEST

START_TEST(switched_off)
{
    struct ct_summary s;
    struct stage_run r = play_small("CUTRACE_CALIBRATE=off", LOG, NULL);
    s = unmeasured();
    check_durations(&s);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* A graph's launch would be work; here everything is captured. */
START_TEST(only_captures)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"capture-only"}, .env = {LOG, "CUTRACE_CALIBRATE=on"});
    ck_assert_int_eq(r.status, 0);
    s = unmeasured();
    ck_assert_uint_eq(stage_kernel(&s, "captured").captured, 10);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* What went by unseen may be a gate for which loading would wait. */
START_TEST(not_after_unseen_work)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"profiler"}, .env = {LOG, "CUTRACE_START=off", "CUTRACE_CALIBRATE=on"});
    ck_assert_int_eq(r.status, 0);
    s = unmeasured();
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- hosts that differ ---- */

#define SLOW_STAMPS "CUDASIM_EVENT_NS=15000"

/* What is left of each bracket of the actor's part "small". */
static void check_left(const struct ct_summary *s, uint64_t taken_off_ns)
{
    for (size_t i = 0; i < s->rows_count; i++) {
        const struct ct_file_row *r = &s->rows[i];
        ck_assert_uint_eq((r->raw_total_ns - r->total_ns) / r->timed, taken_off_ns);
        if (r->kind == CT_ROW_KERNEL)
            ck_assert_uint_eq(r->raw_total_ns / r->timed, 15000 + 1630 + 2000);
    }
}

static bool is_known_as_slow(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    bool slow = s.devices[0].record_ns == 15000;
    ct_summary_free(&s);
    return slow;
}

/* Where records take longer than elsewhere, so much more is taken off each bracket. */
START_TEST(a_host_where_records_take_longer)
{
    struct ct_summary s;
    struct stage_run r;
    STAGE_UNTIL(is_known_as_slow(), r, PLAY(.argv = {"small", "100"}, .env = {SLOW_STAMPS, LOG}));
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices[0].calibration, CT_CALIBRATION_TABLE);
    ck_assert_uint_eq(s.devices[0].bias_busy_ns, 16630);
    check_left(&s, 16630);
    ck_assert_uint_eq(s.notes_count, 0);
    ck_assert(reported("--details", "table        15.000us  16.630us  "));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(not_if_switched_off)
{
    struct ct_summary s;
    struct stage_run r = play_small("CUTRACE_CALIBRATE=off", SLOW_STAMPS, NULL);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices[0].record_ns, 1280);
    check_left(&s, 2910);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Records of which one fails, or that are over too late, tell nothing: it is said. */
static const char *const untold[] = {"CUDASIM_FAIL=cuEventRecord:7:999",
                                     "CUDASIM_LATENCY_US=400000"};

START_TEST(the_commonest_host_when_it_does_not_show)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"small", "100"}, .env = {SLOW_STAMPS, untold[_i]});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    ck_assert_str_eq(r.out, "small: 100 launches, last byte 9\n");
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.devices[0].record_ns, 1280);
    CHECK_SUM(stage_kernel(&s, "alpha"), 100);
    ck_assert_uint_eq(notes(&s, "How long an event record takes"), 1);
    ck_assert(reported("--details", "Warning: How long an event record takes"));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- failing ---- */

/* Of the program's part "small", the calls of that number are ours. */
static const char *const failures[] = {
    "CUDASIM_FAIL=cuModuleLoadData:2:222",
    "CUDASIM_FAIL=cuModuleGetFunction:3:500",
    "CUDASIM_FAIL=cuModuleGetFunction:4:500",
    "CUDASIM_FAIL=cuMemHostAlloc:1:2",
    "CUDASIM_FAIL=cuMemHostGetDevicePointer_v2:1:1",
    "CUDASIM_FAIL=cuStreamCreate:2:2",
    "CUDASIM_FAIL=cuLaunchKernel:1:701",
    "CUDASIM_FAIL=cuLaunchKernel:2:701",
    "CUDASIM_FAIL=cuEventElapsedTime_v2:1:400",
};

START_TEST(the_table_when_it_fails)
{
    struct ct_summary s;
    struct stage_run r = play_small(failures[_i], NULL, NULL);
    stage_profile(&s, "summary.bin");
    check_figures(&s.devices[0], CT_CALIBRATION_TABLE);
    check_durations(&s);
    ck_assert_uint_eq(notes(&s, "Calibration on the device "), 1);
    ck_assert(reported("--details", "Warning: Calibration on the device "));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(raw_without_a_table)
{
    struct ct_summary s;
    struct stage_run r = play_small(failures[_i], STRANGE, NULL);
    stage_profile(&s, "summary.bin");
    check_figures(&s.devices[0], CT_CALIBRATION_NONE);
    check_durations(&s);
    ck_assert(reported("--details", "Device \"Strange (0)\" has no calibration"));
    ck_assert(reported("--details", "Calibration on the device failed: its durations are raw"));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Kernels that take longer than there is time for. */
START_TEST(too_slow)
{
    struct ct_summary s;
    struct stage_run r = play_small("CUDASIM_LATENCY_US=80000", NULL, NULL);
    stage_profile(&s, "summary.bin");
    check_figures(&s.devices[0], CT_CALIBRATION_TABLE);
    CHECK_SUM(stage_kernel(&s, "alpha"), 100);
    ck_assert_uint_gt(stage_kernel(&s, "alpha").timed, 0);
    ck_assert_uint_eq(notes(&s, "Calibration on the device did not end in 50 ms"), 1);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* The kernels' figures are known by then. */
START_TEST(without_the_floors)
{
    struct ct_summary s;
    struct stage_run r = small(STRANGE, "CUDASIM_FAIL=cuMemsetD32Async:1:999", NULL);
    stage_profile(&s, "summary.bin");
    const struct ct_file_device *d = &s.devices[0];
    ck_assert_uint_eq(d->calibration, CT_CALIBRATION_DEVICE);
    ck_assert_uint_eq(d->bias_busy_ns, 2910);
    ck_assert_uint_eq(d->copy_floor_ns, 0);
    ck_assert_uint_eq(d->set_floor_ns, 0);
    check_durations(&s);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* A call that hangs takes the drain thread: the program ends all the same, and all is counted. */
static const char *const hangs[] = {"CUDASIM_HANG=cuMemsetD32Async:1",
                                    "CUDASIM_HANG=cuMemcpyHtoDAsync_v2:1"};

START_TEST(a_call_that_hangs)
{
    static const char said[] = "A driver call did not return";
    struct ct_summary s;
    struct stage_run r;
    STAGE_UNTIL(strstr(r.err, said), r, play_small(hangs[_i], "CUTRACE_EXIT_TIMEOUT=1", NULL));
    ck_assert_ptr_nonnull(strstr(r.err, said));
    ck_assert(r.seconds < 20);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_kernel(&s, "alpha"), 100);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* At exit there is no time: the table, and no operation is lost for it. */
START_TEST(no_time_at_exit)
{
    struct ct_summary s;
    struct stage_run r = play_small("CUTRACE_EXIT_TIMEOUT=0", NULL, NULL);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 100);
    ck_assert_uint_eq(s.devices[0].bias_busy_ns, 2910);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* The context goes while it runs, slowly: nothing is touched afterwards, or the program would end.
 */
static const char *const goers[] = {"reset", "recreate", "events-gone", "stream-gone"};
static const char *const paces[] = {"CUDASIM_LATENCY_US=0", "CUDASIM_LATENCY_US=3000",
                                    "CUDASIM_LATENCY_US=30000"};

START_TEST(a_context_that_goes)
{
    stage_compare(
        (struct stage_scene){.argv = {goers[_i / 3], "3"}, .env = {STRANGE, paces[_i % 3]}});
    struct stage_run r = PLAY(.argv = {goers[_i / 3], "3"}, .env = {STRANGE, paces[_i % 3]});
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    stage_drop(&r);
}
END_TEST

/* What is measured in the first context is brought to its end before that goes. */
START_TEST(a_short_context)
{
    struct ct_summary s;
    struct stage_run r;
    STAGE_UNTIL(is_measured(), r, PLAY(.argv = {"reset", "1"}, .env = {STRANGE}));
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    check_figures(&s.devices[0], CT_CALIBRATION_DEVICE);
    CHECK_TIMED(stage_kernel(&s, "again"), 50);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))

int main(void)
{
    TCase *t = tcase_create("calibration");
    tcase_add_test(t, the_models_figures);
    tcase_add_test(t, it_is_not_the_programs);
    tcase_add_test(t, the_programs_work_waits);
    tcase_add_test(t, what_stays);
    tcase_add_test(t, each_device);
    tcase_add_test(t, not_without_need);
    tcase_add_loop_test(t, not_on_a_device_that_is_left_out, 0, COUNT(left_out));
    tcase_add_test(t, switched_off);
    tcase_add_test(t, only_captures);
    tcase_add_test(t, not_after_unseen_work);
    tcase_add_test(t, a_host_where_records_take_longer);
    tcase_add_test(t, not_if_switched_off);
    tcase_add_loop_test(t, the_commonest_host_when_it_does_not_show, 0, COUNT(untold));
    tcase_add_loop_test(t, the_table_when_it_fails, 0, COUNT(failures));
    tcase_add_loop_test(t, raw_without_a_table, 0, COUNT(failures));
    tcase_add_test(t, too_slow);
    tcase_add_test(t, without_the_floors);
    tcase_add_loop_test(t, a_call_that_hangs, 0, COUNT(hangs));
    tcase_add_test(t, no_time_at_exit);
    tcase_add_loop_test(t, a_context_that_goes, 0, COUNT(goers) * COUNT(paces));
    tcase_add_test(t, a_short_context);
    return stage_main("life_calibrate", t);
}
