/* SPDX-License-Identifier: MIT */
#include "report/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/read.h"
#include "format/trace_read.h"
#include "report/file_error.h"
#include "report/files/pager.h"
#include "report/files/writer_thread.h"
#include "report/host_memory.h"
#include "report/terminal.h"
#include "system/parent.h"

/*
 * Opens for reading as well where that is possible: to look at the present content. A pipe waits
 * for its reader.
 */
static int open_for_writing(const char *path)
{
    struct stat st;
    bool regular = stat(path, &st) || S_ISREG(st.st_mode);
    int fd = regular ? ct_parent_open_file(path, O_RDWR | O_CREAT, 0666) : -1;
    if (!regular || (fd < 0 && errno == EACCES))
        fd = ct_parent_open_file(path, O_WRONLY | O_CREAT | O_NOCTTY, 0666);
    return fd;
}

/* -o is where nvprof's users give the profile: one is not to be lost by that. */
static FILE *open_log(const char *path)
{
    int fd = open_for_writing(path);
    bool profile = fd >= 0 && ct_summary_is_one(fd);
    if (profile || (fd >= 0 && ct_trace_is_one(fd))) {
        ct_file_error(path, profile ? "is a profile, which the report would overwrite"
                                    : "is a trace, which the report would overwrite");
        close(fd);
        return NULL;
    }
    struct stat st;
    bool cut = fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || !ftruncate(fd, 0));
    FILE *out = cut ? ct_behind_open(fd) : NULL;
    if (!out)
        ct_file_error(path, strerror(errno));
    return out;
}

bool ct_output_open(struct ct_output *out, const struct ct_options *o)
{
    /* The launcher's rows have a place of their own; the library has the program's stderr alone. */
    int fd = o->live && !o->csv ? STDERR_FILENO : STDOUT_FILENO;
    out->width = o->log_file ? 0 : ct_terminal_columns(fd);
    out->color = ct_terminal_color((enum ct_color)o->color, o->log_file ? -1 : fd);
    if (o->log_file)
        return (out->f = open_log(o->log_file));
    out->f = stdout;
    if (!o->live)
        ct_pager_start(out->width && !o->no_pager);
    if (o->live || !out->width) /* in one piece: other programs may write to the same stderr */
        out->f = ct_behind_open(fd);
    if (!out->f)
        ct_file_error("standard output", strerror(errno));
    return out->f;
}

static bool is_one_file(int a, int b)
{
    struct stat x, y;
    return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

FILE *ct_output_below(const struct ct_options *o, FILE *out)
{
    bool own = o->log_file || !is_one_file(STDOUT_FILENO, STDERR_FILENO);
    return o->csv && own ? stderr : out;
}

bool ct_output_finish(FILE *f, const char *name)
{
    bool failed = ferror(f);
    errno = 0;
    if (!fclose(f) && !failed)
        return true;
    struct ct_string reason = {0};
    ct_string_printf(&reason, "cannot be written: %s", errno ? strerror(errno) : "output error");
    ct_file_error(name, reason.data);
    ct_string_free(&reason);
    return false;
}

bool ct_output_close(struct ct_output *out, const struct ct_options *o)
{
    if (o->live && !o->log_file) { /* closed by the program, maybe: no failure of the report */
        fclose(out->f);
        return true;
    }
    bool good = ct_output_finish(out->f, o->log_file ? o->log_file : "standard output");
    ct_pager_wait();
    return good;
}
