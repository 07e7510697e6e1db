/* SPDX-License-Identifier: MIT */
#include "system/trust.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

#define MOST_LINKS 40
#define NOBODY ((gid_t)-1)
#define UNMAPPED 65534 /* in a user namespace: anybody from outside, though not just one */

struct walk {
    int at;         /* with O_PATH; -1: it has ended */
    bool is_shared; /* everybody may make entries there */
    uid_t known[4];
    gid_t group;         /* NOBODY: none */
    char left[PATH_MAX]; /* the rest of the path */
};

static bool is_known(const struct walk *w, uid_t user)
{
    for (size_t i = 0; i < ct_countof(w->known); i++)
        if (w->known[i] == user)
            return true;
    return false;
}

/* A group of the owner's own number is the owner's alone, by custom; but not root's. */
static bool may_others_write(const struct walk *w, const struct stat *st)
{
    bool group_is_owner = st->st_gid == (gid_t)st->st_uid && st->st_uid;
    bool group_is_known = group_is_owner || st->st_gid == w->group;
    return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !group_is_known);
}

/* Learns who could exchange the file `like`; nothing where the file is missing. */
static void learn(struct walk *w, const char *like)
{
    char directory[PATH_MAX];
    struct stat st;
    struct ct_text t = ct_text_in(directory, sizeof(directory));
    w->group = NOBODY;
    if (!like || stat(like, &st))
        return;
    w->known[2] = st.st_uid;
    ct_text_add(&t, like);
    while (t.len && directory[t.len - 1] != '/')
        directory[--t.len] = '\0';
    if (t.len && !stat(directory, &st) && st.st_mode & S_IWGRP && !(st.st_mode & S_ISVTX))
        w->group = st.st_gid;
}

static bool is_safe(const struct walk *w, const struct stat *st)
{
    if (!is_known(w, st->st_uid))
        return false;
    if (w->is_shared && (!S_ISDIR(st->st_mode) || st->st_uid == UNMAPPED))
        return false;
    if (S_ISLNK(st->st_mode))
        return true;
    return !may_others_write(w, st) || (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
}

static bool go_to(struct walk *w, int fd)
{
    if (w->at >= 0)
        close(w->at);
    w->at = fd;
    return fd >= 0;
}

static bool go_to_root(struct walk *w)
{
    struct stat st;
    if (!go_to(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) || fstat(w->at, &st))
        return false;
    w->known[3] = st.st_uid;
    w->is_shared = false;
    bool safe = is_safe(w, &st);
    w->is_shared = may_others_write(w, &st);
    return safe;
}

/* Puts the link's target before the rest of the path. Closes `link`. */
static bool follow(struct walk *w, int link)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);
    close(link);
    if (n <= 0)
        return false;
    text[n] = '\0';
    struct ct_text t = {text, (size_t)n, sizeof(text)};
    ct_text_add(&t, "/");
    ct_text_add(&t, w->left);
    if (ct_text_full(&t))
        return false;
    t = ct_text_in(w->left, sizeof(w->left));
    ct_text_add(&t, text);
    return *text != '/' || go_to_root(w);
}

/* Takes the first name off the rest of the path; empty: there is none. */
static void take_name(struct walk *w, char name[PATH_MAX])
{
    struct ct_text t = ct_text_in(name, PATH_MAX);
    const char *p = w->left;
    char *to = w->left;
    while (*p == '/')
        p++;
    while (*p && *p != '/')
        ct_text_add_char(&t, *p++);
    while (*p)
        *to++ = *p++;
    *to = '\0';
}

/* False: the walk has ended. */
static bool step(struct walk *w, const char *name, unsigned *links)
{
    struct stat st;
    int fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) || !is_safe(w, &st)) {
        close(fd);
        return false;
    }
    if (S_ISLNK(st.st_mode))
        return ++*links < MOST_LINKS ? follow(w, fd) : (close(fd), false);
    w->is_shared = may_others_write(w, &st);
    return go_to(w, fd);
}

int ct_trust_open(const char *path, const char *like)
{
    struct walk w = {.at = -1, .known = {0, geteuid()}};
    char name[PATH_MAX];
    unsigned links = 0;
    struct ct_text t = ct_text_in(w.left, sizeof(w.left));
    ct_text_add(&t, path);
    learn(&w, like);
    bool good = *path == '/' && !ct_text_full(&t) && go_to_root(&w);
    while (good && (take_name(&w, name), *name))
        good = step(&w, name, &links);
    if (!good)
        go_to(&w, -1);
    return w.at;
}
