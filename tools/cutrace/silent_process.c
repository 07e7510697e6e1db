/* SPDX-License-Identifier: MIT */
#include "silent_process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file_pattern.h"
#include "format/read.h"
#include "list.h"
#include "messages.h"

#define NS_IN_S 1000000000u
#define MOST_NAMED 8

static char directory[PATH_MAX]; /* of the files, with a slash; empty: it is not known */
static char start[NAME_MAX + 1]; /* of the files' names */
static uint64_t began_ns;        /* by the clock that stamps files */

/* ---- files ---- */

void silent_process_start(const char *output)
{
    struct timespec now;
    char place[PATH_MAX];
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    began_ns = (uint64_t)now.tv_sec * NS_IN_S + (uint64_t)now.tv_nsec;
    const char *name = output ? strrchr(output, '/') : NULL;
    int bytes = name ? (int)(name + 1 - output) : PATH_MAX;
    if (bytes >= PATH_MAX)
        return;
    snprintf(place, sizeof(place), "%.*s", bytes, output);
    const char *extension = strrchr(name, '.');
    size_t len = strcspn(++name, "%");
    if (extension && extension > name && (size_t)(extension - name) < len)
        len = (size_t)(extension - name);
    snprintf(start, sizeof(start), "%.*s", (int)len, name);
    if (file_pattern_varies(place) || !file_pattern_expand(directory, sizeof(directory), place, 0))
        *directory = '\0';
}

static bool is_written_since(int at, const char *name)
{
    struct stat st;
    return !strncmp(name, start, strlen(start)) && !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) &&
           S_ISREG(st.st_mode) &&
           (uint64_t)st.st_mtim.tv_sec * NS_IN_S + (uint64_t)st.st_mtim.tv_nsec >= began_ns;
}

/* False: the file is no profile, or its process started before this run. */
static bool say_profile(pid_t program, int fd, const char *name)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    bool since = false;
    if (!ct_summary_is_one(fd))
        return false;
    if (ct_summary_read_open(&s, fd, &error)) {
        complain_of(program, "%s%s was written meanwhile, by whom is not told in it", directory,
                    name);
        return true;
    }
    since = s.process_count && s.process->start_unix_ns >= began_ns;
    if (since)
        complain_of(program, "Process %u wrote %s%s, and could not be heard of here",
                    (unsigned)s.process->pid, directory, name);
    ct_summary_free(&s);
    return since;
}

static bool say_file(pid_t program, int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        complain_of(program, "%s%s was written meanwhile, and cannot be read here: %s", directory,
                    name, strerror(errno));
        return true;
    }
    bool said = say_profile(program, fd, name);
    close(fd);
    return said;
}

bool silent_process_say_files(pid_t program)
{
    DIR *d = *directory ? opendir(directory) : NULL;
    unsigned said = 0;
    for (struct dirent *e; d && said < MOST_NAMED && (e = readdir(d));)
        if (is_written_since(dirfd(d), e->d_name))
            said += say_file(program, dirfd(d), e->d_name);
    if (d)
        closedir(d);
    return said > 0;
}

/* ---- why there are none ---- */

static char why[512];

/* The usual errors of cuInit(), as cuda.h calls them. */
static const struct {
    int code;
    const char *name;
} refusals[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

static void take_refusal(pid_t pid, const char *wanted, const char *path)
{
    (void)path;
    const char *name = NULL;
    int code = atoi(wanted);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        name = refusals[i].code == code ? refusals[i].name : name;
    snprintf(why, sizeof(why), " (cuInit returned %d%s%s in process %d)", code, name ? ", " : "",
             name ? name : "", (int)pid);
}

/* A child loads the driver, which may do all sorts of things then. */
static void look_for_driver(void)
{
    char text[400] = "";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return;
    pid_t pid = fork();
    if (!pid) {
        const char *error = dlopen("libcuda.so.1", RTLD_LAZY) ? "" : dlerror();
        _exit(write(ends[1], error, strlen(error)) < 0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    if (n > 0)
        snprintf(why, sizeof(why), " (%s)", text);
}

/* ---- another launcher in the run ---- */

static pid_t speaker;
static unsigned passed;

static void take_passed(pid_t pid, const char *wanted, const char *path)
{
    (void)wanted;
    passed++;
    complain_of(speaker, "%s is of the cutrace in this one's run, process %d", path, (int)pid);
}

void silent_process_say(pid_t program)
{
    speaker = program;
    list_each(CT_RUN_PASSED, take_passed);
    if (passed || silent_process_say_files(program))
        return;
    list_each(CT_RUN_REFUSED, take_refusal);
    if (!*why)
        look_for_driver();
    if (*why)
        complain_of(program, "No process has started CUDA: there is no profile%s", why);
    else
        complain_of(program, "No process has told that it started CUDA: there is no profile");
}
