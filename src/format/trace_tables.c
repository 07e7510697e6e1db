/* SPDX-License-Identifier: MIT */
#include "format/trace_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/seed.h"
#include "format/payload.h"
#include "format/varint.h"

#define TEXTS_BYTES (64 * 1024)

struct ct_trace_texts {
    struct ct_trace_texts *next;
    size_t used, size;
    char at[];
};

/* The state while definitions are read; the first failure stays. */
struct filling {
    struct ct_trace_reader *t;
    struct ct_trace_tables *tables;
    struct ct_varints in; /* one definition */
    int rc;
};

/* ---- numbers ---- */

static struct ct_trace_slot *slot_of(const struct ct_trace_map *m, uint64_t number)
{
    uint32_t at = (uint32_t)ct_seed_mix(m->seed, number) & (m->size - 1);
    while (m->slots[at].index && m->slots[at].number != number)
        at = (at + 1) & (m->size - 1);
    return &m->slots[at];
}

static int grow_map(struct ct_trace_map *m)
{
    struct ct_trace_map larger = {
        .seed = ct_seed(), .size = m->size ? 2 * m->size : 64, .used = m->used};
    larger.slots = calloc(larger.size, sizeof(*larger.slots));
    if (!larger.slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->size; i++)
        if (m->slots[i].index)
            *slot_of(&larger, m->slots[i].number) = m->slots[i];
    free(m->slots);
    *m = larger;
    return 0;
}

static int add_number(struct ct_trace_map *m, uint64_t number, uint32_t index)
{
    if (2 * m->used >= m->size && grow_map(m))
        return -ENOMEM;
    *slot_of(m, number) = (struct ct_trace_slot){number, index + 1};
    m->used++;
    return 0;
}

uint32_t ct_trace_tables_find(const struct ct_trace_tables *tables, enum ct_trace_table table,
                              uint64_t number)
{
    const struct ct_trace_map *m = &tables->map[table];
    return m->size ? slot_of(m, number)->index - 1 : CT_TRACE_UNDEFINED;
}

/* ---- texts ---- */

static char *room_for_text(struct ct_trace_tables *tables, size_t bytes)
{
    struct ct_trace_texts *c = tables->texts;
    if (!c || c->size - c->used < bytes) {
        size_t size = bytes > TEXTS_BYTES ? bytes : TEXTS_BYTES;
        if (tables->texts_bytes + size > CT_TRACE_TEXTS_MOST || !(c = malloc(sizeof(*c) + size)))
            return NULL;
        *c = (struct ct_trace_texts){.next = tables->texts, .size = size};
        tables->texts = c;
        tables->texts_bytes += size;
    }
    c->used += bytes;
    return c->at + c->used - bytes;
}

/* A text ends at a NUL in it. If it is as `before` (NULL: none), that is returned, not a copy. */
static const char *get_text(struct filling *f, const char *before)
{
    uint64_t bytes = ct_varint_get(&f->in);
    if (bytes > (uint64_t)(f->in.end - f->in.at)) {
        f->in.bad = true;
        return "";
    }
    const char *text = (const char *)f->in.at;
    f->in.at += bytes;
    size_t length = strnlen(text, bytes);
    if (!length)
        return "";
    if (before && !strncmp(before, text, length) && !before[length])
        return before;
    char *copy = room_for_text(f->tables, length + 1);
    if (!copy) {
        f->rc = f->rc ? f->rc : -ENOMEM;
        return "";
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* ---- definitions ---- */

/* A member that a shorter definition lacks is zero. */
static uint64_t get(struct filling *f)
{
    return f->in.at < f->in.end ? ct_varint_get(&f->in) : 0;
}

static uint32_t get32(struct filling *f)
{
    uint64_t value = get(f);
    if (value > UINT32_MAX)
        f->in.bad = true;
    return (uint32_t)value;
}

/* The file has one more than the value, so that unknown is 0. */
static uint32_t get_known(struct filling *f)
{
    return get32(f) - 1;
}

static const char *get_last_text(struct filling *f, const char *before)
{
    return f->in.at < f->in.end ? get_text(f, before) : "";
}

static uint32_t get_device(struct filling *f)
{
    uint32_t index = ct_trace_tables_find(f->tables, CT_TRACE_TABLE_DEVICE, get32(f));
    if (index != CT_TRACE_UNDEFINED)
        return index;
    f->in.bad = true;
    return 0;
}

static void define_process(struct filling *f)
{
    struct ct_trace_process *p = &f->t->process;
    p->pid = get32(f);
    p->parent_pid = get32(f);
    p->start_unix_ns = get(f);
    p->zero_unix_ns = get(f);
    p->command = get_last_text(f, p->command);
    p->host = get_last_text(f, p->host);
}

/* `d` is the number's definition from before, or all zero. */
static void define_device(struct filling *f, struct ct_trace_device *d)
{
    d->ordinal = get32(f);
    if ((size_t)(f->in.end - f->in.at) >= sizeof(d->uuid)) {
        memcpy(d->uuid, f->in.at, sizeof(d->uuid));
        f->in.at += sizeof(d->uuid);
    }
    d->name = get_last_text(f, d->name);
    d->given_name = get_last_text(f, d->given_name);
    d->memory_bytes = get(f);
    for (unsigned i = 0; i < CT_TRACE_ATTRIBUTE_COUNT; i++)
        d->attribute[i] = get32(f);
}

static void define_row(struct filling *f, struct ct_trace_row *r)
{
    r->kind = get32(f);
    r->detail = get32(f);
    r->device = get_device(f);
    r->registers = get_known(f);
    r->static_shared_bytes = get_known(f);
    r->name = get_last_text(f, r->name);
}

static void define_stream(struct filling *f, struct ct_trace_stream *s)
{
    s->device = get_device(f);
    s->context = get32(f);
    s->flags = get_known(f);
    s->priority = (int32_t)ct_varint_unfold(get32(f));
    s->special = get32(f);
    s->name = get_last_text(f, s->name);
    s->context_name = get_last_text(f, s->context_name);
}

static void define_shape(struct filling *f, struct ct_trace_shape *s)
{
    f->in.bad |= !s->id;
    for (unsigned i = 0; i < 3; i++)
        s->grid[i] = get32(f);
    for (unsigned i = 0; i < 3; i++)
        s->block[i] = get32(f);
    s->dynamic_shared_bytes = get(f);
}

static void define_api(struct filling *f, struct ct_trace_api *a)
{
    a->flags = get32(f);
    a->name = get_last_text(f, a->name);
}

static void define_thread(struct filling *f, struct ct_trace_thread *t)
{
    t->tid = get32(f);
    t->name = get_last_text(f, t->name);
}

static void define_label(struct filling *f, struct ct_trace_label *l)
{
    l->style = get32(f);
    l->color = get32(f);
    l->category = get32(f);
    l->domain = get_last_text(f, l->domain);
    l->name = get_last_text(f, l->name);
    l->category_name = get_last_text(f, l->category_name);
}

/* A caller has a lower index: so no frame is in itself. */
static void define_frame(struct filling *f, struct ct_trace_frame *e)
{
    uint32_t own = ct_trace_tables_find(f->tables, CT_TRACE_TABLE_FRAME, e->id);
    e->caller = ct_trace_tables_find(f->tables, CT_TRACE_TABLE_FRAME, get32(f));
    e->line = get32(f);
    e->function = get_last_text(f, e->function);
    e->file = get_last_text(f, e->file);
    e->address = get(f);
    e->build_id = get_last_text(f, e->build_id);
    f->in.bad |= e->caller >= own;
}

/* ---- elements ---- */

/* Room for one more element at the end, all zero. A table's room is a power of two, or none. */
static void *add_element(void **at, uint32_t *count, size_t size)
{
    if (!(*count & (*count - 1))) {
        void *larger = realloc(*at, (*count ? 2 * (size_t)*count : 1) * size);
        if (!larger)
            return NULL;
        *at = larger;
    }
    void *element = (char *)*at + *count * size;
    ++*count;
    return memset(element, 0, size);
}

/* The element of a number, a new one or one that is defined again. NULL: f->rc says why. */
static void *element_of(struct filling *f, enum ct_trace_table table, uint64_t number, void **at,
                        uint32_t *count, size_t size)
{
    uint32_t index = ct_trace_tables_find(f->tables, table, number);
    if (index != CT_TRACE_UNDEFINED)
        return (char *)*at + index * size;
    if (*count >= CT_TRACE_TABLE_MOST || add_number(&f->tables->map[table], number, *count) ||
        !add_element(at, count, size)) {
        f->rc = -ENOMEM;
        return NULL;
    }
    return (char *)*at + (*count - 1) * size;
}

#define DEFINE(table, member, define)                                                              \
    do {                                                                                           \
        void *at = t->member.at;                                                                   \
        __typeof__(t->member.at) e = element_of(f, CT_TRACE_TABLE_##table, number, &at,            \
                                                &t->member.count, sizeof(*t->member.at));          \
        t->member.at = at;                                                                         \
        if (e) {                                                                                   \
            e->id = (__typeof__(e->id))number;                                                     \
            define(f, e);                                                                          \
        }                                                                                          \
    } while (0)

static void define(struct filling *f, uint64_t kind)
{
    struct ct_trace_reader *t = f->t;
    if (kind == CT_TRACE_DEFINE_PROCESS) {
        define_process(f);
        return;
    }
    uint64_t number = kind <= CT_TRACE_DEFINE_FRAME ? ct_varint_get(&f->in) : 0;
    switch (kind) {
    case CT_TRACE_DEFINE_DEVICE:
        DEFINE(DEVICE, devices, define_device);
        break;
    case CT_TRACE_DEFINE_ROW:
        DEFINE(ROW, rows, define_row);
        break;
    case CT_TRACE_DEFINE_STREAM:
        DEFINE(STREAM, streams, define_stream);
        break;
    case CT_TRACE_DEFINE_SHAPE:
        DEFINE(SHAPE, shapes, define_shape);
        break;
    case CT_TRACE_DEFINE_API:
        DEFINE(API, apis, define_api);
        break;
    case CT_TRACE_DEFINE_THREAD:
        DEFINE(THREAD, threads, define_thread);
        break;
    case CT_TRACE_DEFINE_LABEL:
        DEFINE(LABEL, labels, define_label);
        break;
    case CT_TRACE_DEFINE_FRAME:
        DEFINE(FRAME, frames, define_frame);
        break;
    default:
        break; /* a newer version's */
    }
}

int ct_trace_tables_add(struct ct_trace_reader *t, struct ct_trace_tables *tables,
                        const uint8_t *data, size_t bytes, struct ct_read_error *error)
{
    struct ct_varints all = {data, data + bytes, false};
    struct filling f = {.t = t, .tables = tables};
    while (all.at < all.end && !f.rc && !f.in.bad) {
        uint64_t kind = ct_varint_get(&all), length = ct_varint_get(&all);
        if (length > (uint64_t)(all.end - all.at) || all.bad)
            return ct_read_fail(error, -EBADMSG, "is damaged: a definition has no end");
        f.in = (struct ct_varints){all.at, all.at + length, false};
        define(&f, kind);
        all.at += length;
    }
    if (f.rc)
        return ct_read_fail(error, f.rc, "defines more than there is memory for");
    if (f.in.bad)
        return ct_read_fail(error, -EBADMSG, "is damaged: a definition makes no sense");
    return 0;
}

int ct_trace_tables_start(struct ct_trace_reader *t, struct ct_trace_tables *tables)
{
    void *shapes = NULL, *frames = NULL;
    t->process.command = t->process.host = "";
    bool ok = add_element(&shapes, &t->shapes.count, sizeof(*t->shapes.at)) &&
              add_element(&frames, &t->frames.count, sizeof(*t->frames.at)) &&
              !add_number(&tables->map[CT_TRACE_TABLE_SHAPE], 0, 0) &&
              !add_number(&tables->map[CT_TRACE_TABLE_FRAME], 0, 0);
    t->shapes.at = shapes;
    t->frames.at = frames;
    if (t->frames.count)
        t->frames.at[0].function = t->frames.at[0].file = t->frames.at[0].build_id = "";
    return ok ? 0 : -ENOMEM;
}

void ct_trace_tables_free(struct ct_trace_reader *t, struct ct_trace_tables *tables)
{
#define X(id, member, type) free(t->member.at);
    CT_TRACE_TABLES(X)
#undef X
    for (unsigned i = 0; i < CT_TRACE_TABLE_COUNT; i++)
        free(tables->map[i].slots);
    while (tables->texts) {
        struct ct_trace_texts *next = tables->texts->next;
        free(tables->texts);
        tables->texts = next;
    }
}
