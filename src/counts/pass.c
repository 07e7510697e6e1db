/* SPDX-License-Identifier: MIT */
#include "counts/pass.h"

#include <errno.h>

#include "base/random.h"
#include "counts/row.h"
#include "counts/sample.h"
#include "system/clock.h"

/*
 * Launches that go by at most before a look: rates change, and while a cell has operations that are
 * sure to be timed, the purse may fill at any time.
 */
#define MOST 1024
#define MOST_BEFORE_SURE 32

CT_READ_MOSTLY bool ct_pass_is_on;

static uint64_t collected; /* written by the drain thread */

void ct_pass_init(bool on)
{
    ct_pass_is_on = on;
    ct_pass_renew();
}

bool ct_pass_is_current(struct ct_passes *all, const struct ct_pass *p)
{
    int saved_errno = errno;
    CUcontext current = ct_context_current_handle();
    errno = saved_errno;
    return current == ct_pass_account(all, p)->context;
}

/* The cost of the stamps makes up for work that a processor does beside the call. */
void ct_pass_measured(uint64_t begin_ticks, uint64_t call_ticks, uint64_t done_ticks)
{
    ct_sample_measured(CT_COST_PASS, call_ticks - begin_ticks + ct_ticks() - done_ticks);
}

void ct_pass_failed(struct ct_passes *all, const struct ct_pass *p)
{
    struct ct_row *r = ct_row(ct_pass_account(all, p)->row);
    atomic_fetch_add_explicit(&r->errors, 1, memory_order_relaxed);
}

static struct ct_pass *slot_of(struct ct_passes *all, const struct ct_pass_finding *f)
{
    const struct ct_shape *s = f->shape;
    return ct_pass_slot(all, f->handle, f->stream, s->grid[0], s->grid[1], s->block[0]);
}

static bool is_of(const struct ct_pass *p, const struct ct_pass_finding *f)
{
    const struct ct_shape *s = f->shape;
    return p->handle == f->handle && p->stream == f->stream &&
           p->stream_index == ct_stream_index(f->known_stream) &&
           !__builtin_memcmp(p->grid, s->grid, sizeof(p->grid)) &&
           !__builtin_memcmp(p->block, s->block, sizeof(p->block)) &&
           p->shared_bytes == s->dynamic_shared_bytes;
}

struct ct_drawn ct_pass_candidate(struct ct_passes *all, const struct ct_pass_finding *f)
{
    struct ct_pass *p = slot_of(all, f);
    if (!is_of(p, f) || p->generation != f->generation || (!p->left && !p->candidate))
        return (struct ct_drawn){1, true};
    if (!p->left)
        p->candidate = false;
    return (struct ct_drawn){ct_pass_account(all, p)->every, !p->left};
}

static bool is_for(const struct ct_pass_account *a, const struct ct_pass_finding *f)
{
    return a->row == f->row && a->loss == f->loss && a->cell == f->cell &&
           a->stream_id == f->known_stream->id && a->context == f->context->handle;
}

/* Has the slot count such launches. False: its earlier counts wait for the drain thread. */
static bool claim(struct ct_passes *all, struct ct_pass *p, const struct ct_pass_finding *f)
{
    struct ct_pass_account *a = ct_pass_account(all, p);
    bool is_same = is_of(p, f) && is_for(a, f);
    if (!is_same && atomic_load_explicit(&p->count, memory_order_relaxed) !=
                        atomic_load_explicit(&a->taken, memory_order_acquire))
        return false;
    p->generation = f->generation;
    if (is_same)
        return true;
    const struct ct_shape *s = f->shape;
    p->handle = f->handle;
    p->stream = f->stream;
    p->stream_index = (uint16_t)ct_stream_index(f->known_stream);
    p->takes_turns = !ct_stream_is_non_blocking(f->known_stream);
    p->shared_bytes = (uint32_t)s->dynamic_shared_bytes;
    __builtin_memcpy(p->grid, s->grid, sizeof(p->grid));
    __builtin_memcpy(p->block, s->block, sizeof(p->block));
    a->row = f->row;
    a->last_row = f->last_row;
    a->loss = f->loss;
    a->cell = f->cell;
    a->stream_id = f->known_stream->id;
    a->context = f->context->handle;
    return true;
}

static void draw(struct ct_pass *p, struct ct_pass_account *a, uint64_t *random)
{
    p->in_clusters = a->cell != CT_CELL_NONE && ct_cell_is_in_clusters(a->cell);
    if (a->cell == CT_CELL_NONE) {
        p->left = UINT32_MAX;
        p->candidate = false;
        return;
    }
    uint32_t most = ct_cell_is_sure(a->cell) ? MOST_BEFORE_SURE : MOST;
    a->every = ct_cell_every(a->cell);
    p->left = ct_random_skip(random, a->every, most);
    p->candidate = p->left < most;
}

void ct_pass_arm(struct ct_passes *all, const struct ct_pass_finding *f, uint64_t *random)
{
    bool is_timed = f->cell != CT_CELL_NONE && ct_cell_every(f->cell) <= 1;
    if (is_timed || f->shape->dynamic_shared_bytes > UINT32_MAX)
        return;
    struct ct_pass *p = slot_of(all, f);
    size_t i = (size_t)(p - all->pass);
    if (!claim(all, p, f))
        return;
    draw(p, ct_pass_account(all, p), random);
    uint64_t used = atomic_load_explicit(&all->used[i / 64], memory_order_relaxed);
    uint64_t bit = (uint64_t)1 << i % 64;
    if (ct_unlikely(!(used & bit)))
        atomic_store_explicit(&all->used[i / 64], used | bit, memory_order_release);
}

/* The launching thread writes `count` last, the drain thread `taken`. */
static bool collect(struct ct_pass *p, struct ct_pass_account *a)
{
    uint64_t count = atomic_load_explicit(&p->count, memory_order_acquire);
    uint64_t n = count - atomic_load_explicit(&a->taken, memory_order_relaxed);
    if (!n)
        return false;
    ct_row_lose(a->row, (enum ct_loss)a->loss, n, 0);
    ct_stream_count_passed(ct_stream(p->stream_index), a->stream_id, n);
    if (a->cell != CT_CELL_NONE)
        ct_cell_passed(a->cell, n);
    collected += n;
    atomic_store_explicit(&a->taken, count, memory_order_release);
    return true;
}

bool ct_passes_collect(struct ct_passes *all)
{
    bool any = false;
    for (unsigned i = 0; i < CT_PASSES / 64; i++) {
        uint64_t used = atomic_load_explicit(&all->used[i], memory_order_acquire);
        for (; used; used &= used - 1) {
            unsigned at = i * 64 + (unsigned)__builtin_ctzll(used);
            any |= collect(&all->pass[at], &all->account[at]);
        }
    }
    return any;
}

uint64_t ct_passes_collected(void)
{
    return collected;
}
