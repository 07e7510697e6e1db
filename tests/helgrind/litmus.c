/* SPDX-License-Identifier: MIT */
/* litmus release|relaxed: a plain variable handed over so. Of the second helgrind must say
 * something. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static int handed;
static atomic_int given;

static void *give_released(void *unused)
{
    handed = 1;
    atomic_store_explicit(&given, 1, memory_order_release);
    return unused;
}

static void *give_relaxed(void *unused)
{
    handed = 1;
    atomic_store_explicit(&given, 1, memory_order_relaxed);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t giver;
    if (argc != 2)
        return 2;
    if (pthread_create(&giver, NULL, strcmp(argv[1], "relaxed") ? give_released : give_relaxed,
                       NULL))
        return 3;
    while (!atomic_load_explicit(&given, memory_order_acquire))
        sched_yield();
    int got = handed;
    pthread_join(giver, NULL);
    return got != 1;
}
