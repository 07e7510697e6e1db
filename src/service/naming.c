/* SPDX-License-Identifier: MIT */
#include "service/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "service/run.h"
#include "system/clock.h"
#include "system/log.h"
#include "system/proc.h"
#include "system/spare.h"

#define MOST_IMAGES 1000 /* of one process, by exec */

static char directory[2048]; /* working directory when CUDA started */
static char host[256];

static void read_host(void)
{
    int fd = open("/proc/sys/kernel/hostname", O_RDONLY | O_CLOEXEC);
    size_t n = ct_fd_take_text(fd, host, sizeof(host));
    if (n && host[n - 1] == '\n')
        host[n - 1] = '\0';
}

void ct_naming_start(void)
{
    if (ct_spare())
        read_host();
    else if (gethostname(host, sizeof(host) - 1))
        host[0] = '\0';
    ct_proc_directory(directory, sizeof(directory));
}

const char *ct_naming_host(void)
{
    return host;
}

/* Adds the value of %q{VAR}; returns past the brace, or NULL when there is none. */
static const char *add_variable(struct ct_text *t, const char *p)
{
    char name[256];
    struct ct_text n = ct_text_in(name, sizeof(name));
    while (*p && *p != '}')
        ct_text_add_char(&n, *p++);
    if (!*p)
        return NULL;
    const char *value = getenv(name);
    if (!value)
        ct_log(1, "cannot find environment variable ", name, ": the file's name goes without it");
    ct_text_add(t, value ? value : "");
    return p + 1;
}

/* A host's name may hold anything, but makes no directories. */
static void add_host(struct ct_text *t)
{
    for (const char *p = host; *p; p++)
        ct_text_add_char(t, *p == '/' ? '_' : *p);
}

bool ct_naming_expand(char path[CT_NAMING_BYTES], const char *p)
{
    struct ct_text t = ct_text_in(path, CT_NAMING_BYTES);
    if (p && *p != '/' && directory[0]) {
        ct_text_add(&t, directory);
        ct_text_add(&t, directory[1] ? "/" : "");
    }
    while (p && *p) {
        if (*p != '%') {
            ct_text_add_char(&t, *p++);
            continue;
        }
        p += 2;
        if (p[-1] == 'p')
            ct_text_add_u64(&t, (uint64_t)getpid());
        else if (p[-1] == 'h')
            add_host(&t);
        else if (p[-1] == 'r')
            ct_text_add_u64(&t, ct_config.rank.number ? ct_config.rank.number - 1 : 0);
        else if (p[-1] == '%')
            ct_text_add_char(&t, '%');
        else if (p[-1] == 'q' && *p == '{')
            p = add_variable(&t, p + 1);
        else
            return false;
    }
    return p && !ct_text_full(&t);
}

bool ct_naming_needs_rank(const char *p)
{
    if (!ct_rank_has_job(ct_config.rank))
        return false;
    for (; *p; p++)
        if (*p == '%' && *++p != '%' && *p != 'h')
            return false;
    return true;
}

/* Where the extension begins, or the end. */
static size_t extension(const char *path)
{
    size_t len = ct_strlen(path);
    for (size_t i = len; i-- && path[i] != '/';)
        if (path[i] == '.')
            return i;
    return len;
}

bool ct_naming_extend(char path[CT_NAMING_BYTES], const char *name)
{
    struct ct_text t = {path, extension(path), CT_NAMING_BYTES};
    ct_text_add(&t, name);
    return !ct_text_full(&t);
}

/*
 * summary.bin -> summary.rank<rank>.bin; where that is taken summary.<pid>.bin, and after an exec
 * summary.<pid>.2.bin
 */
static void add_name(struct ct_text *t, const char *path, bool by_rank, unsigned images)
{
    size_t dot = extension(path);
    for (size_t i = 0; i < dot; i++)
        ct_text_add_char(t, path[i]);
    if (by_rank)
        ct_rank_add(t, ct_config.rank);
    if (images) {
        ct_text_add(t, ".");
        ct_text_add_u64(t, (uint64_t)getpid());
    }
    if (images > 1) {
        ct_text_add(t, ".");
        ct_text_add_u64(t, images);
    }
    ct_text_add(t, path + dot);
}

#define TICK_NS 10000000u /* step of the clock that says when a process began */

/*
 * A file is of the same run if its process began in that run: a parent, a child or a sibling that
 * has ended, or this process before it called exec. The run begins with the first process that was
 * started with us, to within a tick. In that tick, and for a file that does not say when its
 * process began, the file's own time decides, by the clock of whoever keeps the file: not in the
 * future. A launcher knows for sure.
 */
static bool is_of_run(const char *path, const struct stat *st, uint64_t began_ns)
{
    if (ct_run_has(path))
        return true;
    uint64_t run_ns = ct_proc_family_start_unix_ns("libcutrace.so");
    uint64_t written_ns =
        (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
    bool written_since = written_ns > run_ns + TICK_NS && written_ns < ct_clock_unix_ns() + TICK_NS;
    return began_ns > run_ns + TICK_NS || ((!began_ns || began_ns > run_ns) && written_since);
}

enum ct_file_error ct_naming_open(struct ct_file *f, char path[CT_NAMING_BYTES], const char *wanted,
                                  bool by_rank, const char *magic)
{
    enum ct_file_error error = CT_FILE_BUSY;
    for (unsigned i = 0; i < MOST_IMAGES && error == CT_FILE_BUSY; i++) {
        struct ct_text t = ct_text_in(path, CT_NAMING_BYTES);
        add_name(&t, wanted, by_rank, i);
        if (ct_text_full(&t)) {
            errno = ENAMETOOLONG;
            return CT_FILE_ERROR;
        }
        error = ct_file_claim(f, path, magic, ct_config.force, is_of_run);
    }
    return error;
}
