/* SPDX-License-Identifier: MIT */
#include "drain/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "system/fd.h"
#include "system/mem.h"
#include "system/parent.h"
#include "system/signal_guard.h"

#define ROOM 4096

static struct ct_fd file = CT_FD_NONE;
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
    /* A journal does not say whose it is: one that is there is not ours. */
    return entries &&
           ct_fd_keep(&file, ct_parent_open_file(name, O_WRONLY | O_CREAT | O_EXCL, 0666));
}

bool ct_journal_is_open(void)
{
    return file.number >= 0;
}

void ct_journal_add(const struct ct_journal_entry *e)
{
    entries[count++] = *e;
    if (count == ROOM)
        ct_journal_flush();
}

static bool write_out(void)
{
    struct ct_signal_guard h;
    size_t bytes = sizeof(*entries) * count;
    ct_signal_guard_begin(&h);
    bool ok = ct_fd_is_ours(&file) && write(file.number, entries, bytes) == (ssize_t)bytes;
    ct_signal_guard_end(&h);
    return ok;
}

/* A full disk ends the journal: half of one is of no use to anybody. */
void ct_journal_flush(void)
{
    if (file.number >= 0 && count && !write_out())
        ct_fd_close(&file);
    count = 0;
}

void ct_journal_forget(void)
{
    ct_fd_close(&file);
    count = 0;
}
