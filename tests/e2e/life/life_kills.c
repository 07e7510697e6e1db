/* SPDX-License-Identifier: MIT */
/*
 * Processes that are killed in the midst of work, and such that end with a kernel that does not.
 * CUTRACE_TEST_KILLS: how many of the first (make check-kills: 1,000).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actor/busy.h"
#include "stage.h"

static struct busy_page *map_page(void)
{
    int fd = open("page", O_RDWR | O_CREAT | O_TRUNC, 0666);
    ck_assert(fd >= 0 && ftruncate(fd, sizeof(struct busy_page)) == 0);
    void *p = mmap(NULL, sizeof(struct busy_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert(p != MAP_FAILED);
    close(fd);
    return p;
}

/*
 * Operations known to be complete 100 ms before the kill. What cutrace's thread waited for a
 * processor since then comes on top, as far as is known: waits that are over, one that is not, and
 * four times the longest that befell another thread.
 */
static uint64_t complete_before(const struct busy_page *page, uint64_t killed_ns)
{
    uint64_t n = 0, entries = atomic_load(&page->entries);
    const __typeof__(page->entry[0]) *last = &page->entry[entries ? entries - 1 : 0];
    uint64_t ns = killed_ns - 100000000u - 4 * atomic_load(&page->worst_gap_ns);
    ns -= killed_ns - last->ran_ns;
    for (uint64_t i = 0; i < entries; i++)
        if (page->entry[i].ns + (last->waited_ns - page->entry[i].waited_ns) <= ns)
            n = page->entry[i].complete;
    return n;
}

static bool has_commit(void)
{
    struct ct_file_header h = {0};
    FILE *f = fopen("summary.bin", "r");
    bool has =
        f && fread(&h, sizeof(h), 1, f) == 1 && (h.commit[0].sequence || h.commit[1].sequence);
    if (f)
        fclose(f);
    return has;
}

static uint64_t counted(void)
{
    static const uint32_t kinds[] = {CT_ROW_KERNEL, CT_ROW_COPY, CT_ROW_SET};
    struct ct_summary s;
    uint64_t n = 0;
    if (!has_commit())
        return 0;
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.process->flags & CT_PROCESS_FINISHED, 0);
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct stage_sum sum = stage_rows(&s, kinds[i], NULL);
        n += sum.timed + sum.lost;
    }
    ct_summary_free(&s);
    return n;
}

/* Some are to be killed before there is a profile; on a slow machine it takes more to have others.
 */
static bool are_enough(long killed, long with_data)
{
    long kills = stage_number("CUTRACE_TEST_KILLS", 15);
    return (killed >= kills && with_data >= kills / 2) || killed >= 20 * kills;
}

START_TEST(killed_in_a_crowd)
{
    struct busy_page *page = map_page();
    long killed = 0, with_data = 0;
    uint64_t least = 0;
    srand((unsigned)stage_number("CUTRACE_TEST_SEED", 20251121));
    for (; !are_enough(killed, with_data); killed++) {
        memset(page, 0, sizeof(*page));
        remove("summary.bin");
        struct stage_run r = PLAY(.argv = {"crowd", "page"}, .kill_after_ms = 1 + rand() % 400,
                                  .kill_when = killed % 4 ? &page->entries : NULL);
        ck_assert_int_eq(stage_exit(&r), 128 + SIGKILL);
        uint64_t there = counted(), before = complete_before(page, r.killed_ns);
        ck_assert_msg(there >= before, "%lu operations in the profile, %lu were complete before",
                      (unsigned long)there, (unsigned long)before);
        with_data += there != 0;
        least += before;
        stage_drop(&r);
    }
    printf("# %ld killed, %ld with a profile, %lu operations had to be there\n", killed, with_data,
           (unsigned long)least);
    ck_assert_int_gt(with_data, 0);
    ck_assert(stage_is_slow() || least);
    munmap(page, sizeof(*page));
}
END_TEST

/* What there must be is the business of the crowd, which knows what kept cutrace's thread. */
static void check_killed(const struct busy_page *page)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "worked");
    ck_assert_uint_le(sum.timed + sum.lost, 20 * (atomic_load(&page->entries) + 1));
    ck_assert_uint_eq(s.process->flags & CT_PROCESS_FINISHED, 0);
    ct_summary_free(&s);
}

START_TEST(killed_at_random_instants)
{
    struct busy_page *page = map_page();
    long killed = 0, with_data = 0;
    srand(20240607);
    for (; !are_enough(killed, with_data); killed++) {
        memset(page, 0, sizeof(*page));
        remove("summary.bin");
        struct stage_run r = PLAY(.argv = {"busy", "page"}, .kill_after_ms = 1 + rand() % 300,
                                  .kill_when = killed % 4 ? &page->entries : NULL);
        ck_assert_int_eq(stage_exit(&r), 128 + SIGKILL);
        if (has_commit()) {
            check_killed(page);
            with_data++;
        }
        stage_drop(&r);
    }
    ck_assert_int_gt(with_data, 0);
    munmap(page, sizeof(*page));
}
END_TEST

/* How it ends, and whether a handler of ours runs then. */
static const struct {
    const char *signal, *handler;
    int exit;
    bool handled;
} ends[] = {
    {"0", NULL, 6, true},
    {"15", NULL, 128 + SIGTERM, false},
    {"2", NULL, 128 + SIGINT, false},
    {"15", "handler", 5, true},
    {"2", "handler", 5, true},
};

START_TEST(kernel_without_end)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"endless", ends[_i].signal, ends[_i].handler},
                                .env = {"CUTRACE_EXIT_TIMEOUT=1"}};
    scene.bare = true;
    struct stage_run bare = stage_play(&scene);
    scene.bare = false;
    struct stage_run r = stage_play(&scene);
    ck_assert_int_eq(stage_exit(&bare), ends[_i].exit);
    ck_assert_int_eq(r.status, bare.status);
    ck_assert_str_eq(r.out, bare.out);
    ck_assert(r.seconds < bare.seconds + 15);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.process->flags & CT_PROCESS_FINISHED, ends[_i].handled);
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    ck_assert_uint_eq(stage_kernel(&s, "hang").by_loss[CT_LOSS_UNFINISHED], ends[_i].handled);
    ck_assert_uint_eq(stage_kernel(&s, "behind").by_loss[CT_LOSS_UNFINISHED], 5 * ends[_i].handled);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_drop(&bare);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("kills");
    if (!CT_CHECKS_THREADS)
        tcase_add_test(t, killed_in_a_crowd);
    tcase_add_test(t, killed_at_random_instants);
    tcase_add_loop_test(t, kernel_without_end, 0, CT_CHECKS_THREADS ? 3 : 5);
    return stage_main("life_kills", t);
}
