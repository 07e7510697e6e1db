/* SPDX-License-Identifier: MIT */
/* The table of blocks against a list, its bound, and the list of what is left. */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "case_main.h"
#include "record/allocation.h"

static void set_up(void)
{
    ct_allocations_forget();
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

START_TEST(off_is_off)
{
    ct_allocations_forget();
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
    tcase_add_test(t, off_is_off);
    return ct_case_main("allocation", t);
}
