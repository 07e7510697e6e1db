/* SPDX-License-Identifier: MIT */
#include "report/files/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "system/parent.h"

static int close_parent(int directory, int result)
{
    int number = errno;
    close(directory);
    errno = number;
    return result;
}

int ct_unnamed_open(const char *path)
{
    const char *name;
    int directory = ct_parent_open(path, &name);
    if (directory < 0)
        return -1;
    return close_parent(directory, openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
}

/* The link goes by /proc, as AT_EMPTY_PATH is for the privileged. */
bool ct_unnamed_link(int fd, const char *path)
{
    const char *name;
    char self[64];
    int directory = ct_parent_open(path, &name);
    if (directory < 0)
        return false;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return !close_parent(directory, linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW));
}
