/* SPDX-License-Identifier: MIT */
/*
 * cutrace-report's table against nvprof's, byte for byte. What stands below the table is ours: it
 * begins with the line that counts the operations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_main.h"
#include "profiles.h"
#include "traces.h"

#define MOST_BYTES 65536

static const struct golden {
    const char *profile, *arguments, *file;
} goldens[] = {
    {"basic", "", "basic.summary.txt"},
    {"basic", "--csv", "basic.summary.csv"},
    {"basic", "--demangling off", "basic.nodemangle.txt"},
    {"basic", "-u s", "basic.summary.u-s.txt"},
    {"basic", "-u ms", "basic.summary.u-ms.txt"},
    {"basic", "--normalized-time-unit us", "basic.summary.u-us.txt"},
    {"basic", "-uns", "basic.summary.u-ns.txt"},
    {"basic", "-u col", "basic.summary.u-col.txt"},
    {"names", "", "names.summary.txt"},
    {"none", "", "none.summary.txt"},
    {"none", "--csv", "none.summary.txt"},
    {"gpuonly", "", "gpuonly.summary.txt"},
    {"apionly", "", "apionly.summary.txt"},
    {"multi", "", "multi.summary.txt"},
    {"multi", "--print-summary-per-gpu", "multi.per-gpu.txt"},
    {"nvtx", "--nvtx-ranges", "nvtx.summary.txt"},
    {"nvtx_empty", "--nvtx-ranges", "nvtx-empty.summary.txt"},
    {"um", "", "um.summary.txt"},
};

/* Of traces, which have nothing of ours below. */
static const struct golden trace_goldens[] = {
    {"basic", "--print-gpu-trace", "basic.gpu-trace.txt"},
    {"basic", "trace", "basic.gpu-trace.txt"},
    {"basic", "--print-gpu-trace -u col", "basic.gpu-trace.u-col.txt"},
    {"basic", "--print-gpu-trace --csv", "basic.gpu-trace.csv"},
    {"basic", "--print-api-trace", "basic.api-trace.txt"},
    {"basic", "--print-api-trace --csv", "basic.api-trace.csv"},
    {"basic", "--print-gpu-trace --print-api-trace", "basic.both-trace.txt"},
    {"none", "--print-gpu-trace", "none.gpu-trace.txt"},
    {"none", "--print-gpu-trace --csv", "none.gpu-trace.txt"},
};

static void read_all(FILE *f, char *text)
{
    ck_assert_ptr_nonnull(f);
    size_t len = fread(text, 1, MOST_BYTES - 1, f);
    ck_assert(feof(f));
    text[len] = 0;
}

static void run_report(const char *arguments, const char *path, char *text)
{
    char command[512];
    snprintf(command, sizeof(command), "./cutrace-report %s %s%s", arguments, path,
             strstr(arguments, "--csv") ? " 2>/dev/null" : ""); /* lines that are no rows */
    FILE *f = popen(command, "r");
    read_all(f, text);
    ck_assert_int_eq(pclose(f), 0);
}

static void read_golden(const char *file, char *text)
{
    char path[512];
    const char *srcdir = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/tests/golden/data/%s", srcdir ? srcdir : ".", file);
    FILE *f = fopen(path, "r");
    read_all(f, text);
    fclose(f);
}

/* Cuts off what is below the table, with the empty line before it, and returns it. */
static char *cut(char *text)
{
    char *below = strstr(text, " timed, ");
    ck_assert_ptr_nonnull(below);
    while (below > text && below[-1] != '\n')
        below--;
    char *copy = strdup(below);
    if (below - text > 1 && below[-2] == '\n')
        below--;
    *below = 0;
    return copy;
}

START_TEST(is_what_nvprof_printed)
{
    const struct golden *g = &goldens[_i];
    char path[CT_CASE_PATH];
    static char ours[MOST_BYTES], theirs[MOST_BYTES];
    struct ct_build b;
    ct_build_start(&b);
    ck_assert(ct_profile_fill(&b, g->profile));
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(&b, path));
    ct_build_free(&b);
    run_report(g->arguments, path, ours);
    unlink(path);
    bool csv = strstr(g->arguments, "--csv");
    char *below = csv ? NULL : cut(ours);
    read_golden(g->file, theirs);
    ck_assert_str_eq(ours, theirs);
    ck_assert(csv || strstr(below, " timed, 0 not\n"));
    free(below);
}
END_TEST

START_TEST(is_the_trace_nvprof_printed)
{
    const struct golden *g = &trace_goldens[_i];
    char path[CT_CASE_PATH];
    static char ours[MOST_BYTES], theirs[MOST_BYTES];
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_golden_trace_write(g->profile, path));
    run_report(g->arguments, path, ours);
    unlink(path);
    read_golden(g->file, theirs);
    ck_assert_str_eq(ours, theirs);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("nvprof");
    tcase_add_loop_test(tests, is_what_nvprof_printed, 0, sizeof(goldens) / sizeof(goldens[0]));
    tcase_add_loop_test(tests, is_the_trace_nvprof_printed, 0,
                        sizeof(trace_goldens) / sizeof(trace_goldens[0]));
    return ct_case_main("golden", tests);
}
