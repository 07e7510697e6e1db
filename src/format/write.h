/* SPDX-License-Identifier: MIT */
/* The file on disk: opened once, then given one payload after the other; valid all the time. */
#ifndef CT_WRITE_H
#define CT_WRITE_H

#include "base/base.h"

struct ct_file {
    int fd; /* -1: not open */
    bool in_memory; /* no file could be written: the profile lives in an anonymous one */
    uint64_t device;
    uint64_t inode;
    uint64_t sequence; /* of the newest commit */
    uint64_t committed_offset;
    uint64_t committed_bytes;
    char path[4096]; /* absolute when the working directory is known */
};

enum ct_file_error {
    CT_FILE_OK,
    CT_FILE_BUSY,    /* another process that lives writes to it */
    CT_FILE_FOREIGN, /* not a profile */
    CT_FILE_ERROR,   /* errno says why */
};

/*
 * Creates or takes over the file: never through a symbolic link, never one that another process is
 * writing, one that is no profile only with `force`. The file is locked (flock) while it is open,
 * which is how other processes tell. Writes the header; there is no commit yet.
 */
enum ct_file_error ct_file_open(struct ct_file *f, const char *path, bool force);

/* The same in memory, for a table at exit when no file can be written. */
bool ct_file_open_memory(struct ct_file *f);

/*
 * Makes the payload the newest. False: errno says why, and the payload before is still there. Does
 * nothing when the descriptor has come to mean another file: the program closed it.
 */
bool ct_file_commit(struct ct_file *f, const void *payload, size_t bytes);

void ct_file_close(struct ct_file *f);

#endif
