/* SPDX-License-Identifier: MIT */
/*
 * Functions that glibc 2.17 does not have, as the system calls that they are. stat() and its kin
 * were inline functions of the header then; the kernel's struct stat is the C library's.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

int fstatat(int at, const char *path, struct stat *st, int flags)
{
    return (int)syscall(SYS_newfstatat, at, path, st, flags);
}

int stat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st)
{
    return (int)syscall(SYS_fstat, fd, st);
}

ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    return syscall(SYS_getrandom, to, bytes, flags);
}

int memfd_create(const char *name, unsigned flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}

#pragma GCC visibility pop
