/* SPDX-License-Identifier: MIT */
#include "service/tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "options/setting.h"
#include "service/origin.h"
#include "service/own_library.h"
#include "system/proc.h"
#include "system/trust.h"

static char path[4096];
static struct stat found; /* st_nlink is 0: no tool was found */
static bool is_strangers; /* a tool was there that a stranger could have put there */

static bool is_program(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH);
}

static bool take(void)
{
    return !stat(path, &found) && is_program(&found) && !access(path, X_OK);
}

/* A user who could have exchanged this library is no stranger: the library runs here. */
static bool take_trusted(void)
{
    struct stat st;
    if (*path != '/' || !take())
        return false;
    int fd = ct_trust_open(path, ct_own_library_path());
    bool good =
        fd >= 0 && !fstat(fd, &st) && st.st_dev == found.st_dev && st.st_ino == found.st_ino;
    if (fd >= 0)
        close(fd);
    is_strangers |= !good;
    return good;
}

/* Tries that directory, relative to the one that `file` is in. */
static bool try_beside(const char *file, const char *directory, const char *name)
{
    struct ct_text t = ct_text_in(path, sizeof(path));
    size_t slash = ct_strlen(file);
    while (slash && file[slash - 1] != '/')
        slash--;
    for (size_t i = 0; i < slash; i++)
        ct_text_add_char(&t, file[i]);
    ct_text_add(&t, directory);
    ct_text_add(&t, name);
    return !ct_text_full(&t) && take_trusted();
}

/* Only for a name that the user gave. */
static bool try_path_variable(const char *name)
{
    const char *p = getenv("PATH");
    while (p && *p) {
        struct ct_text t = ct_text_in(path, sizeof(path));
        while (*p && *p != ':')
            ct_text_add_char(&t, *p++);
        p += *p == ':';
        ct_text_add(&t, "/");
        ct_text_add(&t, name);
        if (!ct_text_full(&t) && take_trusted())
            return true;
    }
    return false;
}

/* A path that the user names is the user's choice, relative to where the program is now. */
static bool try_given(const char *given)
{
    struct ct_text t = ct_text_in(path, sizeof(path));
    if (*given != '/') {
        if (!getcwd(path, sizeof(path)) || *path != '/')
            return false;
        t.len = ct_strlen(path);
        ct_text_add(&t, "/");
    }
    ct_text_add(&t, given);
    return !ct_text_full(&t) && take();
}

/*
 * A tool beside this library, where that was installed or built, is of the same version; then
 * follows the place where it was to be installed. The second try is the build tree.
 */
static bool find(const char *name)
{
    const char *self = ct_own_library_path();
    if (ct_contains(name, "/"))
        return try_given(name);
    return (self && (try_beside(self, "../bin/", name) || try_beside(self, "../", name))) ||
           try_beside(CT_BINDIR "/", "", name) ||
           (name != ct_settings[CT_SETTING_REPORT].standard && try_path_variable(name));
}

void ct_tool_find(void)
{
    is_strangers = false;
    if (!ct_origin_is_same() || !find(ct_config.report))
        found.st_nlink = 0;
}

const char *ct_tool_path(const char **why)
{
    struct stat now;
    *why = is_strangers
               ? "no table, as others than its owner and root could exchange cutrace-report"
               : "cutrace-report was not found";
    if (!ct_origin_is_same())
        *why = "no table, as the program has another user or root directory than at its start";
    else if (found.st_nlink && !stat(path, &now) && now.st_dev == found.st_dev &&
             now.st_ino == found.st_ino)
        return path;
    else if (found.st_nlink)
        *why = "no table, as another cutrace-report is there than at the start";
    return NULL;
}
