/* SPDX-License-Identifier: MIT */
/* What is sent to the launcher reaches the program, once; it stops and ends as the program does. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define START(...)                                                                                 \
    rig_start((const char *const[]){rig_launcher(), "-q", rig_inner(), __VA_ARGS__, NULL})

static pid_t ready(struct rig *r)
{
    int pid = 0;
    const char *line = rig_line(r);
    ck_assert_msg(sscanf(line, "ready %d", &pid) == 1, "%s", line);
    return pid;
}

static void expect(struct rig *r, int number, int value)
{
    char line[64];
    snprintf(line, sizeof(line), "got %d %d", number, value);
    ck_assert_str_eq(rig_line(r), line);
}

/* All that can be caught and do not stop. */
static bool is_plain(int number)
{
    return number != SIGKILL && number != SIGSTOP && number != SIGTSTP && number != SIGCONT &&
           number != SIGCHLD && number != 32 && number != 33;
}

/* Each is sent, and then SIGUSR1 shows that nothing else came in between. */
static void send_all(bool to_group)
{
    struct rig r = START("hear", "124");
    ready(&r);
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (!is_plain(number))
            continue;
        ck_assert_int_eq(kill(to_group ? -r.pid : r.pid, number), 0);
        expect(&r, number, 0);
    }
    for (int left = 124 - 57; left; left--) {
        kill(to_group ? -r.pid : r.pid, SIGUSR1);
        expect(&r, SIGUSR1, 0);
    }
    ck_assert_int_eq(rig_wait(&r), 0);
}

START_TEST(sent_to_the_launcher)
{
    send_all(false);
}
END_TEST

START_TEST(sent_to_the_group)
{
    send_all(true);
}
END_TEST

/* In turn: what was for the group is not taken for the launcher's later. Of the standard signals
 * two that wait are one, so these are others. */
START_TEST(sent_by_turns)
{
    struct rig r = START("hear", "200");
    ready(&r);
    for (int i = 0; i < 200; i++) {
        kill(i % 3 ? -r.pid : r.pid, SIGRTMIN + i % 2);
        expect(&r, SIGRTMIN + i % 2, 0);
    }
    ck_assert_int_eq(rig_wait(&r), 0);
}
END_TEST

START_TEST(values_are_kept)
{
    struct rig r = START("hear", "2");
    ready(&r);
    sigqueue(r.pid, SIGUSR1, (union sigval){.sival_int = 4711});
    expect(&r, SIGUSR1, 4711);
    sigqueue(r.pid, SIGRTMAX, (union sigval){.sival_int = -5});
    expect(&r, SIGRTMAX, -5);
    ck_assert_int_eq(rig_wait(&r), 0);
}
END_TEST

static volatile sig_atomic_t heard;

static void hear(int number)
{
    heard = number;
}

/* Some programs tell their parent that they are ready. */
START_TEST(parent_is_who_started_it)
{
    signal(SIGUSR2, hear);
    struct rig r = START("tell-parent", "12");
    ck_assert_int_eq(rig_wait(&r), 0);
    ck_assert_int_eq(heard, SIGUSR2);
}
END_TEST

/* ---- ends ---- */

START_TEST(killed_launcher)
{
    struct rig r = START("hear", "1");
    pid_t program = ready(&r);
    kill(r.pid, SIGKILL);
    ck_assert_int_eq(WTERMSIG(rig_wait(&r)), SIGKILL);
    ck_assert_str_eq(rig_line(&r), ""); /* the end of its output */
    for (int i = 0; i < 3000 && kill(program, 0) == 0; i++)
        rig_pause(1);
}
END_TEST

START_TEST(ended_by_a_signal_sent_to_the_launcher)
{
    struct rig r = rig_start((const char *const[]){rig_launcher(), "-q", "sh", "-c",
                                                   "echo ready 1; exec sleep 60", NULL});
    ready(&r);
    rig_pause(50);
    kill(r.pid, SIGTERM);
    int status = rig_wait(&r);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
END_TEST

/* ---- the timeout ---- */

START_TEST(timeout)
{
    struct stage_run r = LAUNCH(.argv = {"-t", "0.5", rig_actor(), "endless"});
    ck_assert_msg(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGTERM, "%x", (unsigned)r.status);
    ck_assert_ptr_nonnull(strstr(r.err, "0.5 s after it had started CUDA"));
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"-t", "0.1", "sh", "-c", "sleep 0.5; exit 8"});
    ck_assert_int_eq(stage_exit(&r), 8); /* CUDA was never started */
    stage_drop(&r);
}
END_TEST

static bool lives(const char *pid_file)
{
    char *pid = stage_read(pid_file);
    char state = ct_case_state(atoi(pid));
    free(pid);
    return state != 'Z';
}

/* Neither the shell nor what it started goes on; the second does not heed the first signal. */
static const char *const endings[] = {
    "sh -c 'echo $$ >pid; exec $A endless'; true",
    "sh -c 'echo $$ >between; sh -c \"echo \\$\\$ >pid; exec $A endless\"; touch next'; true",
    "sh -c 'echo $$ >pid; trap \"\" TERM; exec $A endless'; true",
};

START_TEST(timeout_of_descendants)
{
    char actor[1100];
    snprintf(actor, sizeof(actor), "A=%s", rig_actor());
    struct stage_run r = LAUNCH(.argv = {"-t", "0.2", "sh", "-c", endings[_i]}, .env = {actor});
    ck_assert_msg(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGTERM, "%x", (unsigned)r.status);
    ck_assert_msg(!strstr(r.err, "still runs"), "%s", r.err);
    ck_assert(!lives("pid"));
    ck_assert(_i != 1 || (!lives("between") && !stage_exists("next")));
    stage_drop(&r);
}
END_TEST

/* The program itself does not heed it. */
START_TEST(timeout_of_one_that_does_not_end)
{
    char actor[1100];
    snprintf(actor, sizeof(actor), "A=%s", rig_actor());
    struct stage_run r =
        LAUNCH(.argv = {"-t", "0.2", "sh", "-c", "echo $$ >pid; trap '' TERM; exec $A endless"},
               .env = {actor});
    ck_assert_msg(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGKILL, "%x", (unsigned)r.status);
    ck_assert(!lives("pid"));
    stage_drop(&r);
}
END_TEST

/* ---- stops ---- */

static const int stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

/* For the shell, the job stops by the program's signal, and goes on when it says so. */
START_TEST(stops_with_the_program)
{
    char number[8];
    snprintf(number, sizeof(number), "%d", stops[_i]);
    struct rig r = START("stop", number);
    ready(&r);
    int status = rig_wait(&r);
    ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == stops[_i], "%x", (unsigned)status);
    kill(_i % 2 ? -r.pid : r.pid, SIGCONT);
    ck_assert_str_eq(rig_line(&r), "goes on");
    ck_assert_int_eq(rig_wait(&r), 0);
}
END_TEST

/* Who stopped the group lets the launcher go on alone, which hands that on, and what comes then. */
START_TEST(goes_on_with_the_launcher)
{
    struct rig r = START("hear", "1");
    ready(&r);
    kill(-r.pid, SIGSTOP);
    ck_assert(WIFSTOPPED(rig_wait(&r)));
    kill(r.pid, SIGCONT);
    kill(r.pid, SIGUSR1);
    expect(&r, SIGUSR1, 0);
    ck_assert_int_eq(rig_wait(&r), 0);
}
END_TEST

/* ---- the witness ---- */

static pid_t witness_of(const struct rig *r)
{
    char path[300], line[300];
    DIR *d = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *e; !found && d && (e = readdir(d));) {
        int pid = 0, parent = 0;
        snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(line, sizeof(line), f) &&
            sscanf(line, "%d (cutrace-witness) %*c %d", &pid, &parent) == 2 && parent == r->pid)
            found = pid;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    ck_assert_int_ne(found, 0);
    return found;
}

/* Its number is another's only when the launcher knows that it has ended. */
START_TEST(killed_witness)
{
    struct rig r = START("hear", "2");
    pid_t program = ready(&r), witness = witness_of(&r);
    kill(program, SIGSTOP);
    ck_assert(WIFSTOPPED(rig_wait(&r)));
    kill(witness, SIGKILL); /* which the launcher can learn only when it goes on */
    ck_assert_int_eq(kill(witness, 0), 0);
    kill(r.pid, SIGCONT);
    kill(r.pid, SIGUSR1);
    expect(&r, SIGUSR1, 0);
    ck_assert_int_eq(kill(witness, 0), -1);
    kill(r.pid, SIGUSR2);
    expect(&r, SIGUSR2, 0);
    ck_assert_int_eq(rig_wait(&r), 0);
}
END_TEST

/* It is the program's to say whether it stops. */
START_TEST(stops_only_with_the_program)
{
    struct rig r = rig_start((const char *const[]){
        rig_launcher(), "-q", "sh", "-c", "trap '' TSTP; echo ready 1; sleep 0.3; echo on", NULL});
    ready(&r);
    kill(-r.pid, SIGTSTP);
    ck_assert_str_eq(rig_line(&r), "on");
    ck_assert_int_eq(rig_wait(&r), 0);
}
END_TEST

/* ---- when the program has ended ---- */

static bool is_report_of(pid_t launcher)
{
    char path[64], text[300] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)launcher, (int)launcher);
    FILE *f = fopen(path, "r");
    int child = 0;
    if (f && fscanf(f, "%d", &child) != 1)
        child = 0;
    if (f)
        fclose(f);
    snprintf(path, sizeof(path), "/proc/%d/cmdline", child);
    f = child ? fopen(path, "r") : NULL;
    if (f && !fgets(text, sizeof(text), f))
        *text = '\0';
    if (f)
        fclose(f);
    return !strcmp(text, "cutrace-report");
}

/* Whose stderr, a pipe, is full and not read. */
static pid_t start_printing(int *from)
{
    static const char some[4096];
    char runtime[4096];
    int ends[2];
    stage_sanitizer(runtime, sizeof(runtime));
    runtime[strcspn(runtime, ":")] = '\0';
    ck_assert(!pipe2(ends, O_CLOEXEC) && fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096 &&
              write(ends[1], some, 4000) == 4000);
    pid_t pid = fork();
    if (!pid) {
        setpgid(0, 0);
        signal(SIGHUP, SIG_DFL); /* nohup ignores it for all */
        setenv("LD_PRELOAD", runtime, 1);
        setenv("LD_LIBRARY_PATH", stage_path_of("tests/sim/lib"), 1);
        dup2(ends[1], STDERR_FILENO);
        execl(rig_launcher(), "cutrace", "-o", "x.bin", rig_actor(), "small", "10", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *from = ends[0];
    for (int i = 0; i < 1000 && !is_report_of(pid); i++)
        rig_pause(10);
    ck_assert(is_report_of(pid));
    rig_pause(100);
    return pid;
}

static const int last[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL};

START_TEST(ended_while_it_prints)
{
    char bytes[4096];
    int from, status;
    pid_t pid = start_printing(&from);
    kill(pid, last[_i]);
    struct rig r = {.pid = pid};
    status = rig_wait(&r);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == last[_i], "%x", (unsigned)status);
    while (read(from, bytes, sizeof(bytes)) > 0)
        ; /* which ends when the report has gone as well */
    close(from);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("signals");
    tcase_add_test(t, sent_to_the_launcher);
    tcase_add_test(t, sent_to_the_group);
    tcase_add_test(t, sent_by_turns);
    tcase_add_test(t, values_are_kept);
    tcase_add_test(t, parent_is_who_started_it);
    tcase_add_test(t, killed_launcher);
    tcase_add_test(t, ended_by_a_signal_sent_to_the_launcher);
    if (!CT_CHECKS_THREADS) { /* shells crash at a fork with its library, without us, too */
        tcase_add_test(t, timeout);
        tcase_add_loop_test(t, timeout_of_descendants, 0, sizeof(endings) / sizeof(endings[0]));
        tcase_add_test(t, timeout_of_one_that_does_not_end);
    }
    tcase_add_loop_test(t, stops_with_the_program, 0, 4);
    tcase_add_test(t, stops_only_with_the_program);
    tcase_add_test(t, goes_on_with_the_launcher);
    tcase_add_test(t, killed_witness);
    if (!CT_CHECKS_THREADS)
        tcase_add_loop_test(t, ended_while_it_prints, 0, sizeof(last) / sizeof(last[0]));
    return stage_main("launch_signals", t);
}
