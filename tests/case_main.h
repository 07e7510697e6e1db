/* SPDX-License-Identifier: MIT */
/* The main function of a libcheck program with one test case. */
#ifndef CT_CASE_MAIN_H
#define CT_CASE_MAIN_H

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ThreadSanitizer makes a program slow and large, and objects to exit() in a signal handler. */
#ifdef __SANITIZE_THREAD__
#define CT_CHECKS_THREADS 1
#else
#define CT_CHECKS_THREADS 0
#endif

/* As check's own, which write a line each time that they hold: for what is asked a million times.
 */
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

/*
 * A test that fails ends its process at once, and no fixture of its own runs: so what tests leave
 * is looked for by the process that started them. Their files are in this directory, which goes
 * with all that is in it, and the processes become its children, which are ended.
 */
#define CT_CASE_PATH 64
__attribute__((weak)) char ct_case_directory[CT_CASE_PATH / 2];

/* For mkstemp() and mkdtemp(). */
static inline void ct_case_template(char path[CT_CASE_PATH])
{
    snprintf(path, CT_CASE_PATH, "%s/XXXXXX", ct_case_directory);
}

/* Others may go through it: there are tests that become another user. */
static inline void ct_case_begin(void)
{
    snprintf(ct_case_directory, sizeof(ct_case_directory), "/tmp/cutrace-XXXXXX");
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!mkdtemp(ct_case_directory) || chmod(ct_case_directory, 0711))
        exit(99);
}

static inline unsigned ct_case_end_children(void)
{
    unsigned count = 0;
    int pid;
    FILE *f = fopen("/proc/thread-self/children", "r");
    while (f && fscanf(f, "%d", &pid) == 1) {
        printf("LEFT process %d is ended\n", pid);
        kill(pid, SIGKILL);
        count++;
    }
    if (f)
        fclose(f);
    return count;
}

static inline void ct_case_end(void)
{
    char command[3 * CT_CASE_PATH];
    pid_t pid = 1;
    while (pid > 0) { /* those that it leaves are found the next time */
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid == 0 && ct_case_end_children())
            pid = waitpid(-1, NULL, 0);
    }
    snprintf(command, sizeof(command), "chmod -R u+rwx %s && rm -rf %s", ct_case_directory,
             ct_case_directory);
    if (system(command))
        printf("LEFT %s cannot be removed\n", ct_case_directory);
}

/* A process's state as in /proc: T is stopped, Z has ended, as one has that is not there. */
static inline char ct_case_state(pid_t pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (f)
        fclose(f);
    return state;
}

/*
 * Whether a process that does nothing but wait has not been woken: from then on it runs, and then
 * is gone. One that has just begun is waited for.
 */
static inline char ct_case_wait_state(pid_t pid)
{
    char state;
    while ((state = ct_case_state(pid)) == 'R' || state == 'D')
        usleep(100);
    return state;
}

/* Leaves a test that this machine cannot try; tests/notes.test finds in the logs which these are.
 */
#define ct_skip_if(condition, why)                                                                 \
    do {                                                                                           \
        if (condition) {                                                                           \
            printf("SKIP %s: %s\n", __func__, (why));                                              \
            fflush(stdout);                                                                        \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static inline int ct_case_main(const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);
    tcase_set_timeout(tests, 300);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    ct_case_begin();
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    ct_case_end();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/*
 * Tests and programs of one thread alone: the thread sanitizer can see nothing in
 * it, and takes minutes for it.
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
