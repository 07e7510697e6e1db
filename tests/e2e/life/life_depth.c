/* SPDX-License-Identifier: MIT */
/* Queues that stand still, and queues of a device that is slower than the host. */
#include <stdlib.h>

#include "stage.h"

/*
 * The device goes by a clock that each launch moves on (CUDASIM_HOST_NS), and no more is timed than
 * the thread's queue takes (CT_THREAD_OPS): how fast the machine is, and when the drain thread has
 * a processor, makes no difference.
 */
static const char *const gates[] = {"kernel", "value", "host", "semaphore", "event"};
static const char *const streams[] = {"created", "legacy", "thread"};
static const char *const before[] = {"0", "1500"};

static const char *const clocks[] = {"CUDASIM_REAL_TIME=0", "CUDASIM_REAL_TIME=1"};

/* Without cutrace 1021 can be queued; with it, the program's 900 must not block. */
START_TEST(depth_behind_a_gate)
{
    struct ct_summary s;
    const char *gate = gates[_i % 5], *first = before[_i / 5 % 2];
    struct stage_run r = PLAY(.argv = {"depth", gate, "900", first, "3"},
                              .env = {clocks[_i / 10], "CUDASIM_HOST_NS=3000"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "queued");
    ck_assert_uint_eq(sum.timed + sum.lost, 2700 + strtoul(first, NULL, 10));
    /* what came before was not behind a gate */
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_DEEP_QUEUE]);
    ck_assert_uint_le(sum.lost, 2700);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/*
 * Behind a kernel that is a gate, the ends of what was running are signs that the stream moves: a
 * third of the queue is left. Of the other gates it is known what is before them.
 */
START_TEST(depth_behind_a_gate_behind_work)
{
    static const char *const queued[] = {"340", "600", "600", "600", "600", "200", "800", "800",
                                         "800", "800", "100", "900", "900", "900", "900"};
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"depth", gates[_i % 5], queued[_i % 15], "300", "3",
                                       "running", streams[_i / 15]},
                              .env = {"CUDASIM_KERNELS=queued=20000", "CUDASIM_REAL_TIME=1",
                                      "CUDASIM_HOST_NS=3000"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_kernel(&s, "queued"), 300 + 3 * strtoul(queued[_i % 15], NULL, 10));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Where nothing else was in the stream whose event is waited for, which is no created one. */
START_TEST(depth_behind_a_gate_of_a_default_stream)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"depth", "event of default", "800", "300", "3", "running"},
                              .env = {"CUDASIM_KERNELS=queued=20000", "CUDASIM_REAL_TIME=1",
                                      "CUDASIM_HOST_NS=3000"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    CHECK_SUM(stage_kernel(&s, "queued"), 300 + 3 * 800);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* A run of nothing but launches: what of them was lost, which is all for the depth of the queue. */
static uint64_t lost_ahead(const struct stage_scene *scene, uint64_t launches)
{
    struct ct_summary s;
    struct stage_run r = stage_play(scene);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "spin");
    ck_assert_uint_eq(sum.timed + sum.lost, launches);
    ck_assert_uint_eq(sum.lost, sum.by_loss[CT_LOSS_DEEP_QUEUE]);
    ct_summary_free(&s);
    stage_drop(&r);
    return sum.lost;
}

/* Until the first of 200 launches comes out it looks like a gate. */
START_TEST(far_ahead_of_a_late_device)
{
    ck_assert_uint_le(lost_ahead(&(struct stage_scene){.argv = {"ahead", "2000"},
                                                       .env = {"CUDASIM_LATENCY_US=1000",
                                                               "CUDASIM_HOST_NS=5000"}},
                                 2000),
                      200);
}
END_TEST

/* As in tests/gpu/programs/deep_queue.cu; then longer kernels, and a host faster than a real one.
 */
static const struct {
    const char *ns, *host_ns;
} slow[] = {
    {"20000", "CUDASIM_HOST_NS=5000"},
    {"100000", "CUDASIM_HOST_NS=5000"},
    {"3000", "CUDASIM_HOST_NS=1500"},
};

/* The queue fills, then the host waits for room: nothing waits for the host, and that shows. */
START_TEST(ahead_of_a_slow_device)
{
    struct stage_scene scene = {.argv = {"ahead", "2000", slow[_i].ns},
                                .env = {"CUDASIM_REAL_TIME=1", slow[_i].host_ns}};
    ck_assert_uint_eq(lost_ahead(&scene, 2000), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("depth");
    tcase_add_loop_test(t, depth_behind_a_gate, 0, 20);
    tcase_add_loop_test(t, depth_behind_a_gate_behind_work, 0, 45);
    tcase_add_test(t, depth_behind_a_gate_of_a_default_stream);
    tcase_add_test(t, far_ahead_of_a_late_device);
    tcase_add_loop_test(t, ahead_of_a_slow_device, 0, 3);
    return stage_main("life_depth", t);
}
