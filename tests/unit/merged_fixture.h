/* SPDX-License-Identifier: MIT */
/* A fixture: profiles that a test builds, added up, and the table that the report prints of them.
 */
#ifndef CT_MERGED_FIXTURE_H
#define CT_MERGED_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "report/profile/merge.h"
#include "report/reports/summary.h"

static struct ct_merged merged;

static void set_up(void)
{
    memset(&merged, 0, sizeof(merged));
    merged.details = true;
}

static void tear_down(void)
{
    ct_merge_free(&merged);
}

static void start(struct ct_build *b)
{
    ct_build_start(b);
    ct_build_process(b, 10, "./app");
    ct_build_device(b, 0, "GPU");
}

/* Adds what was built to the merged, by way of a file. */
static void merge(struct ct_build *b)
{
    char path[CT_CASE_PATH];
    struct ct_summary s = {0};
    struct ct_read_error error;
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(b, path));
    ck_assert_msg(!ct_summary_read(&s, path, &error), "%s", error.text);
    ct_merge_add(&merged, &s);
    ct_summary_free(&s);
    ct_build_free(b);
    unlink(path);
}

/* The report's text; freed by the caller. */
static char *print(struct ct_options o)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    ct_report_print(out, &merged, &o);
    fclose(out);
    return text;
}

static void expect_line(struct ct_options o, const char *line)
{
    char *text = print(o);
    ck_assert_msg(strstr(text, line) != NULL, "'%s' is not in\n%s", line, text);
    free(text);
}

#endif
