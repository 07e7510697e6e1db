/* SPDX-License-Identifier: MIT */
/*
 * A descriptor of ours lies in the program's table: it must not take a number that the program
 * counts on, and the program may have closed it and got the number for a file of its own.
 */
#ifndef CT_FD_H
#define CT_FD_H

#include <sys/stat.h>

#include "base/base.h"

struct ct_fd {
    int number; /* -1: none */
    uint64_t device, inode;
};

#define CT_FD_NONE                                                                                 \
    {                                                                                              \
        .number = -1                                                                               \
    }

/*
 * Takes `fd` over and moves it up. False: errno says why; a descriptor that cannot be moved away
 * from the numbers of the standard streams is closed.
 */
bool ct_fd_keep(struct ct_fd *f, int fd);

/* Whether it is still the file that was kept, in state *st. False: errno is EBADF. */
bool ct_fd_look(const struct ct_fd *f, struct stat *st);
static inline bool ct_fd_is_ours(const struct ct_fd *f)
{
    struct stat st;
    return ct_fd_look(f, &st);
}

/* Closes the descriptor if it is still ours. Keeps errno. */
void ct_fd_close(struct ct_fd *f);

/*
 * Reads a small file into text, ends it with a zero, and closes fd; a file that is too long is cut.
 * Returns the bytes read; 0: none. A negative fd is an empty file.
 */
size_t ct_fd_take_text(int fd, char *text, size_t size);

#endif
