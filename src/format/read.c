/* SPDX-License-Identifier: MIT */
/*
 * Finds the newest whole payload of a summary file, which may be written to meanwhile: a payload
 * that was overwritten while it was read has a wrong checksum, and the header then names other
 * ones.
 */
#include "format/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cutrace/trace.h"
#include "format/crc32.h"
#include "format/payload.h"

#define ATTEMPTS 16 /* reads of a file that changes under our eyes */

static int read_at(int fd, void *to, size_t len_bytes, uint64_t offset, struct ct_read_error *error)
{
    for (size_t done = 0; done < len_bytes;) {
        ssize_t n = pread(fd, (char *)to + done, len_bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ct_read_fail(error, -errno, "cannot be read: %s", strerror(errno));
        if (!n)
            return ct_read_fail(error, -EBADMSG, "is truncated");
        done += (size_t)n;
    }
    return 0;
}

static const char *what_it_is(mode_t mode)
{
    if (S_ISDIR(mode))
        return "is a directory";
    if (S_ISFIFO(mode))
        return "is a pipe, not a regular file";
    return "is not a regular file";
}

/*
 * Looks before it opens: opening alone wakes a pipe's writer, and rewinds tapes. O_NONBLOCK: a pipe
 * that came since must not make us wait.
 */
int ct_read_open(const char *path, struct ct_read_error *error)
{
    struct stat st;
    int rc = 0;
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return ct_read_fail(error, -EINVAL, "%s", what_it_is(st.st_mode));
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return ct_read_fail(error, -errno, "cannot be opened: %s", strerror(errno));
    if (fstat(fd, &st))
        rc = ct_read_fail(error, -errno, "cannot be read: %s", strerror(errno));
    else if (!S_ISREG(st.st_mode))
        rc = ct_read_fail(error, -EINVAL, "%s", what_it_is(st.st_mode));
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

bool ct_summary_is_one(int fd)
{
    char magic[CT_FILE_MAGIC_BYTES];
    return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
           !memcmp(magic, CT_FILE_MAGIC, sizeof(magic));
}

static int check_header(const struct ct_file_header *h, struct ct_read_error *error)
{
    if (!memcmp(h->magic, CT_TRACE_MAGIC, CT_FILE_MAGIC_BYTES))
        return ct_read_fail(error, -EINVAL, "is a trace, no summary: the report trace prints it");
    if (memcmp(h->magic, CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES))
        return ct_read_fail(error, -EINVAL, "is not a summary of cutrace");
    if (h->endian == __builtin_bswap32(CT_FILE_ENDIAN))
        return ct_read_fail(error, -EINVAL, "was written on a machine of the other byte order");
    if (h->endian != CT_FILE_ENDIAN)
        return ct_read_fail(error, -EBADMSG, "is damaged: its byte order is unknown");
    if (h->major != CT_FILE_MAJOR)
        return ct_read_fail(error, -EINVAL, "has format version %u.%u, this program reads %u",
                            h->major, h->minor, CT_FILE_MAJOR);
    return 0;
}

static int read_header(int fd, struct ct_file_header *h, uint64_t *size_bytes,
                       struct ct_read_error *error)
{
    struct stat st;
    if (fstat(fd, &st))
        return ct_read_fail(error, -errno, "cannot be read: %s", strerror(errno));
    *size_bytes = (uint64_t)st.st_size;
    if (!st.st_size)
        return ct_read_fail(error, -ENODATA, "is empty");
    memset(h, 0, sizeof(*h));
    size_t have = *size_bytes < sizeof(*h) ? (size_t)*size_bytes : sizeof(*h);
    int rc = read_at(fd, h, have, 0, error);
    if (!rc)
        rc = check_header(h, error);
    if (!rc && have < sizeof(*h))
        rc = ct_read_fail(error, -EBADMSG, "is truncated: it ends within its header");
    return rc;
}

static bool is_committed(const struct ct_file_commit *c)
{
    return c->sequence && c->crc == ct_crc32(0, c, offsetof(struct ct_file_commit, crc));
}

static int check_extent(const struct ct_file_commit *c, uint64_t size_bytes,
                        struct ct_read_error *error)
{
    if (c->bytes > CT_READ_LIMIT_BYTES)
        return ct_read_fail(error, -EFBIG, "is too large: %llu bytes of statistics",
                            (unsigned long long)c->bytes);
    if (c->offset < CT_FILE_HEADER_BYTES)
        return ct_read_fail(error, -EBADMSG, "is damaged: its data overlap the header");
    if (c->offset > size_bytes || c->bytes > size_bytes - c->offset)
        return ct_read_fail(
            error, -EBADMSG, "is truncated: it has %llu bytes, its data end at %llu",
            (unsigned long long)size_bytes, (unsigned long long)(c->offset + c->bytes));
    return 0;
}

static int reserve(struct ct_summary *s, size_t bytes, struct ct_read_error *error)
{
    if (bytes <= s->payload_size)
        return 0;
    free(s->payload);
    s->payload = malloc(bytes);
    s->payload_size = s->payload ? bytes : 0;
    return s->payload ? 0 : ct_read_fail(error, -ENOMEM, "needs more memory than there is");
}

static int read_payload(struct ct_summary *s, int fd, const struct ct_file_commit *c,
                        uint64_t size_bytes, struct ct_read_error *error)
{
    int rc = check_extent(c, size_bytes, error);
    if (!rc)
        rc = reserve(s, c->bytes, error);
    if (!rc)
        rc = read_at(fd, s->payload, c->bytes, c->offset, error);
    if (!rc && ct_crc32(0, s->payload, c->bytes) != c->payload_crc)
        rc = ct_read_fail(error, -EBADMSG, "is damaged: the checksum of its data is wrong");
    if (!rc)
        rc = ct_payload_parse(s, c->bytes, error);
    if (!rc)
        s->sequence = c->sequence;
    return rc;
}

/* The error returned is the newest payload's. */
static int read_newest(struct ct_summary *s, int fd, const struct ct_file_header *h,
                       uint64_t size_bytes, struct ct_read_error *error)
{
    const struct ct_file_commit *newest = &h->commit[0], *other = &h->commit[1];
    if (!is_committed(newest) || (is_committed(other) && other->sequence > newest->sequence)) {
        newest = &h->commit[1];
        other = &h->commit[0];
    }
    if (!is_committed(newest)) {
        if (!newest->sequence && !other->sequence)
            return ct_read_fail(error, -ENODATA, "holds no data yet");
        return ct_read_fail(error, -EBADMSG, "is damaged: its commit records are wrong");
    }
    struct ct_read_error ignored;
    s->minor = h->minor;
    s->fell_back = other->sequence && !is_committed(other);
    int rc = read_payload(s, fd, newest, size_bytes, error);
    if (!rc && s->fell_back)
        ct_read_fail(error, 0, "is damaged: one of its two commit records is wrong");
    if (rc && is_committed(other) && !read_payload(s, fd, other, size_bytes, &ignored)) {
        s->fell_back = true;
        rc = 0;
    }
    return rc;
}

/* A failed read of a file that changed meanwhile says nothing: read again. */
static int read_until_stable(struct ct_summary *s, int fd, struct ct_read_error *error)
{
    struct ct_file_header before, after;
    uint64_t size_bytes;
    int rc = read_header(fd, &before, &size_bytes, error);
    for (int i = 0; !rc && i < ATTEMPTS; i++) {
        int failed = read_newest(s, fd, &before, size_bytes, error);
        if (!failed && !s->fell_back)
            return 0;
        struct ct_read_error ignored;
        if (read_header(fd, &after, &size_bytes, &ignored) ||
            !memcmp(before.commit, after.commit, sizeof(before.commit)))
            return failed;
        before = after;
        rc = i + 1 == ATTEMPTS ? failed : 0;
    }
    return rc;
}

int ct_summary_read_open(struct ct_summary *s, int fd, struct ct_read_error *error)
{
    ct_payload_forget(s);
    int rc = read_until_stable(s, fd, error);
    if (rc)
        ct_payload_forget(s);
    return rc;
}

int ct_summary_read(struct ct_summary *s, const char *path, struct ct_read_error *error)
{
    ct_payload_forget(s);
    int fd = ct_read_open(path, error);
    if (fd < 0)
        return fd;
    int rc = ct_summary_read_open(s, fd, error);
    close(fd);
    return rc;
}

void ct_summary_free(struct ct_summary *s)
{
    ct_payload_forget(s);
    free(s->payload);
    memset(s, 0, sizeof(*s));
}
