/* SPDX-License-Identifier: MIT */
#include "record/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define ROOM 4096

static int fd = -1;
static struct ct_journal_entry *entries;
static unsigned count;

bool ct_journal_open(const char *path)
{
    char name[4096];
    struct ct_text t = ct_text_in(name, sizeof(name));
    ct_text_add(&t, path);
    ct_text_add(&t, ".");
    ct_text_add_u64(&t, (uint64_t)getpid());
    entries = ct_map(sizeof(*entries) * ROOM);
    fd = entries ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666) : -1;
    return fd >= 0;
}

bool ct_journal_is_open(void)
{
    return fd >= 0;
}

void ct_journal_add(const struct ct_journal_entry *e)
{
    entries[count++] = *e;
    if (count == ROOM)
        ct_journal_flush();
}

/* A disk that is full ends it: half a journal is of no use to anybody. */
void ct_journal_flush(void)
{
    size_t bytes = sizeof(*entries) * count;
    if (fd >= 0 && count && write(fd, entries, bytes) != (ssize_t)bytes) {
        close(fd);
        fd = -1;
    }
    count = 0;
}

void ct_journal_forget(void)
{
    fd = -1;
    count = 0;
}
