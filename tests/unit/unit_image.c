/* SPDX-License-Identifier: MIT */
/* The payload that is made again and again: each is right, and little of it differs. */
#include <stdlib.h>
#include <string.h>

#include "case_main.h"
#include "drain/image.h"

#define LISTS 600
#define MOST 40
#define BLOCK 512

static const uint32_t types[] = {CT_SECTION_BUCKETS, CT_SECTION_SHAPES};

/* A list's content follows from its number and its length. */
static struct list {
    struct ct_list_extent at;
    uint32_t count;
} lists[2][LISTS];

static struct ct_buffer payload;
static uint32_t rows;
static uint32_t texts; /* bytes of the strings */

static void fill(uint32_t kind, void *to, uint32_t list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (kind)
            ((struct ct_file_shape *)to)[i] =
                (struct ct_file_shape){.grid = {list, i, count}, .count = i + 1};
        else
            ((struct ct_file_bucket *)to)[i] = (struct ct_file_bucket){i, list * 1000 + count};
}

static uint32_t bytes_of(uint32_t kind)
{
    return kind ? sizeof(struct ct_file_shape) : sizeof(struct ct_file_bucket);
}

static void add_lists(uint32_t kind)
{
    for (uint32_t i = 0; i < LISTS; i++) {
        struct list *l = &lists[kind][i];
        if (l->at.of == l->count && ct_image_keeps_lists())
            continue;
        void *to = ct_image_list(types[kind], &l->at.at, l->count);
        ck_assert_ptr_nonnull(to);
        fill(kind, to, i, l->count);
        l->at.of = l->count;
    }
}

static void make(bool final)
{
    ck_assert(ct_image_begin(&payload, final));
    for (uint32_t i = 0; i < texts; i++)
        ct_image_append(CT_SECTION_STRINGS, i % 7 ? "x" : "", 1);
    for (uint32_t i = 0; i < rows; i++) {
        struct ct_file_row row = {.kind = CT_ROW_KERNEL, .name = i};
        ct_image_append(CT_SECTION_ROWS, &row, sizeof(row));
    }
    add_lists(0);
    add_lists(1);
    ck_assert(ct_image_end());
}

/* ---- what came of it ---- */

static const struct ct_file_section *section_of(uint32_t type)
{
    const struct ct_file_payload *p = (const void *)payload.data;
    const struct ct_file_section *s = (const void *)(p + 1);
    uint32_t i = 0;
    while (i < p->sections && s[i].type != type)
        i++;
    ck_assert_uint_lt(i, p->sections);
    return &s[i];
}

static void check_list(uint32_t kind, uint32_t i)
{
    char wanted[MOST * sizeof(struct ct_file_shape)];
    const struct ct_file_section *s = section_of(types[kind]);
    struct ct_extent at = lists[kind][i].at.at;
    ct_assert_uint(at.count, ==, lists[kind][i].count);
    ct_assert_uint(at.first + at.count, <=, s->count);
    fill(kind, wanted, i, at.count);
    ct_assert(!memcmp(payload.data + s->offset + at.first * bytes_of(kind), wanted,
                      at.count * bytes_of(kind)));
}

/* Readers look at the buckets of no list as well. */
static void check_payload(void)
{
    for (uint32_t kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < LISTS; i++)
            check_list(kind, i);
    const struct ct_file_section *s = section_of(CT_SECTION_BUCKETS);
    const struct ct_file_bucket *b = (const void *)(payload.data + s->offset);
    for (uint64_t i = 0; i < s->count; i++)
        ct_assert_uint(b[i].bucket, <, MOST);
    const struct ct_file_row *row =
        (const void *)(payload.data + section_of(CT_SECTION_ROWS)->offset);
    for (uint32_t i = 0; i < rows; i++)
        ct_assert_uint(row[i].name, ==, i);
    ck_assert_uint_eq(section_of(CT_SECTION_STRINGS)->count, texts);
}

static uint64_t elements(uint32_t kind)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < LISTS; i++)
        n += lists[kind][i].count;
    return n;
}

static void grow(uint32_t most)
{
    struct list *l = &lists[rand() % 2][rand() % LISTS];
    l->count += l->count < most;
}

static void set_up(void)
{
    rows = LISTS;
    texts = 700;
    payload = (struct ct_buffer){0};
    memset(lists, 0, sizeof(lists));
}

START_TEST(each_is_right)
{
    for (unsigned round = 0; round < 3000; round++) {
        for (unsigned i = 0; i < 10; i++)
            grow(MOST);
        texts += round % 16 == 0;
        make(false);
        if (round % 10 == 0)
            check_payload();
    }
    check_payload();
    /* A list's room is less than twice what it holds, and what it has left less than that room. */
    for (uint32_t kind = 0; kind < 2; kind++)
        ck_assert_uint_lt(section_of(types[kind])->count, 4 * elements(kind));
}
END_TEST

START_TEST(a_small_one_has_no_room)
{
    rows = 10;
    for (unsigned i = 0; i < 100; i++)
        grow(1);
    make(false);
    size_t bytes = payload.len_bytes;
    make(true);
    ck_assert_uint_eq(payload.len_bytes, bytes);
    check_payload();
}
END_TEST

/* The final one is as long as what is in it, and so are those that come after. */
START_TEST(the_final_one_has_no_gaps)
{
    for (unsigned i = 0; i < 9000; i++)
        grow(MOST);
    make(false);
    for (unsigned i = 0; i < 900; i++) {
        grow(MOST);
        make(false);
    }
    for (unsigned i = 0; i < 2; i++) {
        make(i == 0);
        check_payload();
        size_t bytes = sizeof(struct ct_file_payload);
        const struct ct_file_payload *p = (const void *)payload.data;
        const struct ct_file_section *s = (const void *)(p + 1);
        for (uint32_t k = 0; k < p->sections; k++)
            bytes += sizeof(*s) + ((s[k].count * s[k].element_bytes + 7) & ~(size_t)7);
        ck_assert_uint_eq(payload.len_bytes, bytes);
        for (uint32_t kind = 0; kind < 2; kind++)
            ck_assert_uint_eq(section_of(types[kind])->count, elements(kind));
        grow(MOST);
    }
}
END_TEST

static size_t differing(const char *before, size_t bytes)
{
    size_t blocks = 0;
    for (size_t at = 0; at < payload.len_bytes; at += BLOCK) {
        size_t n = ct_min(BLOCK, payload.len_bytes - at);
        blocks += at + n > bytes || memcmp(before + at, payload.data + at, n);
    }
    return blocks;
}

START_TEST(little_differs)
{
    static char before[4 << 20];
    size_t all = 0;
    for (unsigned i = 0; i < 3000; i++)
        grow(MOST);
    make(false);
    make(false);
    for (unsigned i = 0; i < 1000; i++) {
        size_t bytes = payload.len_bytes;
        ck_assert_uint_le(bytes, sizeof(before));
        memcpy(before, payload.data, bytes);
        grow(MOST);
        make(false);
        all += differing(before, bytes);
    }
    ck_assert_uint_le(all, 1000 * 8);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("image");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, each_is_right);
    tcase_add_test(tests, a_small_one_has_no_room);
    tcase_add_test(tests, the_final_one_has_no_gaps);
    tcase_add_test(tests, little_differs);
    return ct_case_main_alone("image", tests);
}
