/* SPDX-License-Identifier: MIT */
/* cutrace-report: prints what libcutrace.so recorded. Exit status 1: input or output failed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/read.h"
#include "report/merge.h"
#include "report/names.h"
#include "report/options.h"
#include "report/report.h"

static void complain(const char *file, const char *reason)
{
    struct ct_string name = {0};
    ct_name_safe(&name, file);
    fprintf(stderr, "cutrace-report: %s: %s\n", name.data, reason);
    ct_string_free(&name);
}

/* Files are read one at a time; one that cannot be read does not hide the others. */
static bool merge_files(struct ct_merged *m, const struct ct_options *o)
{
    struct ct_summary summary = {0};
    struct ct_read_error error;
    bool all = true;
    for (int i = 0; i < o->file_count; i++) {
        if (ct_summary_read(&summary, o->files[i], &error)) {
            complain(o->files[i], error.text);
            all = false;
        } else {
            ct_merge_add(m, &summary);
        }
    }
    ct_summary_free(&summary);
    return all;
}

static bool is_profile(int fd)
{
    char magic[CT_FILE_MAGIC_BYTES];
    return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
           !memcmp(magic, CT_FILE_MAGIC, sizeof(magic));
}

/* -o is where nvprof's users give the profile: one is not to be lost by that. */
static FILE *open_log(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EACCES)
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0 && is_profile(fd)) {
        complain(path, "is a profile, which the report would overwrite");
        close(fd);
        return NULL;
    }
    struct stat st;
    bool cut = fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || !ftruncate(fd, 0));
    FILE *out = cut ? fdopen(fd, "w") : NULL;
    if (!out)
        complain(path, strerror(errno));
    return out;
}

static FILE *open_output(const struct ct_options *o)
{
    if (o->log_file)
        return open_log(o->log_file);
    return o->live ? stderr : stdout;
}

/* What was printed is only there when closing says so, too. */
static bool close_output(FILE *out, const char *name)
{
    bool failed = ferror(out);
    errno = 0;
    if ((fclose(out) || failed) && name) {
        fprintf(stderr, "cutrace-report: %s: cannot be written: %s\n", name,
                errno ? strerror(errno) : "output error");
        return false;
    }
    return true;
}

static bool report(const struct ct_options *o)
{
    struct ct_merged m = {.details = o->details};
    bool good = merge_files(&m, o);
    FILE *out = m.process_count ? open_output(o) : NULL;
    if (out) {
        if (out == stderr) /* in one piece: other programs may write there, too */
            setvbuf(stderr, NULL, _IOFBF, 1 << 16);
        ct_report_print(out, &m, o);
        const char *name = o->log_file ? o->log_file : "standard output";
        good &= close_output(out, out == stderr ? NULL : name);
    }
    ct_merge_free(&m);
    return good && out;
}

int main(int argc, char **argv)
{
    struct ct_options o;
    switch (ct_options_parse(&o, argc, argv)) {
    case CT_OPTIONS_RUN:
        return report(&o) ? EXIT_SUCCESS : EXIT_FAILURE;
    case CT_OPTIONS_DONE:
        return close_output(stdout, "standard output") ? EXIT_SUCCESS : EXIT_FAILURE;
    default:
        return 2;
    }
}
