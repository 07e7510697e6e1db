/* SPDX-License-Identifier: MIT */
#include "format/trace_write.h"

#include "format/crc32.h"
#include "format/pack.h"

_Static_assert(sizeof(((struct ct_trace_writer *)0)->lz4) >= LZ4_STREAM_MINSIZE,
               "LZ4 needs a larger state");

#define BATCH_BLOCKS 5 /* blocks that are sealed together */

/* Bytes of the longest numbers in a record's columns, and of the numbers before the columns. */
#define OP_MOST (6 * 10 + 4 * 5 + 3)
#define CALL_MOST (4 * 10 + 3 * 5)
#define RANGE_MOST (2 * 10 + 3 * 5)
#define HEAD_MOST ((CT_TRACE_OP_COLUMNS + 2) * CT_VARINT_MOST)
_Static_assert(CT_TRACE_BATCH *OP_MOST + HEAD_MOST <= CT_TRACE_BLOCK_MOST, "a block has room");

/* Bytes that one batch may need in a segment, and among the bytes that are ready. */
#define BATCH_MOST                                                                                 \
    (BATCH_BLOCKS * (sizeof(struct ct_trace_block) + 8) + CT_TRACE_DEFINITION_BYTES +              \
     CT_TRACE_BATCH * (OP_MOST + CALL_MOST + RANGE_MOST) + 3 * HEAD_MOST +                         \
     sizeof(struct ct_trace_losses) * 2)
_Static_assert(BATCH_MOST <= CT_TRACE_OUT_BYTES, "a batch has room");
_Static_assert(2 * BATCH_MOST < CT_TRACE_LEAST_BYTES / 2, "a segment has room for a few");

/* A record with all that it may have to define: row, stream, shape, device, thread, function. */
#define DEFINE_MOST (2 * CT_TRACE_TEXT_BYTES + 8 * CT_TRACE_NAME_BYTES + 4096)
_Static_assert(2 * DEFINE_MOST < CT_TRACE_DEFINITION_BYTES, "beside those of the process");

/* ---- definitions ---- */

#define LENGTH_BYTES 3 /* bytes for a definition's length, which is known last */

static uint8_t *define(struct ct_trace_writer *w, enum ct_trace_definition kind)
{
    *w->definition = (uint8_t)kind;
    return w->definition + 1 + LENGTH_BYTES;
}

static void defined(struct ct_trace_writer *w, uint8_t *end)
{
    size_t bytes = (size_t)(end - w->definition) - 1 - LENGTH_BYTES;
    w->definition[1] = (uint8_t)(bytes & 0x7f) | 0x80;
    w->definition[2] = (uint8_t)(bytes >> 7 & 0x7f) | 0x80;
    w->definition[3] = (uint8_t)(bytes >> 14);
    w->definition = end;
}

static uint8_t *put_text_within(uint8_t *to, const char *text, size_t most_bytes)
{
    size_t bytes = 0;
    while (bytes < most_bytes && text[bytes])
        bytes++;
    to = ct_varint_put(to, bytes);
    __builtin_memcpy(to, text, bytes);
    return to + bytes;
}

static uint8_t *put_text(uint8_t *to, const char *text)
{
    return put_text_within(to, text, CT_TRACE_TEXT_BYTES);
}

/* A name given by the program; NULL counts as none. */
static uint8_t *put_given_name(uint8_t *to, const char *name)
{
    return put_text_within(to, name ? name : "", CT_TRACE_NAME_BYTES);
}

/* Unknown is all bits; one more makes that a short number. */
static uint8_t *put_known(uint8_t *to, uint32_t value)
{
    return ct_varint_put(to, (uint32_t)(value + 1));
}

static void define_process(struct ct_trace_writer *w)
{
    const struct ct_trace_process *p = &w->process;
    uint8_t *to = define(w, CT_TRACE_DEFINE_PROCESS);
    to = ct_varint_put(to, p->pid);
    to = ct_varint_put(to, p->parent_pid);
    to = ct_varint_put(to, p->start_unix_ns);
    to = ct_varint_put(to, p->zero_unix_ns);
    to = put_text(to, p->command);
    defined(w, put_text(to, p->host));
}

void ct_trace_define_device(struct ct_trace_writer *w, const struct ct_trace_device *d)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_DEVICE);
    to = ct_varint_put(to, d->id);
    to = ct_varint_put(to, d->ordinal);
    __builtin_memcpy(to, d->uuid, sizeof(d->uuid));
    to = put_text(to + sizeof(d->uuid), d->name);
    to = put_given_name(to, d->given_name);
    to = ct_varint_put(to, d->memory_bytes);
    for (unsigned i = 0; i < CT_TRACE_ATTRIBUTE_COUNT; i++)
        to = ct_varint_put(to, d->attribute[i]);
    defined(w, to);
}

void ct_trace_define_row(struct ct_trace_writer *w, const struct ct_trace_row *r)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_ROW);
    to = ct_varint_put(to, r->id);
    to = ct_varint_put(to, r->kind);
    to = ct_varint_put(to, r->detail);
    to = ct_varint_put(to, r->device);
    to = put_known(to, r->registers);
    to = put_known(to, r->static_shared_bytes);
    defined(w, put_text(to, r->name));
}

void ct_trace_define_stream(struct ct_trace_writer *w, const struct ct_trace_stream *s)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_STREAM);
    to = ct_varint_put(to, s->id);
    to = ct_varint_put(to, s->device);
    to = ct_varint_put(to, s->context);
    to = put_known(to, s->flags);
    to = ct_varint_put(to, ct_varint_fold(s->priority));
    to = ct_varint_put(to, s->special);
    to = put_given_name(to, s->name);
    defined(w, put_given_name(to, s->context_name));
}

void ct_trace_define_api(struct ct_trace_writer *w, const struct ct_trace_api *a)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_API);
    to = ct_varint_put(to, a->id);
    to = ct_varint_put(to, a->flags);
    defined(w, put_text(to, a->name));
}

void ct_trace_define_thread(struct ct_trace_writer *w, const struct ct_trace_thread *t)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_THREAD);
    to = ct_varint_put(to, t->id);
    to = ct_varint_put(to, t->tid);
    defined(w, put_text(to, t->name));
}

void ct_trace_define_label(struct ct_trace_writer *w, const struct ct_trace_label *l)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_LABEL);
    to = ct_varint_put(to, l->id);
    to = ct_varint_put(to, l->style);
    to = ct_varint_put(to, l->color);
    to = ct_varint_put(to, l->category);
    to = put_given_name(to, l->domain);
    to = put_given_name(to, l->name);
    defined(w, put_given_name(to, l->category_name));
}

void ct_trace_define_frame(struct ct_trace_writer *w, const struct ct_trace_frame *f)
{
    uint8_t *to = define(w, CT_TRACE_DEFINE_FRAME);
    to = ct_varint_put(to, f->id);
    to = ct_varint_put(to, f->caller);
    to = ct_varint_put(to, f->line);
    to = put_given_name(to, f->function);
    to = put_given_name(to, f->file);
    to = ct_varint_put(to, f->address);
    defined(w, put_given_name(to, f->build_id));
}

static bool is_same_shape(const struct ct_trace_shape *a, const struct ct_trace_shape *b)
{
    return !__builtin_memcmp(a->grid, b->grid, sizeof(a->grid)) &&
           !__builtin_memcmp(a->block, b->block, sizeof(a->block)) &&
           a->dynamic_shared_bytes == b->dynamic_shared_bytes;
}

static unsigned shape_slot(const struct ct_trace_shape *s)
{
    uint64_t h = s->dynamic_shared_bytes;
    for (unsigned i = 0; i < 3; i++)
        h = (h ^ ((uint64_t)s->grid[i] << 32 | s->block[i])) * 0x9e3779b97f4a7c15u;
    return (unsigned)(h >> 32) & (CT_TRACE_SHAPES - 1);
}

static void forget_shapes(struct ct_trace_writer *w)
{
    if (w->shapes_kept)
        __builtin_memset(w->shapes, 0, sizeof(w->shapes));
    w->shapes_kept = 0;
}

uint64_t ct_trace_define_shape(struct ct_trace_writer *w, const struct ct_trace_shape *s)
{
    unsigned at = shape_slot(s);
    for (; w->shapes[at].id; at = (at + 1) & (CT_TRACE_SHAPES - 1))
        if (is_same_shape(&w->shapes[at], s))
            return w->shapes[at].id;
    if (w->shapes_kept == CT_TRACE_SHAPES / 2) {
        forget_shapes(w);
        at = shape_slot(s);
    }
    w->shapes[at] = *s;
    w->shapes[at].id = ++w->shapes_defined;
    w->shapes_kept++;
    uint8_t *to = define(w, CT_TRACE_DEFINE_SHAPE);
    to = ct_varint_put(to, w->shapes_defined);
    for (unsigned i = 0; i < 3; i++)
        to = ct_varint_put(to, s->grid[i]);
    for (unsigned i = 0; i < 3; i++)
        to = ct_varint_put(to, s->block[i]);
    defined(w, ct_varint_put(to, s->dynamic_shared_bytes));
    return w->shapes_defined;
}

/* ---- records ---- */

static void put(struct ct_trace_column *c, uint64_t value)
{
    c->at = ct_varint_put(c->at, value);
}

/* The distance from the record before; *before is this record's value from now on. */
static uint64_t step(uint64_t *before, uint64_t now)
{
    int64_t distance = (int64_t)(now - *before);
    *before = now;
    return ct_varint_fold(distance);
}

static void note_time(struct ct_trace_batch *b, uint64_t start_ns, uint64_t end_ns)
{
    if (!b->count++)
        b->first_ns = start_ns;
    b->first_ns = ct_min(b->first_ns, start_ns);
    b->last_ns = ct_max(b->last_ns, end_ns);
}

void ct_trace_put_op(struct ct_trace_writer *w, const struct ct_trace_op *op)
{
    struct ct_trace_column *c = w->op_column;
    struct ct_trace_batch *b = &w->ops;
    uint32_t memory = (uint32_t)op->source + 8u * op->target;
    uint32_t has = (op->bytes ? 1 : 0) + (op->operations != 1 ? 2 : 0) + (memory ? 4 : 0) +
                   (op->frame ? 8 : 0);
    note_time(b, op->start_ns, op->end_ns);
    b->operations += op->operations;
    put(&c[0], step(&b->before_ns, op->end_ns));
    put(&c[1], op->end_ns - op->start_ns);
    put(&c[2], op->row);
    put(&c[3], op->stream);
    put(&c[4], op->shape);
    put(&c[5], step(&b->correlation, op->correlation));
    put(&c[6], op->flags | has << CT_TRACE_OP_FLAGS);
    if (has & 1)
        put(&c[7], op->bytes);
    if (has & 2)
        put(&c[8], op->operations);
    if (has & 4)
        put(&c[9], memory);
    if (has & 8)
        put(&c[10], op->frame);
}

void ct_trace_put_call(struct ct_trace_writer *w, const struct ct_trace_call *call)
{
    struct ct_trace_column *c = w->call_column;
    struct ct_trace_batch *b = &w->calls;
    note_time(b, call->start_ns, call->end_ns);
    put(&c[0], step(&b->before_ns, call->start_ns));
    put(&c[1], call->end_ns - call->start_ns);
    b->before_ns = call->end_ns;
    put(&c[2], call->api);
    put(&c[3], call->thread);
    put(&c[4], step(&b->correlation, call->correlation));
    put(&c[5], ct_varint_fold(call->result));
}

void ct_trace_put_range(struct ct_trace_writer *w, const struct ct_trace_range *r)
{
    struct ct_trace_column *c = w->range_column;
    struct ct_trace_batch *b = &w->ranges;
    note_time(b, r->at_ns, r->at_ns);
    put(&c[0], step(&b->before_ns, r->at_ns));
    put(&c[1], r->label);
    put(&c[2], r->thread);
    put(&c[3], r->phase | (r->number ? CT_TRACE_RANGE_NUMBERED : 0));
    if (r->number)
        put(&c[4], step(&b->correlation, r->number));
}

/* ---- blocks ---- */

static void clear(struct ct_trace_batch *b, struct ct_trace_column *column, unsigned columns)
{
    *b = (struct ct_trace_batch){0};
    for (unsigned i = 0; i < columns; i++)
        column[i].at = column[i].bytes;
}

/* Adds a block to the last piece if that ends at its offset in the file, else to a new one. */
static void add_to_piece(struct ct_trace_out *o, uint64_t offset, size_t bytes)
{
    if (!o->count || o->piece[o->count - 1].offset + o->piece[o->count - 1].bytes != offset) {
        o->piece[o->count].offset = offset;
        o->piece[o->count].data = o->data + o->bytes;
        o->piece[o->count++].bytes = 0;
    }
    o->piece[o->count - 1].bytes += bytes;
    o->bytes += bytes;
}

/* Writes the stored form of the data, never longer than they are; returns its length. */
static uint32_t pack(struct ct_trace_writer *w, uint8_t *to, const uint8_t *data, size_t bytes,
                     struct ct_trace_block *header)
{
    int packed = LZ4_compress_fast_extState(w->lz4, (const char *)data, (char *)to, (int)bytes,
                                            (int)bytes - 1, 1);
    header->packing = packed > 0 ? CT_TRACE_LZ4 : CT_TRACE_PLAIN;
    if (packed > 0)
        return (uint32_t)packed;
    __builtin_memcpy(to, data, bytes);
    return (uint32_t)bytes;
}

static struct ct_trace_held *held(struct ct_trace_writer *w)
{
    return &w->held[(w->segment - 1) & 1];
}

static void add_block(struct ct_trace_writer *w, enum ct_trace_block_type type, const uint8_t *data,
                      size_t bytes, const struct ct_trace_batch *b)
{
    struct ct_trace_out *o = w->filling;
    struct ct_trace_block h = {
        .number = ++w->number,
        .first_ns = b ? b->first_ns : 0,
        .last_ns = b ? b->last_ns : 0,
        .type = type,
        .bytes = (uint32_t)bytes,
    };
    uint8_t *to = o->data + o->bytes + sizeof(h);
    h.stored_bytes = pack(w, to, data, bytes, &h);
    h.data_crc = ct_crc32(0, to, h.stored_bytes);
    h.crc = ct_crc32(0, &h, offsetof(struct ct_trace_block, crc));
    size_t padding = -h.stored_bytes & 7u, all = sizeof(h) + h.stored_bytes + padding;
    __builtin_memcpy(o->data + o->bytes, &h, sizeof(h));
    __builtin_memset(to + h.stored_bytes, 0, padding);
    add_to_piece(o, w->offset, all);
    w->offset += all;
    held(w)->bytes += all;
}

static void seal_definitions(struct ct_trace_writer *w)
{
    size_t bytes = (size_t)(w->definition - w->definitions);
    if (bytes)
        add_block(w, CT_TRACE_DEFINITIONS, w->definitions, bytes, NULL);
    w->definition = w->definitions;
}

static void seal_losses(struct ct_trace_writer *w)
{
    uint64_t values[sizeof(w->losses) / sizeof(uint64_t)];
    uint8_t *to = w->block;
    if (!__builtin_memcmp(&w->losses, &w->told, sizeof(w->losses)))
        return;
    __builtin_memcpy(values, &w->losses, sizeof(values));
    for (unsigned i = 0; i < ct_countof(values); i++)
        to = ct_varint_put(to, values[i]);
    add_block(w, CT_TRACE_LOSSES, w->block, (size_t)(to - w->block), NULL);
    w->told = w->losses;
}

static void seal_batch(struct ct_trace_writer *w, enum ct_trace_block_type type,
                       struct ct_trace_batch *b, struct ct_trace_column *column, unsigned columns)
{
    uint8_t *to = w->block;
    if (!b->count)
        return;
    to = ct_varint_put(to, b->count);
    to = ct_varint_put(to, columns);
    for (unsigned i = 0; i < columns; i++)
        to = ct_varint_put(to, (uint64_t)(column[i].at - column[i].bytes));
    for (unsigned i = 0; i < columns; i++) {
        size_t bytes = (size_t)(column[i].at - column[i].bytes);
        __builtin_memcpy(to, column[i].bytes, bytes);
        to += bytes;
    }
    add_block(w, type, w->block, (size_t)(to - w->block), b);
    clear(b, column, columns);
}

/* ---- segments ---- */

static void start_segment(struct ct_trace_writer *w)
{
    unsigned at = w->segment++ & 1;
    w->losses.cut_ops += w->held[at].ops;
    w->losses.cut_calls += w->held[at].calls;
    w->losses.cut_ranges += w->held[at].ranges;
    w->losses.cut_bytes += w->held[at].bytes;
    w->held[at] = (struct ct_trace_held){0};
    w->offset = sizeof(struct ct_trace_header) + (w->segment_bytes ? at * w->segment_bytes : 0);
    w->segment_end = w->offset + w->segment_bytes;
    __builtin_memset(&w->told, 0xff, sizeof(w->told));
    forget_shapes(w);
    define_process(w);
}

void ct_trace_start(struct ct_trace_writer *w, const struct ct_trace_process *p,
                    uint64_t most_bytes)
{
    w->process = *p;
    if (most_bytes)
        w->segment_bytes = (most_bytes - sizeof(struct ct_trace_header)) / 2 & ~(uint64_t)7;
    w->filling = w->out;
    w->definition = w->definitions;
    clear(&w->ops, w->op_column, CT_TRACE_OP_COLUMNS);
    clear(&w->calls, w->call_column, CT_TRACE_CALL_COLUMNS);
    clear(&w->ranges, w->range_column, CT_TRACE_RANGE_COLUMNS);
    start_segment(w);
}

struct ct_trace_header ct_trace_header(const struct ct_trace_writer *w)
{
    struct ct_trace_header h = {
        .magic = CT_TRACE_MAGIC,
        .endian = CT_FILE_ENDIAN,
        .major = CT_TRACE_MAJOR,
        .minor = CT_TRACE_MINOR,
        .segment_bytes = w->segment_bytes,
        .start_unix_ns = w->process.start_unix_ns,
        .pid = w->process.pid,
    };
    h.crc = ct_crc32(0, &h, offsetof(struct ct_trace_header, crc));
    return h;
}

/* Changes the segment between batches alone: records and their definitions are in one segment. */
bool ct_trace_seal(struct ct_trace_writer *w)
{
    struct ct_trace_out *o = w->filling;
    if (o->bytes + BATCH_MOST > sizeof(o->data) || o->count == CT_TRACE_OUT_PIECES)
        return false;
    held(w)->ops += w->ops.operations;
    held(w)->calls += w->calls.count;
    held(w)->ranges += w->ranges.count;
    seal_definitions(w);
    seal_batch(w, CT_TRACE_OPERATIONS, &w->ops, w->op_column, CT_TRACE_OP_COLUMNS);
    seal_batch(w, CT_TRACE_CALLS, &w->calls, w->call_column, CT_TRACE_CALL_COLUMNS);
    seal_batch(w, CT_TRACE_RANGES, &w->ranges, w->range_column, CT_TRACE_RANGE_COLUMNS);
    seal_losses(w);
    if (w->segment_bytes && w->offset + BATCH_MOST > w->segment_end)
        start_segment(w);
    return true;
}

bool ct_trace_begin(struct ct_trace_writer *w)
{
    size_t defined_bytes = (size_t)(w->definition - w->definitions);
    if (ct_likely(w->ops.count < CT_TRACE_BATCH && w->calls.count < CT_TRACE_BATCH &&
                  w->ranges.count < CT_TRACE_BATCH &&
                  defined_bytes + DEFINE_MOST < sizeof(w->definitions)))
        return true;
    return ct_trace_seal(w);
}

const struct ct_trace_out *ct_trace_take(struct ct_trace_writer *w)
{
    struct ct_trace_out *ready = w->filling;
    if (!ready->bytes)
        return NULL;
    w->filling = ready == w->out ? w->out + 1 : w->out;
    w->filling->bytes = w->filling->count = 0;
    return ready;
}
