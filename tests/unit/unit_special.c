/* SPDX-License-Identifier: MIT */
/*
 * cutrace-report on what is no file, or no file that stands still: one line on stderr, a status
 * that is not 0, in bounded time and memory. Runs the program, in the build tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "format/crc32.h"

#define LONGEST_S 60 /* on a machine that has other things to do */
/* Of memory; the sanitizers take their own share of it. */
#if defined(__SANITIZE_THREAD__)
#define MOST_KIB (288 << 10)
#elif defined(__SANITIZE_ADDRESS__)
#define MOST_KIB (192 << 10)
#else
#define MOST_KIB (96 << 10)
#endif

static char directory[CT_CASE_PATH];
static char report[4096];

struct outcome {
    int status; /* as of waitpid */
    long memory_kib;
    char err[4096];
};

static void set_up(void)
{
    ct_case_template(directory);
    ck_assert_ptr_nonnull(realpath("cutrace-report", report));
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
}

static void tear_down(void)
{
    char command[3 * CT_CASE_PATH];
    snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s", directory, directory);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(system(command), 0);
}

static void become_report(const char *path)
{
    int out = open("/dev/null", O_WRONLY);
    int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    alarm(LONGEST_S);
    dup2(out, 1);
    dup2(err, 2);
    execl(report, "cutrace-report", "--details", path, (char *)NULL);
    _exit(127);
}

static struct outcome run(const char *path)
{
    struct outcome o = {.status = -1};
    struct rusage usage;
    pid_t pid = fork();
    if (!pid)
        become_report(path);
    ck_assert_int_eq(wait4(pid, &o.status, 0, &usage), pid);
    o.memory_kib = usage.ru_maxrss;
    FILE *f = fopen("err", "r");
    ck_assert_uint_lt(fread(o.err, 1, sizeof(o.err) - 1, f), sizeof(o.err) - 1);
    fclose(f);
    return o;
}

/* NULL words: any. */
static void check_refusal(const char *path, const char *words)
{
    struct outcome o = run(path);
    ck_assert_msg(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 1, "%s: status %x: %s", path,
                  (unsigned)o.status, o.err);
    char *end = strchr(o.err, '\n');
    ck_assert_msg(end && !end[1], "%s: not one line: %s", path, o.err);
    ck_assert_msg(!words || strstr(o.err, words), "%s: %s", path, o.err);
    ck_assert_msg(o.memory_kib < MOST_KIB, "%s: %ld KiB", path, o.memory_kib);
}

static char *image_of(size_t *bytes)
{
    struct ct_build b;
    ct_build_start(&b);
    ct_build_process(&b, 1, "app");
    ct_build_device(&b, 0, "device");
    for (int i = 0; i < 200; i++) {
        struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(&b, "_Z1fv"));
        ct_build_time(&row, 1000);
        ct_build_add(&b, CT_SECTION_ROWS, &row);
    }
    char *image = ct_build_image(&b, bytes);
    ct_build_free(&b);
    return image;
}

static void make_sparse(const char *path, const void *start, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, start, bytes, 0), (ssize_t)bytes);
    ck_assert_int_eq(ftruncate(fd, (off_t)10 << 30), 0);
    close(fd);
}

START_TEST(ten_gigabytes_of_nothing)
{
    size_t bytes;
    char *image = image_of(&bytes);
    struct ct_file_header *h = (struct ct_file_header *)image;
    make_sparse("nothing", "", 0);
    check_refusal("nothing", "is not a summary of cutrace");
    make_sparse("magic", CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES);
    check_refusal("magic", "is damaged: its byte order is unknown");
    h->commit[1] = (struct ct_file_commit){0};
    h->commit[0].bytes = (uint64_t)9 << 30;
    h->commit[0].crc = ct_crc32(0, h->commit, offsetof(struct ct_file_commit, crc));
    make_sparse("commit", image, CT_FILE_HEADER_BYTES);
    check_refusal("commit", "is too large: 9663676416 bytes of statistics");
    /* The rest of it all zeros, which the checksum says as well. */
    h->commit[0].bytes = 32 << 20;
    h->commit[0].offset = CT_FILE_HEADER_BYTES;
    char *large = calloc(1, CT_FILE_HEADER_BYTES + h->commit[0].bytes);
    memcpy(large, image, CT_FILE_HEADER_BYTES);
    ct_build_seal(large);
    make_sparse("zeros", large, CT_FILE_HEADER_BYTES);
    check_refusal("zeros", "is damaged: its section table is out of bounds");
    free(large);
    free(image);
}
END_TEST

/* A good profile in a large file is one. */
START_TEST(ten_gigabytes_behind_a_profile)
{
    size_t bytes;
    char *image = image_of(&bytes);
    make_sparse("profile", image, bytes);
    struct outcome o = run("profile");
    ck_assert_msg(o.status == 0 && !*o.err, "status %x: %s", (unsigned)o.status, o.err);
    ck_assert_int_lt(o.memory_kib, MOST_KIB);
    free(image);
}
END_TEST

START_TEST(what_is_no_file)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    check_refusal("socket", "is not a regular file");
    close(fd);
    ck_assert_int_eq(mkdir("directory", 0777), 0);
    check_refusal("directory", "is a directory");
    check_refusal("/dev/zero", "is not a regular file");
    check_refusal("/dev/full", "is not a regular file");
    check_refusal("/dev/tty", "is not a regular file");
    check_refusal("/dev/stdin", NULL);
    check_refusal("/proc/self/mem", NULL);
    check_refusal("/proc/self/maps", "is empty");
    check_refusal("missing", "cannot be opened: No such file or directory");
    ck_assert_int_eq(symlink("missing", "broken"), 0);
    check_refusal("broken", "cannot be opened: No such file or directory");
    ck_assert_int_eq(symlink("loop", "loop"), 0);
    check_refusal("loop", "cannot be opened: Too many levels of symbolic links");
    check_refusal("err/x", "cannot be opened: Not a directory");
    close(open("empty", O_WRONLY | O_CREAT, 0666));
    check_refusal("empty", "is empty");
    close(open("secret", O_WRONLY | O_CREAT, 0000));
    if (access("secret", R_OK)) /* root reads everything */
        check_refusal("secret", "cannot be opened: Permission denied");
}
END_TEST

/* Nobody writes, or somebody waits to: who still waits afterwards. */
START_TEST(pipes)
{
    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    check_refusal("pipe", "is a pipe, not a regular file");
    pid_t writer = fork();
    if (!writer)
        _exit(open("pipe", O_WRONLY) >= 0);
    ck_assert_int_eq(ct_case_wait_state(writer), 'S');
    check_refusal("pipe", "is a pipe, not a regular file");
    ck_assert_int_eq(ct_case_wait_state(writer), 'S');
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    int both = open("pipe", O_RDWR | O_NONBLOCK); /* one that never has enough to say */
    ck_assert_int_eq(write(both, CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES), CT_FILE_MAGIC_BYTES);
    check_refusal("pipe", "is a pipe, not a regular file");
    close(both);
}
END_TEST

/* ---- files that move ---- */

enum motion { GROWS, SHRINKS, VANISHES, REWRITTEN, MOTIONS };

struct mover {
    enum motion motion;
    const char *image;
    size_t bytes;
    atomic_bool stop;
    unsigned long moves;
};

static void move_once(struct mover *m, int fd, uint32_t *random)
{
    static const char noise[4096] = "noise";
    struct ct_file_header *h = (struct ct_file_header *)m->image;
    *random = *random * 1664525 + 1013904223;
    off_t at = (off_t)(*random % m->bytes);
    if (m->motion == GROWS && lseek(fd, 0, SEEK_END) < 64 << 20) {
        ct_assert(pwrite(fd, noise, sizeof(noise), lseek(fd, 0, SEEK_END)) > 0);
    } else if (m->motion == SHRINKS) {
        ct_assert(!ftruncate(fd, at));
        ct_assert(pwrite(fd, m->image, m->bytes, 0) > 0);
    } else if (m->motion == VANISHES) {
        ct_assert(!ftruncate(fd, 0));
        ct_assert(pwrite(fd, m->image, m->bytes, 0) > 0);
    } else if (m->motion == REWRITTEN) { /* commits that are new at each look, and never true */
        h->commit[*random >> 16 & 1].sequence++;
        ct_assert(pwrite(fd, h, sizeof(*h), 0) > 0);
        ct_assert(pwrite(fd, noise, sizeof(noise), CT_FILE_HEADER_BYTES) > 0);
    }
}

static void *move_on(void *opaque)
{
    struct mover *m = opaque;
    uint32_t random = 1;
    int fd = open("moving", O_RDWR);
    while (!atomic_load(&m->stop)) {
        move_once(m, fd, &random);
        m->moves++;
    }
    close(fd);
    return NULL;
}

START_TEST(files_that_move)
{
    struct mover m = {.motion = (enum motion)_i};
    pthread_t thread;
    char *image = image_of(&m.bytes);
    m.image = image;
    ck_assert(ct_build_write("moving", image, m.bytes));
    ck_assert_int_eq(pthread_create(&thread, NULL, move_on, &m), 0);
    for (int i = 0; i < 40; i++) {
        struct outcome o = run("moving");
        int status = WIFEXITED(o.status) ? WEXITSTATUS(o.status) : -1;
        ck_assert_msg(status == 0 || status == 1, "status %x: %s", (unsigned)o.status, o.err);
        bool is_whole = status == 0 && !strstr(o.err, "what came last is missing");
        ck_assert_msg(is_whole != (*o.err != 0), "status %d: %s", status, o.err);
        ck_assert_msg(m.motion != GROWS || is_whole, "%s", o.err);
        ck_assert_int_lt(o.memory_kib, MOST_KIB);
    }
    atomic_store(&m.stop, true);
    pthread_join(thread, NULL);
    ck_assert_uint_gt(m.moves, 10);
    free(image);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("special");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, ten_gigabytes_of_nothing);
    tcase_add_test(tests, ten_gigabytes_behind_a_profile);
    tcase_add_test(tests, what_is_no_file);
    tcase_add_test(tests, pipes);
    tcase_add_loop_test(tests, files_that_move, 0, MOTIONS);
    return ct_case_main("special", tests);
}
