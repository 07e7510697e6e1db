/* SPDX-License-Identifier: MIT */
/*
 * The table of blocks against a list, its bound, and the list of what is left; what others do
 * wherever the lock is given up, and how much is looked at while it is held.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"
#include "case_main.h"
#include "system/spin.h"

static void others_turn(void);

#define ct_spin_unlock(lock) (ct_spin_unlock(lock), others_turn())
#include "work/allocation.c"
#undef ct_spin_unlock

static void (*others)(void); /* what they do each time that the lock was given up */

static void others_turn(void)
{
    void (*f)(void) = others;
    others = NULL;
    if (f)
        f();
    others = f;
}

static void set_up(void)
{
    others = NULL;
    ct_process_forget();
    ct_config.without_memory = false;
    ck_assert(ct_allocations_init());
}

static void add(uint64_t key, uint64_t bytes, uintptr_t context)
{
    ct_allocations_add((struct ct_allocated){
        .key = key, .context = (CUcontext)context, .bytes = bytes, .kind = CT_ALLOCATION_DEVICE});
}

static struct ct_allocated take(uint64_t key)
{
    return ct_allocations_free(key, CT_ALLOCATION_DEVICE, 0);
}

static struct ct_file_memory figures(uint32_t kind)
{
    struct ct_file_memory f = {0};
    ct_allocations_figures(0, kind, &f);
    return f;
}

/* Few keys in few places: chains that run into each other, round the end of the table, too. */
#define KEYS 3000

START_TEST(it_is_a_list)
{
    static struct {
        uint64_t bytes;
        uintptr_t context;
    } blocks[KEYS];
    uint64_t held = 0, count = 0, peak = 0, ended = 0;
    memset(blocks, 0, sizeof(blocks));
    srand(7);
    for (int step = 0; step < 200000; step++) {
        uint64_t i = (uint64_t)rand() % KEYS, key = (i + 1) << 9;
        if (step % 20000 == 19999) {
            uintptr_t gone = 1 + (uintptr_t)rand() % 3;
            ct_allocations_end((CUcontext)gone);
            for (int k = 0; k < KEYS; k++) {
                bool goes = blocks[k].bytes && blocks[k].context == gone;
                held -= goes ? blocks[k].bytes : 0;
                count -= goes;
                ended += goes;
                blocks[k].bytes = goes ? 0 : blocks[k].bytes;
            }
        } else if (blocks[i].bytes) {
            struct ct_allocated b = take(key);
            ct_assert_uint(b.bytes, ==, blocks[i].bytes);
            if (rand() % 8 == 0) {
                ct_allocations_keep(b);
                continue;
            }
            held -= blocks[i].bytes;
            count--;
            blocks[i].bytes = 0;
        } else {
            blocks[i].bytes = 1 + (uint64_t)rand() % 100000;
            blocks[i].context = 1 + (uintptr_t)rand() % 3;
            add(key, blocks[i].bytes, blocks[i].context);
            held += blocks[i].bytes;
            count++;
            peak = held > peak ? held : peak;
        }
        if (step % 1000 == 0)
            ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).held_bytes, held);
    }
    struct ct_file_memory f = figures(CT_ALLOCATION_ON_DEVICE);
    ck_assert_uint_eq(f.held, count);
    ck_assert_uint_eq(f.held_bytes, held);
    ck_assert_uint_eq(f.peak_bytes, peak);
    ck_assert_uint_eq(f.ended, ended);
    ck_assert_uint_eq(f.allocations, f.frees + f.ended + f.held);
    ck_assert_uint_eq(f.unseen_frees + f.unknown_frees + f.unfollowed, 0);
}
END_TEST

START_TEST(what_finds_no_room_is_counted)
{
    for (uint64_t i = 1; i <= CT_ALLOCATIONS_FOLLOWED + 10; i++)
        add(i << 8, 2, 1);
    struct ct_file_memory f = figures(CT_ALLOCATION_DEVICE);
    ck_assert_uint_eq(f.allocations, CT_ALLOCATIONS_FOLLOWED + 10);
    ck_assert_uint_eq(f.held, CT_ALLOCATIONS_FOLLOWED);
    ck_assert_uint_eq(f.unfollowed, 10);
    ck_assert_uint_eq(f.unfollowed_bytes, 20);
    take((CT_ALLOCATIONS_FOLLOWED + 1) << 8);
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).unknown_frees, 1);
    ct_allocations_end((CUcontext)1);
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).held, 0);
}
END_TEST

START_TEST(frees_that_were_not_seen)
{
    add(4096, 10, 1);
    add(4096, 30, 1);
    struct ct_file_memory f = figures(CT_ALLOCATION_DEVICE);
    ck_assert_uint_eq(f.unseen_frees, 1);
    ck_assert_uint_eq(f.held, 1);
    ck_assert_uint_eq(f.held_bytes, 30);
    ck_assert_uint_eq(f.peak_bytes, 30);
}
END_TEST

START_TEST(frees_that_fail)
{
    add(4096, 10, 1);
    ct_allocations_keep(take(8192));
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).unknown_frees, 0);
    ct_allocations_keep(take(4096));
    ct_allocations_retain(4096);
    ct_allocations_keep(take(4096));
    take(4096);
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).held, 1);
    take(4096);
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).held, 0);
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).frees, 1);
    ck_assert_uint_eq(figures(CT_ALLOCATION_DEVICE).unknown_frees, 0);
}
END_TEST

START_TEST(references_hold_physical_memory)
{
    uint64_t key = 77 | CT_ALLOCATION_HANDLE;
    ct_allocations_add(
        (struct ct_allocated){.key = key, .bytes = 1 << 21, .kind = CT_ALLOCATION_PHYSICAL});
    ct_allocations_retain(key);
    take(key);
    ck_assert_uint_eq(figures(CT_ALLOCATION_PHYSICAL).held, 1);
    ct_allocations_end((CUcontext)1);
    ck_assert_uint_eq(figures(CT_ALLOCATION_PHYSICAL).held, 1);
    take(key);
    ck_assert_uint_eq(figures(CT_ALLOCATION_PHYSICAL).held, 0);
    ck_assert_uint_eq(figures(CT_ALLOCATION_PHYSICAL).frees, 1);
}
END_TEST

/* 5,000 sizes are more than are told apart; all bytes are in the list all the same. */
START_TEST(the_list_has_all)
{
    static struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1];
    uint64_t bytes = 0, blocks = 0;
    for (uint64_t i = 1; i <= 5000; i++)
        add(i << 8, i, 1);
    uint32_t count = ct_allocations_list(list);
    ck_assert_uint_eq(count, CT_ALLOCATIONS_LISTED + 1);
    for (uint32_t i = 0; i + 1 < count; i++) {
        ck_assert_uint_eq(list[i].kind, CT_ALLOCATION_DEVICE);
        ck_assert(!i || list[i - 1].bytes * list[i - 1].count >= list[i].bytes * list[i].count);
        bytes += list[i].bytes * list[i].count;
        blocks += list[i].count;
    }
    ck_assert_uint_eq(list[count - 1].kind, CT_ALLOCATION_ON_DEVICE);
    ck_assert_uint_eq(bytes + list[count - 1].bytes, 5000 * 5001 / 2);
    ck_assert_uint_eq(blocks + list[count - 1].count, 5000);
}
END_TEST

/* ---- a context that ends, while others allocate and free ---- */

#define OF_CONTEXT 5000
#define OF_OTHERS 5000
#define MOST_AT_ONCE 64 /* blocks looked at, and ended, before others have the lock */

static uint64_t turns, held_before;
static unsigned most_ended;

static uint64_t others_key(uint64_t i)
{
    return (uint64_t)1 << 40 | i << 8;
}

/* Another context's: one block more, one less, one anew under the same key. */
static void come_and_go(void)
{
    uint64_t held = figures(CT_ALLOCATION_DEVICE).held, i = turns++;
    most_ended = (unsigned)ct_max(most_ended, held_before - held);
    if (i < OF_OTHERS / 2) {
        take(others_key(2 * i));
        take(others_key(2 * i + 1));
        add(others_key(2 * i + 1), 7, 2);
        add(others_key(OF_OTHERS + i), 7, 2);
    }
    held_before = figures(CT_ALLOCATION_DEVICE).held;
}

START_TEST(a_context_ends_in_pieces)
{
    for (uint64_t i = 0; i < OF_CONTEXT; i++) {
        add((i + 1) << 8, 3, 1);
        add(others_key(i), 7, 2);
    }
    turns = most_ended = 0;
    held_before = OF_CONTEXT + OF_OTHERS;
    others = come_and_go;
    ct_allocations_end((CUcontext)1);
    others = NULL;
    struct ct_file_memory f = figures(CT_ALLOCATION_DEVICE);
    ck_assert_uint_eq(f.ended, OF_CONTEXT);
    ck_assert_uint_eq(f.held, OF_OTHERS);
    ck_assert_uint_eq(f.held_bytes, OF_OTHERS * 7);
    ck_assert_uint_eq(f.unknown_frees + f.unseen_frees, 0);
    ck_assert_uint_ge(turns, (OF_CONTEXT + OF_OTHERS) / MOST_AT_ONCE);
    ck_assert_uint_le(most_ended, MOST_AT_ONCE);
}
END_TEST

/* ---- the list is right at each moment, and looks at little ---- */

#define SIZES 200
#define LIVING 4000

static uint64_t of_size[SIZES]; /* blocks, of i + 1 bytes */

static int by_total(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void check_list(void)
{
    static struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1];
    uint64_t totals[SIZES], rest = 0, blocks = 0, told = 0;
    for (unsigned i = 0; i < SIZES; i++) {
        totals[i] = of_size[i] * (i + 1);
        blocks += of_size[i];
    }
    qsort(totals, SIZES, sizeof(totals[0]), by_total);
    for (unsigned i = CT_ALLOCATIONS_LISTED; i < SIZES; i++)
        rest += totals[i];
    uint32_t n = ct_allocations_list(list);
    for (uint32_t i = 0; i < n && i < CT_ALLOCATIONS_LISTED; i++) {
        ct_assert_uint(list[i].bytes * list[i].count, ==, totals[i]);
        ct_assert_uint(list[i].count, ==, of_size[list[i].bytes - 1]);
        told += list[i].count;
    }
    ct_assert_uint(n > CT_ALLOCATIONS_LISTED ? list[n - 1].bytes : 0, ==, rest);
    ct_assert_uint(n > CT_ALLOCATIONS_LISTED ? list[n - 1].count : 0, ==, blocks - told);
}

START_TEST(the_list_follows)
{
    static uint64_t size[LIVING];
    memset(size, 0, sizeof(size));
    memset(of_size, 0, sizeof(of_size));
    srand(11);
    for (unsigned step = 0; step < 100000; step++) {
        uint64_t i = (uint64_t)rand() % LIVING, key = (i + 1) << 8;
        if (size[i]) {
            take(key);
            of_size[size[i] - 1]--;
            size[i] = 0;
        } else {
            uint64_t reach = step % 20000 < 10000 ? SIZES : 40;
            size[i] = 1 + (uint64_t)rand() % reach;
            of_size[size[i] - 1]++;
            add(key, size[i], 1);
        }
        if (step % 500 == 0)
            check_list();
    }
    check_list();
}
END_TEST

/* By the smallest page, all that is behind the first one. */
static void forbid(void *start, size_t bytes, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ck_assert(!mprotect((char *)start + page, (bytes - page) & ~(page - 1), protection));
}

/* 98,304 sizes: of those below the first hundred or so nothing is read. */
START_TEST(the_list_looks_at_few)
{
    static struct ct_file_block list[CT_ALLOCATIONS_LISTED + 1];
    for (uint64_t i = 0; i < CT_ALLOCATIONS_FOLLOWED; i++)
        add((i + 1) << 8, 1000000 - i, 1);
    size_t sizes = CT_ALLOCATIONS_FOLLOWED * sizeof(*all->sizes.size);
    size_t heap = CT_ALLOCATIONS_FOLLOWED * sizeof(*all->sizes.heap);
    forbid(all->sizes.size, sizes, PROT_NONE);
    forbid(all->sizes.heap, heap, PROT_NONE);
    forbid(all->index.first, sizeof(uint32_t) << CHAIN_BITS, PROT_NONE);
    uint32_t n = ct_allocations_list(list);
    forbid(all->index.first, sizeof(uint32_t) << CHAIN_BITS, PROT_READ | PROT_WRITE);
    forbid(all->sizes.heap, heap, PROT_READ | PROT_WRITE);
    forbid(all->sizes.size, sizes, PROT_READ | PROT_WRITE);
    ck_assert_uint_eq(n, CT_ALLOCATIONS_LISTED + 1);
    ck_assert_uint_eq(list[0].bytes, 1000000);
    ck_assert_uint_eq(list[n - 2].bytes, 1000000 - (CT_ALLOCATIONS_LISTED - 1));
    ck_assert_uint_eq(list[n - 1].count, CT_ALLOCATIONS_FOLLOWED - CT_ALLOCATIONS_LISTED);
}
END_TEST

START_TEST(off_is_off)
{
    ct_process_forget();
    ct_config.without_memory = true;
    ck_assert(ct_allocations_init());
    ck_assert(!ct_allocations_are_on());
    ct_allocations_end((CUcontext)1);
    struct ct_file_memory f;
    ck_assert(!ct_allocations_figures(0, CT_ALLOCATION_DEVICE, &f));
    ck_assert_uint_eq(ct_allocations_list(NULL), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("allocation");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, it_is_a_list);
    tcase_add_test(t, what_finds_no_room_is_counted);
    tcase_add_test(t, frees_that_were_not_seen);
    tcase_add_test(t, frees_that_fail);
    tcase_add_test(t, references_hold_physical_memory);
    tcase_add_test(t, the_list_has_all);
    tcase_add_test(t, a_context_ends_in_pieces);
    tcase_add_test(t, the_list_follows);
    tcase_add_test(t, the_list_looks_at_few);
    tcase_add_test(t, off_is_off);
    return ct_case_main("allocation", t);
}
