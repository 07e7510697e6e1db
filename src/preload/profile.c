/* SPDX-License-Identifier: MIT */
#include "preload/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "format/write.h"
#include "record/snapshot.h"

#define COMMAND_BYTES 4096

static struct ct_file file = {.fd = -1};
static bool opened;
static bool taken; /* the payload is whole */
static bool complained;
/* Where the profile can be read, and whether it stays there. Asked at exit, also beside a drain
 * thread that hangs. */
static const char *_Atomic shown;
static atomic_bool kept;
static struct ct_buffer payload;
static struct ct_process_info process;

static char directory[2048]; /* working one when CUDA started; the program may change it */
static char host[256];
static char command[COMMAND_BYTES];
static char memory_path[64];

static void read_command(void)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, command, sizeof(command) - 1);
    if (fd >= 0)
        close(fd);
    if (n < 1)
        n = 1;
    for (ssize_t i = 0; i < n - 1; i++)
        if (!command[i])
            command[i] = ' ';
    command[n] = '\0';
}

void ct_profile_start(uint32_t driver_version)
{
    if (gethostname(host, sizeof(host) - 1))
        host[0] = '\0';
    if (!getcwd(directory, sizeof(directory)) || directory[0] != '/')
        directory[0] = '\0';
    read_command();
    process = (struct ct_process_info){
        .command = command,
        .host = host,
        .start_unix_ns = ct_clock_unix_ns(),
        .start_ns = ct_clock_monotonic_ns(),
        .pid = (uint32_t)getpid(),
        .parent_pid = (uint32_t)getppid(),
        .driver_version = driver_version,
    };
}

/* %q{VAR}; returns past the brace, or NULL when there is none. */
static const char *add_variable(struct ct_text *t, const char *p)
{
    char name[256];
    struct ct_text n = ct_text_in(name, sizeof(name));
    while (*p && *p != '}')
        ct_text_add_char(&n, *p++);
    if (!*p)
        return NULL;
    const char *value = getenv(name);
    ct_text_add(t, value ? value : "");
    return p + 1;
}

/* False: the pattern makes no sense, or is too long. */
static bool expand(struct ct_text *t, const char *p)
{
    if (p && *p != '/' && directory[0]) {
        ct_text_add(t, directory);
        ct_text_add(t, "/");
    }
    while (p && *p) {
        if (*p != '%') {
            ct_text_add_char(t, *p++);
            continue;
        }
        p += 2;
        if (p[-1] == 'p')
            ct_text_add_u64(t, process.pid);
        else if (p[-1] == 'h')
            ct_text_add(t, host);
        else if (p[-1] == '%')
            ct_text_add_char(t, '%');
        else if (p[-1] == 'q' && *p == '{')
            p = add_variable(t, p + 1);
        else
            return false;
    }
    return p && !ct_text_full(t);
}

/* summary.bin -> summary.<pid>.bin */
static void add_pid(char *path, size_t size)
{
    char copy[4096];
    struct ct_text c = ct_text_in(copy, sizeof(copy));
    ct_text_add(&c, path);
    size_t dot = c.len;
    for (size_t i = c.len; i-- && copy[i] != '/';)
        if (copy[i] == '.') {
            dot = i;
            break;
        }
    struct ct_text t = ct_text_in(path, size);
    for (size_t i = 0; i < dot; i++)
        ct_text_add_char(&t, copy[i]);
    ct_text_add(&t, ".");
    ct_text_add_u64(&t, process.pid);
    ct_text_add(&t, copy + dot);
}

static void complain(const char *path, enum ct_file_error error)
{
    if (complained)
        return;
    complained = true;
    ct_log(1, "cannot write ", path,
           error == CT_FILE_BUSY      ? ": another process does"
           : error == CT_FILE_FOREIGN ? ": it is there and no profile (CUTRACE_FORCE=1 overwrites)"
           : errno == EACCES          ? ": permission denied"
           : errno == ENOSPC          ? ": no space left"
           : errno == EROFS           ? ": read-only file system"
           : errno == ELOOP           ? ": it is a symbolic link"
           : errno == ENOENT          ? ": no such directory"
           : errno == EFBIG           ? ": file too large"
           : errno == EBADF           ? ": the program closed the file"
                                      : ": input/output error");
}

/*
 * A file written since this process began is of the same run: of a child that has ended, or of this
 * process before it called exec. The margin is one tick of the clock that says when it began.
 */
static bool is_of_this_run(const char *path)
{
    struct stat st;
    uint64_t start_ns = ct_proc_start_unix_ns();
    if (!start_ns || lstat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return false;
    uint64_t written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    return written_ns > start_ns + 10000000u;
}

/* A file that a living process writes is an ancestor's or a sibling's: ours gets the pid. */
static void open_file(void)
{
    char path[4096];
    struct ct_text t = ct_text_in(path, sizeof(path));
    enum ct_file_error error = CT_FILE_BUSY;
    opened = true;
    if (!expand(&t, ct_config.output)) {
        ct_log(1, "CUTRACE_OUTPUT='", ct_config.output,
               "' is not possible (%p %h %q{VAR} %%), using summary.bin");
        t = ct_text_in(path, sizeof(path));
        expand(&t, "summary.bin");
    }
    if (!is_of_this_run(path))
        error = ct_file_open(&file, path, ct_config.force);
    if (error == CT_FILE_BUSY) {
        add_pid(path, sizeof(path));
        error = ct_file_open(&file, path, ct_config.force);
    }
    if (error == CT_FILE_OK)
        return;
    complain(path, error);
    if (!ct_file_open_memory(&file))
        file.fd = -1;
}

static const char *readable_path(void)
{
    if (!file.in_memory)
        return file.path;
    struct ct_text t = ct_text_in(memory_path, sizeof(memory_path));
    ct_text_add(&t, "/proc/");
    ct_text_add_u64(&t, process.pid);
    ct_text_add(&t, "/fd/");
    ct_text_add_u64(&t, (uint64_t)file.fd);
    return memory_path;
}

static bool commit_once(void)
{
    if (!ct_file_commit(&file, payload.data, payload.len_bytes))
        return false;
    if (!atomic_load_explicit(&shown, memory_order_relaxed)) {
        atomic_store_explicit(&kept, !file.in_memory, memory_order_relaxed);
        atomic_store_explicit(&shown, readable_path(), memory_order_release);
    }
    return true;
}

/* A disk that fills up takes the file; the table at exit can still be had from memory. */
static void commit(void)
{
    if (file.fd < 0 || commit_once() || file.in_memory)
        return;
    complain(file.path, CT_FILE_ERROR);
    atomic_store_explicit(&shown, NULL, memory_order_relaxed);
    ct_file_close(&file);
    if (ct_file_open_memory(&file))
        commit_once();
}

void ct_profile_take(bool finished)
{
    int saved_errno = errno;
    taken = ct_snapshot(&payload, &process, finished);
    errno = saved_errno;
}

void ct_profile_write(void)
{
    int saved_errno = errno;
    if (!opened)
        open_file();
    if (taken)
        commit();
    errno = saved_errno;
}

bool ct_profile_is_kept(void)
{
    return atomic_load_explicit(&kept, memory_order_relaxed);
}

const char *ct_profile_path(void)
{
    return atomic_load_explicit(&shown, memory_order_acquire);
}

void ct_profile_forget(void)
{
    ct_file_close(&file);
    opened = complained = false;
    atomic_store_explicit(&shown, NULL, memory_order_relaxed);
    atomic_store_explicit(&kept, false, memory_order_relaxed);
    payload = (struct ct_buffer){0};
    process = (struct ct_process_info){0};
}
