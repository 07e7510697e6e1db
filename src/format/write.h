/* SPDX-License-Identifier: MIT */
/* The profile's file: opened once, then given one payload after the other; valid all the time. */
#ifndef CT_WRITE_H
#define CT_WRITE_H

#include <sys/stat.h>

#include "base/base.h"
#include "format/blocks.h"
#include "system/fd.h"

/* A place in the file for a payload. */
struct ct_file_region {
    uint64_t offset;
    uint64_t bytes;    /* 0: never used */
    uint64_t sequence; /* the commit whose payload it holds; 0: not known to be whole */
};

struct ct_file {
    struct ct_fd fd;
    bool in_memory;    /* no file could be written: the profile is in an anonymous one */
    uint64_t sequence; /* number of the newest commit */
    struct ct_file_region region[2]; /* by sequence & 1 */
    struct ct_blocks blocks;         /* the payloads of ct_file_update() */
    uint64_t size_bytes;             /* end of the part that has been written */
    char path[4096];                 /* absolute when the working directory is known */
};

enum ct_file_error {
    CT_FILE_OK,
    CT_FILE_BUSY,     /* a living process writes to it, or it is kept */
    CT_FILE_SPECIAL,  /* not a regular file */
    CT_FILE_STRANGER, /* another user's, in a directory where everybody may put files */
    CT_FILE_LINKED,   /* a hard link: it is also known by another name */
    CT_FILE_FOREIGN,  /* not a profile */
    CT_FILE_ERROR,    /* errno says why */
};

/*
 * Whether a file that is locked and not empty is to be kept, which counts as busy. start_unix_ns:
 * when the process that wrote it began, by its host's clock; 0: the file does not say.
 */
typedef bool ct_file_is_kept(const char *path, const struct stat *st, uint64_t start_unix_ns);

/*
 * Creates or takes over the file, and empties it: never through a symbolic link in its name or one
 * that a stranger planted on the way, never one that another process is writing or that `is_kept`
 * (may be NULL), none that is not regular; one that does not begin with `magic` or has other names
 * only with `force`. The file is locked for writing (F_OFD_SETLK) while it is open, by which other
 * processes tell. Where somebody who may only read has a lock on it, it is made anew.
 */
enum ct_file_error ct_file_claim(struct ct_file *f, const char *path, const char *magic, bool force,
                                 ct_file_is_kept *is_kept);

/* Whether a living process writes to a file that cutrace made. */
bool ct_file_is_written(int fd);

/* Writes the header of a profile without a commit. start_unix_ns: when the process began, or 0. */
bool ct_file_begin(struct ct_file *f, uint64_t start_unix_ns);

/* ct_file_claim() and ct_file_begin(), without a start. */
enum ct_file_error ct_file_open(struct ct_file *f, const char *path, bool force);

/* The reason why the file was not opened or written, beginning with a colon; `number` is errno. */
const char *ct_file_reason(enum ct_file_error error, int number);

/* Opens a profile in memory, for a table at exit when no file can be written. */
bool ct_file_open_memory(struct ct_file *f);

/*
 * Writes the payload and makes it the newest. False: errno says why, and the payload before is
 * still there. Writes nothing when the program closed the descriptor and its number is another
 * file's, or when the file has no name any more.
 */
bool ct_file_commit(struct ct_file *f, const void *payload, size_t bytes);

/*
 * As ct_file_commit(), but writes only the blocks that differ from the file's, as far as they are
 * known: in memory of the payload's size. Others' changes to the file are mended by the next
 * ct_file_commit(); where they made it shorter, by the next two updates.
 */
bool ct_file_update(struct ct_file *f, const void *payload, size_t bytes);

/* Writes to a file that is no profile. False: errno says why, as for ct_file_commit(). */
bool ct_file_write(struct ct_file *f, const void *data, size_t bytes, uint64_t offset);

void ct_file_close(struct ct_file *f);

#endif
