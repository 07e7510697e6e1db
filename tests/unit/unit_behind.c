/* SPDX-License-Identifier: MIT */
/* A stream that a thread writes: all of it is there, in its order, or it says that it is not. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_main.h"
#include "report/files/writer_thread.h"

#define LINES 200000 /* several buffers */

/* A file without a name. */
static int temporary(void)
{
    char path[CT_CASE_PATH];
    ct_case_template(path);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    unlink(path);
    return fd;
}

static void check_lines(int fd, int count)
{
    char text[32];
    int found = 0;
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    FILE *in = fdopen(fd, "r");
    for (; fgets(text, sizeof(text), in); found++)
        ct_assert_msg(atoi(text) == found, "line %d: %s", found, text);
    ck_assert_int_eq(found, count);
    fclose(in);
}

static void write_lines(int count)
{
    int fd = temporary();
    FILE *f = ct_behind_open(dup(fd));
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < count; i++)
        fprintf(f, "%d\n", i);
    ck_assert(!ferror(f));
    ck_assert_int_eq(fclose(f), 0);
    check_lines(fd, count);
}

START_TEST(all_is_written_in_order)
{
    static const int counts[] = {0, 1, LINES};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        write_lines(counts[i]);
}
END_TEST

/* With one write for much more than a buffer, and exactly for two. */
START_TEST(a_write_may_be_of_any_size)
{
    static char data[3 << 18], back[3 << 18];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(i % 251);
    for (size_t bytes = 2 << 18; bytes <= sizeof(data); bytes += (1 << 18) - 1) {
        int fd = temporary();
        FILE *f = ct_behind_open(dup(fd));
        ck_assert_uint_eq(fwrite(data, 1, bytes, f), bytes);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_int_eq(pread(fd, back, sizeof(back), 0), (ssize_t)bytes);
        ck_assert(!memcmp(back, data, bytes));
        close(fd);
    }
}
END_TEST

/* Whether the disk is full at once, or while the stream is filled. */
START_TEST(a_full_disk_is_said)
{
    for (long count = 1; count <= LINES; count *= LINES) {
        int fd = open("/dev/full", O_WRONLY);
        if (fd < 0)
            return;
        FILE *f = ct_behind_open(fd);
        for (int i = 0; i < count; i++)
            fprintf(f, "%d\n", i);
        bool failed = ferror(f);
        errno = 0;
        ck_assert(fclose(f) || failed);
        ck_assert_int_eq(errno, ENOSPC);
    }
}
END_TEST

START_TEST(a_descriptor_that_is_none_is_said)
{
    FILE *f = ct_behind_open(-1);
    fputs("text", f);
    ck_assert_int_ne(fclose(f), 0);
    ck_assert_int_eq(errno, EBADF);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("behind");
    tcase_add_test(tests, all_is_written_in_order);
    tcase_add_test(tests, a_write_may_be_of_any_size);
    tcase_add_test(tests, a_full_disk_is_said);
    tcase_add_test(tests, a_descriptor_that_is_none_is_said);
    return ct_case_main("behind", tests);
}
