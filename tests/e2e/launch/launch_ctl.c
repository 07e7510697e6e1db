/* SPDX-License-Identifier: MIT */
/* cutrace ctl: asks a process that runs on the simulated device. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cutrace/ctl.h"
#include "rig.h"

#define PATIENCE_MS 30000

/* ---- the process that is asked ---- */

static struct {
    pid_t pid;
    char number[16];
    struct rig rig; /* what it says */
    int to;         /* what it is told */
} served;

/* In namespaces of its own (CLONE_NEWUSER ...), if any. */
static void serve_in(int namespaces, const char *variable)
{
    int to[2], from[2];
    const char *line;
    ck_assert(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    served.pid = fork();
    ck_assert_int_ge(served.pid, 0);
    if (!served.pid) {
        char preload[9000], runtime[4096];
        stage_sanitizer(runtime, sizeof(runtime));
        snprintf(preload, sizeof(preload), "%s%s", runtime, stage_path_of(".libs/libcutrace.so"));
        setenv("LD_LIBRARY_PATH", stage_path_of("tests/sim/lib"), 1);
        setenv("LD_PRELOAD", preload, 1);
        setenv("CUTRACE_PRINT", "off", 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        if (variable)
            putenv((char *)(uintptr_t)variable);
        dup2(to[0], 0);
        dup2(from[1], 1);
        if (!namespaces || unshare(namespaces) == 0)
            execl(rig_actor(), "actor", "served", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    served.rig = (struct rig){.pid = served.pid, .out = from[0]};
    served.to = to[1];
    line = rig_line(&served.rig);
    ck_assert_msg(!strncmp(line, "ready ", 6), "%s", line);
    snprintf(served.number, sizeof(served.number), "%d", (int)served.pid);
}

static void serve_with(const char *variable)
{
    serve_in(0, variable);
}

static void serve(void)
{
    serve_with(NULL);
}

static void tell(const char *line)
{
    ck_assert_int_eq(write(served.to, line, strlen(line)), (ssize_t)strlen(line));
    ck_assert_str_eq(rig_line(&served.rig), "done");
}

/* Its exit status. */
static int dismiss(void)
{
    close(served.to);
    int status = rig_wait(&served.rig);
    close(served.rig.out);
    return status;
}

/* ---- asking ---- */

static struct stage_run ctl(const char *pid, const char *command)
{
    return LAUNCH(.argv = {"ctl", pid, command});
}

static void expect_done(const char *command)
{
    struct stage_run r = ctl(served.number, command);
    ck_assert_msg(stage_exit(&r) == 0 && !*r.err, "%s: %s", command, r.err);
    stage_drop(&r);
}

/* One line on stderr that holds the text, and status 1. */
static void expect_refusal(const char *pid, const char *command, const char *text)
{
    struct stage_run r = ctl(pid, command);
    ck_assert_int_eq(stage_exit(&r), 1);
    ck_assert_msg(strstr(r.err, text) && rig_lines(r.err) == 1, "%s: %s", text, r.err);
    ck_assert_str_eq(r.out, "");
    stage_drop(&r);
}

static void expect_status(const char *text)
{
    struct stage_run r = ctl(served.number, "status");
    ck_assert_int_eq(stage_exit(&r), 0);
    ck_assert_msg(strstr(r.out, text) != NULL, "'%s' is not in:\n%s", text, r.out);
    stage_drop(&r);
}

START_TEST(start_stop_flush_status)
{
    struct ct_summary s;
    serve();
    expect_status("recording: on");
    tell("alpha 20\n");
    expect_done("stop");
    expect_status("recording: off");
    tell("alpha 5\n");
    expect_status("unrecorded: 5 operations");
    expect_done("start");
    tell("beta 10\n");
    expect_done("flush"); /* and then it is in the file, whatever happens */
    kill(served.pid, SIGKILL);
    dismiss();
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "alpha"), 20);
    CHECK_TIMED(stage_kernel(&s, "beta"), 10);
    ct_summary_free(&s);
}
END_TEST

START_TEST(status_says_where_the_profile_is)
{
    char place[4200] = "profile: ";
    serve();
    tell("alpha 1\n");
    expect_done("flush");
    ck_assert_ptr_nonnull(getcwd(place + strlen(place), 4000));
    strcat(place, "/summary.bin\n");
    expect_status(place);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

/* ---- top ---- */

/* What stands in a row of the table: now and in all. */
struct row {
    unsigned long now, all;
};

static bool read_row(const char *line, struct row *r)
{
    return sscanf(line, "%*s %*s %lu | %*s %lu", &r->now, &r->all) == 2;
}

static struct row find_row(const char *table, const char *name)
{
    char wanted[64], copy[1024];
    struct row r = {0};
    snprintf(wanted, sizeof(wanted), "  %s\n", name);
    const char *end = strstr(table, wanted);
    ck_assert_msg(end != NULL, "'%s' is not in:\n%s", name, table);
    const char *begin = end;
    while (begin > table && begin[-1] != '\n')
        begin--;
    snprintf(copy, sizeof(copy), "%.*s", (int)(end - begin), begin);
    ck_assert_msg(read_row(copy, &r), "%s", copy);
    return r;
}

START_TEST(top_in_a_pipe)
{
    serve();
    tell("alpha 40\n");
    tell("beta 8\n");
    struct stage_run r =
        LAUNCH(.argv = {"ctl", "-b", "-n", "2", "-d", "0.05", served.number, "top"});
    ck_assert_msg(stage_exit(&r) == 0, "%s", r.err);
    char *second = strstr(r.out, "\n\n");
    second = second ? strstr(second + 2, "\n\n") : NULL;
    ck_assert_ptr_nonnull(second);
    ck_assert_uint_eq(find_row(second, "alpha").now, 0);
    ck_assert_uint_eq(find_row(second, "alpha").all, 40);
    ck_assert_uint_eq(find_row(second, "beta").all, 8);
    *second = '\0';
    strcat(r.out, "\n");
    ck_assert_uint_eq(find_row(r.out, "alpha").now, 40); /* since the start */
    ck_assert_uint_eq(find_row(r.out, "alpha").all, 40);
    ck_assert_ptr_nonnull(strstr(r.out, "recording on"));
    ck_assert_ptr_nonnull(strstr(r.out, "48 operations in "));
    stage_drop(&r);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

START_TEST(top_in_order)
{
    serve();
    tell("beta 40\n");
    tell("alpha 8\n");
    struct stage_run r = LAUNCH(.argv = {"ctl", served.number, "top", "-bn1", "--sort", "name"});
    ck_assert(strstr(r.out, "  alpha\n") < strstr(r.out, "  beta\n"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"ctl", served.number, "top", "-bn1", "--sort=calls"});
    ck_assert(strstr(r.out, "  alpha\n") > strstr(r.out, "  beta\n"));
    stage_drop(&r);
    r = LAUNCH(.argv = {"ctl", served.number, "top", "-bn1", "--sort=weight"});
    ck_assert_int_eq(stage_exit(&r), 1);
    stage_drop(&r);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

static struct row next_graph(struct rig *r)
{
    struct row row;
    for (const char *line;;) {
        line = rig_line(r);
        if (strstr(line, "[CUDA graph ") && read_row(line, &row))
            return row;
    }
}

/* They change places in the table, and with these the numbers in their names. */
START_TEST(top_of_graphs_of_one_size)
{
    const char *argv[] = {rig_launcher(), "ctl", "-b", "-d", "0.05", NULL, "top", NULL};
    serve();
    tell("graph alpha 10\n");
    tell("graph beta 5\n");
    argv[5] = served.number;
    struct rig r = rig_start(argv);
    ck_assert_uint_eq(next_graph(&r).all, 10);
    ck_assert_uint_eq(next_graph(&r).all, 5);
    tell("graph beta 40\n");
    for (bool overtaken = false; !overtaken;) {
        struct row a = next_graph(&r), b = next_graph(&r);
        if (a.all == b.all)
            continue;
        struct row alpha = a.all == 10 ? a : b;
        ck_assert_uint_eq(alpha.all, 10);
        ck_assert_uint_eq(alpha.now, 0);
        overtaken = a.all + b.all == 55;
    }
    ck_assert_int_eq(dismiss(), 0);
    ck_assert_int_eq(rig_wait(&r), 0);
    close(r.out);
}
END_TEST

/* That is no failure of a table that goes on until then. */
START_TEST(top_until_the_process_ends)
{
    const char *argv[] = {rig_launcher(), "ctl", "-b", "-d", "0.05", NULL, "top", NULL};
    serve();
    tell("alpha 3\n");
    argv[5] = served.number;
    struct rig r = rig_start(argv);
    for (unsigned lines = 0; !strstr(rig_line(&r), "  alpha"); lines++)
        ck_assert_uint_lt(lines, 100);
    ck_assert_int_eq(dismiss(), 0);
    ck_assert_int_eq(rig_wait(&r), 0);
    char *err = stage_read("err");
    ck_assert_ptr_nonnull(strstr(err, "has ended"));
    free(err);
    close(r.out);
}
END_TEST

#if CT_WITH_NCURSES

static struct {
    pid_t pid;
    int terminal;
    char seen[65536];
    size_t bytes;
} screen;

static void expect(const char *text)
{
    char *at;
    while (!(at = strstr(screen.seen, text))) {
        struct pollfd p = {.fd = screen.terminal, .events = POLLIN};
        ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "'%s' did not come: %s", text, screen.seen);
        ssize_t n = read(screen.terminal, screen.seen + screen.bytes,
                         sizeof(screen.seen) - 1 - screen.bytes);
        ck_assert_msg(n > 0, "'%s' did not come before the end: %s", text, screen.seen);
        screen.bytes += (size_t)n;
        screen.seen[screen.bytes] = '\0';
    }
    screen.bytes = 0;
    screen.seen[0] = '\0';
}

static void type(const char *keys)
{
    ck_assert_int_eq(write(screen.terminal, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static void open_screen(const struct winsize *size, const char *term)
{
    screen.pid = forkpty(&screen.terminal, NULL, NULL, size);
    ck_assert_int_ge(screen.pid, 0);
    if (screen.pid)
        return;
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    runtime[strcspn(runtime, ":")] = '\0';
    setenv("LD_PRELOAD", runtime, 1);
    setenv("TERM", term, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    execl(rig_launcher(), "cutrace", "ctl", "-d", "3600", served.number, "top", (char *)NULL);
    _exit(127);
}

static const unsigned short widths[] = {110, 80, 40};

/* The key after another draws all anew, which a terminal is not sent otherwise. */
START_TEST(top_on_a_terminal)
{
    struct winsize size = {.ws_row = 20, .ws_col = widths[_i]};
    int status;
    serve();
    tell("alpha 40\n");
    tell("beta 8\n");
    open_screen(&size, "vt100");
    expect("alpha");
    type("n\f");
    expect("by name");
    type("t\f");
    expect("by total");
    type("s\f");
    expect("by calls");
    type("q");
    while (read(screen.terminal, screen.seen, sizeof(screen.seen)) > 0)
        ;
    ck_assert_int_eq(waitpid(screen.pid, &status, 0), screen.pid);
    ck_assert_int_eq(status, 0);
    close(screen.terminal);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

START_TEST(top_on_an_unknown_terminal)
{
    struct winsize size = {.ws_row = 20, .ws_col = 80};
    serve();
    open_screen(&size, "xterm-of-nobody");
    expect("cutrace: there is no description of the terminal 'xterm-of-nobody': use -b");
    int status;
    ck_assert_int_eq(waitpid(screen.pid, &status, 0), screen.pid);
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    close(screen.terminal);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

#endif

/* ---- nobody to ask ---- */

START_TEST(nobody_to_ask)
{
    char own[16];
    pid_t pid = fork();
    if (!pid)
        _exit(0);
    waitpid(pid, NULL, 0);
    snprintf(own, sizeof(own), "%d", (int)pid);
    expect_refusal(own, "status", "there is no process ");
    snprintf(own, sizeof(own), "%d", (int)getpid());
    expect_refusal(own, "top", "runs without libcutrace.so");
    expect_refusal("1x", "status", "'1x' is no process's number");
    expect_refusal("-1", "status", "invalid option");
    expect_refusal("0", "status", "'0' is no process's number");
    expect_refusal(own, "dance", "'dance' is no command of cutrace ctl (try cutrace ctl --help)");
    struct stage_run r = LAUNCH(.argv = {"ctl", own});
    ck_assert_int_eq(stage_exit(&r), 1);
    stage_drop(&r);
}
END_TEST

START_TEST(switched_off)
{
    serve_with("CUTRACE_CONTROL=off");
    expect_refusal(served.number, "status", "CUTRACE_CONTROL=off");
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

/* Who closes everything goes on as if nothing had been; it cannot be asked any more. */
START_TEST(descriptors_closed)
{
    serve();
    expect_done("status");
    tell("alpha 3\n");
    tell("close\n");
    tell("alpha 4\n");
    expect_refusal(served.number, "status", "does not listen");
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

/* A child of fork() keeps nothing of its parent's alive. */
START_TEST(child_outlives_parent)
{
    char child[32];
    serve();
    tell("alpha 3\n");
    ck_assert_int_eq(write(served.to, "fork\n", 5), 5);
    snprintf(child, sizeof(child), "%s", rig_line(&served.rig));
    ck_assert_int_eq(strncmp(child, "child ", 6), 0);
    ck_assert_str_eq(rig_line(&served.rig), "done");
    expect_refusal(child + 6, "status", "does not listen");
    kill(served.pid, SIGKILL);
    rig_wait(&served.rig);
    expect_refusal(served.number, "status", "there is no process ");
    close(served.to);
    close(served.rig.out);
}
END_TEST

/* ---- strangers ---- */

static bool is_its(unsigned long inode)
{
    char path[64], target[64], wanted[64];
    snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof(path), "/proc/%s/fd/%d", served.number, fd);
        ssize_t n = readlink(path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        if (!strcmp(target, wanted))
            return true;
    }
    return false;
}

/* The name of its socket, which anybody can read. */
static socklen_t find_socket(struct sockaddr_un *a)
{
    char path[64], line[512], name[100] = "";
    unsigned long inode;
    snprintf(path, sizeof(path), "/proc/%s/net/unix", served.number);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f))
        if (strstr(line, "@" CT_CTL_NAME) &&
            sscanf(line, "%*s %*s %*s %*s %*s %*s %lu @%99s", &inode, name) == 2 && is_its(inode))
            break;
    fclose(f);
    memset(a, 0, sizeof(*a));
    a->sun_family = AF_UNIX;
    memcpy(a->sun_path + 1, name, strlen(name));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int call(const struct sockaddr_un *a, socklen_t size)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    ck_assert(fd >= 0 && connect(fd, (const struct sockaddr *)a, size) == 0);
    return fd;
}

/* Bytes of the answer; 0: the connection was closed. */
static ssize_t ask(const struct sockaddr_un *a, socklen_t size, const void *data, size_t bytes,
                   struct ct_ctl_answer *answer)
{
    int fd = call(a, size);
    if (bytes)
        send(fd, data, bytes, MSG_NOSIGNAL); /* a refusal comes without being asked */
    ssize_t n = recv(fd, answer, sizeof(*answer), 0);
    if (n < 0 && errno == ECONNRESET) /* told once, before what was sent to us */
        n = recv(fd, answer, sizeof(*answer), 0);
    close(fd);
    return n;
}

START_TEST(nonsense)
{
    struct sockaddr_un a;
    struct ct_ctl_answer answer;
    char noise[70000] = "noise";
    serve();
    socklen_t size = find_socket(&a);
    const size_t sizes[] = {1, 7, sizeof(struct ct_ctl_request), 9, 4096, sizeof(noise)};
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        ck_assert_int_le(ask(&a, size, noise, sizes[i], &answer), 0);
    struct ct_ctl_request r = {.magic = CT_CTL_MAGIC, .command = 77};
    ck_assert_int_eq(ask(&a, size, &r, sizeof(r), &answer), sizeof(answer));
    ck_assert_uint_eq(answer.error, EINVAL);
    int silent[3]; /* who says nothing is in nobody's way */
    for (unsigned i = 0; i < 3; i++)
        silent[i] = call(&a, size);
    expect_status("recording: on");
    for (unsigned i = 0; i < 3; i++)
        close(silent[i]);
    expect_status("recording: on");
    tell("alpha 3\n");
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

static int become_another_user(void)
{
    return setgid(65534) || setuid(65534);
}

/* For good, also by exec. */
static int lose_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    return prctl(PR_SET_SECUREBITS, SECBIT_NOROOT) || syscall(SYS_capset, &head, none);
}

/* User 0 in it, and outside, too, with all capabilities there. */
static int enter_user_namespace(void)
{
    return lose_capabilities() || unshare(CLONE_NEWUSER);
}

static int (*const strangers[])(void) = {become_another_user, lose_capabilities,
                                         enter_user_namespace};

/* The library's answer, which a client of ours would not even come to. */
static void expect_no_answer(int (*become_stranger)(void))
{
    struct sockaddr_un a;
    int status;
    socklen_t size = find_socket(&a);
    pid_t pid = fork();
    if (!pid) {
        struct ct_ctl_request r = {.magic = CT_CTL_MAGIC, .command = CT_CTL_STOP};
        struct ct_ctl_answer answer;
        _exit(become_stranger() || ask(&a, size, &r, sizeof(r), &answer) != sizeof(answer) ||
              answer.error != EACCES);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    expect_status("recording: on");
}

START_TEST(stranger)
{
    if (getuid())
        return;
    serve();
    expect_no_answer(strangers[_i]);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

/* There its own user has no number, as have all others: root of the machine may ask all the same. */
START_TEST(in_a_user_namespace)
{
    if (getuid())
        return;
    serve_in(CLONE_NEWUSER, NULL);
    tell("alpha 3\n");
    expect_done("flush");
    expect_no_answer(become_another_user);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

/* More than there are places, and each of them before whoever has something to say. */
START_TEST(silent_crowd)
{
    struct sockaddr_un a;
    int silent[8];
    serve();
    socklen_t size = find_socket(&a);
    for (unsigned i = 0; i < 8; i++)
        silent[i] = call(&a, size);
    time_t before = time(NULL); /* each keeps its place for five seconds */
    expect_status("recording: on");
    ck_assert_int_le(time(NULL) - before, 4);
    for (unsigned i = 0; i < 8; i++)
        close(silent[i]);
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

/* The client says what it has seen: not that it would be another user's. */
START_TEST(refusals_are_true)
{
    if (getuid())
        return;
    serve();
    tell("undumpable\n");
    pid_t pid = fork();
    int status;
    if (!pid) {
        if (lose_capabilities())
            _exit(1);
        expect_refusal(served.number, "flush", "is this user's, but its descriptors cannot be read");
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    expect_done("flush");
    ck_assert_int_eq(dismiss(), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ctl");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, start_stop_flush_status);
    tcase_add_test(t, status_says_where_the_profile_is);
    tcase_add_test(t, top_in_a_pipe);
    tcase_add_test(t, top_in_order);
    tcase_add_test(t, top_of_graphs_of_one_size);
    tcase_add_test(t, top_until_the_process_ends);
#if CT_WITH_NCURSES
    tcase_add_loop_test(t, top_on_a_terminal, 0, sizeof(widths) / sizeof(widths[0]));
    tcase_add_test(t, top_on_an_unknown_terminal);
#endif
    tcase_add_test(t, nobody_to_ask);
    tcase_add_test(t, switched_off);
    tcase_add_test(t, descriptors_closed);
    tcase_add_test(t, child_outlives_parent);
    tcase_add_test(t, nonsense);
    tcase_add_loop_test(t, stranger, 0, sizeof(strangers) / sizeof(strangers[0]));
    tcase_add_test(t, in_a_user_namespace);
    tcase_add_test(t, silent_crowd);
    tcase_add_test(t, refusals_are_true);
    return stage_main("ctl", t);
}
