/* SPDX-License-Identifier: MIT */
/* What a program's managed memory does is counted when that is asked for, and never hurts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life/stage.h"

#define ON "CUTRACE_UNIFIED_MEMORY=per-process-device"

static struct stage_run run(const char *what, const char *option)
{
    struct stage_run r = PLAY(.program = stage_path_of("tests/e2e/routes/manager"), .argv = {what},
                              .env = {"CUTRACE_PRINT=on", option});
    ck_assert_msg(!r.status, "%s", r.err);
    return r;
}

static struct ct_file_unified of_kind(const struct ct_summary *s, uint32_t kind)
{
    for (size_t i = 0; i < s->unified_count; i++)
        if (s->unified[i].kind == kind)
            return s->unified[i];
    return (struct ct_file_unified){0};
}

static void check_all(void)
{
    struct ct_summary s = {0};
    stage_profile(&s, "summary.bin");
    struct ct_file_unified in = of_kind(&s, CT_UNIFIED_HTOD), out = of_kind(&s, CT_UNIFIED_DTOH);
    ck_assert_uint_eq(in.count, 2);
    ck_assert_uint_eq(in.bytes, 196608);
    ck_assert_uint_eq(in.total_ns, 4000);
    ck_assert_uint_eq(out.count, 1);
    ck_assert_uint_eq(out.bytes, 4096);
    ck_assert_uint_eq(of_kind(&s, CT_UNIFIED_CPU_FAULTS).count, 2);
    ck_assert_uint_eq(of_kind(&s, CT_UNIFIED_GPU_FAULTS).count, 1);
    ck_assert_uint_eq(of_kind(&s, CT_UNIFIED_GPU_FAULTS).faults, 24);
    ct_summary_free(&s);
}

/* What the driver tells late is asked for at the end: the group has its time. */
START_TEST(it_is_counted)
{
    static const char *const whats[] = {"moves", "fork"};
    struct ct_summary s = {0};
    struct stage_run r = run(whats[_i], ON);
    ck_assert_str_eq(r.out, "opened 1, watched 1\n");
    ck_assert_ptr_nonnull(strstr(r.err, "Unified Memory profiling result:\nDevice \""));
    ck_assert_ptr_nonnull(strstr(r.err, "       2  96.000KB  64.000KB  128.00KB  192.0000KB  "
                                        "4.000000us  Host To Device\n"));
    ck_assert_ptr_nonnull(strstr(r.err, "Total CPU Page faults: 2\n"));
    check_all();
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(of_kind(&s, CT_UNIFIED_GPU_FAULTS).total_ns, 20000);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(nobody_asked)
{
    static const char *const options[] = {"CUTRACE_UNIFIED_MEMORY=off", NULL};
    struct ct_summary s = {0};
    struct stage_run r = run("moves", options[_i]);
    ck_assert_str_eq(r.out, "opened 0, watched 0\n");
    ck_assert_ptr_null(strstr(r.err, "Unified Memory"));
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.unified_count, 0);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(a_context_is_needed)
{
    struct stage_run r = run("none", ON);
    ck_assert_str_eq(r.out, "opened 0, watched 0\n");
    stage_drop(&r);
}
END_TEST

START_TEST(no_device_is_said_once)
{
    struct stage_run r = run("absent", ON);
    ck_assert_str_eq(r.out, "opened 1, watched 0\n");
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "Managed memory was not watched"));
    stage_drop(&r);
}
END_TEST

/* The profile's own descriptor is among them: the table is all that is left. */
START_TEST(closed_descriptors_are_no_matter)
{
    struct stage_run r = run("close", ON);
    ck_assert_str_eq(r.out, "opened 1, watched 1\n");
    ck_assert_msg(strstr(r.err, "Total CPU Page faults: 2\n") != NULL, "%s", r.err);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("managed");
    tcase_add_loop_test(t, it_is_counted, 0, 2);
    tcase_add_loop_test(t, nobody_asked, 0, 2);
    tcase_add_test(t, a_context_is_needed);
    tcase_add_test(t, no_device_is_said_once);
    tcase_add_test(t, closed_descriptors_are_no_matter);
    return stage_main("managed", t);
}
