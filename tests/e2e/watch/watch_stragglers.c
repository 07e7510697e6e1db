/* SPDX-License-Identifier: MIT */
/*
 * A job of eight ranks, one of which is 3 % slower than the others: which one, and why, is named
 * within some ten steps; where none is slow, none is named.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "stage.h"
#include "watch/crew.h"

#define RANKS 8
#define SLOW 5
#define SECONDS "120"
#define ASKED 20 /* times: a machine that is busy with others makes other ranks late, too */

/* The slow rank's. */
struct cause {
    const char *kernels_percent, *late_us, *link_rate;
    const char *why; /* behind its name; NULL: no rank is named */
};

static void start_all(pid_t *pids, const struct cause *of)
{
    unlink("job");
    for (int i = 0; i < RANKS; i++) {
        bool is_slow = i == SLOW;
        char *rank = crew_format("RANK=%d", i);
        char *link = crew_format("CUDASIM_LINK_RATE=%s", is_slow ? of->link_rate : "25");
        pids[i] =
            crew_start(&(struct crew_role){.program = "stepper",
                                           .is_contained = true,
                                           .argv = {SECONDS, is_slow ? of->kernels_percent : "100",
                                                    is_slow ? of->late_us : "0"},
                                           .env = {rank, link, "WORLD_SIZE=8", "SIM_NCCL_JOB=job",
                                                   "CUDASIM_HOST_CLOCK=1"}},
                       i);
        free(rank);
        free(link);
    }
}

/* That rank alone is named, for that reason. */
static bool is_right(const char *text, const struct cause *of)
{
    const char *named = strstr(text, ": the others wait for it ");
    if (!named || !of->why)
        return strstr(text, "\nNo rank is behind ") && !of->why;
    return strstr(text, "\nRank 5 (pid ") && strstr(named, of->why) &&
           !strstr(named + 1, ": the others wait for it ");
}

/* Longer each time, for a machine that has others to serve. */
static bool ask(const struct cause *of, int number)
{
    char *arguments = crew_format("--all stragglers --delay %.1f", 0.5 + 0.25 * number);
    char *text = crew_ask(arguments);
    bool is = is_right(text, of);
    if (!is)
        printf("%s\n", text);
    free(arguments);
    free(text);
    return is;
}

static void expect(const struct cause *of)
{
    pid_t pids[RANKS];
    bool is = false;
    start_all(pids, of);
    for (int i = 0; i < ASKED && !is; i++) {
        usleep(500000);
        is = ask(of, i);
    }
    for (int i = 0; i < RANKS; i++)
        crew_end(pids[i]);
    ck_assert_msg(is, "%s", of->why ? of->why : "none");
}

START_TEST(a_slow_rank_is_named)
{
    static const struct cause causes[] = {
        {"103", "0", "25", "in spinLayer"},
        {"100", "2200", "25", "its host is late by "},
        {"100", "0", "1", "in [CUDA memcpy HtoD]"},
    };
    expect(&causes[_i]);
}
END_TEST

START_TEST(no_rank_is_named_where_all_are_alike)
{
    expect(&(struct cause){"100", "0", "25", NULL});
}
END_TEST

int main(void)
{
    if (CT_CHECKS_THREADS) {
        puts("SKIP with ThreadSanitizer all ranks' hosts are late");
        return 77;
    }
    TCase *t = tcase_create("stragglers");
    tcase_set_timeout(t, 180);
    tcase_add_loop_test(t, a_slow_rank_is_named, 0, 3);
    tcase_add_test(t, no_rank_is_named_where_all_are_alike);
    return stage_main("stragglers", t);
}
