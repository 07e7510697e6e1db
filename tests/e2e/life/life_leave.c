/* SPDX-License-Identifier: MIT */
/*
 * Ends without exit handlers, and ends in a signal handler: nothing that was recorded is lost, the
 * program ends as without cutrace, nothing is said, and it takes no longer than it may.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/trace_read.h"
#include "stage.h"

/* On a machine that is busy with others things take longer; what is wrong takes seconds. A checked
 * program sleeps for one in its own _exit. */
#define SOON_S (stage_is_slow() ? 2.5 : 1.0)

static const char *const ways[] = {"_exit", "_Exit", "quick_exit"};
#define WAYS 3

static bool leaves_handlers(const char *way)
{
    return !strcmp(way, "quick_exit");
}

/* Plays it with and without cutrace alike; the run with us, which says nothing, is handed over. */
static struct stage_run play_both(struct stage_scene scene)
{
    unsigned n = 0;
    while (scene.env[n])
        n++;
    scene.env[n] = "CUTRACE_PRINT=on";
    scene.bare = true;
    struct stage_run bare = stage_play(&scene);
    scene.bare = false;
    struct stage_run r = stage_play(&scene);
    ck_assert_str_eq(r.out, bare.out);
    ck_assert_msg(r.status == bare.status, "%x: %.900s", (unsigned)r.status, r.err);
    ck_assert_str_eq(bare.err, "");
    r.seconds -= bare.seconds;
    stage_drop(&bare);
    return r;
}

static void check_finished(const char *path, struct ct_summary *s)
{
    stage_profile(s, path);
    ck_assert_uint_eq(s->process->flags, CT_PROCESS_FINISHED);
}

#ifndef __SANITIZE_THREAD__
/* The sums of a kernel over all profiles in the directory, each of which is whole. */
static struct stage_sum sum_of_all(const char *kernel)
{
    struct stage_sum all = {0};
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct ct_summary s;
        if (!strstr(e->d_name, ".bin"))
            continue;
        check_finished(e->d_name, &s);
        struct stage_sum one = stage_kernel(&s, kernel);
        all.timed += one.timed;
        all.lost += one.lost;
        ct_summary_free(&s);
    }
    if (d)
        closedir(d);
    return all;
}
#endif

/* ---- the last operations ---- */

static unsigned traced_kernels(const char *path)
{
    struct ct_trace_reader *t;
    struct ct_trace_record r;
    struct ct_read_error error;
    unsigned n = 0;
    ck_assert_msg(!ct_trace_open(&t, path, &error), "%s %s", path, error.text);
    while (ct_trace_next(t, &r, &error) > 0)
        n += r.op != NULL;
    ck_assert_ptr_null(ct_trace_ending(t));
    ct_trace_close(t);
    return n;
}

/* All files are complete; of quick_exit with what its handlers launch. */
START_TEST(all_files_at_each_end)
{
    struct ct_summary s;
    unsigned late = leaves_handlers(ways[_i]) ? 10 : 0;
    struct stage_run r = play_both((struct stage_scene){
        .argv = {"leave", ways[_i], "alone"},
        .env = {"CUTRACE_TRACE=1", "CUTRACE_METRICS=textfile:.", "CUTRACE_BRACKETS=journal"}});
    ck_assert_int_eq(stage_exit(&r), 7);
    ck_assert_str_eq(r.err, "");
    check_finished("summary.bin", &s);
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    CHECK_TIMED(stage_kernel(&s, "late"), late);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 100 + late);
    ck_assert_uint_eq(traced_kernels("summary.trace"), 100 + late);
    ck_assert_int_eq(system("grep -q '^cutrace.*worked.* 100$' cutrace-*.prom"), 0);
    ck_assert_int_eq(system("test $(ls journal.* | wc -l) = 1"), 0);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* which loses count of the simulated driver's lock in a child */
START_TEST(forked_workers)
{
    struct stage_run r = play_both((struct stage_scene){.argv = {"leave", ways[_i], "workers"}});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 10);
    CHECK_TIMED(sum_of_all("worked"), 1000);
    stage_drop(&r);
}
END_TEST
#endif

/* After cutrace's exit handler: the profile is as that left it. */
START_TEST(after_exit_handlers)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"leave", ways[_i], "late"}};
    struct stage_run r = PLAY(.argv = {"leave", ways[_i], "late"}, .env = {"CUTRACE_PRINT=on"});
    ck_assert_int_eq(stage_exit(&r), 9);
    const char *table = strstr(r.err, "GPU activities:");
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_null(strstr(table + 1, "GPU activities:"));
    stage_compare(scene);
    check_finished("summary.bin", &s);
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- children that are not to be taken for their parent ---- */

/* A checked program takes a child's stack for its parent's. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const struct {
    const char *scene;
    uint64_t launches;
} families[] = {{"shared", 250}, {"forked", 100}};

START_TEST(parents_counts_stay_exact)
{
    struct ct_summary s;
    const char *way = ways[_i % WAYS];
    unsigned f = (unsigned)_i / WAYS;
    if (!f && leaves_handlers(way))
        return; /* no child in its parent's memory may run the parent's handlers */
    struct stage_run r = PLAY(.argv = {"leave", way, families[f].scene});
    stage_compare((struct stage_scene){.argv = {"leave", way, families[f].scene}});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 1);
    check_finished("summary.bin", &s);
    CHECK_TIMED(stage_kernel(&s, "worked"), families[f].launches);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST
#endif

/* ---- another program in its place ---- */

/* Those that end in e are given an environment, which says where the second profile goes. */
static const char *const functions[] = {"execl",  "execle", "execlp",  "execv",
                                        "execve", "execvp", "execvpe", "fexecve"};

/* Two programs, one after the other, have the same number. */
START_TEST(another_program)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"leave", "exit", "exec", functions[_i]}};
    struct stage_run r = play_both(scene);
    char name[64];
    ck_assert_int_eq(r.status, 0);
    ck_assert_msg(strstr(r.out, ": -1, ") != NULL, "%.900s", r.out);
    ck_assert_msg(strstr(r.out, "small: 30 launches") != NULL, "%.900s", r.out);
    ck_assert_uint_eq(stage_profiles(), 2);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    ct_summary_free(&s);
    bool is_given = functions[_i][strlen(functions[_i]) - 1] == 'e';
    snprintf(name, sizeof(name), is_given ? "given.bin" : "summary.%d.bin", (int)r.pid);
    check_finished(name, &s);
    CHECK_TIMED(stage_kernel(&s, "alpha"), 30);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- how long it may take ---- */

/* A kernel that never ends is unfinished, whatever time there would be at an orderly end. */
START_TEST(hung_kernel)
{
    struct ct_summary s;
    struct stage_run r = play_both((struct stage_scene){.argv = {"leave", ways[_i], "hang"}});
    ck_assert_int_eq(stage_exit(&r), 7);
    ck_assert_str_eq(r.err, "");
    ck_assert_double_le(r.seconds, SOON_S);
    check_finished("summary.bin", &s);
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    ck_assert_uint_eq(stage_kernel(&s, "hang").by_loss[CT_LOSS_UNFINISHED], 1);
    ck_assert_uint_eq(stage_kernel(&s, "behind").by_loss[CT_LOSS_UNFINISHED], 5);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static const char *const hangs[] = {
    "CUDASIM_HANG=cuEventElapsedTime_v2:3-1000", /* the drain thread alone calls it */
    "CUDASIM_SLOW=cuEventElapsedTime_v2:20000",
    "CUDASIM_SLOW=cuEventQuery:30000",
};

/* The driver keeps the drain thread: this thread counts what is left. */
START_TEST(hung_driver)
{
    struct ct_summary s;
    struct stage_run r = play_both((struct stage_scene){.argv = {"leave", ways[_i % WAYS], "alone"},
                                                        .env = {hangs[_i / WAYS]}});
    ck_assert_int_eq(stage_exit(&r), 7);
    ck_assert_str_eq(r.err, "");
    ck_assert_double_le(r.seconds, SOON_S);
    check_finished("summary.bin", &s);
    CHECK_SUM(stage_kernel(&s, "worked"), 100);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(many_threads_at_once)
{
    struct ct_summary s;
    struct stage_run r = play_both((struct stage_scene){.argv = {"leave", ways[_i], "crowd"}});
    ck_assert_int_eq(stage_exit(&r), 7);
    ck_assert_str_eq(r.err, "");
    ck_assert_double_le(r.seconds, SOON_S);
    check_finished("summary.bin", &s);
    CHECK_TIMED(stage_kernel(&s, "worked"), 400);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- in a signal handler ---- */

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* as life_trace */
static struct stage_run interrupt(const char *way, const char *act, int number, bool has_thread)
{
    static char preload[9000], driver[1024], us[16];
    struct stage_scene scene = {.argv = {"leave", way, "interrupted", act, us}};
    snprintf(us, sizeof(us), "%d", number * 37 % 5000);
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s:%s", stage_path_of(".libs/libcutrace.so"),
             stage_path_of("tests/e2e/.libs/libfaulty.so"));
    snprintf(driver, sizeof(driver), "LD_LIBRARY_PATH=%s", stage_path_of("tests/sim/null"));
    scene.env[0] = driver; /* it has no lock of its own, which nobody could do anything about */
    scene.env[1] = preload;
    scene.env[2] = has_thread ? "CUTRACE_LOG=1" : "FAULTY=pthread_create:1";
    scene.env[3] = "CUTRACE_EXIT_TIMEOUT=2";
    return stage_play(&scene);
}

/* All that was done by then is counted, and one more that was under way. */
static void check_interrupted(const struct stage_run *r, bool is_reset)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    unsigned long allocated = 0, launched = 0;
    ck_assert_int_eq(stage_exit(r), 7);
    ck_assert_int_eq(sscanf(r->out, "%lu %lu", &allocated, &launched), 2);
    ck_assert_double_le(r->seconds, 1.5);
    ck_assert_msg(ct_summary_read(&s, "summary.bin", &error) == 0, "%s", error.text);
    ck_assert_uint_eq(s.process->flags, CT_PROCESS_FINISHED);
    struct stage_sum sum = stage_kernel(&s, NULL);
    uint64_t allocations = 0;
    for (size_t i = 0; i < s.memory_count; i++)
        if (s.memory[i].kind == CT_ALLOCATION_DEVICE)
            allocations += s.memory[i].allocations;
    ck_assert_uint_ge(allocations, allocated);
    ck_assert_uint_le(allocations, allocated + 1);
    ck_assert_uint_ge(sum.timed + sum.lost + 1, launched); /* may be being handed over */
    ck_assert_uint_le(sum.timed + sum.lost, launched + 1 + is_reset);
    ct_summary_free(&s);
}

static const char *const acts[] = {"allocate", "launch", "reset", "stream", "name"};

START_TEST(interrupted_with_a_lock)
{
    const char *act = acts[_i / 2];
    bool has_thread = _i % 2;
    long n = stage_number("CUTRACE_TEST_INTERRUPTS", 6);
    for (int i = 0; i < n; i++) {
        struct stage_run r = interrupt(i % 2 ? "exit" : "_exit", act, i, has_thread);
        check_interrupted(&r, !strcmp(act, "reset"));
        stage_drop(&r);
    }
}
END_TEST
#endif

/* ---- other programs ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* as life_process */
/* A shell's children end by _exit in most shells. */
START_TEST(children_of_a_shell)
{
    char script[3000];
    snprintf(script, sizeof(script), "(%s leave _exit alone) & (exit 4); wait $!; echo $?; (true)",
             stage_path_of("tests/e2e/actor/actor"));
    struct stage_run r =
        play_both((struct stage_scene){.program = "/bin/sh", .argv = {"-c", script}});
    ck_assert_str_eq(r.out, "7\n");
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 1);
    CHECK_TIMED(sum_of_all("worked"), 100);
    stage_drop(&r);
}
END_TEST

static const char python_program[] =
    "import ctypes, os\n"
    "cu = ctypes.CDLL('libcuda.so.1')\n"
    "c, m, f, s = (ctypes.c_void_p() for _ in range(4))\n"
    "cu.cuInit(0)\n"
    "cu.cuDevicePrimaryCtxRetain(ctypes.byref(c), 0)\n"
    "cu.cuCtxSetCurrent(c)\n"
    "cu.cuModuleLoadData(ctypes.byref(m), b'image')\n"
    "cu.cuModuleGetFunction(ctypes.byref(f), m, b'snake')\n"
    "cu.cuStreamCreate(ctypes.byref(s), 1)\n"
    "for i in range(25):\n"
    "    cu.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, None, None)\n"
    "cu.cuStreamSynchronize(s)\n"
    "os._exit(4)\n";

START_TEST(python)
{
    struct stage_scene scene = {.program = "/usr/bin/python3", .argv = {"-c", python_program}};
    ct_skip_if(access(scene.program, X_OK), "there is no /usr/bin/python3");
    struct stage_run r = play_both(scene);
    ck_assert_int_eq(stage_exit(&r), 4);
    ck_assert_str_eq(r.err, "");
    CHECK_TIMED(sum_of_all("snake"), 25);
    stage_drop(&r);
}
END_TEST
#endif

int main(void)
{
    TCase *t = tcase_create("leaving");
    tcase_add_loop_test(t, all_files_at_each_end, 0, WAYS);
#ifndef __SANITIZE_THREAD__
    tcase_add_loop_test(t, forked_workers, 0, WAYS);
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_loop_test(t, parents_counts_stay_exact, 0, 2 * WAYS);
#endif
    tcase_add_loop_test(t, after_exit_handlers, 0, WAYS);
    tcase_add_loop_test(t, another_program, 0, sizeof(functions) / sizeof(functions[0]));
    tcase_add_loop_test(t, hung_kernel, 0, WAYS);
    tcase_add_loop_test(t, hung_driver, 0, 3 * WAYS);
    tcase_add_loop_test(t, many_threads_at_once, 0, WAYS);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    tcase_add_loop_test(t, interrupted_with_a_lock, 0, 10);
    tcase_add_test(t, children_of_a_shell);
    tcase_add_test(t, python);
#endif
    return stage_main("life_leave", t);
}
