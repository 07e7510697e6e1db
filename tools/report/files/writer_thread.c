/* SPDX-License-Identifier: MIT */
/*
 * Two buffers: one is filled while the other is written. Output that fits into the first is written
 * when the stream is closed, without a thread.
 */
#include "report/files/writer_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/files/drop_cache.h"

#define BUFFER_BYTES ((size_t)1 << 18)

struct behind {
    int fd;
    struct ct_written written; /* the thread's */
    pthread_t thread;
    bool started;

    /* Under the lock; the buffer at `full` is the thread's until it is NULL again. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *full;
    bool closed;
    int error; /* of the first write that failed */

    /* The stream's. */
    char *filling;
    size_t len;
    char buffers[2][BUFFER_BYTES];
};

/* Others that have the same terminal or pipe may have made it one that does not block. */
static bool can_go_on(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return errno == EINTR || (errno == EAGAIN && (poll(&p, 1, -1) == 1 || errno == EINTR));
}

/* 0 or errno */
static int write_all(int fd, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && !can_go_on(fd))
            return errno;
        data += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void *run(void *cookie)
{
    struct behind *b = cookie;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (!b->full && !b->closed)
            pthread_cond_wait(&b->changed, &b->lock);
        if (!b->full)
            break;
        pthread_mutex_unlock(&b->lock);
        int error = b->error ? b->error : write_all(b->fd, b->full, BUFFER_BYTES);
        ct_written_add(&b->written, b->fd, BUFFER_BYTES);
        pthread_mutex_lock(&b->lock);
        b->error = error;
        b->full = NULL;
        pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Gives a full buffer to the thread and takes the other. Without a thread it is written here. */
static int hand_over(struct behind *b)
{
    if (!b->started && pthread_create(&b->thread, NULL, run, b)) {
        b->len = 0;
        return b->error = write_all(b->fd, b->filling, BUFFER_BYTES);
    }
    b->started = true;
    pthread_mutex_lock(&b->lock);
    while (b->full)
        pthread_cond_wait(&b->changed, &b->lock);
    b->full = b->filling;
    b->filling = b->buffers[b->filling == b->buffers[0]];
    b->len = 0;
    int error = b->error;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return error;
}

static ssize_t put(void *cookie, const char *data, size_t bytes)
{
    struct behind *b = cookie;
    for (size_t left = bytes; left;) {
        size_t n = BUFFER_BYTES - b->len < left ? BUFFER_BYTES - b->len : left;
        memcpy(b->filling + b->len, data, n);
        b->len += n;
        data += n;
        left -= n;
        int error = b->len == BUFFER_BYTES ? hand_over(b) : 0;
        if (error) {
            errno = error;
            return 0;
        }
    }
    return (ssize_t)bytes;
}

static int finish(void *cookie)
{
    struct behind *b = cookie;
    if (b->started) {
        pthread_mutex_lock(&b->lock);
        b->closed = true;
        pthread_cond_signal(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->thread, NULL);
    }
    int error = b->error ? b->error : write_all(b->fd, b->filling, b->len);
    if (close(b->fd) && !error)
        error = errno;
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
    errno = error;
    return error ? EOF : 0;
}

FILE *ct_behind_open(int fd)
{
    struct behind *b = calloc(1, sizeof(*b));
    FILE *f =
        b ? fopencookie(b, "w", (cookie_io_functions_t){.write = put, .close = finish}) : NULL;
    if (!f) {
        free(b);
        return NULL;
    }
    b->fd = fd;
    b->filling = b->buffers[0];
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    return f;
}
