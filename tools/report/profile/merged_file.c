/* SPDX-License-Identifier: MIT */
/*
 * "merge": the sum of several files, as one more file. It is written beside the place where it is
 * to be and then given its name: at any moment there is the old file, or all of the new.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/payload.h"
#include "format/write.h"
#include "report/file_error.h"
#include "report/files/atomic_replace.h"
#include "report/files/tmpfile.h"
#include "report/profile/encode.h"
#include "report/profile/files.h"
#include "report/reports.h"

static bool refuse(const char *path, const char *what, const char *reason)
{
    struct ct_string text = {0};
    ct_string_printf(&text, "%s%s", what, reason);
    ct_file_error(path, text.data);
    ct_string_free(&text);
    return false;
}

static bool is_profile_or_empty(int fd)
{
    struct stat st;
    return (!fstat(fd, &st) && !st.st_size) || ct_summary_is_one(fd);
}

/* A program that is still being recorded has its file locked. */
static bool may_replace(const char *path)
{
    struct stat st;
    bool good = true;
    if (lstat(path, &st))
        return true;
    if (!S_ISREG(st.st_mode))
        return refuse(path, "is no regular file", "");
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return refuse(path, "cannot be opened: ", strerror(errno));
    if (!is_profile_or_empty(fd))
        good = refuse(path, "is there and no profile: it stays as it is", "");
    else if (ct_file_is_written(fd))
        good = refuse(path, "is being written by another process", "");
    close(fd);
    return good;
}

/*
 * Sums of hostile files may have become infinite, and files of a newer minor version may have
 * values that ours cannot: no reader would take that file.
 */
static bool can_be_read(const char *path, void *payload, size_t bytes)
{
    struct ct_summary s = {.payload = payload, .minor = CT_FILE_MINOR};
    struct ct_read_error error;
    bool good = !ct_payload_parse(&s, bytes, &error);
    ct_payload_forget(&s);
    return good || refuse(path, "is not written, as it ", error.text);
}

/*
 * A file without a name leaves nothing if the program is killed. False: there can be none, or it
 * could not be named.
 */
static bool write_unnamed(const char *path, const void *payload, size_t bytes)
{
    struct ct_file f = {.fd = CT_FD_NONE, .in_memory = true};
    const char *part = ct_partial_begin(path);
    bool good = ct_fd_keep(&f.fd, ct_unnamed_open(path)) && ct_file_begin(&f, 0) &&
                ct_file_commit(&f, payload, bytes) && !fsync(f.fd.number) &&
                ct_unnamed_link(f.fd.number, part);
    if (good)
        good = ct_partial_keep(path);
    else
        ct_partial_drop();
    ct_file_close(&f);
    return good;
}

static bool write_named(const char *path, const void *payload, size_t bytes)
{
    struct ct_file f = {.fd = CT_FD_NONE};
    enum ct_file_error error = ct_file_open(&f, ct_partial_begin(path), false);
    if (error) {
        ct_partial_drop();
        return refuse(path, "cannot be written", ct_file_reason(error, errno));
    }
    bool good = ct_file_commit(&f, payload, bytes) && !fsync(f.fd.number);
    if (good)
        good = ct_partial_keep(path);
    else
        ct_partial_drop();
    int number = errno;
    ct_file_close(&f);
    return good || refuse(path, "cannot be written: ", strerror(number));
}

static bool write_payload(const char *path, const void *payload, size_t bytes)
{
    return write_unnamed(path, payload, bytes) || write_named(path, payload, bytes);
}

static bool write_merged(const struct ct_merged *m, const char *path)
{
    size_t bytes;
    if (!may_replace(path))
        return false;
    void *payload = ct_encode(m, &bytes);
    bool good = bytes > CT_READ_LIMIT_BYTES
                    ? refuse(path, "would be too large: it is more than reports read", "")
                    : can_be_read(path, payload, bytes) && write_payload(path, payload, bytes);
    free(payload);
    return good;
}

/* Directories stand for the profiles in them. */
static bool list_files(struct ct_file_list *list, const struct ct_options *o)
{
    bool good = true;
    for (int i = 0; i < o->file_count; i++)
        good &= ct_files_add(list, o->files[i]);
    return good;
}

/* How many of a file's processes are in m. */
static size_t count_known(const struct ct_merged *m, const struct ct_summary *s,
                          const struct ct_file_process *processes, size_t count)
{
    struct ct_key_table keys = {0};
    size_t known = 0;
    for (size_t i = 0; i < m->process_count; i++)
        ct_merge_process_key(&keys, &m->processes[i], ct_merge_name(m, m->processes[i].host));
    uint32_t others = keys.count;
    for (size_t i = 0; i < count; i++)
        known += ct_merge_process_key(&keys, &processes[i], ct_summary_text(s, processes[i].host)) <
                 others;
    ct_key_table_free(&keys);
    return known;
}

/*
 * The file to be replaced lies in a directory that is merged: mostly an earlier sum of its files.
 * It may as well be one of them, or hold processes whose files are gone.
 */
static bool add_replaced(struct ct_merged *m, const char *path)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    if (ct_summary_read(&s, path, &error)) {
        ct_summary_free(&s);
        return refuse(path, "stays as it is, as it ", error.text);
    }
    const struct ct_file_process *processes = s.processes_count ? s.processes : s.process;
    size_t count = s.processes_count ? s.processes_count : 1;
    size_t known = count_known(m, &s, processes, count);
    if (!known)
        ct_merge_add(m, &s);
    ct_summary_free(&s);
    return !known || known == count ||
           refuse(path, "is in a directory that is merged, and the others have not all of it: ",
                  "name the files to be merged");
}

int ct_report_merge(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_merged m = {.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    struct ct_file_list list = {.output = in->o->log_file};
    (void)sink;
    bool good = list_files(&list, in->o);
    good &= ct_files_merge(&m, list.paths, list.count, 0);
    bool whole = !list.left_out || add_replaced(&m, list.output);
    if (m.fell_back)
        ct_merge_note(
            &m, CT_NOTE_WARNING,
            "The newest data of a file that was merged were damaged: the older were taken",
            m.fell_back);
    /* The launcher goes on with the merged file alone, or with the files that it named. */
    bool enough = whole && m.process_count && (good || !in->o->live);
    good &= enough && write_merged(&m, in->o->log_file);
    ct_files_free(&list);
    ct_merge_free(&m);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
