/* SPDX-License-Identifier: MIT */
#include "format/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/crc32.h"
#include "format/pack.h"
#include "format/payload.h"
#include "format/trace_tables.h"
#include "format/varint.h"

#define COLUMNS 16 /* columns that are kept apart: newer versions may have more */
#define STORED_MOST LZ4_COMPRESSBOUND(CT_TRACE_BLOCK_MOST)

struct segment {
    uint64_t offset; /* file offset of its next block */
    uint64_t end;
    uint64_t number; /* number of its next block */
};

/* One block of records under way. */
struct batch {
    uint32_t type; /* enum ct_trace_block_type; 0: none */
    uint64_t left;
    uint64_t before_ns;
    uint64_t correlation;
    unsigned columns;
    struct ct_varints column[COLUMNS];
};

struct reader {
    struct ct_trace_reader t; /* first: the user's pointer is to this */
    struct ct_trace_tables tables;
    int fd;
    bool owns_fd;
    unsigned segments, at; /* segment[at] is being read */
    struct segment segment[2];
    bool bounded;
    bool gap; /* between the segments blocks are missing */
    struct batch batch;
    struct ct_trace_op op;
    struct ct_trace_call call;
    struct ct_trace_range range;
    uint8_t stored[STORED_MOST];
    uint8_t data[CT_TRACE_BLOCK_MOST];
};

/* ---- blocks ---- */

/* Bytes read, fewer at the file's end, or -errno. */
static int64_t read_at(const struct reader *r, void *to, size_t bytes, uint64_t offset,
                       struct ct_read_error *error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(r->fd, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ct_read_fail(error, -errno, "cannot be read: %s", strerror(errno));
        if (!n)
            return (int64_t)done;
        done += (size_t)n;
    }
    return (int64_t)bytes;
}

static uint64_t whole_bytes(const struct ct_trace_block *h)
{
    return sizeof(*h) + (((uint64_t)h->stored_bytes + 7) & ~(uint64_t)7);
}

static bool is_header_right(const struct ct_trace_block *h)
{
    return h->crc == ct_crc32(0, h, offsetof(struct ct_trace_block, crc)) &&
           h->stored_bytes <= STORED_MOST && h->bytes <= CT_TRACE_BLOCK_MOST;
}

/* 1: the segment's next block begins here; 0: the segment ends; or -errno. */
static int read_header(struct reader *r, struct segment *s, struct ct_trace_block *h,
                       struct ct_read_error *error)
{
    if (s->end - s->offset < sizeof(*h))
        return 0;
    int64_t n = read_at(r, h, sizeof(*h), s->offset, error);
    if (n < 0)
        return (int)n;
    if ((size_t)n == sizeof(*h) && is_header_right(h) && h->number == s->number)
        return 1;
    /* In a bounded file blocks of the round before may follow. */
    r->t.truncated |= n && !r->bounded;
    return 0;
}

static bool unpack(struct reader *r, const struct ct_trace_block *h)
{
    if (h->packing == CT_TRACE_LZ4)
        return LZ4_decompress_safe((const char *)r->stored, (char *)r->data, (int)h->stored_bytes,
                                   CT_TRACE_BLOCK_MOST) == (int)h->bytes;
    if (h->packing != CT_TRACE_PLAIN || h->bytes != h->stored_bytes)
        return false;
    memcpy(r->data, r->stored, h->bytes);
    return true;
}

/* 1: the block's data are in r->data; 0: the file ends in them; or -errno. */
static int read_data(struct reader *r, struct segment *s, const struct ct_trace_block *h,
                     struct ct_read_error *error)
{
    int64_t n = read_at(r, r->stored, h->stored_bytes, s->offset + sizeof(*h), error);
    if (n < 0)
        return (int)n;
    if (n < h->stored_bytes || ct_crc32(0, r->stored, h->stored_bytes) != h->data_crc) {
        r->t.truncated = true;
        return 0;
    }
    if (unpack(r, h))
        return 1;
    return ct_read_fail(error, -EBADMSG, "is damaged: the block at byte %" PRIu64 " has no content",
                        s->offset);
}

static bool is_records(const struct ct_trace_block *h)
{
    return h->type == CT_TRACE_OPERATIONS || h->type == CT_TRACE_CALLS ||
           h->type == CT_TRACE_RANGES;
}

static bool is_wanted(const struct reader *r, const struct ct_trace_block *h)
{
    bool is_within = h->first_ns <= r->t.until_ns && h->last_ns >= r->t.since_ns;
    return !is_records(h) || is_within || (h->type == CT_TRACE_RANGES && r->t.all_ranges);
}

/* ---- contents of blocks ---- */

static void read_losses(struct reader *r, const struct ct_trace_block *h)
{
    struct ct_varints in = {r->data, r->data + h->bytes, false};
    uint64_t values[sizeof(r->t.losses) / sizeof(uint64_t)];
    for (size_t i = 0; i < ct_countof(values); i++)
        values[i] = in.at < in.end ? ct_varint_get(&in) : 0;
    memcpy(&r->t.losses, values, sizeof(values));
}

static int start_batch(struct reader *r, const struct ct_trace_block *h,
                       struct ct_read_error *error)
{
    struct batch *b = &r->batch;
    struct ct_varints in = {r->data, r->data + h->bytes, false};
    uint64_t bytes[COLUMNS] = {0};
    *b = (struct batch){.type = h->type, .left = ct_varint_get(&in)};
    uint64_t columns = ct_varint_get(&in);
    for (uint64_t i = 0; i < columns && !in.bad; i++) {
        uint64_t n = ct_varint_get(&in);
        if (i < COLUMNS)
            bytes[i] = n;
    }
    b->columns = (unsigned)ct_min(columns, COLUMNS);
    for (unsigned i = 0; i < b->columns && !in.bad; i++) {
        if (bytes[i] > (uint64_t)(in.end - in.at))
            in.bad = true;
        else
            b->column[i] = (struct ct_varints){in.at, in.at + bytes[i], false};
        in.at += in.bad ? 0 : bytes[i];
    }
    if (!in.bad && b->left <= bytes[0])
        return 0;
    b->type = 0;
    return ct_read_fail(error, -EBADMSG, "is damaged: the columns of a block make no sense");
}

static int take_block(struct reader *r, const struct ct_trace_block *h, struct ct_read_error *error)
{
    switch (h->type) {
    case CT_TRACE_DEFINITIONS:
        return ct_trace_tables_add(&r->t, &r->tables, r->data, h->bytes, error);
    case CT_TRACE_OPERATIONS:
    case CT_TRACE_CALLS:
    case CT_TRACE_RANGES:
        return start_batch(r, h, error);
    case CT_TRACE_LOSSES:
        read_losses(r, h);
        return 0;
    default:
        return 0; /* a newer version's */
    }
}

/* 1: one more block was read or skipped; 0: there is none; or -errno. */
static int next_block(struct reader *r, struct ct_read_error *error)
{
    while (r->at < r->segments) {
        struct segment *s = &r->segment[r->at];
        struct ct_trace_block h;
        int rc = read_header(r, s, &h, error);
        bool wanted = rc > 0 && is_wanted(r, &h);
        if (wanted)
            rc = read_data(r, s, &h, error);
        if (rc < 0)
            return rc;
        if (rc > 0) {
            s->offset += whole_bytes(&h);
            s->number++;
            r->t.has_records |= is_records(&h);
            r->t.read_bytes += whole_bytes(&h);
            rc = wanted ? take_block(r, &h, error) : 0;
            return rc ? rc : 1;
        }
        r->at++;
        if (r->at < r->segments)
            r->gap = r->segment[1].number != s->number;
    }
    return 0;
}

/* ---- records ---- */

/* Next number of a column; 0 where the writer did not know the column. */
static uint64_t get(struct batch *b, unsigned column)
{
    return column < b->columns ? ct_varint_get(&b->column[column]) : 0;
}

static bool is_bad(const struct batch *b)
{
    bool bad = false;
    for (unsigned i = 0; i < b->columns; i++)
        bad |= b->column[i].bad;
    return bad;
}

/* The next value of a column that stores distances. */
static uint64_t step(struct batch *b, unsigned column, uint64_t *before)
{
    *before += (uint64_t)ct_varint_unfold(get(b, column));
    return *before;
}

static uint8_t memory(uint64_t value)
{
    return value <= CT_MEMORY_MANAGED ? (uint8_t)value : CT_MEMORY_UNKNOWN;
}

static uint32_t find(const struct reader *r, enum ct_trace_table table, uint64_t number)
{
    return ct_trace_tables_find(&r->tables, table, number);
}

/* Times within INT64_MAX: code that adds and subtracts them need not care for their range. */
static bool is_time(uint64_t start_ns, uint64_t end_ns)
{
    return start_ns <= end_ns && end_ns <= INT64_MAX;
}

static bool read_op(struct reader *r)
{
    struct batch *b = &r->batch;
    struct ct_trace_op *op = &r->op;
    op->end_ns = step(b, 0, &b->before_ns);
    op->start_ns = op->end_ns - get(b, 1);
    op->row = find(r, CT_TRACE_TABLE_ROW, get(b, 2));
    op->stream = find(r, CT_TRACE_TABLE_STREAM, get(b, 3));
    op->shape = find(r, CT_TRACE_TABLE_SHAPE, get(b, 4));
    op->correlation = step(b, 5, &b->correlation);
    uint64_t flags = get(b, 6), has = flags >> CT_TRACE_OP_FLAGS;
    op->flags = flags & ((1u << CT_TRACE_OP_FLAGS) - 1);
    op->bytes = has & 1 ? get(b, 7) : 0;
    op->operations = has & 2 ? get(b, 8) : 1;
    uint64_t memories = has & 4 ? get(b, 9) : 0;
    op->source = memory(memories & 7);
    op->target = memory(memories >> 3);
    op->frame = find(r, CT_TRACE_TABLE_FRAME, has & 8 ? get(b, 10) : 0);
    return is_time(op->start_ns, op->end_ns) && op->row != CT_TRACE_UNDEFINED &&
           op->stream != CT_TRACE_UNDEFINED && op->shape != CT_TRACE_UNDEFINED &&
           op->frame != CT_TRACE_UNDEFINED;
}

static bool read_call(struct reader *r)
{
    struct batch *b = &r->batch;
    struct ct_trace_call *c = &r->call;
    c->start_ns = step(b, 0, &b->before_ns);
    c->end_ns = c->start_ns + get(b, 1);
    b->before_ns = c->end_ns;
    c->api = find(r, CT_TRACE_TABLE_API, get(b, 2));
    c->thread = find(r, CT_TRACE_TABLE_THREAD, get(b, 3));
    c->correlation = step(b, 4, &b->correlation);
    c->result = (int32_t)ct_varint_unfold(get(b, 5));
    return is_time(c->start_ns, c->end_ns) && c->api != CT_TRACE_UNDEFINED &&
           c->thread != CT_TRACE_UNDEFINED;
}

static bool read_range(struct reader *r)
{
    struct batch *b = &r->batch;
    struct ct_trace_range *g = &r->range;
    g->at_ns = step(b, 0, &b->before_ns);
    g->label = find(r, CT_TRACE_TABLE_LABEL, get(b, 1));
    g->thread = find(r, CT_TRACE_TABLE_THREAD, get(b, 2));
    uint64_t phase = get(b, 3);
    g->phase = phase & (CT_TRACE_RANGE_NUMBERED - 1);
    g->number = phase & CT_TRACE_RANGE_NUMBERED ? step(b, 4, &b->correlation) : 0;
    return is_time(g->at_ns, g->at_ns) && g->label != CT_TRACE_UNDEFINED &&
           g->thread != CT_TRACE_UNDEFINED && g->phase <= CT_TRACE_RANGE_MARKS;
}

/* The next record of the block; NULL members: the record makes no sense. */
static struct ct_trace_record read_record(struct reader *r)
{
    struct ct_trace_record record = {0};
    if (r->batch.type == CT_TRACE_OPERATIONS)
        record.op = read_op(r) ? &r->op : NULL;
    else if (r->batch.type == CT_TRACE_CALLS)
        record.call = read_call(r) ? &r->call : NULL;
    else
        record.range = read_range(r) ? &r->range : NULL;
    return record;
}

int ct_trace_next(struct ct_trace_reader *t, struct ct_trace_record *record,
                  struct ct_read_error *error)
{
    struct reader *r = (struct reader *)t;
    struct batch *b = &r->batch;
    *record = (struct ct_trace_record){0};
    while (!b->left) {
        int rc = next_block(r, error);
        if (rc <= 0)
            return rc;
    }
    b->left--;
    struct ct_trace_record next = read_record(r);
    if (!(next.op || next.call || next.range) || (!b->left && is_bad(b)))
        return ct_read_fail(error, -EBADMSG, "is damaged: a record makes no sense");
    *record = next;
    return 1;
}

/* ---- the file ---- */

static int check_header(const struct ct_trace_header *h, int64_t bytes, struct ct_read_error *error)
{
    if (bytes >= CT_FILE_MAGIC_BYTES && !memcmp(h->magic, CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES))
        return ct_read_fail(error, -EINVAL, "is a summary, no trace: --trace-file records one");
    if (bytes < CT_FILE_MAGIC_BYTES || memcmp(h->magic, CT_TRACE_MAGIC, CT_FILE_MAGIC_BYTES))
        return ct_read_fail(error, -EINVAL, "is not a trace of cutrace");
    if (bytes < (int64_t)sizeof(*h))
        return ct_read_fail(error, -EBADMSG, "is truncated");
    if (h->endian == __builtin_bswap32(CT_FILE_ENDIAN))
        return ct_read_fail(error, -EINVAL, "was written on a machine of the other byte order");
    if (h->crc != ct_crc32(0, h, offsetof(struct ct_trace_header, crc)))
        return ct_read_fail(error, -EBADMSG, "is damaged: its header is");
    if (h->major != CT_TRACE_MAJOR)
        return ct_read_fail(error, -EINVAL, "has format version %u.%u, this program reads %u",
                            h->major, h->minor, CT_TRACE_MAJOR);
    if (h->segment_bytes > (INT64_MAX - sizeof(*h)) / 2)
        return ct_read_fail(error, -EBADMSG, "is damaged: its header is");
    return 0;
}

/* The number of the block at the offset; 0: there is none. */
static uint64_t number_at(const struct reader *r, uint64_t offset)
{
    struct ct_trace_block h;
    struct ct_read_error error;
    bool there = read_at(r, &h, sizeof(h), offset, &error) == sizeof(h) && is_header_right(&h);
    return there ? h.number : 0;
}

static void add_segment(struct reader *r, uint64_t offset, uint64_t bytes)
{
    struct segment s = {offset, bytes ? offset + bytes : INT64_MAX, number_at(r, offset)};
    if (!s.number)
        return;
    bool is_first = r->segments && s.number < r->segment[0].number;
    if (is_first)
        r->segment[1] = r->segment[0];
    r->segment[is_first ? 0 : r->segments] = s;
    r->segments++;
}

/* The segments' numbers tell which of the two is the older one. */
static void find_segments(struct reader *r, const struct ct_trace_header *h)
{
    r->bounded = h->segment_bytes != 0;
    add_segment(r, sizeof(*h), h->segment_bytes);
    if (r->bounded)
        add_segment(r, sizeof(*h) + h->segment_bytes, h->segment_bytes);
}

static int start(struct reader *r, struct ct_read_error *error)
{
    struct ct_trace_header h;
    struct stat st;
    int64_t n = read_at(r, &h, sizeof(h), 0, error);
    int rc = n < 0 ? (int)n : check_header(&h, n, error);
    if (rc)
        return rc;
    r->t.file_bytes = fstat(r->fd, &st) ? 0 : (uint64_t)st.st_size;
    r->t.read_bytes = sizeof(h);
    r->t.until_ns = UINT64_MAX;
    r->t.process.pid = h.pid;
    r->t.process.start_unix_ns = r->t.process.zero_unix_ns = h.start_unix_ns;
    if (ct_trace_tables_start(&r->t, &r->tables))
        return ct_read_fail(error, -ENOMEM, "cannot be read: no memory");
    find_segments(r, &h);
    rc = next_block(r, error);
    return rc < 0 ? rc : 0;
}

int ct_trace_open_at(struct ct_trace_reader **t, int fd, struct ct_read_error *error)
{
    *t = NULL;
    struct reader *r = calloc(1, sizeof(*r));
    if (!r)
        return ct_read_fail(error, -ENOMEM, "cannot be read: no memory");
    r->fd = fd;
    int rc = start(r, error);
    if (rc)
        ct_trace_close(&r->t);
    else
        *t = &r->t;
    return rc;
}

int ct_trace_open(struct ct_trace_reader **t, const char *path, struct ct_read_error *error)
{
    *t = NULL;
    int fd = ct_read_open(path, error);
    if (fd < 0)
        return fd;
    int rc = ct_trace_open_at(t, fd, error);
    if (rc)
        close(fd);
    else
        ((struct reader *)*t)->owns_fd = true;
    return rc;
}

bool ct_trace_is_one(int fd)
{
    char magic[CT_FILE_MAGIC_BYTES];
    return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
           !memcmp(magic, CT_TRACE_MAGIC, sizeof(magic));
}

bool ct_trace_is_file(const char *path)
{
    struct ct_read_error error;
    int fd = ct_read_open(path, &error);
    bool is = fd >= 0 && ct_trace_is_one(fd);
    if (fd >= 0)
        close(fd);
    return is;
}

const char *ct_trace_ending(const struct ct_trace_reader *t)
{
    const struct reader *r = (const struct reader *)t;
    if (r->gap)
        return "is damaged: a part in the middle is missing";
    if (t->truncated)
        return "ends in the midst of a block: what came last is missing";
    if (!t->losses.finished)
        return "ends early: what came last is missing, as of a process that was killed or runs";
    return NULL;
}

void ct_trace_close(struct ct_trace_reader *t)
{
    struct reader *r = (struct reader *)t;
    if (!r)
        return;
    if (r->owns_fd)
        close(r->fd);
    ct_trace_tables_free(t, &r->tables);
    free(r);
}
