/* SPDX-License-Identifier: MIT */
/* The containers and texts of src/base. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/hist.h"
#include "base/process.h"
#include "base/rank.h"
#include "base/ring.h"
#include "base/text.h"
#include "case_main.h"
#include "containers/directory.h"
#include "containers/intern.h"
#include "containers/stable_array.h"
#include "containers/table.h"
#include "cutrace/format.h"
#include "system/clock.h"
#include "system/mem.h"
#include "system/pci.h"
#include "system/proc.h"
#include "system/spin.h"

/* ---- histogram ---- */

START_TEST(buckets_are_narrow)
{
    uint32_t last = 0;
    for (uint64_t ns = 1; ns < (uint64_t)1 << 42; ns += 1 + ns / 300) {
        uint32_t bucket = ct_hist_bucket(ns);
        uint64_t middle = ct_hist_middle(bucket);
        uint64_t off = middle > ns ? middle - ns : ns - middle;
        ck_assert_uint_ge(bucket, last);
        ck_assert_uint_le(off * 200, ns); /* half a per cent */
        ck_assert_uint_eq(ct_hist_bucket(middle), bucket);
        last = bucket;
    }
    ck_assert_uint_eq(ct_hist_bucket(0), 0);
    ck_assert_uint_eq(ct_hist_bucket(UINT64_MAX), CT_HIST_BUCKETS - 1);
}
END_TEST

/* ---- ring ---- */

#define CAPACITY 64
#define ITEMS 300000

static struct {
    struct ct_ring ring;
    uint64_t item[CAPACITY];
} queue;

static void *produce(void *unused)
{
    uint32_t at;
    for (uint64_t i = 1; i <= ITEMS;)
        if (ct_ring_reserve(&queue.ring, CAPACITY, &at)) {
            queue.item[at] = i++;
            ct_ring_publish(&queue.ring);
        } else {
            sched_yield();
        }
    return unused;
}

START_TEST(a_ring_keeps_order_and_loses_nothing)
{
    pthread_t producer;
    uint64_t expected = 1;
    memset(&queue, 0, sizeof(queue));
    pthread_create(&producer, NULL, produce, NULL);
    while (expected <= ITEMS) {
        uint32_t first, n = ct_ring_waiting(&queue.ring, CAPACITY, &first);
        ck_assert_uint_le(n, CAPACITY);
        for (uint32_t i = 0; i < n; i++)
            if (queue.item[(first + i) % CAPACITY] != expected++)
                ck_abort_msg("item %u is not the next one", (unsigned)expected - 1);
        ct_ring_consume(&queue.ring, n);
        if (!n)
            sched_yield();
    }
    pthread_join(producer, NULL);
}
END_TEST

START_TEST(a_full_ring_says_so)
{
    struct ct_ring ring = {0};
    uint32_t at;
    for (uint32_t i = 0; i < CAPACITY; i++) {
        ck_assert(ct_ring_reserve(&ring, CAPACITY, &at));
        ck_assert_uint_eq(at, i);
        ct_ring_publish(&ring);
    }
    ck_assert(!ct_ring_reserve(&ring, CAPACITY, &at));
    ct_ring_consume(&ring, 1);
    ck_assert(ct_ring_reserve(&ring, CAPACITY, &at));
    ck_assert_uint_eq(at, 0);
}
END_TEST

/* ---- locks when the process ends ---- */

#define LONG_NS 20000000000u /* which none of these waits lasts */

static struct ct_spin spin;
static uint64_t taken_ns; /* after how long another thread had the lock */
static bool is_taken;

static void *take_spin(void *unused)
{
    uint64_t start_ns = ct_clock_monotonic_ns();
    ct_spin_lock(&spin);
    taken_ns = ct_clock_monotonic_ns() - start_ns;
    ct_spin_unlock(&spin);
    return unused;
}

static void *try_spin(void *unused)
{
    is_taken = ct_spin_lock_until(&spin, ct_clock_monotonic_ns() + 10000000);
    return unused;
}

static void beside(void *(*act)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, act, NULL);
    pthread_join(t, NULL);
}

/* As in a signal handler: what the interrupted thread holds is its own, and others', once more. */
START_TEST(a_thread_that_ends_the_process_gives_its_locks_up)
{
    ct_spin_lock(&spin);
    beside(try_spin);
    ck_assert(!is_taken);
    ct_spin_end_process(LONG_NS);
    beside(take_spin);
    ck_assert_uint_lt(taken_ns, LONG_NS / 4);
    ct_spin_lock(&spin);
    ct_spin_end_process(LONG_NS);
    ct_spin_lock(&spin);
    beside(try_spin); /* it was taken since */
    ck_assert(!is_taken);
    ct_spin_unlock(&spin);
    beside(try_spin);
    ck_assert(is_taken);
}
END_TEST

static pthread_barrier_t held;

static void *hold_spin(void *unused)
{
    ct_spin_lock(&spin);
    pthread_barrier_wait(&held);
    pthread_barrier_wait(&held);
    return unused;
}

/* One that another thread keeps is waited for so long, but for one that may be held for longer. */
START_TEST(locks_are_not_waited_for_beyond_the_end)
{
    pthread_t t;
    pthread_barrier_init(&held, NULL, 2);
    pthread_create(&t, NULL, hold_spin, NULL);
    pthread_barrier_wait(&held);
    ct_spin_end_process(20000000);
    take_spin(NULL);
    ck_assert_uint_ge(taken_ns, 10000000);
    ck_assert_uint_lt(taken_ns, LONG_NS / 4);
    ct_spin_lock(&spin);
    beside(try_spin);
    ck_assert(!is_taken);
    pthread_barrier_wait(&held);
    pthread_join(t, NULL);
}
END_TEST

/* ---- table ---- */

static struct ct_table table;

/* What is found is always what was put, also while others put. */
static void *find_all(void *unused)
{
    for (unsigned round = 0; round < 200; round++)
        for (uint64_t key = 1; key <= 1000; key++) {
            uint64_t value;
            if (ct_table_find(&table, key * 8, &value) && value != key * 3)
                abort();
        }
    return unused;
}

static void hear(int number)
{
    (void)number;
}

/* A signal of the program's ends the nap, and errno is the program's. */
START_TEST(a_nap_leaves_errno_alone)
{
    static const struct itimerval often = {{.tv_usec = 20}, {.tv_usec = 20}}, never;
    struct sigaction action = {.sa_handler = hear};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    errno = 77;
    for (unsigned i = 0; i < 200; i++)
        ct_spin_pause(1024);
    int left = errno;
    setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_int_eq(left, 77);
}
END_TEST

/* ---- directory ---- */

static bool stays_never(uint64_t value)
{
    (void)value;
    return false;
}

/* Where there is room each entry stays until it is removed, by the value that it has. */
START_TEST(a_directory_keeps_what_it_has_room_for)
{
    static struct ct_directory d;
    const uint64_t count = 50000;
    uint64_t value;
    ck_assert(ct_directory_init(&d, stays_never));
    for (uint64_t i = 1; i <= count; i++)
        ck_assert(ct_directory_put(&d, i * 4096, i));
    for (uint64_t i = 1; i <= count; i++) {
        ct_assert(ct_directory_find(&d, i * 4096, &value) && value == i);
        ct_directory_remove(&d, i * 4096, i + (i & 1));
    }
    for (uint64_t i = 1; i <= count; i++)
        ct_assert(ct_directory_find(&d, i * 4096, &value) == (i & 1));
}
END_TEST

START_TEST(a_table_finds_what_was_put)
{
    pthread_t reader;
    uint64_t value;
    ck_assert(ct_table_init(&table, 11));
    pthread_create(&reader, NULL, find_all, NULL);
    for (uint64_t key = 1; key <= 1000; key++)
        ct_table_put(&table, key * 8, key * 3);
    pthread_join(reader, NULL);
    for (uint64_t key = 1; key <= 1000; key++) {
        ck_assert(ct_table_find(&table, key * 8, &value));
        ck_assert_uint_eq(value, key * 3);
    }
    ck_assert(!ct_table_find(&table, 7, &value));
    ct_table_put(&table, 8, 42);
    ck_assert(ct_table_find(&table, 8, &value));
    ck_assert_uint_eq(value, 42);
    ct_table_clear(&table);
    ck_assert(!ct_table_find(&table, 8, &value));
}
END_TEST

/* 64 MiB: emptying takes longer than a few looks, and 20 rounds do if a look comes too late. */
static void *empty(void *t)
{
    ct_table_clear(t);
    return NULL;
}

START_TEST(a_table_is_emptied_without_its_lock)
{
    static struct ct_table t;
    unsigned seen = 0;
    ck_assert(ct_table_init(&t, 22));
    for (unsigned round = 0; round < 20 && !seen; round++) {
        pthread_t thread;
        uint64_t value;
        uint32_t before = atomic_load(&t.changes);
        ct_table_put(&t, 8, round);
        ck_assert(!pthread_create(&thread, NULL, empty, &t));
        while (atomic_load(&t.changes) == before)
            ;
        bool is_free = ct_spin_try(&t.lock);
        if (is_free)
            ct_spin_unlock(&t.lock);
        ck_assert(!ct_table_find(&t, 8, &value));
        ct_table_put(&t, 16, 1);
        if (is_free && atomic_load(&t.changes) == before + 1) {
            seen++;
            ck_assert(!ct_table_find(&t, 16, &value));
        }
        pthread_join(thread, NULL);
        ck_assert_uint_eq(atomic_load(&t.changes), before + 2);
        ct_table_put(&t, 24, round);
        ck_assert(ct_table_find(&t, 24, &value) && value == round);
        ct_table_clear(&t);
    }
    ct_skip_if(!seen, "no look came in time"); /* threads that take turns, as under valgrind */
}
END_TEST

static uint64_t slot_of(const struct ct_table *t, uint64_t key)
{
    uint64_t i = 0;
    while (t->slots[i].key != key)
        i++;
    return i;
}

/* Handles are addresses at regular distances. */
START_TEST(a_table_is_left_with_one_cache_line)
{
    struct ct_table t;
    unsigned elsewhere = 0;
    ck_assert(ct_table_init(&t, 16));
    for (uint64_t key = 0x7f0000001000; key < 0x7f0000001000 + 4096 * 96; key += 96)
        ct_table_put(&t, key, 1);
    for (uint64_t key = 0x7f0000001000; key < 0x7f0000001000 + 4096 * 96; key += 96)
        elsewhere += slot_of(&t, key) / 4 != ct_table_home(&t, key) / 4 ||
                     (uintptr_t)&t.slots[ct_table_home(&t, key)] % CT_CACHE_LINE != 0;
    ck_assert_uint_le(elsewhere, 4);
}
END_TEST

/* ---- text ---- */

static const struct {
    const char *pattern, *text;
    bool matches;
} globs[] = {
    {"*", "", true},          {"*", "anything", true},   {"", "", true},
    {"", "a", false},         {"gemm", "gemm", true},    {"gemm", "gemm2", false},
    {"gemm*", "gemm2", true}, {"*gemm", "sgemm", true},  {"*gemm", "sgemm2", false},
    {"*a*b*", "xaxbx", true}, {"*a*b*", "xbxax", false}, {"?", "a", true},
    {"?", "", false},         {"a?c", "abc", true},      {"a?c", "ac", false},
    {"**x", "aaax", true},    {"*aab", "aaaaab", true},  {"_Z*v", "_Z4spinv", true},
};

START_TEST(patterns)
{
    const char *p = globs[_i].pattern;
    ck_assert(ct_glob(p, strlen(p), globs[_i].text) == globs[_i].matches);
}
END_TEST

START_TEST(numbers)
{
    uint64_t n = 0;
    ck_assert(ct_parse_u64("0", &n) && n == 0);
    ck_assert(ct_parse_u64("1000000000000000000", &n) && n == 1000000000000000000);
    ck_assert(!ct_parse_u64("18446744073709551616", &n));
    ck_assert(!ct_parse_u64("", &n) && !ct_parse_u64("-1", &n) && !ct_parse_u64("1x", &n));
    ck_assert(!ct_parse_u64(" 1", &n) && !ct_parse_u64("1e3", &n));
}
END_TEST

START_TEST(texts_are_cut_and_terminated)
{
    char room[8];
    struct ct_text t = ct_text_in(room, sizeof(room));
    ct_text_add(&t, "abc");
    ct_text_add_u64(&t, 12);
    ck_assert_str_eq(room, "abc12");
    ck_assert(!ct_text_full(&t));
    ct_text_add(&t, "much too long");
    ck_assert_uint_eq(strlen(room), sizeof(room) - 1);
    ck_assert(ct_text_full(&t));
}
END_TEST

START_TEST(libraries_have_whole_names)
{
    ck_assert(ct_is_library("libcuda.so", "libcuda.so"));
    ck_assert(ct_is_library("/usr/lib/libcuda.so.1", "libcuda.so"));
    ck_assert(ct_is_library("/a/libcuda.so/libcuda.so.580.1", "libcuda.so"));
    ck_assert(!ct_is_library("/a/libcuda.so.d/other.so", "libcuda.so"));
    ck_assert(!ct_is_library("/a/libcuda.so/", "libcuda.so"));
    ck_assert(!ct_is_library("/a/notlibcuda.so", "libcuda.so"));
    ck_assert(!ct_is_library("/a/libcuda.so-old", "libcuda.so"));
    ck_assert(!ct_is_library("libcud", "libcuda.so"));
}
END_TEST

START_TEST(kept_texts_are_copies)
{
    char text[] = "kernel and more";
    const char *kept = ct_intern(text, 6);
    memset(text, '?', sizeof(text));
    ck_assert_str_eq(kept, "kernel");
    ck_assert_ptr_eq(ct_intern("kernel", 6), kept);
    ck_assert_str_eq(ct_intern("kern", 4), "kern");
    ck_assert_str_eq(ct_intern("", 0), "");
}
END_TEST

/* Many, also such that are longer than what memory comes in, till there is no more room. */
START_TEST(kept_texts_have_a_bound)
{
    static char text[100000];
    unsigned n = 0;
    memset(text, 'x', sizeof(text));
    for (; n < 2000; n++) {
        snprintf(text, 20, "%u and more", n);
        text[strlen(text)] = 'x';
        if (!ct_intern(text, sizeof(text)))
            break;
    }
    ck_assert_uint_ge(n, CT_INTERN_BYTES / (sizeof(text) + 4096));
    ck_assert_uint_lt(n, CT_INTERN_BYTES / sizeof(text) + 1);
    ct_process_forget();
    ck_assert_str_eq(ct_intern(text, 3), "671");
}
END_TEST

static const struct {
    const char *variables[4]; /* name and value in turn */
    struct ct_rank rank;
} jobs[] = {
    {{NULL}, {0, 0}},
    {{"RANK", "5", "WORLD_SIZE", "8"}, {6, 8}},
    {{"RANK", "5"}, {6, 0}},
    {{"RANK", "captain"}, {0, 0}},
    {{"RANK", ""}, {0, 0}},
    {{"RANK", "4294967295"}, {0, 0}},
    {{"RANK", "8", "WORLD_SIZE", "8"}, {9, 0}},
    {{"OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "4096"}, {1, 4096}},
    {{"PMI_RANK", "1", "PMI_SIZE", "2"}, {2, 2}},
    {{"PMIX_RANK", "1", "SLURM_NTASKS", "2"}, {2, 2}},
    {{"SLURM_PROCID", "7", "SLURM_NTASKS", "12"}, {8, 12}},
    {{"SLURM_PROCID", "7", "SLURM_NTASKS", "many"}, {8, 0}},
    {{"SLURM_PROCID", "7", "RANK", "2"}, {8, 0}},
    {{"OMPI_COMM_WORLD_RANK", "3", "RANK", "2"}, {4, 0}},
    {{"SLURM_PROCID", "-1", "RANK", "2"}, {3, 0}},
};

START_TEST(ranks)
{
    const char *const *v = jobs[_i].variables;
    for (int i = 0; i < 4 && v[i]; i += 2)
        setenv(v[i], v[i + 1], true);
    struct ct_rank rank = ct_rank_read();
    ck_assert_uint_eq(rank.number, jobs[_i].rank.number);
    ck_assert_uint_eq(rank.of, jobs[_i].rank.of);
}
END_TEST

/* torchrun on each node, started by Slurm: its own numbers count. */
START_TEST(the_innermost_rank)
{
    setenv("SLURM_PROCID", "1", true);
    setenv("SLURM_NTASKS", "2", true);
    setenv("RANK", "11", true);
    setenv("WORLD_SIZE", "16", true);
    struct ct_rank rank = ct_rank_read();
    ck_assert_uint_eq(rank.number, 12);
    ck_assert_uint_eq(rank.of, 16);
}
END_TEST

/* PCI Express of each generation, a width that no slot has, and what is said of no link. */
static const struct {
    const char *speed, *width;
    uint32_t mbs;
} links[] = {
    {"2.5 GT/s PCIe", "16", 4000},
    {"5.0 GT/s PCIe", "4", 2000},
    {"8.0 GT/s PCIe\n", "16\n", 15753},
    {"16.0 GT/s PCIe", "8", 15753},
    {"32.0 GT/s PCIe", "16", 63015},
    {"64.0 GT/s PCIe", "16", 121000},
    {"Unknown", "16", 0},
    {"32.0 GT/s PCIe", "255", 0},
    {"128.0 GT/s PCIe", "16", 0},
    {"", "", 0},
    {"99999999999", "16", 0},
};

START_TEST(links_of_devices)
{
    ck_assert_uint_eq(ct_pci_link_of(links[_i].speed, links[_i].width), links[_i].mbs);
}
END_TEST

START_TEST(no_such_device)
{
    const struct ct_pci_address nowhere = {0xfffe, 0xfe, 0x1f};
    errno = EINTR;
    ct_proc_hold();
    ck_assert_uint_eq(ct_pci_link_mbs(&nowhere), 0);
    ck_assert_int_eq(errno, EINTR);
}
END_TEST

/* ---- tables that grow ---- */

#define ELEMENT_BYTES 2688

static void limit(int which, bool is_tight)
{
    struct rlimit l;
    ck_assert_int_eq(getrlimit(which, &l), 0);
    l.rlim_cur = is_tight ? 4096 : l.rlim_max;
    ck_assert_int_eq(setrlimit(which, &l), 0);
}

static char *element(const struct ct_stable_array *g, uint32_t i)
{
    return (char *)g->at + (size_t)i * ELEMENT_BYTES;
}

START_TEST(a_table_grows_in_its_place)
{
    struct ct_stable_array g;
    errno = EINTR;
    ck_assert(ct_stable_array_init(&g, ELEMENT_BYTES, 32768, 32768));
    ck_assert_uint_ge(ct_stable_array_open(&g), 1);
    ck_assert_uint_lt(ct_stable_array_open(&g), 200);
    ck_assert(ct_stable_array_open_one(&g, 32767));
    element(&g, 32767)[ELEMENT_BYTES - 1] = 'z';
    for (uint32_t i = 0; i < 32768; i++) {
        ck_assert(ct_stable_array_reach(&g, i + 1));
        ck_assert_int_eq(element(&g, i)[0], 0);
        element(&g, i)[0] = 'a';
    }
    ck_assert(!ct_stable_array_reach(&g, 32769));
    ck_assert_uint_eq(ct_stable_array_open(&g), 32768);
    ck_assert_int_eq(element(&g, 0)[0], 'a');
    ck_assert_int_eq(element(&g, 32767)[ELEMENT_BYTES - 1], 'z');
    ck_assert_int_eq(errno, EINTR);
}
END_TEST

/*
 * Valgrind and emulators keep limits to themselves, and what they know of addresses in memory; a
 * sanitizer needs some of its own meanwhile.
 */
static bool has_limits(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return false;
#endif
    void *p = mmap(NULL, ELEMENT_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    limit(RLIMIT_DATA, true);
    bool refused = mprotect(p, ELEMENT_BYTES, PROT_READ | PROT_WRITE) != 0;
    limit(RLIMIT_DATA, false);
    munmap(p, ELEMENT_BYTES);
    return refused;
}

START_TEST(a_table_that_may_not_grow)
{
    struct ct_stable_array g;
    ct_skip_if(!has_limits(), "nothing limits memory here");
    ck_assert(ct_stable_array_init(&g, ELEMENT_BYTES, 32768, 32768));
    uint32_t open = ct_stable_array_open(&g);
    errno = EINTR;
    limit(RLIMIT_DATA, true);
    bool reached = ct_stable_array_reach(&g, open + 1);
    limit(RLIMIT_DATA, false);
    ck_assert_int_eq(errno, EINTR);
    ck_assert(!reached);
    ck_assert_uint_eq(ct_stable_array_most(&g), open);
    ck_assert(!ct_stable_array_reach(&g, open + 1));
    ck_assert(ct_stable_array_reach(&g, open));
    element(&g, open - 1)[ELEMENT_BYTES - 1] = 'z';
}
END_TEST

/* More addresses than a process can have. */
START_TEST(a_table_that_is_too_large)
{
    struct ct_stable_array g;
    ct_skip_if(!has_limits(), "nothing limits memory here");
    ck_assert(!ct_stable_array_init(&g, (size_t)1 << 24, 1u << 31, 1u << 30));
    ck_assert(ct_stable_array_init(&g, (size_t)1 << 24, 1u << 31, 1));
    ck_assert_uint_lt(ct_stable_array_most(&g), 1u << 30);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("base");
    tcase_add_test(tests, a_table_grows_in_its_place);
    tcase_add_test(tests, a_table_that_may_not_grow);
    tcase_add_test(tests, a_table_that_is_too_large);
    tcase_add_test(tests, buckets_are_narrow);
    tcase_add_test(tests, a_ring_keeps_order_and_loses_nothing);
    tcase_add_test(tests, a_full_ring_says_so);
    tcase_add_test(tests, a_table_finds_what_was_put);
    tcase_add_test(tests, a_table_is_emptied_without_its_lock);
    tcase_add_test(tests, a_table_is_left_with_one_cache_line);
    tcase_add_loop_test(tests, patterns, 0, sizeof(globs) / sizeof(globs[0]));
    tcase_add_test(tests, numbers);
    tcase_add_loop_test(tests, ranks, 0, sizeof(jobs) / sizeof(jobs[0]));
    tcase_add_test(tests, the_innermost_rank);
    tcase_add_loop_test(tests, links_of_devices, 0, sizeof(links) / sizeof(links[0]));
    tcase_add_test(tests, no_such_device);
    tcase_add_test(tests, a_thread_that_ends_the_process_gives_its_locks_up);
    tcase_add_test(tests, locks_are_not_waited_for_beyond_the_end);
    tcase_add_test(tests, a_nap_leaves_errno_alone);
    tcase_add_test(tests, a_directory_keeps_what_it_has_room_for);
    tcase_add_test(tests, texts_are_cut_and_terminated);
    tcase_add_test(tests, libraries_have_whole_names);
    tcase_add_test(tests, kept_texts_are_copies);
    tcase_add_test(tests, kept_texts_have_a_bound);
    return ct_case_main("base", tests);
}
