/* SPDX-License-Identifier: MIT */
#include "service/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat() */
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "format/write.h"
#include "output/exposition.h"
#include "service/naming.h"
#include "service/profile.h"
#include "system/log.h"
#include "system/parent.h"

#define EVERY_NS 10000000000u
#define OLD_S 3600 /* hundreds of times as old as a file of a living process becomes */
#define START "cutrace-"

static char directory[CT_NAMING_BYTES];
static char name[400], part[400];
static CT_PROCESS struct ct_buffer text;
static bool wanted;
static CT_PROCESS bool ready, complained;
static CT_PROCESS uint64_t written_ns;

static void complain(void)
{
    if (!complained)
        ct_log(1, "no metrics in ", directory, ct_file_reason(CT_FILE_ERROR, errno));
    complained = true;
}

/* Opens the directory for reading, by no link that a stranger planted. */
static int open_directory(void)
{
    char path[sizeof(directory) + 2];
    struct ct_text t = ct_text_in(path, sizeof(path));
    ct_text_add(&t, directory);
    ct_text_add(&t, "/.");
    return ct_parent_open_file(path, O_RDONLY | O_DIRECTORY, 0);
}

static uint64_t secret(void)
{
    uint64_t random = 0;
    return getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random) ? random : 0;
}

/*
 * Makes cutrace-HOST-PID.prom, and .cutrace-HOST-NUMBER-PID.part, which no collector reads, and
 * whose number nobody can guess and put something there.
 */
static void make_names(void)
{
    struct ct_text n = ct_text_in(name, sizeof(name)), p = ct_text_in(part, sizeof(part));
    ct_text_add(&n, START);
    for (const char *h = ct_naming_host(); *h && n.len < 200; h++)
        ct_text_add_char(&n, *h == '/' ? '_' : *h);
    ct_text_add(&n, "-");
    ct_text_add(&p, ".");
    ct_text_add(&p, name);
    ct_text_add_u64(&p, secret());
    ct_text_add(&p, "-");
    ct_text_add_u64(&n, (uint64_t)getpid());
    ct_text_add_u64(&p, (uint64_t)getpid());
    ct_text_add(&n, ".prom");
    ct_text_add(&p, ".part");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Asks for a pid before the end: cutrace-report.html is the user's. */
static bool is_named_so(const char *entry, const char *start, const char *end)
{
    size_t len = ct_strlen(entry), end_len = ct_strlen(end);
    if (!ct_starts_with(entry, start) || len < end_len || !ct_streq(entry + len - end_len, end))
        return false;
    size_t pid = len -= end_len;
    while (pid && is_digit(entry[pid - 1]))
        pid--;
    return pid < len && pid > ct_strlen(start) && entry[pid - 1] == '-';
}

static bool is_old_one(int at, const char *entry, time_t now)
{
    struct stat st;
    bool ours = is_named_so(entry, START, ".prom") || is_named_so(entry, "." START, ".part");
    return ours && !fstatat(at, entry, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() && st.st_mtime < now - OLD_S;
}

struct entry { /* as getdents64(2) gives it; the C library's readdir() would use the heap */
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* Removes files of processes that are gone: otherwise their number would grow without end. */
static void remove_old(int at)
{
    _Alignas(struct entry) char room[4096];
    time_t now = time(NULL);
    for (long n; (n = syscall(SYS_getdents64, at, room, sizeof(room))) > 0;)
        for (long i = 0; i < n;) {
            const struct entry *e = (const struct entry *)(const void *)(room + i);
            if (is_old_one(at, e->name, now))
                unlinkat(at, e->name, 0);
            i += e->bytes;
        }
}

void ct_metrics_file_start(void)
{
    wanted = ct_config.metrics_directory != NULL;
    if (!wanted)
        return;
    if (!ct_naming_expand(directory, ct_config.metrics_directory)) {
        ct_log(1, "CUTRACE_METRICS: '", ct_config.metrics_directory, "' is no possible directory");
        wanted = false;
        return;
    }
    make_names();
    int at = open_directory();
    if (at < 0) {
        complain();
        return;
    }
    remove_old(at);
    close(at);
}

bool ct_metrics_file_is_due(uint64_t now_ns)
{
    if (!wanted || now_ns - written_ns < EVERY_NS)
        return false;
    written_ns = now_ns;
    return true;
}

void ct_metrics_file_take(void *unused)
{
    (void)unused;
    ready = wanted && ct_metrics_text(&text, CT_METRICS_CLASSIC, ct_profile_process());
}

static bool write_all(int fd)
{
    size_t at = 0;
    while (at < text.len_bytes) {
        ssize_t n = write(fd, text.data + at, text.len_bytes - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* Creates the file anew, whatever stood there: nothing is written through a stranger's link. */
static bool write_in(int at)
{
    unlinkat(at, part, 0);
    int fd = openat(at, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    bool good = write_all(fd) && !renameat(at, part, at, name);
    int saved_errno = errno;
    if (!good)
        unlinkat(at, part, 0);
    close(fd);
    errno = saved_errno;
    return good;
}

void ct_metrics_file_write(void)
{
    if (!ready)
        return;
    ready = false;
    int at = open_directory();
    if (at < 0 || !write_in(at))
        complain();
    if (at >= 0)
        close(at);
}
