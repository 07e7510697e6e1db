/* SPDX-License-Identifier: MIT */
/* Who may ask a process through its socket, and what strangers can do to it. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cutrace/ctl.h"
#include "served.h"

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
    served_start();
    socklen_t size = find_socket(&a);
    const size_t sizes[] = {1, 7, sizeof(struct ct_ctl_request), 9, 4096, sizeof(noise)};
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        ck_assert_int_le(ask(&a, size, noise, sizes[i], &answer), 0);
    struct ct_ctl_request r = {.magic = CT_CTL_MAGIC, .command = 77};
    ck_assert_int_eq(ask(&a, size, &r, sizeof(r), &answer), sizeof(answer));
    ck_assert_uint_eq(answer.error, EINVAL);
    for (r.command = CT_CTL_START; r.command <= CT_CTL_FLUSH; r.command++) { /* without the key */
        ck_assert_int_eq(ask(&a, size, &r, sizeof(r), &answer), sizeof(answer));
        ck_assert_uint_eq(answer.error, EACCES);
    }
    int silent[3]; /* who says nothing is in nobody's way */
    for (unsigned i = 0; i < 3; i++)
        silent[i] = call(&a, size);
    served_expect_status("recording: on");
    for (unsigned i = 0; i < 3; i++)
        close(silent[i]);
    served_expect_status("recording: on");
    served_tell("alpha 3\n");
    ck_assert_int_eq(served_dismiss(), 0);
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
    served_expect_status("recording: on");
}

START_TEST(stranger)
{
    ct_skip_if(getuid(), "only root can become somebody else");
    served_start();
    expect_no_answer(strangers[_i]);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* There its own user has no number, as have all others: root of the machine may ask all the same.
 */
START_TEST(in_a_user_namespace)
{
    ct_skip_if(getuid(), "only root can become somebody else");
    served_in(CLONE_NEWUSER, NULL);
    served_tell("alpha 3\n");
    served_expect_done("flush");
    expect_no_answer(become_another_user);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* More than there are places, and each of them before whoever has something to say. */
START_TEST(silent_crowd)
{
    struct sockaddr_un a;
    int silent[8];
    served_start();
    socklen_t size = find_socket(&a);
    for (unsigned i = 0; i < 8; i++)
        silent[i] = call(&a, size);
    time_t before = time(NULL); /* each keeps its place for five seconds */
    served_expect_status("recording: on");
    ck_assert_int_le(time(NULL) - before, 4);
    for (unsigned i = 0; i < 8; i++)
        close(silent[i]);
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

/* The client says what it has seen: not that it would be another user's. */
START_TEST(refusals_are_true)
{
    ct_skip_if(getuid(), "only root can become somebody else");
    served_start();
    served_tell("undumpable\n");
    pid_t pid = fork();
    int status;
    if (!pid) {
        if (lose_capabilities())
            _exit(1);
        served_expect_refusal(served.number, "flush",
                              "is this user's, but its descriptors cannot be read");
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    served_expect_done("flush");
    ck_assert_int_eq(served_dismiss(), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("strangers");
    int kinds = sizeof(strangers) / sizeof(strangers[0]);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, nonsense);
    /* ThreadSanitizer's own thread keeps a process out of a user namespace. */
    tcase_add_loop_test(t, stranger, 0, CT_CHECKS_THREADS ? kinds - 1 : kinds);
    if (!CT_CHECKS_THREADS)
        tcase_add_test(t, in_a_user_namespace);
    tcase_add_test(t, silent_crowd);
    tcase_add_test(t, refusals_are_true);
    return stage_main("strangers", t);
}
