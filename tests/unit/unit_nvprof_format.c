/* SPDX-License-Identifier: MIT */
/* Numbers: nvprof's own output for times, and the same rules for sizes and throughputs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "case_main.h"
#include "report/units.h"

static FILE *open_vectors(void)
{
    char path[512];
    const char *srcdir = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/tests/golden/data/time-format.tsv", srcdir ? srcdir : ".");
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    return f;
}

/*
 * From 1000 s on nvprof prints two digits ("1.2e+03s"). That is declined: the same field has room
 * for six. Our text must then be nvprof's number when it is rounded as much.
 */
static void check_long_time(const char *ours, const char *theirs)
{
    char rounded[CT_UNITS_BYTES];
    snprintf(rounded, sizeof(rounded), "%.1es", strtod(ours, NULL));
    ck_assert_str_eq(rounded, theirs);
    ck_assert_ptr_null(strchr(ours, 'e'));
    ck_assert_uint_le(strlen(ours), 8);
}

START_TEST(times_are_those_of_nvprof)
{
    FILE *f = open_vectors();
    char theirs[CT_UNITS_BYTES], ours[CT_UNITS_BYTES];
    uint64_t ns;
    unsigned checked = 0, declined = 0;
    while (fscanf(f, "%" SCNu64 " %31s", &ns, theirs) == 2) {
        ct_units_time(ours, ns, 8);
        checked++;
        if (strchr(theirs, 'e')) {
            check_long_time(ours, theirs);
            declined++;
        } else {
            ck_assert_str_eq(ours, theirs);
        }
    }
    fclose(f);
    ck_assert_uint_gt(checked, 500);
    ck_assert_uint_lt(declined, checked / 2);
}
END_TEST

START_TEST(times_at_the_edges)
{
    static const struct {
        uint64_t ns;
        int width;
        const char *text;
    } cases[] = {
        {0, 8, "0ns"},
        {999, 8, "999ns"},
        {1000, 8, "1.0000us"},
        {999995, 8, "1000.0us"}, /* the unit is chosen before rounding */
        {1115240000, 8, "1.11524s"},
        {999999999999, 8, "1000.00s"},
        {1234567890123, 8, "1234.57s"}, /* nvprof: 1.2e+03s */
        {1635900, 10, "1.635900ms"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CT_UNITS_BYTES];
        ct_units_time(text, cases[i].ns, cases[i].width);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(the_longest_time_fits_its_array)
{
    char text[CT_UNITS_BYTES];
    ct_units_time(text, UINT64_MAX, 8);
    ck_assert_str_eq(text, "18446744074s");
    ct_units_csv(text, UINT64_MAX, CT_UNIT_NS);
    ck_assert_str_eq(text, "18446744073709551616.000000");
    ct_units_cell(text, UINT64_MAX, CT_UNIT_NS);
    ck_assert_str_eq(text, "1.84e+19");
}
END_TEST

START_TEST(sizes)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0B"},
        {999, "999B"},
        {1000, "0.9766KB"},
        {720000, "703.13KB"},
        {1023999, "1000.0KB"},
        {1044480, "0.9961MB"},
        {4194304, "4.0000MB"},
        {(uint64_t)16 << 30, "16.000GB"},
        {(uint64_t)5 << 40, "5120.0GB"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CT_UNITS_BYTES];
        ct_units_size(text, cases[i].bytes);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(throughputs)
{
    char text[CT_UNITS_BYTES];
    ct_units_throughput(text, 4194304, 310117);
    ck_assert_str_eq(text, "12.596GB/s");
    ct_units_throughput(text, 1044480, 500);
    ck_assert_str_eq(text, "1945.5GB/s");
    ct_units_throughput(text, 4096, 0);
    ck_assert_str_eq(text, "-");
}
END_TEST

START_TEST(cells_of_a_fixed_unit)
{
    static const struct {
        uint64_t ns;
        enum ct_unit unit;
        const char *cell, *csv;
    } cases[] = {
        {41000, CT_UNIT_US, "41.00000", "41.000000"},  {999, CT_UNIT_NS, "999", "999"},
        {1050, CT_UNIT_NS, "1.05e+03", "1050.000000"}, {10000, CT_UNIT_MS, "0.010000", "0.010000"},
        {9990, CT_UNIT_MS, "9.99e-03", "0.009990"},    {0, CT_UNIT_S, "0.000000", "0.000000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CT_UNITS_BYTES];
        ct_units_cell(text, cases[i].ns, cases[i].unit);
        ck_assert_str_eq(text, cases[i].cell);
        ct_units_csv(text, cases[i].ns, cases[i].unit);
        ck_assert_str_eq(text, cases[i].csv);
    }
}
END_TEST

START_TEST(units_by_size)
{
    ck_assert_int_eq(ct_unit_of(0), CT_UNIT_NS);
    ck_assert_int_eq(ct_unit_of(999), CT_UNIT_NS);
    ck_assert_int_eq(ct_unit_of(1000), CT_UNIT_US);
    ck_assert_int_eq(ct_unit_of(1000000), CT_UNIT_MS);
    ck_assert_int_eq(ct_unit_of(UINT64_MAX), CT_UNIT_S);
    ck_assert_str_eq(ct_unit_name(CT_UNIT_MS), "ms");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("units");
    tcase_add_test(tests, times_are_those_of_nvprof);
    tcase_add_test(tests, times_at_the_edges);
    tcase_add_test(tests, the_longest_time_fits_its_array);
    tcase_add_test(tests, sizes);
    tcase_add_test(tests, throughputs);
    tcase_add_test(tests, cells_of_a_fixed_unit);
    tcase_add_test(tests, units_by_size);
    return ct_case_main("nvprof_format", tests);
}
