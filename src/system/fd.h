/* SPDX-License-Identifier: MIT */
/*
 * A descriptor of ours lies in the program's table: it must not take a number that the program
 * counts on, and what the program closed may have come to mean a file of its own.
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
 * Takes `fd` over and moves it up. False: errno says why, and it is closed; never does it stay
 * where programs expect their standard streams.
 */
bool ct_fd_keep(struct ct_fd *f, int fd);

/* Whether it still means what it meant; *st is then what it is now. False: errno is EBADF. */
bool ct_fd_look(const struct ct_fd *f, struct stat *st);
static inline bool ct_fd_is_ours(const struct ct_fd *f)
{
    struct stat st;
    return ct_fd_look(f, &st);
}

/* What is not ours any more stays open. */
void ct_fd_close(struct ct_fd *f);

/*
 * What a small file holds, with a zero behind it, and closes it. Returns the bytes that there was
 * room for; 0: none could be read. Below 0 there is no file.
 */
size_t ct_fd_take_text(int fd, char *text, size_t size);

#endif
