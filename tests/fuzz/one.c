/* SPDX-License-Identifier: MIT */
#include "one.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/crc32.h"
#include "format/read.h"
#include "report/merge.h"
#include "report/report.h"

static FILE *nowhere;

static void print(const struct ct_summary *s, struct ct_options o)
{
    struct ct_merged m = {.details = o.details};
    char *no_files[] = {NULL};
    o.files = no_files;
    ct_merge_add(&m, s);
    ct_merge_add(&m, s); /* two processes with the same names */
    ct_report_print(nowhere, &m, &o);
    ct_merge_free(&m);
}

static void print_all(const struct ct_summary *s)
{
    print(s, (struct ct_options){0});
    print(s, (struct ct_options){.csv = true, .mangled = true});
    print(s, (struct ct_options){.details = true, .raw = true, .unit = CT_UNIT_COLUMN});
    print(s, (struct ct_options){.per_gpu = true, .live = true});
}

static int file_of(const void *head, size_t head_bytes, const void *data, size_t bytes)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, head, head_bytes) != (ssize_t)head_bytes ||
        write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    return fd;
}

static int file_around(const void *payload, size_t bytes)
{
    static struct ct_file_header h;
    memcpy(h.magic, CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES);
    h.endian = CT_FILE_ENDIAN;
    h.major = CT_FILE_MAJOR;
    h.commit[1] = (struct ct_file_commit){.sequence = 1, .offset = sizeof(h), .bytes = bytes};
    h.commit[1].payload_crc = ct_crc32(0, payload, bytes);
    h.commit[1].crc = ct_crc32(0, &h.commit[1], offsetof(struct ct_file_commit, crc));
    return file_of(&h, sizeof(h), payload, bytes);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    char path[64];
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    if (!bytes)
        return;
    int fd = data[0] % 2 ? file_around(data + 1, bytes - 1) : file_of("", 0, data + 1, bytes - 1);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (ct_summary_read(&s, path, &error) == 0)
        print_all(&s);
    else if (!memchr(error.text, 0, sizeof(error.text)) || !error.text[0])
        abort(); /* a failure has a reason */
    ct_summary_free(&s);
    close(fd);
}
