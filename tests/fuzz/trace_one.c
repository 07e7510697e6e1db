/* SPDX-License-Identifier: MIT */
#include "trace_one.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "format/crc32.h"
#include "format/trace_read.h"

#define TYPES 7
#define MOST (1024 * 1024)

static uint8_t file[MOST];

static size_t put_header(void)
{
    struct ct_trace_header h = {
        .magic = CT_TRACE_MAGIC, .endian = CT_FILE_ENDIAN, .major = CT_TRACE_MAJOR};
    h.crc = ct_crc32(0, &h, offsetof(struct ct_trace_header, crc));
    memcpy(file, &h, sizeof(h));
    return sizeof(h);
}

static size_t put_block(size_t at, uint64_t number, uint32_t type, const uint8_t *data,
                        size_t bytes)
{
    struct ct_trace_block h = {
        .number = number,
        .last_ns = UINT64_MAX,
        .type = type,
        .stored_bytes = (uint32_t)bytes,
        .bytes = (uint32_t)bytes,
        .data_crc = ct_crc32(0, data, bytes),
    };
    h.crc = ct_crc32(0, &h, offsetof(struct ct_trace_block, crc));
    memcpy(file + at, &h, sizeof(h));
    memset(file + at + sizeof(h), 0, bytes + 8);
    memcpy(file + at + sizeof(h), data, bytes);
    return at + sizeof(h) + ((bytes + 7) & ~(size_t)7);
}

static size_t put_blocks(size_t at, const uint8_t *data, size_t bytes)
{
    for (uint64_t number = 1; bytes >= 3; number++) {
        size_t length = ct_min((size_t)data[1] | (size_t)data[2] << 8, bytes - 3);
        if (at + length + sizeof(struct ct_trace_block) + 16 > MOST)
            break;
        at = put_block(at, number, data[0] % TYPES, data + 3, length);
        data += 3 + length;
        bytes -= 3 + length;
    }
    return at;
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

static size_t look_at(const char *text)
{
    must(text != NULL);
    return strlen(text);
}

static void check(const struct ct_trace_reader *t, const struct ct_trace_record *r)
{
    must((r->op != NULL) + (r->call != NULL) + (r->range != NULL) == 1);
    if (r->op) {
        must(r->op->start_ns <= r->op->end_ns && r->op->end_ns <= INT64_MAX);
        must(r->op->row < t->rows.count && r->op->stream < t->streams.count);
        must(r->op->shape < t->shapes.count && t->rows.at[r->op->row].device < t->devices.count);
        must(t->streams.at[r->op->stream].device < t->devices.count);
        must(r->op->source < CT_MEMORY_COUNT && r->op->target < CT_MEMORY_COUNT);
        look_at(t->rows.at[r->op->row].name);
        look_at(t->devices.at[t->rows.at[r->op->row].device].name);
        look_at(t->devices.at[t->streams.at[r->op->stream].device].given_name);
        look_at(t->streams.at[r->op->stream].name);
        look_at(t->streams.at[r->op->stream].context_name);
        return;
    }
    if (r->range) {
        must(r->range->at_ns <= INT64_MAX && r->range->phase <= CT_TRACE_RANGE_MARKS);
        must(r->range->label < t->labels.count && r->range->thread < t->threads.count);
        look_at(t->labels.at[r->range->label].name);
        look_at(t->labels.at[r->range->label].domain);
        look_at(t->labels.at[r->range->label].category_name);
        look_at(t->threads.at[r->range->thread].name);
        return;
    }
    must(r->call->start_ns <= r->call->end_ns && r->call->end_ns <= INT64_MAX);
    must(r->call->api < t->apis.count && r->call->thread < t->threads.count);
    look_at(t->apis.at[r->call->api].name);
    look_at(t->threads.at[r->call->thread].name);
}

void trace_one(const uint8_t *data, size_t bytes)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct ct_read_error error;
    size_t size = put_blocks(put_header(), data, bytes);
    int fd = memfd_create("trace", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, file, size) == (ssize_t)size);
    if (!ct_trace_open_at(&t, fd, &error)) {
        while (ct_trace_next(t, &r, &error) > 0)
            check(t, &r);
        look_at(t->process.command);
        look_at(t->process.host);
        ct_trace_ending(t);
        ct_trace_close(t);
    }
    close(fd);
}
