/* SPDX-License-Identifier: MIT */
#include "counts/row.h"

#include "base/config.h"
#include "base/text.h"
#include "containers/intern.h"
#include "containers/stable_array.h"
#include "containers/table.h"
#include "counts/filter.h"
#include "state/context.h"
#include "system/mem.h"
#include "system/spin.h"

#define OTHERS 1024 /* rows that are kept for get_others() */
#define NAMED_ROWS (CT_ROWS - OTHERS)

static const char others_name[] = "(other kernels)";

struct rows {
    struct ct_row *row;
    struct ct_stable_array room; /* memory of the rows; the last one is CT_ROW_WITNESS */
    _Atomic uint32_t count;
    struct ct_spin lock;   /* for adding */
    struct ct_table index; /* hash of the identity -> row, chained by trying the next hash */
    /* row + 1 of operations without a name: found without the lock */
    _Atomic uint32_t unnamed[CT_ROW_PREFETCH + 1][CT_DIRECTION_COUNT][CT_DEVICES];
};

static CT_PROCESS_READ struct rows *rows;
CT_READ_MOSTLY struct ct_row *ct_rows;

bool ct_rows_init(void)
{
    struct rows *r = ct_map(sizeof(*r));
    if (!r || !ct_table_init(&r->index, 16) ||
        !ct_stable_array_init(&r->room, sizeof(*r->row), CT_ROWS + 1, CT_ROWS + 1) ||
        !ct_stable_array_open_one(&r->room, CT_ROW_WITNESS) ||
        !ct_stable_array_reach(&r->room, OTHERS))
        return false;
    rows = r;
    ct_rows = r->row = r->room.at;
    return true;
}

uint32_t ct_rows_count(void)
{
    return rows ? atomic_load_explicit(&rows->count, memory_order_acquire) : 0;
}

struct identity {
    uint32_t kind, detail, device;
    const char *name;
    size_t len;
    uint64_t hash;
    const char *kept; /* a copy of the name that stays; NULL: no memory */
    bool excluded;
};

static struct identity identity(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    size_t len = ct_strnlen(name, CT_NAME_BYTES);
    uint64_t hash =
        ct_hash_bytes(name, len) ^ ((uint64_t)kind << 56 | (uint64_t)detail << 16 | device);
    return (struct identity){kind, detail, device, name, len, hash, NULL, false};
}

static bool is_row(const struct ct_row *r, const struct identity *id)
{
    return r->kind == id->kind && r->detail == id->detail && r->device == id->device &&
           ct_same_text(r->name, id->name, id->len);
}

/* Rows without a name of their own need no memory for it. */
static const char *name_of(const struct identity *id)
{
    if (!id->len)
        return "";
    return id->name == others_name ? others_name : ct_intern(id->name, id->len);
}

/* Work that takes time or memory, done before the lock is taken. */
static void settle(struct identity *id)
{
    bool named = id->kind == CT_ROW_KERNEL && id->name != others_name;
    id->kept = name_of(id);
    id->excluded = !ct_filter_takes(id->device, named ? id->kept : NULL);
}

/* Rows that need memory before a named one is added: others then find theirs at any time. */
static uint32_t reach_for_named(void)
{
    return (uint32_t)ct_min(ct_rows_count() + 1, NAMED_ROWS) + OTHERS;
}

/* Whether to try again without a row: other threads may have taken all rows that had memory. */
static bool may_grow(void)
{
    uint32_t reach = reach_for_named();
    return reach > ct_stable_array_open(&rows->room) && reach <= ct_stable_array_most(&rows->room);
}

static uint32_t add_locked(const struct identity *id, uint32_t most)
{
    uint32_t n = atomic_load_explicit(&rows->count, memory_order_relaxed);
    bool has_room = n < most && n + 1 + CT_ROWS - most <= ct_stable_array_open(&rows->room);
    if (!has_room || !id->kept)
        return CT_ROW_NONE;
    struct ct_row *r = &rows->row[n];
    r->kind = id->kind;
    r->detail = id->detail;
    r->device = id->device;
    r->name = id->kept;
    r->registers = UINT32_MAX;
    r->static_shared_bytes = UINT32_MAX;
    r->time.min_ns = r->raw.min_ns = UINT64_MAX;
    r->excluded = id->excluded;
    atomic_store_explicit(&rows->count, n + 1, memory_order_release);
    return n;
}

/* CT_ROW_NONE: there is no such row, and its key would be *key. Takes no lock. */
static uint32_t find(const struct identity *id, uint64_t *key)
{
    uint64_t value;
    for (*key = id->hash | 1; ct_table_find(&rows->index, *key, &value); *key += 2)
        if (is_row(&rows->row[value], id))
            return (uint32_t)value;
    return CT_ROW_NONE;
}

/* The row of that identity, or a new one among the first `most`. */
static uint32_t find_or_add(struct identity *id, uint32_t most)
{
    uint64_t key;
    uint32_t n = find(id, &key);
    if (n != CT_ROW_NONE || ct_rows_count() >= most)
        return n;
    settle(id);
    do {
        ct_stable_array_reach(&rows->room, reach_for_named());
        ct_spin_lock(&rows->lock);
        n = find(id, &key);
        if (n == CT_ROW_NONE && (n = add_locked(id, most)) != CT_ROW_NONE)
            ct_table_add(&rows->index, key, n);
        ct_spin_unlock(&rows->lock);
    } while (n == CT_ROW_NONE && may_grow());
    return n;
}

/* The row of all others of the kind on the device; there is room for some hundred of these. */
static uint32_t get_others(const struct identity *id)
{
    struct identity others = identity(id->kind, id->kind == CT_ROW_GRAPH ? 0 : id->detail,
                                      id->device, id->kind == CT_ROW_KERNEL ? others_name : "");
    uint32_t n = find_or_add(&others, CT_ROWS);
    return n != CT_ROW_NONE ? n : (uint32_t)ct_min(ct_stable_array_open(&rows->room), CT_ROWS) - 1;
}

static uint32_t get(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    struct identity id = identity(kind, detail, device, name);
    uint32_t n = find_or_add(&id, NAMED_ROWS);
    return n != CT_ROW_NONE ? n : get_others(&id);
}

uint32_t ct_row_get(uint32_t kind, uint32_t detail, uint32_t device, const char *name)
{
    if (name)
        return get(kind, detail, device, name);
    _Atomic uint32_t *slot = &rows->unnamed[kind][detail][device];
    uint32_t known = atomic_load_explicit(slot, memory_order_acquire);
    if (ct_unlikely(!known)) {
        known = get(kind, detail, device, "") + 1;
        atomic_store_explicit(slot, known, memory_order_release);
    }
    return known - 1;
}

uint64_t ct_rows_lost(void)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        for (unsigned why = 0; why < CT_LOSS_COUNT; why++)
            if (why != CT_LOSS_CAPTURED && why != CT_LOSS_EXCLUDED && !ct_loss_is_drawn(why))
                lost += atomic_load_explicit(&ct_row(i)->lost[why], memory_order_relaxed);
    return lost;
}
