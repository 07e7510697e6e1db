/* SPDX-License-Identifier: MIT */
#include "system/log.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/text.h"
#include "system/cancel.h"
#include "system/fd.h"
#include "system/signal_guard.h"

static unsigned log_level = 1;
static int64_t own_rank = -1;           /* none */
static struct ct_fd heard = CT_FD_NONE; /* the file that stderr was when the library was loaded */

void ct_log_start(void)
{
    struct stat st;
    if (heard.number >= 0 || fstat(STDERR_FILENO, &st))
        return;
    heard = (struct ct_fd){STDERR_FILENO, (uint64_t)st.st_dev, (uint64_t)st.st_ino};
}

bool ct_log_is_heard(void)
{
    return ct_fd_is_ours(&heard);
}

/* A pipe that poll() calls writable has room for a whole line. */
static void say(const char *line, size_t bytes)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    struct ct_signal_guard h;
    int cancel = ct_cancel_disable();
    if (ct_log_is_heard() && poll(&p, 1, 0) == 1 && !(p.revents & POLLERR)) {
        ct_signal_guard_begin(&h);
        if (write(STDERR_FILENO, line, bytes) < 0) {
            /* nobody to tell */
        }
        ct_signal_guard_end(&h);
    }
    ct_cancel_restore(cancel);
}

void ct_log_set_level(unsigned level)
{
    log_level = level;
}

bool ct_log_says(unsigned level)
{
    return level <= log_level;
}

void ct_log_set_rank(uint32_t rank)
{
    own_rank = rank;
}

static void add_hex(struct ct_text *t, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    ct_text_add(t, "\\x");
    ct_text_add_char(t, digits[byte >> 4]);
    ct_text_add_char(t, digits[byte & 15]);
}

/* Paths and values are somebody else's text: escaped, and cut where `size` is reached. */
static void add_shown(struct ct_text *t, const char *s, size_t size)
{
    const size_t longest = 4; /* bytes of a character, or of an escaped byte */
    while (*s) {
        size_t len = ct_printable(s);
        if (t->len + longest >= size) {
            ct_text_add(t, "...");
            return;
        }
        for (size_t i = 0; i < len; i++)
            ct_text_add_char(t, s[i]);
        if (!len)
            add_hex(t, (unsigned char)*s);
        s += len ? len : 1;
    }
}

void ct_log(unsigned level, const char *a, const char *b, const char *c)
{
    if (level > log_level)
        return;
    int saved_errno = errno;
    char line[1024];
    const size_t most = sizeof(line) - 8; /* room for "..." and a line's end */
    struct ct_text t = ct_text_in(line, sizeof(line) - 1);
    b = b ? b : "";
    c = c ? c : "";
    size_t end = ct_strlen(c);
    ct_text_add(&t, "==");
    ct_text_add_u64(&t, (uint64_t)getpid());
    ct_text_add(&t, "== cutrace: ");
    if (own_rank >= 0) {
        ct_text_add(&t, "rank ");
        ct_text_add_u64(&t, (uint64_t)own_rank);
        ct_text_add(&t, ": ");
    }
    add_shown(&t, a, most);
    add_shown(&t, b, end < most / 2 ? most - end - 8 : most); /* c stays in sight */
    add_shown(&t, c, most);
    line[t.len] = '\n';
    say(line, t.len + 1);
    errno = saved_errno;
}
