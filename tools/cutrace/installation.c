/* SPDX-License-Identifier: MIT */
#include "installation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "system/trust.h"

/* Separators of LD_PRELOAD, and the sign that $LIB, $ORIGIN and the like begin with. */
#define SPECIAL " :\t\n$"

static char link_directory[PATH_MAX], link_path[PATH_MAX];

/* The launcher's own path up to its last slash, with it. */
static const char *own_directory(void)
{
    static char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        slash[1] = '\0';
    return path;
}

/* A user who could exchange the launcher may put other files beside it; nobody else. */
static bool is_trusted(const char *path)
{
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[n > 0 ? n : 0] = '\0';
    int fd = ct_trust_open(path, own);
    if (fd < 0)
        complain("%s is not used, as others than its owner and root could exchange it", path);
    else
        close(fd);
    return fd >= 0;
}

/* An installation may have been moved: the way from one directory to the other stays. */
static const char *find(const char *const *places, const char *name, int mode)
{
    char path[2 * PATH_MAX];
    for (; *places; places++) {
        const char *from = **places == '/' ? "" : own_directory();
        if (snprintf(path, sizeof(path), "%s%s/%s", from, *places, name) < PATH_MAX &&
            access(path, mode) == 0 && is_trusted(path))
            return realpath(path, NULL);
    }
    return NULL;
}

const char *installation_library(void)
{
    static const char *const places[] = {".libs", CT_BIN_TO_LIB, "../lib", ".", CT_LIBDIR, NULL};
    return find(places, "libcutrace.so", R_OK);
}

const char *installation_report(void)
{
    static const char *const places[] = {".", CT_BINDIR, NULL};
    return find(places, "cutrace-report", X_OK);
}

const char *installation_preloadable(const char *library)
{
    const char *tmp = getenv("TMPDIR");
    if (!strpbrk(library, SPECIAL))
        return library;
    if (!tmp || *tmp != '/' || strpbrk(tmp, SPECIAL))
        tmp = "/tmp";
    snprintf(link_directory, sizeof(link_directory), "%s/cutrace-XXXXXX", tmp);
    if (!mkdtemp(link_directory)) {
        *link_directory = '\0';
        return NULL;
    }
    atexit(installation_tidy);
    int n = snprintf(link_path, sizeof(link_path), "%s/libcutrace.so", link_directory);
    return n < (int)sizeof(link_path) && symlink(library, link_path) == 0 ? link_path : NULL;
}

void installation_tidy(void)
{
    if (!*link_directory)
        return;
    unlink(link_path);
    rmdir(link_directory);
}
