/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"

static unsigned log_level = 1;

void ct_log_set_level(unsigned level)
{
    log_level = level;
}

void ct_log(unsigned level, const char *a, const char *b, const char *c)
{
    if (level > log_level)
        return;
    int saved_errno = errno;
    char line[1024];
    struct ct_text t = ct_text_in(line, sizeof(line) - 1);
    ct_text_add(&t, "==");
    ct_text_add_u64(&t, (uint64_t)getpid());
    ct_text_add(&t, "== cutrace: ");
    ct_text_add(&t, a);
    ct_text_add(&t, b ? b : "");
    ct_text_add(&t, c ? c : "");
    line[t.len] = '\n';
    if (write(STDERR_FILENO, line, t.len + 1) < 0) {
        /* nobody to tell */
    }
    errno = saved_errno;
}
