/* SPDX-License-Identifier: MIT */
#include "preload/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/hush.h"
#include "base/text.h"

#define RECORD_BYTES 8400 /* two paths and a little */

/* Whatever the variable names: nothing is added to what is no launcher's list. */
static bool is_list(int fd)
{
    char magic[CT_RUN_MAGIC_BYTES];
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
           pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
           !__builtin_memcmp(magic, CT_RUN_MAGIC, sizeof(magic));
}

static void add_text(struct ct_text *t, const char *s)
{
    ct_text_add(t, s);
    ct_text_add_char(t, '\0');
}

static int open_list(void)
{
    int fd = -1;
    if (ct_config.run)
        fd = open(ct_config.run, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (is_list(fd) || fd < 0)
        return fd;
    close(fd);
    return -1;
}

static void append(const char *data, size_t bytes)
{
    struct ct_hush h;
    int fd = open_list();
    if (fd < 0)
        return;
    ct_hush_begin(&h);
    ssize_t unused __attribute__((unused)) = write(fd, data, bytes);
    ct_hush_end(&h);
    close(fd);
}

void ct_run_tell(enum ct_run_kind kind, const char *wanted, const char *path)
{
    char record[RECORD_BYTES];
    struct ct_text t = ct_text_in(record, sizeof(record));
    if (!ct_config.run)
        return;
    int saved_errno = errno;
    ct_text_add_char(&t, (char)kind);
    ct_text_add(&t, " ");
    ct_text_add_u64(&t, (uint64_t)getpid());
    ct_text_add_char(&t, '\0');
    add_text(&t, wanted);
    add_text(&t, path);
    if (!ct_text_full(&t))
        append(record, t.len);
    errno = saved_errno;
}

/* Among the texts in these bytes. */
static bool has_text(const char *p, const char *end, const char *text)
{
    size_t len = ct_strlen(text);
    while (p < end) {
        const char *next = p;
        while (next < end && *next)
            next++;
        if ((size_t)(next - p) == len && ct_same_text(text, p, len))
            return true;
        p = next + 1;
    }
    return false;
}

bool ct_run_has(const char *path)
{
    int saved_errno = errno, fd = open_list();
    struct stat st;
    bool has = false;
    if (fd >= 0 && !fstat(fd, &st)) {
        size_t bytes = (size_t)st.st_size;
        const char *list = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (list != MAP_FAILED) {
            has = has_text(list, list + bytes, path);
            munmap((void *)(uintptr_t)list, bytes);
        }
    }
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    return has;
}
