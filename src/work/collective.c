/* SPDX-License-Identifier: MIT */
#include "work/collective.h"

#include "state/recording.h"
#include "state/thread.h"
#include "system/mem.h"
#include "system/spin.h"

#define NONE UINT32_MAX
#define INDEX_SLOTS 1024
_Static_assert(CT_COLLECTIVE_ROWS <= INDEX_SLOTS / 2, "a search has to end");
_Static_assert(CT_BATCHES <= UINT16_MAX, "a batch's index has 16 bits");

/* Operations of one row in a batch. */
struct part {
    uint32_t row; /* NONE: there was no row left */
    uint32_t calls;
    uint64_t bytes;
};

/* Sends and receives in a batch: whether they are an all-to-all shows in the order of their peers.
 */
struct exchange {
    uint32_t sends, receives;
    uint32_t datatype; /* as struct ct_file_collective has it */
    uint64_t sent_bytes, received_bytes;
    uint64_t each_bytes;
    bool is_even; /* so far peers come from 0 upwards, each with as much */
};

struct batch {
    uint32_t next_free;  /* index + 1 */
    uint32_t references; /* the call's, and one for each kernel that is on its way */
    uint32_t launched;
    uint32_t timed;
    uint64_t time_ns;
    bool captured;
    const void *communicator;
    uint32_t ranks;
    uint32_t streams;
    CUstream stream[CT_BATCH_STREAMS];
    struct exchange exchange;
    struct ct_collective_place place;
    uint32_t parts;
    struct part part[CT_BATCH_PARTS];
};

struct communicator {
    const void *handle;
    struct ct_collective_place newest;
};

struct collectives {
    struct ct_spin lock;
    uint32_t rows;
    uint32_t batches;    /* ever taken */
    uint32_t first_free; /* index + 1 */
    uint64_t uncounted;
    struct ct_file_collective row[CT_COLLECTIVE_ROWS];
    uint16_t row_index[INDEX_SLOTS]; /* row + 1 */
    struct batch batch[CT_BATCHES];
    uint32_t communicators;
    struct communicator communicator[CT_COMMUNICATORS];
};

static CT_PROCESS struct collectives *all;

bool ct_collectives_init(void)
{
    all = ct_map(sizeof(*all));
    return all != NULL;
}

/* ---- rows ---- */

static uint32_t octave_of(uint64_t bytes)
{
    return bytes ? 63 - (uint32_t)__builtin_clzll(bytes) : 0;
}

static bool is_row(const struct ct_file_collective *r, const struct ct_file_collective *key)
{
    return r->collective == key->collective && r->datatype == key->datatype &&
           r->ranks == key->ranks && r->octave == key->octave;
}

static uint32_t row_of(uint32_t kind, uint32_t datatype, uint32_t ranks, uint64_t bytes)
{
    struct ct_file_collective key = {
        .collective = kind, .datatype = datatype, .ranks = ranks, .octave = octave_of(bytes)};
    uint64_t hash = ((uint64_t)ranks << 24 | kind << 16 | datatype << 8 | key.octave);
    uint32_t i = (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 54), at;
    while ((at = all->row_index[i]) && !is_row(&all->row[at - 1], &key))
        i = (i + 1) % INDEX_SLOTS;
    if (at)
        return at - 1;
    if (all->rows == CT_COLLECTIVE_ROWS) {
        all->uncounted++;
        return NONE;
    }
    all->row[all->rows] = key;
    all->row_index[i] = (uint16_t)++all->rows;
    return all->rows - 1;
}
_Static_assert(INDEX_SLOTS == 1 << (64 - 54), "a slot is chosen by so many bits");

static void add_time(const struct batch *b, const struct part *p, uint64_t ns)
{
    struct ct_file_collective *r = &all->row[p->row];
    uint64_t each = ns / p->calls;
    r->min_ns = r->timed ? ct_min(r->min_ns, each) : each;
    r->max_ns = ct_max(r->max_ns, each);
    r->timed += p->calls;
    r->shared += b->parts > 1 ? p->calls : 0;
    r->timed_bytes += p->bytes;
    r->total_ns += ns;
}

/* Shares a batch's time by bytes; where no operation moves any, equally. */
static void share_time(const struct batch *b)
{
    uint64_t bytes = 0, left = b->time_ns;
    for (uint32_t i = 0; i < b->parts; i++)
        bytes += b->part[i].bytes;
    for (uint32_t i = 0; i < b->parts; i++) {
        const struct part *p = &b->part[i];
        double share = bytes ? (double)p->bytes / (double)bytes : 1.0 / b->parts;
        uint64_t ns = i + 1 == b->parts ? left : (uint64_t)((double)b->time_ns * share);
        left -= ct_min(ns, left);
        if (p->row != NONE)
            add_time(b, p, ns);
    }
}

/* ---- batches ---- */

static struct batch *batch_of(const struct ct_batches *mine, uint32_t i)
{
    return &all->batch[mine->open[i]];
}

static uint32_t take_batch(void)
{
    uint32_t i = all->first_free;
    if (i)
        all->first_free = all->batch[--i].next_free;
    else if (all->batches < CT_BATCHES)
        i = all->batches++;
    else
        return NONE;
    all->batch[i] = (struct batch){.references = 1, .exchange.is_even = true};
    return i;
}

static void drop_reference(struct batch *b)
{
    if (--b->references)
        return;
    if (b->launched && b->timed == b->launched)
        share_time(b);
    b->next_free = all->first_free;
    all->first_free = (uint32_t)(b - all->batch) + 1;
}

static void add_stream(struct batch *b, CUstream stream)
{
    stream = stream ? stream : CU_STREAM_LEGACY;
    for (uint32_t i = 0; i < b->streams; i++)
        if (b->stream[i] == stream)
            return;
    if (b->streams < CT_BATCH_STREAMS)
        b->stream[b->streams++] = stream;
}

static struct batch *open_batch(struct ct_batches *mine, const struct ct_collective_call *c)
{
    uint32_t i = 0;
    while (i < mine->count && batch_of(mine, i)->communicator != c->communicator)
        i++;
    if (i == mine->count) {
        uint32_t taken = i < CT_BATCHES_OPEN ? take_batch() : NONE;
        if (taken == NONE)
            return NULL;
        all->batch[taken].communicator = c->communicator;
        mine->open[mine->count++] = (uint16_t)taken;
    }
    struct batch *b = batch_of(mine, i);
    add_stream(b, c->stream);
    return b;
}

/* Adds an operation. Without room for its part it is counted alone, and the batch not timed. */
static void add_part(struct batch *b, uint32_t row, uint64_t bytes)
{
    uint32_t i = 0;
    while (i < b->parts && b->part[i].row != row)
        i++;
    if (i == CT_BATCH_PARTS) {
        b->launched++;
        if (row != NONE) {
            all->row[row].calls++;
            all->row[row].bytes += bytes;
        }
        return;
    }
    if (i == b->parts)
        b->part[b->parts++] = (struct part){.row = row};
    b->part[i].calls++;
    b->part[i].bytes += bytes;
}

static void add_to_exchange(struct exchange *e, const struct ct_collective_call *c)
{
    bool is_first = !e->sends && !e->receives;
    uint32_t *count = c->kind == CT_COLLECTIVE_SEND ? &e->sends : &e->receives;
    uint64_t *bytes = c->kind == CT_COLLECTIVE_SEND ? &e->sent_bytes : &e->received_bytes;
    e->datatype = is_first || e->datatype == c->datatype + 1 ? c->datatype + 1 : 0;
    e->each_bytes = is_first ? c->bytes : e->each_bytes;
    e->is_even = e->is_even && c->peer == *count && c->bytes == e->each_bytes;
    ++*count;
    *bytes += c->bytes;
}

/* Counts the batch's sends and receives, which go on at the same time, as one operation. */
static void end_exchange(struct batch *b)
{
    const struct exchange *e = &b->exchange;
    uint64_t bytes = ct_max(e->sent_bytes, e->received_bytes);
    bool is_all = e->is_even && b->ranks && e->sends == b->ranks && e->receives == b->ranks;
    uint32_t kind = is_all         ? CT_COLLECTIVE_ALL_TO_ALL
                    : !e->receives ? CT_COLLECTIVE_SEND
                    : !e->sends    ? CT_COLLECTIVE_RECV
                                   : CT_COLLECTIVE_SEND_RECV;
    if (e->sends || e->receives)
        add_part(b, row_of(kind, e->datatype, b->ranks, bytes), bytes);
}

static void count_calls(const struct batch *b, bool failed)
{
    for (uint32_t i = 0; i < b->parts; i++) {
        const struct part *p = &b->part[i];
        struct ct_file_collective *r = p->row == NONE ? NULL : &all->row[p->row];
        if (r && failed) {
            r->failed += p->calls;
        } else if (r) {
            r->calls += p->calls;
            r->bytes += p->bytes;
            r->captured += b->captured ? p->calls : 0;
        }
    }
}

static void close_batches(struct ct_batches *mine, bool failed)
{
    for (uint32_t i = 0; i < mine->count; i++) {
        struct batch *b = batch_of(mine, i);
        end_exchange(b);
        count_calls(b, failed);
        if (failed || !b->parts)
            b->launched++; /* kernels launched all the same are not timed */
        drop_reference(b);
    }
    mine->count = 0;
}

/* ---- calls ---- */

static bool is_exchange(uint32_t kind)
{
    return kind == CT_COLLECTIVE_SEND || kind == CT_COLLECTIVE_RECV;
}

/* AllGather's and ReduceScatter's size is that of all ranks' data together. */
static uint64_t message_bytes(const struct ct_collective_call *c)
{
    bool is_of_all = c->kind == CT_COLLECTIVE_ALL_GATHER || c->kind == CT_COLLECTIVE_REDUCE_SCATTER;
    return is_of_all ? c->bytes * ct_max(c->ranks, 1) : c->bytes;
}

static uint32_t communicators_of(uint32_t ranks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->communicators; i++)
        n += all->communicator[i].newest.ranks == ranks;
    return n;
}

/* A handle that another communicator had before is not told from it, unless their ranks differ. */
static struct communicator *communicator_of(const struct ct_collective_call *c)
{
    uint32_t i = 0;
    while (i < all->communicators && (all->communicator[i].handle != c->communicator ||
                                      all->communicator[i].newest.ranks != c->ranks))
        i++;
    if (i == CT_COMMUNICATORS)
        return NULL;
    if (i == all->communicators) {
        uint32_t number = communicators_of(c->ranks) + 1;
        all->communicators++;
        all->communicator[i].handle = c->communicator;
        all->communicator[i].newest = (struct ct_collective_place){
            .communicator = number, .ranks = c->ranks, .rank = c->rank};
    }
    return &all->communicator[i];
}

/* Sends and receives have no number: not all ranks take part in each. */
static struct ct_collective_place next_place(const struct ct_collective_call *c, uint64_t bytes)
{
    struct communicator *known = communicator_of(c);
    struct ct_collective_place p = {.ranks = c->ranks, .rank = c->rank};
    if (known)
        p = known->newest;
    p.collective = c->kind;
    p.bytes = bytes;
    p.sequence += is_exchange(c->kind) ? 0 : 1;
    if (known)
        known->newest = p;
    return p;
}

static void add_call(struct ct_batches *mine, const struct ct_collective_call *c)
{
    struct batch *b = open_batch(mine, c);
    uint64_t bytes = message_bytes(c);
    struct ct_collective_place place = next_place(c, bytes);
    if (b) {
        b->ranks = c->ranks;
        b->place = place;
    }
    if (b && is_exchange(c->kind)) {
        add_to_exchange(&b->exchange, c);
        return;
    }
    uint32_t row = row_of(c->kind, c->datatype + 1, c->ranks, bytes);
    if (b) {
        add_part(b, row, bytes);
    } else if (row != NONE) {
        all->row[row].calls++;
        all->row[row].bytes += bytes;
    }
}

/* Opens the batch here outside of a group, where the call itself launches. */
void ct_collective_begin(struct ct_thread *t, const struct ct_collective_call *c)
{
    if (t->batches->groups || !ct_recording())
        return;
    ct_spin_lock(&all->lock);
    open_batch(t->batches, c);
    ct_spin_unlock(&all->lock);
}

void ct_collective_end(struct ct_thread *t, const struct ct_collective_call *c, bool failed)
{
    ct_spin_lock(&all->lock);
    if (failed) {
        uint32_t row = row_of(c->kind, 0, 0, 0);
        if (row != NONE)
            all->row[row].failed++;
    } else if (ct_recording()) {
        add_call(t->batches, c);
    }
    if (!t->batches->groups)
        close_batches(t->batches, failed);
    ct_spin_unlock(&all->lock);
}

void ct_collective_group_starts(struct ct_thread *t)
{
    t->batches->groups++;
}

void ct_collective_group_ends(struct ct_thread *t, bool failed)
{
    if (t->batches->groups && --t->batches->groups)
        return;
    ct_spin_lock(&all->lock);
    close_batches(t->batches, failed);
    ct_spin_unlock(&all->lock);
}

/* A thread may end within a group: operations begun there are not counted. */
void ct_collectives_leave(struct ct_thread *t)
{
    if (t->batches->count) {
        ct_spin_lock(&all->lock);
        for (uint32_t i = 0; i < t->batches->count; i++)
            drop_reference(batch_of(t->batches, i));
        ct_spin_unlock(&all->lock);
    }
    *t->batches = (struct ct_batches){.groups = 0};
}

/* ---- kernels ---- */

/*
 * The one batch that launches in the stream. If there are several, two communicators' of one group,
 * nobody can tell whose kernel it is: then none of them is timed.
 */
static struct batch *launching(const struct ct_batches *mine, CUstream stream, bool captured)
{
    struct batch *only = NULL;
    unsigned found = 0;
    for (uint32_t i = 0; i < mine->count; i++) {
        struct batch *b = batch_of(mine, i);
        for (uint32_t k = 0; k < b->streams; k++) {
            if (b->stream[k] != stream)
                continue;
            b->launched++;
            b->captured |= captured;
            only = found++ ? NULL : b;
        }
    }
    return only;
}

uint32_t ct_collective_launched(struct ct_thread *t, CUstream stream)
{
    ct_spin_lock(&all->lock);
    struct batch *b = launching(t->batches, stream, false);
    if (b)
        b->references++;
    ct_spin_unlock(&all->lock);
    return b ? (uint32_t)(b - all->batch) + 1 : 0;
}

void ct_collective_untimed(struct ct_thread *t, CUstream stream, bool captured)
{
    ct_spin_lock(&all->lock);
    launching(t->batches, stream, captured);
    ct_spin_unlock(&all->lock);
}

void ct_collective_timed(uint32_t batch, uint64_t time_ns)
{
    struct batch *b = &all->batch[batch - 1];
    ct_spin_lock(&all->lock);
    b->timed++;
    b->time_ns += time_ns;
    drop_reference(b);
    ct_spin_unlock(&all->lock);
}

void ct_collective_lost(uint32_t batch)
{
    ct_spin_lock(&all->lock);
    drop_reference(&all->batch[batch - 1]);
    ct_spin_unlock(&all->lock);
}

/* ---- for the file ---- */

uint32_t ct_collective_rows(void)
{
    ct_spin_lock(&all->lock);
    uint32_t n = all->rows;
    ct_spin_unlock(&all->lock);
    return n;
}

struct ct_file_collective ct_collective_row(uint32_t index)
{
    ct_spin_lock(&all->lock);
    struct ct_file_collective r = all->row[index];
    ct_spin_unlock(&all->lock);
    return r;
}

uint64_t ct_collectives_uncounted(void)
{
    ct_spin_lock(&all->lock);
    uint64_t n = all->uncounted;
    ct_spin_unlock(&all->lock);
    return n;
}

/* ---- for who looks at ranks that wait ---- */

struct ct_collective_place ct_collective_place_of(uint32_t batch)
{
    ct_spin_lock(&all->lock);
    struct ct_collective_place p = all->batch[batch - 1].place;
    ct_spin_unlock(&all->lock);
    return p;
}

uint32_t ct_communicators(void)
{
    ct_spin_lock(&all->lock);
    uint32_t n = all->communicators;
    ct_spin_unlock(&all->lock);
    return n;
}

struct ct_collective_place ct_communicator_newest(uint32_t index)
{
    ct_spin_lock(&all->lock);
    struct ct_collective_place p = all->communicator[index].newest;
    ct_spin_unlock(&all->lock);
    return p;
}
