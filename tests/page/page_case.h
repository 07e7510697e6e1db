/* SPDX-License-Identifier: MIT */
/* Pages that the tests have made and opened, in the one browser of all of them. */
#ifndef CT_TEST_PAGE_CASE_H
#define CT_TEST_PAGE_CASE_H

#include <check.h>

#include "browser.h"

extern struct ct_browser *browser;
extern char dir[64];  /* for files of the tests */
extern char top[512]; /* of the build directory */

/* A command that has to succeed. */
__attribute__((format(printf, 1, 2))) void run(const char *format, ...);

/* The page of a profile that a tool makes of a kind, opened; and of one of a training run. */
void open_page(const char *tool, const char *kind);
void open_torch(void);
/* A file of `dir`. */
void open_file(const char *name);

/* A window of another size; {0, 0}: as it was. */
void resize(int width, int height);

void add_timeline_tests(TCase *tests);
void add_python_tests(TCase *tests);

/* Each script is to give this text. */
#define SAYS(script, expected) ck_assert_str_eq(ct_browser_eval(browser, script), expected)
#define QUIET() ck_assert_str_eq(ct_browser_complaints(browser), "")

/* How many of these there are, as soon as there are n: a drawing comes with a frame of its own. */
#define COMES(selector, n)                                                                         \
    "new Promise((found) => { const look = () => {"                                                \
    " const now = document.querySelectorAll('" selector "').length;"                               \
    " if (now >= " n ") found(now); else setTimeout(look, 10); }; look(); })"

#endif
