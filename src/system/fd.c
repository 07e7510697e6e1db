/* SPDX-License-Identifier: MIT */
#include "system/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "system/spare.h"

/* Above the numbers that programs reach that count descriptors or use select(). */
#define LOWEST 200

/* Tries half the number, again and again, where the limit on descriptors is low. */
static int move_up(int fd)
{
    if (ct_spare() && fd > STDERR_FILENO)
        return fd;
    for (int lowest = LOWEST; lowest > STDERR_FILENO; lowest /= 2) {
        int up = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
        if (up < 0)
            continue;
        close(fd);
        return up;
    }
    if (fd > STDERR_FILENO)
        return fd;
    close(fd);
    errno = EMFILE;
    return -1;
}

bool ct_fd_keep(struct ct_fd *f, int fd)
{
    struct stat st;
    f->number = fd < 0 ? -1 : move_up(fd);
    if (f->number < 0 || fstat(f->number, &st))
        return false;
    f->device = (uint64_t)st.st_dev;
    f->inode = (uint64_t)st.st_ino;
    return true;
}

bool ct_fd_look(const struct ct_fd *f, struct stat *st)
{
    if (f->number >= 0 && !fstat(f->number, st) && (uint64_t)st->st_dev == f->device &&
        (uint64_t)st->st_ino == f->inode)
        return true;
    errno = EBADF;
    return false;
}

void ct_fd_close(struct ct_fd *f)
{
    int saved_errno = errno;
    if (ct_fd_is_ours(f))
        close(f->number);
    f->number = -1;
    errno = saved_errno;
}

size_t ct_fd_take_text(int fd, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n = 0;
    while (fd >= 0 && len + 1 < size && (n = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[len] = '\0';
    return len;
}
