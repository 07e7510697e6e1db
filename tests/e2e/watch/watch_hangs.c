/* SPDX-License-Identifier: MIT */
/*
 * Hangs of each kind are named within a second of the limit, by the watchdog, by cutrace ctl and in
 * the profile; things that merely take long are not. WATCH_TIMES=20: each of the hangs so often.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "stage.h"
#include "watch/crew.h"

#define LIMIT_S 1.0
#define LATEST_S 2.0
#define RANKS 3

struct play {
    const char *kind;
    const char *seconds;
    const char *watchdog;
    const char *named; /* the alarm has it; NULL: there is none */
    const char *env[4];
};

static const struct play hangs[] = {
    {"kernel", "2.5", "1s", "stuck: kernel gateSpins (stream 1) for ", {NULL}},
    {"kernel", "2.5", "10x", "stuck: kernel gateSpins (stream 1) for ", {NULL}},
    {"events", "2.5", "1s", "stuck: kernel gateSpins (stream 1) for ", {NULL}},
    {"gate",
     "2.5",
     "1s",
     "stuck: a function of the host before kernel spinBehind (stream 1) for ",
     {NULL}},
    {"empty-gate",
     "2.5",
     "1s",
     "waits in cuStreamSynchronize, for a function of the host (stream 1) for ",
     {NULL}},
    {"value",
     "2.5",
     "1s",
     "stuck: a value in memory before kernel spinBehind (stream 1) for ",
     {NULL}},
    {"assert",
     "2.5",
     "1s",
     "stuck: error 710 of the device, with kernel gateSpins in flight (stream 1) for ",
     {NULL}},
    {"driver", "2.5", "1s", "stuck: kernel gateSpins (stream 1) for ", {"CUTRACE_EXIT_TIMEOUT=0"}},
    {"graph",
     "2.5",
     "1s",
     "stuck: graph of 3 nodes in kernel gateSpins (stream 1) for ",
     {"CUTRACE_GRAPH_NODES=1"}},
    {"rank",
     "2.5",
     "1s",
     "stuck: kernel gateDevKernel (stream 1) for ",
     {"SIM_NCCL_JOB=job", "WORLD_SIZE=2", "RANK=0"}},
    {"rank", "2.5", "off", NULL, {"SIM_NCCL_JOB=job", "WORLD_SIZE=2", "RANK=1"}},
};

static const struct play harmless[] = {
    {"idle", "2", "1s", NULL, {NULL}},
    {"stopped", "2.5", "1s", NULL, {NULL}},
    {"new", "2.5", "10x", NULL, {NULL}},
    {"leave", "1", "1s", NULL, {NULL}},
    {"slow", "1.4", "1s", NULL, {"CUDASIM_REAL_TIME=1"}},
};

static pid_t start(const struct play *p, int number)
{
    char *watchdog = crew_format("CUTRACE_WATCHDOG=%s", p->watchdog);
    struct crew_role role = {.program = "hanger", .argv = {p->kind, p->seconds}, .env = {watchdog}};
    for (int i = 0; i < 4 && p->env[i]; i++)
        role.env[i + 1] = p->env[i];
    pid_t pid = crew_start(&role, number);
    free(watchdog);
    return pid;
}

/* All that the program and the library said. */
static char *finish(pid_t pid, int number)
{
    int status;
    char *path = crew_format("%d.txt", number);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    char *text = stage_read(path);
    ck_assert_msg(status == 0 && strstr(text, "done\n"), "%d: %d, %s", number, status, text);
    free(path);
    return text;
}

/* Seconds behind "for " in the alarm; infinite: there is none. */
static double named_after(const char *text, const char *named)
{
    const char *at = strstr(text, named);
    return at ? atof(at + strlen(named)) : INFINITY;
}

static unsigned count_of(const char *text, const char *what)
{
    unsigned n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* ThreadSanitizer's own thread keeps a process alive whose main thread has left. */
static bool is_played(const struct play *p)
{
    return !CT_CHECKS_THREADS || strcmp(p->kind, "leave") != 0;
}

/* All of them side by side. Whether each was named in time, once. */
static bool play_all(const struct play *plays, int count)
{
    pid_t pids[16];
    bool good = true;
    unlink("job");
    for (int i = 0; i < count; i++)
        pids[i] = is_played(&plays[i]) ? start(&plays[i], i) : 0;
    for (int i = 0; i < count; i++) {
        if (!pids[i])
            continue;
        char *text = finish(pids[i], i);
        const char *named = plays[i].named;
        double after = named ? named_after(text, named) : 0;
        bool is_good = named ? after >= LIMIT_S && after <= LATEST_S && count_of(text, named) == 1
                             : !strstr(text, "stuck: ");
        if (!is_good)
            printf("%s: %s\n", plays[i].kind, text);
        good &= is_good;
        free(text);
    }
    return good;
}

#define AGAIN(condition)                                                                           \
    for (unsigned tries = 1; !(condition) && stage_again(__FILE__, __LINE__, #condition, tries);   \
         tries++)                                                                                  \
        ;

/* The state of an entry of that kind in a profile. */
static uint32_t flags_of(int number, enum ct_stuck_kind kind)
{
    struct ct_summary s = {0};
    char *path = crew_format("%d.bin", number);
    uint32_t flags = 0;
    stage_profile(&s, path);
    for (size_t i = 0; i < s.stuck_count; i++) {
        if (s.stuck[i].kind != kind)
            continue;
        flags |= s.stuck[i].flags;
        ck_assert_uint_ge(s.stuck[i].for_ns, (uint64_t)(LIMIT_S * 1e9));
        ck_assert_uint_eq(s.stuck[i].limit_ns, (uint64_t)(LIMIT_S * 1e9));
    }
    ct_summary_free(&s);
    free(path);
    return flags;
}

START_TEST(hangs_are_named_in_time)
{
    for (long n = stage_number("WATCH_TIMES", 1); n > 0; n--) {
        AGAIN(play_all(hangs, ct_countof(hangs)));
        ck_assert_uint_eq(flags_of(0, CT_STUCK_OPERATION), CT_STUCK_PAST);
        ck_assert_uint_eq(flags_of(3, CT_STUCK_GATE), CT_STUCK_PAST);
        ck_assert_uint_eq(flags_of(6, CT_STUCK_FAULT) & CT_STUCK_OVER, 0);
        ck_assert_uint_ne(flags_of(6, CT_STUCK_FAULT), 0);
        ck_assert_uint_eq(flags_of(7, CT_STUCK_OPERATION), CT_STUCK_UNFINISHED);
    }
}
END_TEST

START_TEST(what_takes_long_is_no_hang)
{
    AGAIN(play_all(harmless, ct_countof(harmless)));
}
END_TEST

/* ---- questions ---- */

#define ASKED 60 /* times, over 20 s at least */

/* Asks until both texts are in the answer; `answer` runs no more than a third of a second. */
static void expect(char *(*answer)(const void *), const void *of, const char *first,
                   const char *second)
{
    char *text = NULL;
    for (int i = 0; i < ASKED; i++) {
        free(text);
        text = answer(of);
        if (strstr(text, first) && strstr(text, second))
            break;
        usleep(300000);
    }
    ck_assert_msg(strstr(text, first) && strstr(text, second), "%s", text);
    free(text);
}

static char *ask_one(const void *pid)
{
    char *arguments = crew_format("%d stuck --format csv", (int)*(const pid_t *)pid);
    char *text = crew_ask(arguments);
    free(arguments);
    return text;
}

/* Where the drain thread hangs, too, the watch answers. */
START_TEST(ctl_tells)
{
    const struct play kernel = {"kernel", "60", "off", NULL, {NULL}},
                      driver = {"driver", "60", "1s", NULL, {NULL}};
    pid_t one = start(&kernel, 0), two = start(&driver, 1);
    expect(ask_one, &one, "\"stuck\",", "gateSpins");
    expect(ask_one, &two, "cutrace's own cuEventQuery", "gateSpins");
    crew_end(one);
    crew_end(two);
}
END_TEST

static char *ask_all(const void *unused)
{
    (void)unused;
    return crew_ask("--all stuck");
}

START_TEST(ctl_names_the_rank_that_has_not_come)
{
    static const char *const ranks[RANKS] = {"RANK=0", "RANK=1", "RANK=2"};
    pid_t pids[RANKS];
    for (int i = 0; i < RANKS; i++) {
        struct play p = {"rank", "60", "off", NULL, {"SIM_NCCL_JOB=job", "WORLD_SIZE=3", ranks[i]}};
        pids[i] = start(&p, i);
    }
    char *expected =
        crew_format("NCCL AllReduce, number 41 of communicator 1 of 3 ranks: has not come: "
                    "rank 2 (pid %d) is at number 40",
                    (int)pids[2]);
    expect(ask_all, NULL, expected, "cuStreamSynchronize");
    free(expected);
    for (int i = 0; i < RANKS; i++)
        crew_end(pids[i]);
}
END_TEST

static char *read_metrics(const void *unused)
{
    (void)unused;
    FILE *f = popen("cat *.prom 2>/dev/null", "r");
    char *text = calloc(1, 1 << 16);
    size_t n = fread(text, 1, (1 << 16) - 1, f);
    text[n] = '\0';
    pclose(f);
    return text;
}

START_TEST(metrics_count_hangs)
{
    struct play p = {"kernel", "60", "1s", NULL, {"CUTRACE_METRICS=textfile:."}};
    pid_t pid = start(&p, 0);
    char *line = crew_format("cutrace_stuck_operations{pid=\"%d\",rank=\"\"} 1\n", (int)pid);
    expect(read_metrics, NULL, line, "# TYPE cutrace_stuck_operations gauge");
    free(line);
    crew_end(pid);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("watch");
    tcase_set_timeout(t, 60 + 60 * (double)stage_number("WATCH_TIMES", 1));
    tcase_add_test(t, hangs_are_named_in_time);
    tcase_add_test(t, what_takes_long_is_no_hang);
    tcase_add_test(t, ctl_tells);
    tcase_add_test(t, ctl_names_the_rank_that_has_not_come);
    tcase_add_test(t, metrics_count_hangs);
    return stage_main("watch", t);
}
