/* SPDX-License-Identifier: MIT */
/* The main function of a libcheck program with one test case. */
#ifndef CT_CASE_MAIN_H
#define CT_CASE_MAIN_H

#include <check.h>
#include <stdlib.h>

/* ck_assert() for what is asked a million times: check writes a line for each of its own that holds. */
#define ct_assert(condition)                                                                       \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("Assertion '%s' failed", #condition);                                     \
    } while (0)

static inline int ct_case_main(const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);
    tcase_set_timeout(tests, 300);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Tests that are all of one thread: the thread sanitizer can see nothing in them, and takes minutes
 * for it. */
static inline int ct_case_main_alone(const char *name, TCase *tests)
{
#if defined(__SANITIZE_THREAD__)
    (void)name, (void)tests;
    return 77;
#else
    return ct_case_main(name, tests);
#endif
}

#endif
