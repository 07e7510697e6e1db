/* SPDX-License-Identifier: MIT */
/* The main function of a libcheck program with one test case. */
#ifndef CT_CASE_MAIN_H
#define CT_CASE_MAIN_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

/* ThreadSanitizer makes a program slow and large, and objects to exit() in a signal handler. */
#ifdef __SANITIZE_THREAD__
#define CT_CHECKS_THREADS 1
#else
#define CT_CHECKS_THREADS 0
#endif

/* As check's own, which write a line each time that they hold: for what is asked a million times. */
#define ct_assert_msg(condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)
#define ct_assert(condition) ct_assert_msg(condition, "Assertion '%s' failed", #condition)
#define ct_assert_uint(a, compared, b)                                                             \
    do {                                                                                           \
        uintmax_t a_ = (a), b_ = (b);                                                              \
        ct_assert_msg(a_ compared b_, "Assertion '%s' failed: %ju and %ju",                        \
                      #a " " #compared " " #b, a_, b_);                                            \
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

/*
 * What is all of one thread, a test or a program of them: the thread sanitizer can see nothing in it,
 * and takes minutes for it.
 */
static inline void ct_case_add_alone(TCase *tests, const TTest *test)
{
    if (!CT_CHECKS_THREADS)
        tcase_add_test(tests, test);
}

static inline int ct_case_main_alone(const char *name, TCase *tests)
{
    return CT_CHECKS_THREADS ? 77 : ct_case_main(name, tests);
}

#endif
