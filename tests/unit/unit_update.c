/* SPDX-License-Identifier: MIT */
/* A file of which only what changed is written: valid at every byte of it, whatever comes between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "case_main.h"
#include "cutrace/format.h"
#include "format/crc32.h"
#include "format/write.h"

#define LARGE 300000
#define MOST 20000

static size_t written;
static size_t left = SIZE_MAX; /* then the disk fails, perhaps within a write */

/* Takes the C library's place for the writer. */
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    if (!left) {
        errno = EIO;
        return -1;
    }
    long n = syscall(SYS_pwrite64, fd, data, bytes < left ? bytes : left, offset);
    if (n > 0) {
        written += (size_t)n;
        left -= left == SIZE_MAX ? 0 : (size_t)n;
    }
    return n;
}

static struct ct_file file = {.fd = CT_FD_NONE};

static void set_up(void)
{
    left = SIZE_MAX;
    ck_assert(ct_file_open_memory(&file));
}

static void tear_down(void)
{
    ct_file_close(&file);
}

static bool is_valid(const struct ct_file_commit *c)
{
    return c->sequence && c->crc == ct_crc32(0, c, offsetof(struct ct_file_commit, crc));
}

/* The newest commit of the file is this; `bytes` 0: there is none. */
static void check_holds(const char *data, size_t bytes)
{
    static char found[LARGE];
    struct ct_file_header h;
    ct_assert_uint(pread(file.fd.number, &h, sizeof(h), 0), >=, offsetof(typeof(h), reserved));
    const struct ct_file_commit *c = NULL;
    for (unsigned i = 0; i < 2; i++)
        if (is_valid(&h.commit[i]) && (!c || h.commit[i].sequence > c->sequence))
            c = &h.commit[i];
    ct_assert_uint(c ? c->bytes : 0, ==, bytes);
    if (!bytes)
        return;
    ct_assert_uint(pread(file.fd.number, found, bytes, (off_t)c->offset), ==, bytes);
    ct_assert(!memcmp(found, data, bytes));
    ct_assert_uint(c->payload_crc, ==, ct_crc32(0, data, bytes));
}

static void update(const char *data, size_t bytes)
{
    ct_assert(ct_file_update(&file, data, bytes));
    check_holds(data, bytes);
}

static char *noise(size_t bytes)
{
    char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)rand();
    return data;
}

static off_t size_of_file(void)
{
    struct stat st;
    ck_assert_int_eq(fstat(file.fd.number, &st), 0);
    return st.st_size;
}

START_TEST(little_is_written)
{
    char *data = noise(LARGE);
    update(data, LARGE);
    update(data, LARGE);
    for (unsigned i = 0; i < 200; i++) {
        written = 0;
        data[rand() % LARGE]++;
        update(data, LARGE);
        ck_assert_uint_le(written, 2 * 512 + 32);
    }
    free(data);
}
END_TEST

/* At the end, as the last section does: the regions are seldom in each other's way. */
START_TEST(growth_is_written)
{
    char *data = noise(LARGE);
    size_t bytes = LARGE / 2, all = 0;
    update(data, bytes);
    update(data, bytes);
    written = 0;
    for (; bytes <= LARGE; bytes += 150, all++)
        update(data, bytes);
    ck_assert_uint_le(written, all * 2 * 1024 + 3 * LARGE);
    ck_assert_int_le(size_of_file(), 4 * LARGE);
    free(data);
}
END_TEST

START_TEST(the_last_one_is_written_whole)
{
    char *data = noise(LARGE);
    update(data, LARGE);
    update(data, LARGE);
    written = 0;
    ck_assert(ct_file_commit(&file, data, LARGE));
    ck_assert_uint_ge(written, LARGE);
    check_holds(data, LARGE);
    data[1]++;
    update(data, LARGE);
    update(data, LARGE);
    free(data);
}
END_TEST

/* ---- a disk that fails ---- */

/* Grows, shrinks, and changes in one place or everywhere. */
static const size_t lengths[] = {3000,  3000,  3000,  3100,  2000,  2000, 5000, 5000,
                                 12000, 12000, 1,     700,   700,   511,  512,  513,
                                 12000, 12000, 20000, 20000, 20000, 3000, 3000, 3000};
#define VERSIONS (sizeof(lengths) / sizeof(lengths[0]))

static char versions[VERSIONS][MOST];

static void make_versions(void)
{
    for (size_t i = 0; i < MOST; i++)
        versions[0][i] = (char)rand();
    for (size_t v = 1; v < VERSIONS; v++) {
        memcpy(versions[v], versions[v - 1], MOST);
        versions[v][(size_t)rand() % lengths[v]]++;
        if (v % 5 == 4)
            for (size_t i = lengths[v] / 2; i < lengths[v]; i++)
                versions[v][i] = (char)rand();
    }
}

/* The first version that could not be written; VERSIONS: there was none. */
static size_t write_versions(size_t from)
{
    while (from < VERSIONS && ct_file_update(&file, versions[from], lengths[from])) {
        check_holds(versions[from], lengths[from]);
        from++;
    }
    return from;
}

static void fail_after(size_t bytes)
{
    set_up();
    left = bytes;
    size_t v = write_versions(0);
    ct_assert_uint(v, <, VERSIONS);
    check_holds(v ? versions[v - 1] : NULL, v ? lengths[v - 1] : 0);
    left = SIZE_MAX;
    ct_assert_uint(write_versions(v), ==, VERSIONS);
    tear_down();
}

START_TEST(a_disk_that_fails_at_any_byte)
{
    make_versions();
    written = 0;
    ck_assert_uint_eq(write_versions(0), VERSIONS);
    size_t all = written;
    for (size_t bytes = 9 * (size_t)_i; bytes < all; bytes += 4 * 9)
        fail_after(bytes);
}
END_TEST

/* ---- others who write ---- */

/* It is given up, as one that was removed: the table can be had from memory. */
START_TEST(a_file_cut_short_is_noticed)
{
    char *data = noise(LARGE);
    ct_file_close(&file);
    ck_assert_int_eq(ct_file_open(&file, "unit_update.cut", true), CT_FILE_OK);
    for (unsigned i = 0; i < 5; i++)
        update(data, LARGE);
    off_t whole = size_of_file();
    for (off_t cut = whole - 1; cut > 0; cut = cut * 9 / 10) {
        ck_assert_int_eq(ftruncate(file.fd.number, cut), 0);
        errno = 0;
        ck_assert(!ct_file_update(&file, data, LARGE) && errno == ENODATA);
        ck_assert(!ct_file_commit(&file, data, LARGE) && errno == ENODATA);
        ck_assert_int_eq(size_of_file(), cut);
    }
    unlink("unit_update.cut");
    free(data);
}
END_TEST

START_TEST(a_file_written_over_is_mended_by_a_whole_one)
{
    char *data = noise(LARGE);
    for (unsigned i = 0; i < 5; i++)
        update(data, LARGE);
    for (off_t at = CT_FILE_HEADER_BYTES; at < size_of_file(); at += 1000)
        ck_assert_int_eq(pwrite(file.fd.number, "other", 5, at), 5);
    ck_assert(ct_file_commit(&file, data, LARGE));
    check_holds(data, LARGE);
    free(data);
}
END_TEST

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
START_TEST(without_memory)
{
    make_versions();
    struct rlimit before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    none = before;
    none.rlim_cur = 1;
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
        size_t without = write_versions(0);
        ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
        ck_assert_uint_eq(without, VERSIONS);
        ck_assert_uint_eq(write_versions(0), VERSIONS);
    }
}
END_TEST
#endif

/* ---- checksums ---- */

START_TEST(checksums_of_parts_are_joined)
{
    char *data = noise(MOST);
    for (size_t first = 0; first < MOST; first += 1 + first / 7) {
        struct ct_crc32_shift s;
        size_t second = MOST - first;
        ct_crc32_shift(&s, second);
        ct_assert_uint(
            ct_crc32_join(&s, ct_crc32(0, data, first), ct_crc32(0, data + first, second)), ==,
            ct_crc32(0, data, MOST));
    }
    free(data);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("update");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, little_is_written);
    tcase_add_test(tests, growth_is_written);
    tcase_add_test(tests, the_last_one_is_written_whole);
    tcase_add_loop_test(tests, a_disk_that_fails_at_any_byte, 0, 4);
    tcase_add_test(tests, a_file_cut_short_is_noticed);
    tcase_add_test(tests, a_file_written_over_is_mended_by_a_whole_one);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    tcase_add_test(tests, without_memory);
#endif
    tcase_add_test(tests, checksums_of_parts_are_joined);
    return ct_case_main("update", tests);
}
