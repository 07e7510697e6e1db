/* SPDX-License-Identifier: MIT */
#include "report/files/drop_cache.h"

#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define STEP ((off_t)8 << 20)
#define KEPT ((off_t)64 << 20)   /* on its way to the disk */
#define SHORT ((off_t)256 << 20) /* reports stay there: whoever wrote one may read it next */
#define LONG_NS 40000000         /* for a step: 200 MB a second */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * False: the call waited long, for a disk whose queue is full, or failed: in memory there may be
 * more room.
 */
static bool start(int fd, off_t begin, off_t bytes)
{
    int64_t before_ns = now_ns();
    return !sync_file_range(fd, begin, bytes, SYNC_FILE_RANGE_WRITE) &&
           now_ns() - before_ns < LONG_NS;
}

/* The position is asked for, as a file that is appended to has something before the report. */
static bool pass(struct ct_written *w, int fd)
{
    off_t end = lseek(fd, 0, SEEK_CUR), bytes = (off_t)w->bytes, begin = end - bytes;
    if (end < 0)
        return false;
    w->passed += bytes;
    if (w->passed <= SHORT)
        return true;
    return start(fd, begin, bytes) && !posix_fadvise(fd, begin - KEPT, bytes, POSIX_FADV_DONTNEED);
}

void ct_written_add(struct ct_written *w, int fd, size_t bytes)
{
    w->bytes += bytes;
    if (w->is_left || (off_t)w->bytes < STEP)
        return;
    w->is_left = !pass(w, fd);
    w->bytes = 0;
}
