/* SPDX-License-Identifier: MIT */
/* Lines of Python in two runs that are one, and files that are a library's. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "report/profile/view.h"
#include "report/stacks/line_pairs.h"

/* A line of a function that launched one kernel itself. */
struct line {
    const char *file, *function;
    uint32_t number;
    const char *kernel;
};

struct run {
    struct ct_build b;
    struct ct_merged m;
    struct ct_calls calls;
};

static void start(struct run *r)
{
    *r = (struct run){.m = {.details = true, .devices_as = CT_DEVICES_AS_ONE}};
    ct_build_start(&r->b);
    ct_build_process(&r->b, 1, "./app");
    ct_build_device(&r->b, 0, "GPU");
}

static void launch(struct run *r, uint32_t frame, const char *kernel)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(&r->b, kernel));
    ct_build_time(&row, 1000);
    struct ct_file_stack s = {ct_build_add(&r->b, CT_SECTION_ROWS, &row), frame, 1, 1, 1000};
    ct_build_add(&r->b, CT_SECTION_STACKS, &s);
}

static void add_lines(struct run *r, const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ct_file_line l = {.line = lines[i].number};
        l.file = ct_build_text(&r->b, lines[i].file);
        l.function = ct_build_text(&r->b, lines[i].function);
        struct ct_file_frame f = {.line = ct_build_add(&r->b, CT_SECTION_LINES, &l)};
        launch(r, ct_build_add(&r->b, CT_SECTION_FRAMES, &f), lines[i].kernel);
    }
}

static void finish(struct run *r)
{
    char path[CT_CASE_PATH];
    struct ct_summary s = {0};
    struct ct_read_error error;
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(&r->b, path));
    ck_assert_msg(!ct_summary_read(&s, path, &error), "%s", error.text);
    ct_merge_add(&r->m, &s);
    ct_calls_of(&r->calls, &r->m, CT_VIEW_ALL_DEVICES);
    ct_summary_free(&s);
    ct_build_free(&r->b);
    unlink(path);
}

static void end(struct run *r)
{
    ct_calls_free(&r->calls);
    ct_merge_free(&r->m);
}

/* ---- lines ---- */

/* "8>11": line 8 has become line 11; "9>-": it has gone. */
static void expect_pairs(const struct line *before, size_t old, const struct line *after,
                         size_t new, const char *expected)
{
    struct run a, b;
    struct ct_string found = {0};
    start(&a);
    start(&b);
    add_lines(&a, before, old);
    add_lines(&b, after, new);
    finish(&a);
    finish(&b);
    uint32_t *pairs = ct_line_pairs(&(struct ct_line_side){&a.m, &a.calls},
                                    &(struct ct_line_side){&b.m, &b.calls});
    for (size_t i = 0; i < old; i++) {
        ct_string_printf(&found, "%s%u>", i ? " " : "", a.m.stacks.lines[i].line);
        if (pairs[i] == CT_MERGE_NONE)
            ct_string_put(&found, "-");
        else
            ct_string_printf(&found, "%u", b.m.stacks.lines[pairs[i]].line);
    }
    ck_assert_str_eq(found.data, expected);
    ct_string_free(&found);
    free(pairs);
    end(&a);
    end(&b);
}

#define EXPECT(before, after, expected)                                                            \
    expect_pairs(before, sizeof(before) / sizeof((before)[0]), after,                              \
                 sizeof(after) / sizeof((after)[0]), expected)
#define MODEL(number, kernel)                                                                      \
    {                                                                                              \
        "/a/model.py", "f", number, kernel                                                         \
    }

/* Lines are known again by what they launch, not by their numbers. */
START_TEST(edited_lines)
{
    static const struct line before[] = {MODEL(8, "one"), MODEL(9, "two"), MODEL(10, "one"),
                                         MODEL(11, "three")},
                             after[] = {MODEL(11, "one"), MODEL(12, "four"), MODEL(13, "two"),
                                        MODEL(14, "one")};
    EXPECT(before, after, "8>11 9>13 10>14 11>-");
}
END_TEST

/* A line whose kernel is another one is where the others say that it has moved to. */
START_TEST(lines_without_likeness)
{
    static const struct line one[] = {MODEL(5, "one")}, other[] = {MODEL(5, "two")},
                             both[] = {MODEL(5, "one"), MODEL(6, "two")},
                             last[] = {MODEL(6, "two")};
    EXPECT(one, other, "5>5");
    EXPECT(both, last, "5>- 6>6");
}
END_TEST

START_TEST(functions_apart)
{
    static const struct line before[] = {{"/a/model.py", "f", 5, "one"},
                                         {"/a/model.py", "g", 9, "one"}},
                             after[] = {{"/a/model.py", "g", 5, "one"}};
    EXPECT(before, after, "5>- 9>5");
}
END_TEST

/* Two checkouts; a name that two files of a side have says nothing without their folders. */
START_TEST(files_elsewhere)
{
    static const struct line before[] = {{"/a/model.py", "f", 1, "one"},
                                         {"/a/x/init.py", "f", 2, "one"},
                                         {"/a/y/init.py", "f", 3, "one"},
                                         {"/same/init.py", "f", 4, "one"},
                                         {"/a/gone.py", "f", 5, "one"}},
                             after[] = {{"/b/y/init.py", "f", 30, "two"},
                                        {"/b/x/init.py", "f", 20, "two"},
                                        {"/b/model.py", "f", 10, "two"},
                                        {"/same/init.py", "f", 40, "two"},
                                        {"/b/come.py", "f", 50, "two"}};
    EXPECT(before, after, "1>10 2>20 3>30 4>40 5>-");
}
END_TEST

/* ---- files ---- */

static const struct {
    const char *file;
    uint32_t line; /* 0: not known, as of native code */
    bool is_library;
} files[] = {
    {"/opt/venv/lib64/python3.12/site-packages/torch/nn/linear.py", 7, true},
    {"/usr/lib/python3/dist-packages/numpy/core.py", 7, true},
    {"/usr/lib/python3.11/json/decoder.py", 7, true},
    {"/usr/lib64/python3.6/runpy.py", 7, true},
    {"/lib/pythonic/lib/python3.9/ast.py", 7, true},
    {"<frozen runpy>", 7, true},
    {"/home/me/lib/python-models/train.py", 7, false},
    {"/home/me/lib/python/train.py", 7, false},
    {"/home/me/lib/python3.11", 7, false},
    {"/home/me/site-packages", 7, false},
    {"train.py", 7, false},
    {"", 0, false},
    {"/opt/lib/libengine.so.2", 0, true},
    {"/opt/bin/trainer", 0, true},
    {"/home/me/model.cpp", 0, false},
    {"/usr/include/c++/12/bits/stl_algo.h", 7, true},
};

START_TEST(libraries)
{
    ck_assert_msg(ct_calls_is_library(files[_i].file, files[_i].line) == files[_i].is_library, "%s",
                  files[_i].file);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("stack_diff");
    tcase_add_test(tests, edited_lines);
    tcase_add_test(tests, lines_without_likeness);
    tcase_add_test(tests, functions_apart);
    tcase_add_test(tests, files_elsewhere);
    tcase_add_loop_test(tests, libraries, 0, sizeof(files) / sizeof(files[0]));
    return ct_case_main("stack_diff", tests);
}
