/* SPDX-License-Identifier: MIT */
#include "system/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/text.h"
#include "system/spare.h"

#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)
#define TRIES 10

bool ct_parent_is_planted(const struct stat *directory, const struct stat *entry)
{
    mode_t for_all = S_ISVTX | S_IWOTH;
    return (directory->st_mode & for_all) == for_all && entry->st_uid != ct_spare_user() &&
           entry->st_uid != directory->st_uid;
}

/* A link of the user or the directory's owner is followed: nobody else can exchange it. */
static int follow(int at, const char *name)
{
    struct stat directory, link;
    if (fstat(at, &directory) || fstatat(at, name, &link, AT_SYMLINK_NOFOLLOW))
        return -1;
    if (S_ISLNK(link.st_mode) && ct_parent_is_planted(&directory, &link)) {
        errno = ELOOP;
        return -1;
    }
    return openat(at, name, DIRECTORY);
}

/* Closes `at`. */
static int step(int at, const char *name)
{
    int fd = openat(at, name, DIRECTORY | O_NOFOLLOW);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        fd = follow(at, name);
    int saved_errno = errno;
    close(at);
    errno = saved_errno;
    return fd;
}

int ct_parent_open(const char *path, const char **name)
{
    char part[NAME_MAX + 2]; /* a byte more than a name can have, so that longer ones are refused */
    int fd = open(*path == '/' ? "/" : ".", DIRECTORY);
    for (*name = path; fd >= 0;) {
        struct ct_text t = ct_text_in(part, sizeof(part));
        const char *p = *name;
        while (*p && *p != '/')
            ct_text_add_char(&t, *p++);
        if (!*p)
            break;
        if (t.len)
            fd = step(fd, part);
        *name = p + 1;
    }
    return fd;
}

/* A missing file is created by this call, or not at all. */
static int open_in(int directory, const char *name, int flags, mode_t mode)
{
    struct stat above, entry;
    if (!*name) {
        errno = EISDIR;
        return -1;
    }
    if (fstatat(directory, name, &entry, AT_SYMLINK_NOFOLLOW))
        return openat(directory, name, flags | (flags & O_CREAT ? O_EXCL : 0) | O_NOFOLLOW, mode);
    if (!fstat(directory, &above) && ct_parent_is_planted(&above, &entry)) {
        errno = S_ISLNK(entry.st_mode) ? ELOOP : EACCES;
        return -1;
    }
    return openat(directory, name, flags | (S_ISLNK(entry.st_mode) ? 0 : O_NOFOLLOW), mode);
}

int ct_parent_open_file(const char *path, int flags, mode_t mode)
{
    const char *name;
    int directory = ct_parent_open(path, &name);
    if (directory < 0)
        return -1;
    int fd = open_in(directory, name, flags | O_CLOEXEC, mode);
    for (int i = 0; i < TRIES && fd < 0 && errno == EEXIST && !(flags & O_EXCL); i++)
        fd = open_in(directory, name, flags | O_CLOEXEC, mode); /* somebody made it meanwhile */
    int saved_errno = errno;
    close(directory);
    errno = saved_errno;
    return fd;
}
