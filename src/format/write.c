/* SPDX-License-Identifier: MIT */
#include "format/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cutrace/format.h"
#include "format/crc32.h"

/* Above what programs that count descriptors or use select() look at. */
#define FD_LOWEST 200

static bool write_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
    const char *p = data;
    while (bytes) {
        ssize_t n = pwrite(fd, p, bytes, (off_t)offset);
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

static bool is_profile_or_empty(int fd, uint64_t size)
{
    char magic[CT_FILE_MAGIC_BYTES];
    if (!size)
        return true;
    return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
           !__builtin_memcmp(magic, CT_FILE_MAGIC, sizeof(magic));
}

static bool write_header(struct ct_file *f)
{
    struct ct_file_header h = {
        .magic = CT_FILE_MAGIC,
        .endian = CT_FILE_ENDIAN,
        .major = CT_FILE_MAJOR,
        .minor = CT_FILE_MINOR,
    };
    f->sequence = 0;
    f->committed_offset = CT_FILE_HEADER_BYTES;
    f->committed_bytes = 0;
    return ftruncate(f->fd, 0) == 0 && write_all(f->fd, &h, sizeof(h), 0);
}

static void move_up(struct ct_file *f)
{
    int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, FD_LOWEST);
    if (fd < 0)
        return; /* a low limit on descriptors: stay where we are */
    close(f->fd);
    f->fd = fd;
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
    int saved_errno = errno;
    close(f->fd);
    f->fd = -1;
    errno = saved_errno;
    return error;
}

enum ct_file_error ct_file_open(struct ct_file *f, const char *path, bool force)
{
    struct stat st;
    f->in_memory = false;
    f->fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    if (f->fd < 0)
        return CT_FILE_ERROR;
    if (fstat(f->fd, &st))
        return fail(f, CT_FILE_ERROR);
    if (!S_ISREG(st.st_mode))
        return fail(f, CT_FILE_FOREIGN);
    if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return fail(f, CT_FILE_BUSY);
    if (!force && !is_profile_or_empty(f->fd, (uint64_t)st.st_size))
        return fail(f, CT_FILE_FOREIGN);
    f->device = (uint64_t)st.st_dev;
    f->inode = (uint64_t)st.st_ino;
    if (!write_header(f))
        return fail(f, CT_FILE_ERROR);
    move_up(f);
    remember(f, path);
    return CT_FILE_OK;
}

bool ct_file_open_memory(struct ct_file *f)
{
    struct stat st;
    f->fd = memfd_create("cutrace", MFD_CLOEXEC);
    if (f->fd < 0 || fstat(f->fd, &st))
        return false;
    f->in_memory = true;
    f->device = (uint64_t)st.st_dev;
    f->inode = (uint64_t)st.st_ino;
    f->path[0] = '\0';
    move_up(f);
    return write_header(f);
}

/* A program that closes all descriptors may get our number for a file of its own. */
static bool is_ours(const struct ct_file *f)
{
    struct stat st;
    if (f->fd < 0 || fstat(f->fd, &st)) {
        errno = EBADF;
        return false;
    }
    if ((uint64_t)st.st_dev == f->device && (uint64_t)st.st_ino == f->inode)
        return true;
    errno = EBADF;
    return false;
}

/* Between the header and the committed payload if it fits there, else behind that payload. */
static uint64_t place(const struct ct_file *f, uint64_t bytes)
{
    if (!f->committed_bytes || CT_FILE_HEADER_BYTES + bytes <= f->committed_offset)
        return CT_FILE_HEADER_BYTES;
    return (f->committed_offset + f->committed_bytes + 7) & ~(uint64_t)7;
}

bool ct_file_commit(struct ct_file *f, const void *payload, size_t bytes)
{
    if (!is_ours(f))
        return false;
    struct ct_file_commit c = {
        .sequence = f->sequence + 1,
        .offset = place(f, bytes),
        .bytes = bytes,
        .payload_crc = ct_crc32(0, payload, bytes),
    };
    c.crc = ct_crc32(0, &c, offsetof(struct ct_file_commit, crc));
    uint64_t slot = offsetof(struct ct_file_header, commit) + (c.sequence & 1) * sizeof(c);
    if (!write_all(f->fd, payload, bytes, c.offset) || !write_all(f->fd, &c, sizeof(c), slot))
        return false;
    f->sequence = c.sequence;
    f->committed_offset = c.offset;
    f->committed_bytes = c.bytes;
    return true;
}

void ct_file_close(struct ct_file *f)
{
    if (f->fd >= 0 && is_ours(f))
        close(f->fd);
    f->fd = -1;
}
