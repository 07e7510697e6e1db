/* SPDX-License-Identifier: MIT */
#include "drain/image.h"

#define SECTIONS CT_SECTION_SENSORS /* the last; not all are in `order` */
#define SPARE_BYTES 512
#define LARGE_BYTES ((size_t)64 * 1024) /* from this size on lists keep their places */
#define SIZES 32                        /* sizes of lists: powers of two */

/* In bytes; the offset is from the start of the payload. */
struct section {
    size_t offset;
    size_t room;
    size_t len;
};

struct image {
    struct ct_buffer *payload;
    struct section section[SECTIONS + 1]; /* by enum ct_section_type */
    bool final;
    bool anew; /* lists are laid out anew, and sections have no room to grow */
    bool out_of_memory;
};

static struct image image;

/*
 * The sections as they lie: one that needs more room moves all that are behind it. So large ones
 * come first, and the one that grows most last, where there is always room.
 */
static const uint32_t order[] = {
    CT_SECTION_ROWS,        CT_SECTION_STRINGS, CT_SECTION_PROCESS,   CT_SECTION_DEVICES,
    CT_SECTION_APIS,        CT_SECTION_STREAMS, CT_SECTION_NODES,     CT_SECTION_NOTES,
    CT_SECTION_ACTIVITIES,  CT_SECTION_GAPS,    CT_SECTION_TRANSFERS, CT_SECTION_THREADS,
    CT_SECTION_RANGES,      CT_SECTION_CELLS,   CT_SECTION_MEMORY,    CT_SECTION_BLOCKS,
    CT_SECTION_COLLECTIVES, CT_SECTION_UNIFIED, CT_SECTION_LINES,     CT_SECTION_FRAMES,
    CT_SECTION_STACKS,      CT_SECTION_MODULES, CT_SECTION_INSIDE,    CT_SECTION_OBJECTS,
    CT_SECTION_ADDRESSES,   CT_SECTION_STUCK,   CT_SECTION_SENSORS,   CT_SECTION_SHAPES,
    CT_SECTION_BUCKETS,
};

static const uint32_t element_bytes[SECTIONS + 1] = {
    [CT_SECTION_STRINGS] = 1,
    [CT_SECTION_PROCESS] = sizeof(struct ct_file_process),
    [CT_SECTION_DEVICES] = sizeof(struct ct_file_device),
    [CT_SECTION_ROWS] = sizeof(struct ct_file_row),
    [CT_SECTION_SHAPES] = sizeof(struct ct_file_shape),
    [CT_SECTION_BUCKETS] = sizeof(struct ct_file_bucket),
    [CT_SECTION_APIS] = sizeof(struct ct_file_api),
    [CT_SECTION_STREAMS] = sizeof(struct ct_file_stream),
    [CT_SECTION_NODES] = sizeof(struct ct_file_node),
    [CT_SECTION_NOTES] = sizeof(struct ct_file_note),
    [CT_SECTION_ACTIVITIES] = sizeof(struct ct_file_activity),
    [CT_SECTION_GAPS] = sizeof(struct ct_file_gap),
    [CT_SECTION_TRANSFERS] = sizeof(struct ct_file_transfer),
    [CT_SECTION_THREADS] = sizeof(struct ct_file_thread),
    [CT_SECTION_RANGES] = sizeof(struct ct_file_range),
    [CT_SECTION_CELLS] = sizeof(struct ct_file_cell),
    [CT_SECTION_MEMORY] = sizeof(struct ct_file_memory),
    [CT_SECTION_BLOCKS] = sizeof(struct ct_file_block),
    [CT_SECTION_COLLECTIVES] = sizeof(struct ct_file_collective),
    [CT_SECTION_UNIFIED] = sizeof(struct ct_file_unified),
    [CT_SECTION_LINES] = sizeof(struct ct_file_line),
    [CT_SECTION_FRAMES] = sizeof(struct ct_file_frame),
    [CT_SECTION_STACKS] = sizeof(struct ct_file_stack),
    [CT_SECTION_MODULES] = sizeof(struct ct_file_module),
    [CT_SECTION_INSIDE] = sizeof(struct ct_file_inside),
    [CT_SECTION_OBJECTS] = sizeof(struct ct_file_object),
    [CT_SECTION_ADDRESSES] = sizeof(struct ct_file_address),
    [CT_SECTION_SENSORS] = sizeof(struct ct_file_sensor),
    [CT_SECTION_STUCK] = sizeof(struct ct_file_stuck),
};

#define HEAD_BYTES                                                                                 \
    (sizeof(struct ct_file_payload) + ct_countof(order) * sizeof(struct ct_file_section))

static bool is_of_lists(uint32_t type)
{
    return type == CT_SECTION_SHAPES || type == CT_SECTION_BUCKETS;
}

/* ---- sections ---- */

static char *section_at(uint32_t type)
{
    return image.payload->data + image.section[type].offset;
}

const void *ct_image_section(uint32_t type)
{
    return section_at(type);
}

uint32_t ct_image_count(uint32_t type)
{
    return (uint32_t)(image.section[type].len / element_bytes[type]);
}

/* Each section to its next place, which is never before the one it has. */
static void move_all(const struct section *next)
{
    for (size_t i = ct_countof(order); i--;) {
        const struct section *s = &image.section[order[i]];
        if (s->offset != next[order[i]].offset)
            __builtin_memmove(image.payload->data + next[order[i]].offset, section_at(order[i]),
                              s->len);
    }
    __builtin_memcpy(image.section, next, sizeof(image.section));
}

/* A quarter more than is needed, but for the last section. */
static size_t room_for(uint32_t type, size_t bytes)
{
    if (type == order[ct_countof(order) - 1])
        return bytes;
    return (bytes + bytes / 4 + SPARE_BYTES) & ~(size_t)7;
}

static bool make_room(uint32_t type, size_t bytes)
{
    struct section next[SECTIONS + 1];
    size_t end = HEAD_BYTES, have = image.payload->len_bytes;
    __builtin_memcpy(next, image.section, sizeof(next));
    next[type].room = room_for(type, bytes);
    for (size_t i = 0; i < ct_countof(order); i++) {
        next[order[i]].offset = end;
        end += next[order[i]].room;
    }
    if (end > have && !ct_buffer_add(image.payload, end - have))
        return false;
    move_all(next);
    return true;
}

static void *add(uint32_t type, size_t bytes)
{
    struct section *s = &image.section[type];
    if (s->len + bytes > s->room && !make_room(type, s->len + bytes)) {
        image.out_of_memory = true;
        return NULL;
    }
    s->len += bytes;
    return section_at(type) + s->len - bytes;
}

void ct_image_append(uint32_t type, const void *data, size_t bytes)
{
    void *to = add(type, bytes);
    if (to)
        __builtin_memcpy(to, data, bytes);
}

/* An empty buffer is that of a process without lists. */
static bool start(struct ct_buffer *payload)
{
    image = (struct image){.payload = payload, .anew = true};
    return ct_buffer_add(payload, HEAD_BYTES);
}

/* From now on sections have room and lists keep their places. The payload must be whole. */
static bool keep_places(void)
{
    image.anew = false;
    for (size_t i = 0; i < ct_countof(order); i++)
        if (!make_room(order[i], image.section[order[i]].len))
            return false;
    return true;
}

bool ct_image_begin(struct ct_buffer *payload, bool final)
{
    if (!payload->data && !start(payload))
        return false;
    bool whole = !image.out_of_memory;
    if (image.anew && whole && payload->len_bytes >= LARGE_BYTES && !keep_places())
        return false;
    image.final |= final;
    image.anew |= image.final;
    image.out_of_memory = false;
    for (uint32_t type = 1; type <= SECTIONS; type++)
        if (image.anew || !is_of_lists(type))
            image.section[type].len = 0;
    return true;
}

bool ct_image_keeps_lists(void)
{
    return !image.anew;
}

/* ---- lists ---- */

/*
 * In elements: powers of two, so that the places which a list has left are together less than the
 * one it has. A final payload has no spare room.
 */
static uint32_t room_of(uint32_t count)
{
    return count < 2 || image.final ? count : 2u << (31 - __builtin_clz(count - 1));
}

static bool add_room(uint32_t type, uint32_t count, uint32_t *first)
{
    size_t bytes = (size_t)count * element_bytes[type];
    uint32_t at = ct_image_count(type);
    void *room = add(type, bytes);
    if (!room)
        return false;
    __builtin_memset(room, 0, bytes);
    *first = at;
    return true;
}

void *ct_image_list(uint32_t type, struct ct_extent *list, uint32_t count)
{
    uint32_t room = room_of(count);
    bool moves = image.anew || room > room_of(list->count);
    if (moves && !add_room(type, room, &list->first))
        return NULL;
    list->count = count;
    return section_at(type) + (size_t)list->first * element_bytes[type];
}

/* ---- the end ---- */

/* Takes the spare room out of all sections; zeros fill each up to a multiple of eight. */
static void close_up(void)
{
    size_t end = HEAD_BYTES;
    for (size_t i = 0; i < ct_countof(order); i++) {
        struct section *s = &image.section[order[i]];
        char *to = image.payload->data + end;
        __builtin_memmove(to, section_at(order[i]), s->len);
        s->room = (s->len + 7) & ~(size_t)7;
        __builtin_memset(to + s->len, 0, s->room - s->len);
        s->offset = end;
        end += s->room;
    }
    image.payload->len_bytes = end;
}

static void write_head(void)
{
    const struct ct_file_payload head = {ct_countof(order), sizeof(struct ct_file_section)};
    struct ct_file_section table[ct_countof(order)];
    for (size_t i = 0; i < ct_countof(order); i++)
        table[i] =
            (struct ct_file_section){order[i], element_bytes[order[i]], ct_image_count(order[i]),
                                     image.section[order[i]].offset};
    __builtin_memcpy(image.payload->data, &head, sizeof(head));
    __builtin_memcpy(image.payload->data + sizeof(head), table, sizeof(table));
}

bool ct_image_end(void)
{
    if (image.out_of_memory)
        return false;
    if (image.anew)
        close_up();
    write_head();
    return true;
}
