/* SPDX-License-Identifier: MIT */
#include "format/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cutrace/format.h"
#include "cutrace/trace.h"
#include "format/crc32.h"
#include "system/parent.h"
#include "system/spare.h"

/* No other thread uses the description's offset. */
static ssize_t write_at(int fd, const void *data, size_t bytes, off_t offset)
{
    if (!ct_spare())
        return pwrite(fd, data, bytes, offset);
    return lseek(fd, offset, SEEK_SET) < 0 ? -1 : write(fd, data, bytes);
}

static bool write_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
    const char *p = data;
    while (bytes) {
        ssize_t n = write_at(fd, p, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

static bool put(struct ct_file *f, const void *data, size_t bytes, uint64_t offset)
{
    bool good = write_all(f->fd.number, data, bytes, offset);
    if (good)
        f->size_bytes = ct_max(f->size_bytes, offset + bytes);
    return good;
}

static bool is_ours_or_empty(int fd, uint64_t size, const char *magic)
{
    char found[CT_FILE_MAGIC_BYTES];
    if (!size)
        return true;
    return pread(fd, found, sizeof(found), 0) == sizeof(found) &&
           !__builtin_memcmp(found, magic, sizeof(found));
}

bool ct_file_begin(struct ct_file *f, uint64_t start_unix_ns)
{
    struct ct_file_header h = {
        .magic = CT_FILE_MAGIC,
        .endian = CT_FILE_ENDIAN,
        .major = CT_FILE_MAJOR,
        .minor = CT_FILE_MINOR,
        .start_unix_ns = start_unix_ns,
    };
    f->sequence = 0;
    f->region[0] = f->region[1] = (struct ct_file_region){0};
    f->blocks = (struct ct_blocks){0};
    f->size_bytes = 0;
    return put(f, &h, sizeof(h), 0);
}

/* Start of the process that wrote a profile or a trace, ns since 1970; 0: the file does not say. */
static uint64_t start_of(int fd)
{
    union {
        char magic[CT_FILE_MAGIC_BYTES];
        struct ct_trace_header trace;
        char bytes[offsetof(struct ct_file_header, reserved)];
    } h = {0};
    struct ct_file_header profile;
    if (pread(fd, &h, sizeof(h), 0) < (ssize_t)sizeof(h))
        return 0;
    if (!__builtin_memcmp(h.magic, CT_TRACE_MAGIC, sizeof(h.magic)))
        return h.trace.start_unix_ns;
    __builtin_memcpy(&profile, h.bytes, sizeof(h.bytes));
    return __builtin_memcmp(h.magic, CT_FILE_MAGIC, sizeof(h.magic)) ? 0 : profile.start_unix_ns;
}

/* ---- the right to write ---- */

/*
 * The lock is a description's, as flock()'s; but to take it needs the right to write, and to ask
 * for it disturbs nobody.
 */
static int lock(int fd, int command, short type, struct flock *l)
{
    *l = (struct flock){.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, command, l);
}

bool ct_file_is_written(int fd)
{
    struct flock l;
    return !lock(fd, F_OFD_GETLK, F_RDLCK, &l) && l.l_type == F_WRLCK;
}

enum claim { OURS, WRITTEN, READERS, UNKNOWN }; /* holder of the lock */

/* A reader can keep others from this lock. Where there are no locks, it is ours. */
static enum claim claim(int fd)
{
    struct flock l;
    if (ct_spare())
        return UNKNOWN;
    if (!lock(fd, F_OFD_SETLK, F_WRLCK, &l) || (errno != EAGAIN && errno != EACCES))
        return OURS;
    return ct_file_is_written(fd) ? WRITTEN : READERS;
}

static void remember(struct ct_file *f, const char *path)
{
    struct ct_text t = ct_text_in(f->path, sizeof(f->path));
    char cwd[2048];
    if (*path != '/' && getcwd(cwd, sizeof(cwd))) {
        ct_text_add(&t, cwd);
        ct_text_add(&t, "/");
    }
    ct_text_add(&t, path);
}

static enum ct_file_error fail(struct ct_file *f, enum ct_file_error error)
{
    ct_fd_close(&f->fd);
    return error;
}

/* Checks that hold for any content. */
static enum ct_file_error check_kind(int directory, const struct stat *st, bool force)
{
    struct stat above;
    if (S_ISLNK(st->st_mode)) {
        errno = ELOOP;
        return CT_FILE_ERROR;
    }
    if (!S_ISREG(st->st_mode))
        return CT_FILE_SPECIAL;
    if (!fstat(directory, &above) && ct_parent_is_planted(&above, st))
        return CT_FILE_STRANGER;
    return st->st_nlink > 1 && !force ? CT_FILE_LINKED : CT_FILE_OK;
}

/* Looks before it opens: opening alone wakes a pipe's reader, or starts a watchdog. */
static enum ct_file_error open_at(struct ct_file *f, int directory, const char *name, bool force)
{
    enum ct_file_error error = CT_FILE_OK;
    struct stat st;
    if (!*name) /* the path ends with a slash */
        return CT_FILE_SPECIAL;
    if (!fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
        error = check_kind(directory, &st, force);
    if (error)
        return error;
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    if (!ct_fd_keep(&f->fd, openat(directory, name, flags, 0666)) || !ct_fd_look(&f->fd, &st))
        return CT_FILE_ERROR;
    return check_kind(directory, &st, force);
}

static enum ct_file_error open_path(struct ct_file *f, const char *path, bool force)
{
    const char *name;
    int directory = ct_parent_open(path, &name);
    f->fd.number = -1;
    if (directory < 0)
        return CT_FILE_ERROR;
    enum ct_file_error error = open_at(f, directory, name, force);
    int saved_errno = errno;
    close(directory);
    errno = saved_errno;
    return error;
}

/* Removes the file: a new one is without the reader's lock. False: errno says why. */
static bool remove_file(const char *path, const struct stat *st)
{
    const char *name;
    struct stat now;
    int directory = ct_parent_open(path, &name);
    bool good = directory >= 0 && !fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW) &&
                now.st_dev == st->st_dev && now.st_ino == st->st_ino &&
                !unlinkat(directory, name, 0);
    int saved_errno = errno;
    if (directory >= 0)
        close(directory);
    errno = saved_errno;
    return good;
}

/* Opens the file; refuses one that is written, kept or foreign. */
static enum ct_file_error look(struct ct_file *f, const char *path, struct stat *st,
                               const char *magic, bool force, ct_file_is_kept *is_kept,
                               enum claim *whose)
{
    enum ct_file_error error = open_path(f, path, force);
    if (error)
        return error;
    *whose = claim(f->fd.number);
    if (*whose == WRITTEN)
        return CT_FILE_BUSY;
    if (fstat(f->fd.number, st)) /* the holder of the lock before may have written since */
        return CT_FILE_ERROR;
    if (st->st_size && is_kept && is_kept(path, st, start_of(f->fd.number)))
        return CT_FILE_BUSY;
    if (!force && !is_ours_or_empty(f->fd.number, (uint64_t)st->st_size, magic))
        return CT_FILE_FOREIGN;
    return CT_FILE_OK;
}

/* Makes the file anew, as private as before. An unknown writer of the old one notices that it
 * went. */
static enum ct_file_error replace(struct ct_file *f, const char *path, const struct stat *before,
                                  const char *magic, bool force, ct_file_is_kept *is_kept)
{
    struct stat st;
    enum claim whose;
    ct_fd_close(&f->fd);
    if (before->st_uid != ct_spare_user() || !remove_file(path, before))
        return CT_FILE_BUSY;
    enum ct_file_error error = look(f, path, &st, magic, force, is_kept, &whose);
    if (!error && whose == READERS)
        return CT_FILE_BUSY;
    if (!error && !st.st_size && (st.st_mode ^ before->st_mode) & 0777)
        fchmod(f->fd.number, before->st_mode & 0777);
    return error;
}

enum ct_file_error ct_file_claim(struct ct_file *f, const char *path, const char *magic, bool force,
                                 ct_file_is_kept *is_kept)
{
    struct stat st = {0};
    enum claim whose;
    f->in_memory = false;
    f->size_bytes = 0;
    enum ct_file_error error = look(f, path, &st, magic, force, is_kept, &whose);
    if (!error && (whose == READERS || (whose == UNKNOWN && st.st_size)))
        error = replace(f, path, &st, magic, force, is_kept);
    if (error)
        return fail(f, error);
    if (whose != UNKNOWN && ftruncate(f->fd.number, 0))
        return fail(f, CT_FILE_ERROR);
    remember(f, path);
    return CT_FILE_OK;
}

enum ct_file_error ct_file_open(struct ct_file *f, const char *path, bool force)
{
    enum ct_file_error error = ct_file_claim(f, path, CT_FILE_MAGIC, force, NULL);
    return error || ct_file_begin(f, 0) ? error : fail(f, CT_FILE_ERROR);
}

const char *ct_file_reason(enum ct_file_error error, int number)
{
    static const char *const reasons[CT_FILE_ERROR] = {
        [CT_FILE_BUSY] = ": another process does",
        [CT_FILE_SPECIAL] = ": it is no regular file",
        [CT_FILE_STRANGER] = ": another user has put it there",
        [CT_FILE_LINKED] = ": it has other names, being a hard link (CUTRACE_FORCE=1 overwrites)",
        [CT_FILE_FOREIGN] = ": something else is there (CUTRACE_FORCE=1 overwrites)",
    };
    static const struct {
        int number;
        const char *text;
    } errors[] = {
        {EACCES, ": permission denied"},
        {EAGAIN, ": it is in use"},
        {EBADF, ": the program closed the file"},
        {EBUSY, ": it is in use"},
        {EDQUOT, ": the disk quota is used up"},
        {EFBIG, ": file too large"},
        {EIO, ": input/output error"},
        {EISDIR, ": it is no regular file"},
        {ELOOP, ": it is a symbolic link"},
        {EMFILE, ": too many open files"},
        {ENAMETOOLONG, ": name too long"},
        {ENODATA, ": it was made shorter"},
        {ENFILE, ": too many open files in the system"},
        {ENOENT, ": no such directory"},
        {ENOMEM, ": no memory"},
        {ENOSPC, ": no space left"},
        {ENOSYS, ": not possible here"},
        {ENOTDIR, ": no such directory"},
        {EOPNOTSUPP, ": not possible here"},
        {EPERM, ": operation not permitted"},
        {EROFS, ": read-only file system"},
        {ESTALE, ": it was removed"},
        {ETIMEDOUT, ": its server does not answer"},
        {ETXTBSY, ": a program that runs is there"},
    };
    if (error != CT_FILE_ERROR)
        return reasons[error];
    for (size_t i = 0; i < ct_countof(errors); i++)
        if (errors[i].number == number)
            return errors[i].text;
    return ": the system refused it";
}

bool ct_file_open_memory(struct ct_file *f)
{
    f->in_memory = true;
    f->path[0] = '\0';
    if (ct_fd_keep(&f->fd, memfd_create("cutrace", MFD_CLOEXEC)) && ct_file_begin(f, 0))
        return true;
    fail(f, CT_FILE_ERROR);
    return false;
}

/*
 * Nobody would find data in a file that was removed, nor could read it where the file's begin was
 * cut off.
 */
static bool has_place(const struct ct_file *f)
{
    struct stat st;
    if (!ct_fd_look(&f->fd, &st))
        return false;
    errno = st.st_nlink ? ENODATA : ESTALE;
    return f->in_memory || (st.st_nlink && (uint64_t)st.st_size >= f->size_bytes);
}

bool ct_file_write(struct ct_file *f, const void *data, size_t bytes, uint64_t offset)
{
    return has_place(f) && put(f, data, bytes, offset);
}

/* ---- commits ---- */

static uint64_t end_of(const struct ct_file_region *r)
{
    return r->offset + r->bytes;
}

/*
 * A region's new offset: its old one, if that is clear of the committed payload. Otherwise between
 * the header and that payload if there is room, else behind it.
 */
static uint64_t place(const struct ct_file_region *r, const struct ct_file_region *committed,
                      uint64_t bytes)
{
    if (r->bytes && (r->offset + bytes <= committed->offset || end_of(committed) <= r->offset))
        return r->offset;
    if (!committed->bytes || CT_FILE_HEADER_BYTES + bytes <= committed->offset)
        return CT_FILE_HEADER_BYTES;
    return (end_of(committed) + 7) & ~(uint64_t)7;
}

/* Writes the blocks that differ from payload `known`; 0: all. Failing leaves r->sequence 0. */
static bool write_region(struct ct_file *f, struct ct_file_region *r, uint64_t known,
                         const char *payload)
{
    size_t at = 0, n;
    if (!known)
        return put(f, payload, r->bytes, r->offset);
    for (; ct_blocks_next(&f->blocks, known, &at, &n); at += n)
        if (!put(f, payload + at, n, r->offset + at))
            return false;
    return true;
}

/* Places the region. Returns the sequence of the payload that it is known to hold there, or 0. */
static uint64_t prepare(struct ct_file *f, struct ct_file_region *r, size_t bytes)
{
    uint64_t offset = place(r, &f->region[f->sequence & 1], bytes);
    uint64_t known = offset == r->offset ? r->sequence : 0;
    *r = (struct ct_file_region){.offset = offset, .bytes = bytes};
    return known;
}

static bool write_commit(struct ct_file *f, const struct ct_file_region *r, uint64_t sequence,
                         uint32_t payload_crc)
{
    struct ct_file_commit c = {
        .sequence = sequence,
        .offset = r->offset,
        .bytes = r->bytes,
        .payload_crc = payload_crc,
    };
    c.crc = ct_crc32(0, &c, offsetof(struct ct_file_commit, crc));
    uint64_t slot = offsetof(struct ct_file_header, commit) + (sequence & 1) * sizeof(c);
    return put(f, &c, sizeof(c), slot);
}

static bool commit(struct ct_file *f, const void *payload, size_t bytes, bool whole)
{
    uint64_t sequence = f->sequence + 1;
    struct ct_file_region *r = &f->region[sequence & 1];
    uint32_t crc;
    if (!has_place(f))
        return false;
    uint64_t known = prepare(f, r, bytes);
    bool compared = !whole && ct_blocks_take(&f->blocks, sequence, payload, bytes, &crc);
    if (!compared)
        crc = ct_crc32(0, payload, bytes);
    if (!write_region(f, r, compared ? known : 0, payload) || !write_commit(f, r, sequence, crc))
        return false;
    r->sequence = compared ? sequence : 0;
    f->sequence = sequence;
    return true;
}

bool ct_file_commit(struct ct_file *f, const void *payload, size_t bytes)
{
    return commit(f, payload, bytes, true);
}

bool ct_file_update(struct ct_file *f, const void *payload, size_t bytes)
{
    return commit(f, payload, bytes, false);
}

void ct_file_close(struct ct_file *f)
{
    ct_blocks_drop(&f->blocks);
    ct_fd_close(&f->fd);
}
