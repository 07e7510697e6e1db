/* SPDX-License-Identifier: MIT */
/*
 * Memory, threads, keys and handlers that cutrace cannot have: the nth that it asks for, or all
 * from the nth on. The program has its results; what is not counted is said.
 */
#include <stdio.h>

#include "sweep.h"

#define LAST 120
#define LAST_OPENED 16

START_TEST(no_memory)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return; /* the sanitizers' mmap stands in between */
#endif
    sweep_preload = "tests/e2e/.libs/libfaulty.so";
    sweep_play_bare();
    for (unsigned n = 1; n <= LAST; n += n < 24 || sweep_whole() ? 1 : 12) {
        sweep_add("FAULTY=mmap:%u", n);
        sweep_add("FAULTY=mmap:%u-1000000", n);
    }
    for (unsigned n = 1; n <= LAST_OPENED; n++) {
        sweep_add("FAULTY=mprotect:%u", n);
        sweep_add("FAULTY=mprotect:%u-1000000", n);
    }
    sweep_play("4");
    ck_assert_uint_gt(sweep_end("without memory"), 50);
    sweep_drop_bare();
}
END_TEST

static const char *const others[] = {"pthread_create", "pthread_key_create", "__cxa_atexit",
                                     "__register_atfork"};

START_TEST(nothing_else)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return;
#endif
    sweep_preload = "tests/e2e/.libs/libfaulty.so";
    sweep_play_bare();
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        sweep_add("FAULTY=%s:1", others[i]);
    sweep_play("4");
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(sweep_came(i), "%s was never called", others[i]);
    sweep_end("without a thread, a key or a handler");
    sweep_drop_bare();
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("memory");
    tcase_add_test(t, no_memory);
    tcase_add_test(t, nothing_else);
    return stage_main("life_memory", t);
}
