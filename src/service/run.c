/* SPDX-License-Identifier: MIT */
#include "service/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "system/log.h"
#include "system/signal_guard.h"

#define RECORD_BYTES 8400     /* two paths and a little */
#define MOST_BYTES (64 << 20) /* longest list: a launcher's is shorter */

/* The variable may name any file: nothing is added to one that is no launcher's list. */
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

static bool append(const char *data, size_t bytes)
{
    struct ct_signal_guard h;
    int fd = open_list();
    if (fd < 0)
        return false;
    ct_signal_guard_begin(&h);
    bool ok = write(fd, data, bytes) == (ssize_t)bytes;
    ct_signal_guard_end(&h);
    close(fd);
    return ok;
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
    bool told = !ct_text_full(&t) && append(record, t.len);
    if (!told && kind != CT_RUN_REFUSED && ct_log_says(1))
        ct_config.print = true;
    errno = saved_errno;
}

/* Where a search in a list's texts stands. */
struct search {
    const char *wanted;
    size_t same; /* equal bytes of this text so far; DIFFERENT: another text */
};

#define DIFFERENT SIZE_MAX

/* Whether the wanted text ends among these bytes, which go on where those before ended. */
static bool has_text(struct search *s, const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        bool same = s->same != DIFFERENT && s->wanted[s->same] == p[i];
        if (same && !p[i])
            return true;
        if (!p[i])
            s->same = 0;
        else
            s->same = same ? s->same + 1 : DIFFERENT;
    }
    return false;
}

/* The list is read, not mapped: whoever makes the file shorter would end the program. */
bool ct_run_has(const char *path)
{
    char piece[4096];
    struct search s = {.wanted = path};
    int saved_errno = errno, fd = open_list();
    bool has = false;
    ssize_t n = 0;
    for (off_t at = 0; fd >= 0 && !has && at < MOST_BYTES; at += n) {
        n = pread(fd, piece, sizeof(piece), at);
        if (n <= 0)
            break;
        has = has_text(&s, piece, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    return has;
}
