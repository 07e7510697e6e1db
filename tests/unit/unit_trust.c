/* SPDX-License-Identifier: MIT */
/* Which files a stranger could have put where they are. Only root can make all of them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case_main.h"
#include "system/trust.h"

#define GROUP 4711
#define STRANGER 4712

static char directory[CT_CASE_PATH];

static void set_up(void)
{
    ct_case_template(directory);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_int_eq(chmod(".", 0755), 0);
}

static const char *path_of(const char *name)
{
    static char paths[2][2 * CT_CASE_PATH];
    static unsigned next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static void put(const char *name, mode_t mode, uid_t user, gid_t group)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    ck_assert(fd >= 0 && !fchown(fd, user, group) && !fchmod(fd, mode));
    close(fd);
}

static bool is_trusted(const char *name, const char *like)
{
    int fd = ct_trust_open(path_of(name), like ? path_of(like) : NULL);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Where everybody's group is root's, as in containers, it is no group of root's alone. */
START_TEST(the_group_that_may_write)
{
    ct_skip_if(geteuid(), "only root can give files away");
    put("own", 0644, 0, GROUP);
    ck_assert(is_trusted("own", NULL));
    put("own", 0664, 0, GROUP);
    ck_assert(!is_trusted("own", NULL));
    put("own", 0664, 0, 0);
    ck_assert(!is_trusted("own", NULL));
    put("own", 0646, 0, 0);
    ck_assert(!is_trusted("own", NULL));
}
END_TEST

START_TEST(the_group_that_could_exchange_what_runs_here)
{
    ct_skip_if(geteuid(), "only root can give files away");
    ck_assert(!mkdir("lib", 0755) && !chown("lib", 0, GROUP));
    put("lib/own", 0644, 0, 0);
    put("other", 0664, 0, GROUP);
    ck_assert(!chmod("lib", 0775) && is_trusted("other", "lib/own"));
    ck_assert(!chmod("lib", 01775) &&
              !is_trusted("other", "lib/own")); /* files are their owners' */
    ck_assert(!chmod("lib", 0755) && !is_trusted("other", "lib/own"));
}
END_TEST

START_TEST(the_owner_of_what_runs_here)
{
    ct_skip_if(geteuid(), "only root can give files away");
    put("own", 0755, STRANGER, STRANGER);
    put("other", 0775, STRANGER, STRANGER);
    ck_assert(!is_trusted("other", NULL));
    ck_assert(is_trusted("other", "own")); /* a group of its owner's number is the owner's */
}
END_TEST

START_TEST(where_everybody_may_make_entries)
{
    ct_skip_if(geteuid(), "only root can give files away");
    ck_assert(!mkdir("all", 0755) && !chmod("all", 01777) && !mkdir("all/own", 0755));
    put("all/file", 0644, 0, 0);
    put("all/own/file", 0644, 0, 0);
    ck_assert_int_eq(symlink("own/file", "all/link"), 0);
    ck_assert(!is_trusted("all/file", NULL));
    ck_assert(!is_trusted("all/link", NULL));
    ck_assert(is_trusted("all/own/file", NULL));
    ck_assert(!chown("all/own", STRANGER, STRANGER) && !is_trusted("all/own/file", NULL));
}
END_TEST

/* In bounded time, also where they lead round and round. */
START_TEST(links_are_followed)
{
    char from[16], to[16] = "file";
    put("file", 0644, geteuid(), getegid());
    for (int i = 1; i <= 40; i++) {
        snprintf(from, sizeof(from), "link%d", i);
        ck_assert_int_eq(symlink(to, from), 0);
        ck_assert_msg(is_trusted(from, NULL) == (i < 40), "%d links", i);
        snprintf(to, sizeof(to), "%s", from);
    }
    ck_assert(!symlink("round", "about") && !symlink("about", "round"));
    alarm(10);
    ck_assert(!is_trusted("round", NULL));
    alarm(0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("trust");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, the_group_that_may_write);
    tcase_add_test(t, the_group_that_could_exchange_what_runs_here);
    tcase_add_test(t, the_owner_of_what_runs_here);
    tcase_add_test(t, where_everybody_may_make_entries);
    tcase_add_test(t, links_are_followed);
    return ct_case_main("trust", t);
}
