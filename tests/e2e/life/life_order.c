/* SPDX-License-Identifier: MIT */
/* What a program puts between two kernels of a stream is not the second one's time. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stage.h"

static const char *const kinds[] = {"wait", "event", "event-flags", "untimed"};
static const char *const streams[] = {"created", "legacy", "thread"};

static uint64_t mean_ns(const struct ct_summary *s, const char *kernel)
{
    for (size_t i = 0; i < s->rows_count; i++) {
        const struct ct_file_row *row = &s->rows[i];
        if (!strcmp(ct_summary_text(s, row->name), kernel) && row->timed)
            return row->total_ns / row->timed;
    }
    return 0;
}

/* A device as slow as a real one, so that there is work ahead, and records take their time. */
START_TEST(what_is_between_is_not_the_kernels)
{
    struct ct_summary s;
    const char *kind = kinds[_i / 3], *stream = streams[_i % 3];
    struct stage_run r = PLAY(.argv = {"order", kind, stream},
                              .env = {"CUDASIM_REAL_TIME=1", "CUDASIM_HOST_NS=3000"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    struct stage_sum after = stage_kernel(&s, "spin_after");
    ck_assert_uint_ge(after.timed, 1);
    ck_assert_uint_eq(after.lost, 0);
    ck_assert_msg(mean_ns(&s, "spin_after") < 1100, "%s in %s: %.3f us", kind, stream,
                  (double)mean_ns(&s, "spin_after") / 1e3);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static unsigned records(const char *kind)
{
    struct stage_run r =
        PLAY(.argv = {"order", kind},
             .env = {"CUDASIM_REAL_TIME=1", "CUDASIM_HOST_NS=3000", "CUDASIM_LOG=log"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_drop(&r);
    char *log = stage_read("log");
    unsigned count = 0;
    for (const char *at = log; (at = strstr(at, "cuEventRecord")); at++)
        count++;
    free(log);
    ck_assert_int_eq(unlink("log"), 0); /* the next one would be behind it */
    return count;
}

/* Which takes no time to speak of. */
START_TEST(an_event_without_time_is_nothing_between)
{
    ck_assert_uint_ge(records("event"), records("untimed") + 15);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("order");
    int cases = (int)(sizeof(kinds) / sizeof(kinds[0]) * 3);
    tcase_add_loop_test(t, what_is_between_is_not_the_kernels, 0, cases);
    tcase_add_test(t, an_event_without_time_is_nothing_between);
    return stage_main("life_order", t);
}
