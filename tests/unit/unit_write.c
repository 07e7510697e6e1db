/* SPDX-License-Identifier: MIT */
/* The file on disk: valid at every moment, nobody else's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "format/read.h"
#include "format/write.h"

#define KILLS 60

static char directory[CT_CASE_PATH];

static void set_up(void)
{
    ct_case_template(directory);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(system(command), 0);
}

/* A payload whose process has that pid, and a command line that grows and shrinks with it. */
static char *payload(uint32_t pid, size_t *bytes)
{
    static char command[20000];
    struct ct_build b;
    size_t length = 1 + pid * 977 % (sizeof(command) - 2);
    memset(command, 'x', length);
    command[length] = 0;
    ct_build_start(&b);
    ct_build_process(&b, pid, command);
    char *data = ct_build_payload(&b, bytes);
    ct_build_free(&b);
    return data;
}

/* Whole, or what changed. */
static bool (*const ways[])(struct ct_file *f, const void *payload,
                            size_t bytes) = {ct_file_commit, ct_file_update};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static bool commit_by(unsigned way, struct ct_file *f, uint32_t pid)
{
    size_t bytes;
    char *data = payload(pid, &bytes);
    bool ok = ways[way](f, data, bytes);
    free(data);
    return ok;
}

static bool commit(struct ct_file *f, uint32_t pid)
{
    return commit_by(0, f, pid);
}

static uint32_t read_pid(const char *path)
{
    struct ct_summary s = {0};
    struct ct_read_error error = {""};
    ck_assert_msg(ct_summary_read(&s, path, &error) == 0, "%s", error.text);
    uint32_t pid = s.process->pid;
    ct_summary_free(&s);
    return pid;
}

START_TEST(the_newest_payload_is_read)
{
    struct ct_file f;
    ck_assert_int_eq(ct_file_open(&f, "summary.bin", false), CT_FILE_OK);
    ck_assert_int_eq(fcntl(f.fd.number, F_GETFD), FD_CLOEXEC);
    for (uint32_t pid = 1; pid < 60; pid++) {
        ck_assert(commit_by((unsigned)_i, &f, pid));
        ck_assert_uint_eq(read_pid("summary.bin"), pid);
    }
    close(f.fd.number);
    ck_assert_int_eq(ct_file_open(&f, "summary.bin", false), CT_FILE_OK); /* one of ours */
    close(f.fd.number);
}
END_TEST

START_TEST(not_through_links_or_over_others)
{
    struct ct_file f, second;
    ck_assert_int_eq(system("echo precious >other; ln -s target link; mkfifo pipe"), 0);
    ck_assert_int_eq(ct_file_open(&f, "other", false), CT_FILE_FOREIGN);
    ck_assert_int_eq(system("grep -q precious other"), 0);
    ck_assert_int_eq(ct_file_open(&f, "link", false), CT_FILE_ERROR);
    ck_assert_int_ne(access("target", F_OK), 0);
    ck_assert_int_eq(ct_file_open(&f, "pipe", false), CT_FILE_SPECIAL);
    ck_assert_int_eq(ct_file_open(&f, "no/such/directory", false), CT_FILE_ERROR);
    ck_assert_int_eq(ct_file_open(&f, "other", true), CT_FILE_OK);
    ck_assert_int_eq(ct_file_open(&second, "other", false), CT_FILE_BUSY);
    close(f.fd.number);
}
END_TEST

START_TEST(a_descriptor_that_became_another_file_is_left_alone)
{
    struct ct_file f;
    ck_assert_int_eq(ct_file_open(&f, "summary.bin", false), CT_FILE_OK);
    ck_assert(commit(&f, 1));
    int other = open("other", O_CREAT | O_RDWR, 0666);
    ck_assert_int_eq(dup2(other, f.fd.number), f.fd.number);
    ck_assert(!commit(&f, 2));
    struct stat st;
    ck_assert(stat("other", &st) == 0 && st.st_size == 0);
    ck_assert_uint_eq(read_pid("summary.bin"), 1);
    close(other);
    close(f.fd.number);
}
END_TEST

START_TEST(in_memory)
{
    struct ct_file f;
    char path[64];
    ck_assert(ct_file_open_memory(&f));
    ck_assert(commit(&f, 5));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", f.fd.number);
    ck_assert_uint_eq(read_pid(path), 5);
    close(f.fd.number);
}
END_TEST

/* Told through a pipe after each commit: what was told must be there after the kill. */
static void write_until_killed(unsigned way, int told)
{
    struct ct_file f;
    if (ct_file_open(&f, "summary.bin", false) != CT_FILE_OK)
        _exit(1);
    for (uint32_t pid = 1;; pid++)
        if (!commit_by(way, &f, pid) || write(told, &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
}

START_TEST(killed_at_any_moment)
{
    int pipes[2];
    uint32_t told = 0, one;
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (!child) {
        close(pipes[0]);
        write_until_killed((unsigned)_i % WAYS, pipes[1]);
    }
    close(pipes[1]);
    ck_assert_int_eq(read(pipes[0], &told, sizeof(told)), sizeof(told));
    usleep((useconds_t)(_i * 137 % 3000));
    kill(child, SIGKILL);
    while (read(pipes[0], &one, sizeof(one)) == sizeof(one))
        told = one;
    waitpid(child, NULL, 0);
    uint32_t found = read_pid("summary.bin");
    ck_assert_uint_ge(found, told);
    ck_assert_uint_le(found, told + 1);
    close(pipes[0]);
}
END_TEST

/* Every errno that a file can bring is told as that, or as none in particular. */
START_TEST(reasons_are_true)
{
    static const struct {
        int number;
        const char *words;
    } known[] = {{EDQUOT, "quota"},
                 {ENOSPC, "no space"},
                 {EIO, "input/output error"},
                 {ENFILE, "in the system"},
                 {EMFILE, "too many open files"},
                 {ENOMEM, "memory"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const char *reason = ct_file_reason(CT_FILE_ERROR, known[i].number);
        ck_assert_msg(strstr(reason, known[i].words) != NULL, "%d: %s", known[i].number, reason);
    }
    for (int number = 1; number < 134; number++)
        ck_assert(number == EIO || !strstr(ct_file_reason(CT_FILE_ERROR, number), "input/output"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("write");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, the_newest_payload_is_read, 0, WAYS);
    tcase_add_test(tests, not_through_links_or_over_others);
    tcase_add_test(tests, a_descriptor_that_became_another_file_is_left_alone);
    tcase_add_test(tests, in_memory);
    tcase_add_test(tests, reasons_are_true);
    tcase_add_loop_test(tests, killed_at_any_moment, 0, KILLS * WAYS);
    return ct_case_main("write", tests);
}
