/* SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define LOWEST 100

int descriptor_move_up(int fd)
{
    int up = -1;
    for (int lowest = LOWEST; fd >= 0 && up < 0 && lowest > STDERR_FILENO; lowest /= 2)
        up = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (fd >= 0)
        close(fd);
    return up;
}

void descriptor_drop_inherited(void)
{
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
            close(fd);
    }
    if (d)
        closedir(d);
    for (int fd; (fd = open("/dev/null", O_RDWR)) >= 0;)
        if (fd > STDERR_FILENO) {
            close(fd);
            break;
        }
}
