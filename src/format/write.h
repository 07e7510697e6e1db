/* SPDX-License-Identifier: MIT */
/* The file on disk: opened once, then given one payload after the other; valid all the time. */
#ifndef CT_WRITE_H
#define CT_WRITE_H

#include <sys/stat.h>

#include "base/base.h"
#include "format/blocks.h"
#include "system/fd.h"

/* Where a payload is. */
struct ct_file_region {
    uint64_t offset;
    uint64_t bytes;    /* 0: never used */
    uint64_t sequence; /* of the commit that it holds; 0: not known to be whole */
};

struct ct_file {
    struct ct_fd fd;
    bool in_memory;    /* no file could be written: the profile lives in an anonymous one */
    uint64_t sequence; /* of the newest commit */
    struct ct_file_region region[2]; /* by sequence & 1 */
    struct ct_blocks blocks;         /* of the payloads that updates brought */
    uint64_t size_bytes;             /* written so far, to its end */
    char path[4096];                 /* absolute when the working directory is known */
};

enum ct_file_error {
    CT_FILE_OK,
    CT_FILE_BUSY,     /* another process that lives writes to it, or it is kept */
    CT_FILE_SPECIAL,  /* no regular file */
    CT_FILE_STRANGER, /* another user's, in a directory where everybody may put files */
    CT_FILE_LINKED,   /* a hard link: it is also known by another name */
    CT_FILE_FOREIGN,  /* not a profile */
    CT_FILE_ERROR,    /* errno says why */
};

/*
 * Asked of a file that is not empty, once it is locked: whether it is kept, and counts as busy. The
 * time is when the process began that wrote it, by the clock of its host; 0: the file does not say.
 */
typedef bool ct_file_is_kept(const char *path, const struct stat *st, uint64_t start_unix_ns);

/*
 * Creates or takes over the file, and empties it: never through a symbolic link in its name or one
 * that a stranger planted on the way, never one that another process is writing or that `is_kept`
 * (may be NULL), never what is no regular file; one that does not begin with `magic` or has other
 * names only with `force`. The file is locked for writing (F_OFD_SETLK) while it is open, which is
 * how other processes tell. Where somebody who may only read has put a lock on it, it is made anew.
 */
enum ct_file_error ct_file_claim(struct ct_file *f, const char *path, const char *magic, bool force,
                                 ct_file_is_kept *is_kept);

/* Whether a living process writes to a file of ours. */
bool ct_file_is_written(int fd);

/* Writes the header of a profile; there is no commit yet. When the process began, or 0. */
bool ct_file_begin(struct ct_file *f, uint64_t start_unix_ns);

/* Both. */
enum ct_file_error ct_file_open(struct ct_file *f, const char *path, bool force);

/* Why the file was not opened or written, with a colon before it; `number` is errno. */
const char *ct_file_reason(enum ct_file_error error, int number);

/* The same in memory, for a table at exit when no file can be written. */
bool ct_file_open_memory(struct ct_file *f);

/*
 * Writes the payload and makes it the newest. False: errno says why, and the payload before is
 * still there. Does nothing when the descriptor has come to mean another file, as the program
 * closed it, and when the file has no name any more.
 */
bool ct_file_commit(struct ct_file *f, const void *payload, size_t bytes);

/*
 * As that, but writes only what has changed in the file, as far as is known: in memory of the
 * payload's size. What others do to the file is mended by the next ct_file_commit(), and where they
 * have made it shorter by the next two of these.
 */
bool ct_file_update(struct ct_file *f, const void *payload, size_t bytes);

/* Of a file that is no profile. False: errno says why; see above. */
bool ct_file_write(struct ct_file *f, const void *data, size_t bytes, uint64_t offset);

void ct_file_close(struct ct_file *f);

#endif
