/* SPDX-License-Identifier: MIT */
#include "list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cutrace/run.h"
#include "descriptor.h"
#include "format/write.h"
#include "messages.h"
#include "system/signal_guard.h"

#define CLOSE_TRIES 50 /* of 10 ms */
/* The library looks no further, either (service/run.c). */
#define MOST_BYTES (64 << 20)

static int fd = -1;

const char *list_make(void)
{
    static char name[64];
    struct ct_signal_guard hush;
    fd = descriptor_move_up(memfd_create("cutrace-run", MFD_CLOEXEC));
    ct_signal_guard_begin(&hush); /* the list is a file, and some users limit the size of files */
    bool begun = fd >= 0 && write(fd, CT_RUN_MAGIC, CT_RUN_MAGIC_BYTES) == CT_RUN_MAGIC_BYTES;
    ct_signal_guard_end(&hush);
    if (!begun) {
        fd = -1; /* nothing is known, not even that no process started CUDA */
        return NULL;
    }
    snprintf(name, sizeof(name), "/proc/%d/fd/%d", (int)getpid(), fd);
    return name;
}

struct record {
    const char *head, *wanted, *path;
};

/* The whole list, with a zero byte behind, so that a record cut short ends all the same. */
static char *read_all(const char **first, const char **end)
{
    struct stat st;
    size_t bytes = fstat(fd, &st) ? 0 : (size_t)st.st_size;
    bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
    char *data = fd < 0 ? NULL : calloc(1, bytes + 1);
    ssize_t n = data ? pread(fd, data, bytes, 0) : -1;
    *first = n > CT_RUN_MAGIC_BYTES ? data + CT_RUN_MAGIC_BYTES : NULL;
    *end = *first ? data + n : NULL;
    return data;
}

/* Whoever writes a profile holds a lock on it. */
static bool is_open(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool busy = file >= 0 && ct_file_is_written(file);
    if (file >= 0)
        close(file);
    return busy;
}

/* Records one after the other; false: there are no more. */
static bool next(struct record *r, const char **at, const char *end)
{
    r->head = *at;
    r->wanted = r->head < end ? r->head + strlen(r->head) + 1 : end;
    r->path = r->wanted < end ? r->wanted + strlen(r->wanted) + 1 : end;
    if (r->path >= end)
        return false;
    *at = r->path + strlen(r->path) + 1;
    return true;
}

static pid_t pid_of(const struct record *r)
{
    return (pid_t)atoi(r->head + 1);
}

static void add(struct list *l, const struct record *r)
{
    struct list_file f = {
        .pid = pid_of(r), .wanted = r->wanted, .path = r->path, .trace = *r->head == CT_RUN_TRACE};
    l->started += *r->head == CT_RUN_STARTED;
    if ((*r->head != CT_RUN_SUMMARY && *r->head != CT_RUN_TRACE) || access(r->path, F_OK))
        return;
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->files[i].path, r->path)) { /* an earlier file of that name was removed */
            l->files[i] = f;
            return;
        }
    struct list_file *files = realloc(l->files, (l->count + 1) * sizeof(*files));
    if (!files)
        return;
    l->files = files;
    l->files[l->count++] = f;
    l->profiles += !f.trace;
}

static bool any_open(struct list *l)
{
    bool any = false;
    for (size_t i = 0; i < l->count; i++) {
        l->files[i].open = is_open(l->files[i].path);
        any |= l->files[i].open;
    }
    return any;
}

void list_each(enum ct_run_kind kind, void (*take)(pid_t pid, const char *wanted, const char *path))
{
    const char *at, *end;
    char *data = read_all(&at, &end);
    for (struct record r; next(&r, &at, end);)
        if (*r.head == (char)kind)
            take(pid_of(&r), r.wanted, r.path);
    free(data);
}

static bool any_started;

static void take_started(pid_t pid, const char *wanted, const char *path)
{
    (void)pid;
    (void)wanted;
    (void)path;
    any_started = true;
}

bool list_has_started(void)
{
    if (!any_started)
        list_each(CT_RUN_STARTED, take_started);
    return any_started;
}

/* Nothing is added to a file that is no list. */
static int open_outer(void)
{
    char magic[CT_RUN_MAGIC_BYTES];
    const char *outer = getenv("CUTRACE_RUN");
    int file = outer ? open(outer, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (file < 0 || (pread(file, magic, sizeof(magic), 0) == sizeof(magic) &&
                     !memcmp(magic, CT_RUN_MAGIC, sizeof(magic))))
        return file;
    close(file);
    return -1;
}

void list_pass_on(pid_t launcher, const char *path)
{
    struct ct_signal_guard hush;
    char *record;
    int file = open_outer();
    int bytes = asprintf(&record, "%c %d%c%c%s", CT_RUN_PASSED, (int)launcher, 0, 0, path);
    ct_signal_guard_begin(&hush);
    if (file >= 0 && bytes > 0 && write(file, record, (size_t)bytes + 1) < 0)
        complain("%s: the cutrace outside cannot be told: %s", path, strerror(errno));
    ct_signal_guard_end(&hush);
    if (bytes > 0)
        free(record);
    if (file >= 0)
        close(file);
}

void list_read(struct list *l)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const char *at, *end;
    *l = (struct list){.known = read_all(&at, &end) != NULL}; /* never freed: files point into it */
    if (!l->known && fd >= 0)
        complain("what processes told cannot be read: %s", strerror(errno));
    for (struct record r; next(&r, &at, end);)
        add(l, &r);
    for (int i = 0; any_open(l) && i < CLOSE_TRIES; i++)
        nanosleep(&pause, NULL);
}
