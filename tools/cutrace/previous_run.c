/* SPDX-License-Identifier: MIT */
#include "previous_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cutrace/format.h"
#include "role.h"

#define NOW "summary.bin"
#define BEFORE "summary.old.bin"
#define ASIDE "summary.old.bin-" /* of the run before that, until this run has a profile */

static bool kept, aside;

/* A file is moved only if it is a profile, the user's own, and has no other name. */
static bool is_profile(const char *path)
{
    char magic[CT_FILE_MAGIC_BYTES] = "";
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
                st.st_uid == geteuid() && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
                !memcmp(magic, CT_FILE_MAGIC, sizeof(magic));
    if (fd >= 0)
        close(fd);
    return good;
}

/* A job's ranks have names of their own, and a directory that others may write to is not tidied. */
static bool has_default_name(const struct options *o)
{
    const char *output = getenv("CUTRACE_OUTPUT");
    return !options_has(o, OPTION_OUTPUT) && !(output && *output) && !ct_rank_has_job(role_rank());
}

void previous_run_keep(const struct options *o)
{
    bool free_place = access(BEFORE, F_OK) != 0;
    if (!has_default_name(o) || !is_profile(NOW) || !(free_place || is_profile(BEFORE)))
        return;
    aside = !free_place && !rename(BEFORE, ASIDE);
    kept = (free_place || aside) && !rename(NOW, BEFORE);
}

void previous_run_end(void)
{
    bool left_one = access(NOW, F_OK) == 0;
    if (kept && !left_one)
        rename(BEFORE, NOW);
    if (aside && kept && left_one)
        unlink(ASIDE);
    else if (aside)
        rename(ASIDE, BEFORE);
}
