/* SPDX-License-Identifier: MIT */
/*
 * Every function that puts work on the GPU, one by one; records on the right stream and thread;
 * functions nobody here knows; NVIDIA's own runtime; heaps that look things up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life/stage.h"
#include "routes/truth.h"

#define BELOW(name) stage_path_of("tests/e2e/submit/" name)
#define KERNELS "CUDASIM_KERNELS=alpha=1234,beta=56789"

static struct stage_run play(const struct stage_scene *scene)
{
    struct stage_run run = stage_play(scene);
    ck_assert_msg(stage_exit(&run) == 0, "exit status %d: %s", stage_exit(&run), run.err);
    return run;
}

static char *report_of(const char *path)
{
    char command[1024];
    sprintf(command, "%s %s >report 2>&1", stage_path_of("cutrace-report"), path);
    ck_assert_int_eq(system(command), 0);
    return stage_read("report");
}

/* first:second, where the sanitizers' own library has to come first */
static char *preload(const char *first, const char *second)
{
    static char text[12288];
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    snprintf(text, sizeof(text), "LD_PRELOAD=%s%s:%s", runtime, first, second);
    return text;
}

/* ---- one by one ---- */

/* The newest driver's, which has all of them. */
static struct stage_scene each(int created)
{
    static char path[1024];
    snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s", stage_path_of("tests/sim/v13_5"));
    return (struct stage_scene){
        .program = BELOW("submitter"),
        .argv = {created ? "created" : "default"},
        .env = {KERNELS, "CUDASIM_TRUTH=truth", "CUDASIM_DEVICES=2", path},
    };
}

/* A line for each call: what it is, or that it was refused, and the symbol. */
static void check_calls(const struct ct_summary *s, char *out, unsigned *done, unsigned *refused)
{
    char kind[16], symbol[64];
    *done = *refused = 0;
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
        if (sscanf(line, "%15s %63s", kind, symbol) != 2 || strncmp(symbol, "cu", 2))
            continue;
        ++*(strcmp(kind, "refused") ? done : refused);
        ck_assert_msg(stage_calls(s, symbol) >= 1, "%s was not counted", symbol);
    }
}

START_TEST(each_function_is_timed)
{
    static const uint32_t kinds[] = {CT_ROW_KERNEL, CT_ROW_COPY, CT_ROW_SET, CT_ROW_PREFETCH,
                                     CT_ROW_GRAPH};
    struct stage_scene scene = each(_i);
    struct stage_run run = play(&scene);
    struct ct_summary s;
    unsigned done, refused, timed = 0, errors = 0;
    stage_profile(&s, "summary.bin");
    check_calls(&s, run.out, &done, &refused);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct stage_sum sum = stage_rows(&s, kinds[i], NULL);
        ck_assert_uint_eq(sum.lost, 0);
        timed += (unsigned)sum.timed;
        errors += (unsigned)sum.errors;
    }
    ck_assert_uint_gt(done, 80);
    ck_assert_uint_eq(timed, done);
    ck_assert_uint_eq(errors, refused);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

START_TEST(each_time_is_the_truth)
{
    struct stage_scene scene = each(_i);
    struct stage_run run = play(&scene);
    char *report = report_of("summary.bin"), *ours = truth_activities(report);
    char *expected = truth_table("truth", "[CUDA graph 3 nodes]");
    ck_assert_str_eq(ours, expected);
    free(expected);
    free(ours);
    free(report);
    stage_drop(&run);
}
END_TEST

START_TEST(each_is_as_without)
{
    stage_compare(each(_i));
}
END_TEST

/* ---- per-thread default streams ---- */

#define THREADS 4
#define OPERATIONS (THREADS * (2 * 25 + 1))

static void check_streams(const struct ct_summary *s)
{
    uint64_t operations = 0;
    unsigned streams = 0;
    for (size_t i = 0; i < s->streams_count; i++) {
        ck_assert_uint_ne(s->streams[i].special, 1);
        operations += s->streams[i].special == 2 ? s->streams[i].operations : 0;
        streams += s->streams[i].special == 2;
    }
    ck_assert_uint_eq(operations, OPERATIONS);
    ck_assert_uint_eq(streams, THREADS);
}

START_TEST(records_follow_the_work)
{
    struct stage_run run =
        PLAY(.program = BELOW("submitter"), .argv = {"threads"},
             .env = {KERNELS, "CUDASIM_DEVICES=2", "CUTRACE_CALIBRATE=off",
                     preload(stage_path_of(".libs/libcutrace.so"), BELOW("record_spy.so"))});
    unsigned launches, right, elsewhere, others;
    struct ct_summary s;
    ck_assert_msg(stage_exit(&run) == 0, "%s", run.err);
    const char *said = strstr(run.err, "spy: ");
    ck_assert_msg(said != NULL, "%s", run.err);
    ck_assert_int_eq(sscanf(said, "spy: %u launches, records: %u right, %u elsewhere, %u by others",
                            &launches, &right, &elsewhere, &others),
                     4);
    ck_assert_uint_eq(launches, THREADS * 25);
    ck_assert_uint_ge(right, OPERATIONS);
    ck_assert_uint_le(right, 2 * OPERATIONS);
    ck_assert_uint_eq(elsewhere, 0);
    ck_assert_uint_eq(others, 0);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "beta"), THREADS * 25);
    check_streams(&s);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

/* ---- what came after 13.0 ---- */

static const char *const later_routes[] = {"linked", "dlsym", "suffix", "base", "entry", "runtime"};

static struct stage_scene later(int route)
{
    static char path[2048];
    snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s:%s", stage_path_of("tests/sim/v13_5"),
             stage_path_of("tests/sim/lib"));
    return (struct stage_scene){.program = BELOW("newer_api"),
                                .argv = {later_routes[route]},
                                .env = {path, "CUDASIM_TRUTH=truth"}};
}

static uint64_t copied_to_device(const struct ct_summary *s)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->rows_count; i++)
        if (s->rows[i].kind == CT_ROW_COPY && s->rows[i].detail == CT_HTOD)
            bytes += s->rows[i].bytes;
    return bytes;
}

/* Copies are timed, a host function is a gate, a capture is no run, by whatever way. */
START_TEST(later_functions_do_their_kind)
{
    struct ct_summary s;
    struct stage_scene scene = later(_i);
    struct stage_run run = play(&scene);
    ck_assert_str_eq(run.out, "done\n");
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_rows(&s, CT_ROW_COPY, NULL), 3);
    ck_assert_uint_eq(copied_to_device(&s), 2 * 4096 + 64 * 4 * 2);
    ck_assert_uint_eq(stage_kernel(&s, "alpha").captured, 5);
    ck_assert_uint_eq(stage_rows(&s, CT_ROW_GRAPH, NULL).timed, 1);
    ck_assert_uint_eq(s.notes_count, 0);
    ck_assert_uint_eq(stage_calls(&s, strcmp(later_routes[_i], "runtime")
                                          ? "cuLaunchHostFunc_v2"
                                          : "cudaLaunchHostFunc_v2"),
                      1);
    ct_summary_free(&s);
    stage_drop(&run);
    stage_compare(scene);
}
END_TEST

/* A driver that lacks them has them no more with us. */
START_TEST(later_functions_are_not_made_up)
{
    struct stage_scene scene = later(1);
    char path[1024];
    snprintf(path, sizeof(path), "LD_LIBRARY_PATH=%s", stage_path_of("tests/sim/lib"));
    scene.env[0] = path;
    struct stage_run run = stage_play(&scene);
    ck_assert_ptr_nonnull(strstr(run.err, "no cuLaunchHostFunc_v2"));
    ck_assert_int_eq(stage_exit(&run), 3);
    stage_drop(&run);
}
END_TEST

/* ---- functions nobody here knows ---- */

static uint64_t asked_for(const struct ct_summary *s, const char *name)
{
    for (size_t i = 0; i < s->notes_count; i++)
        if (s->notes[i].kind == CT_NOTE_NOT_WRAPPED &&
            !strcmp(ct_summary_text(s, s->notes[i].text), name))
            return s->notes[i].count;
    return 0;
}

#define LOSSES                                                                                     \
    "PATH=$PATH:$TOP; cutrace-report losses summary.bin | grep -q '^ *2  cuLaunchKernelNext' && "  \
    "cutrace-report losses --format json summary.bin | grep -q '\"not_wrapped\"'"

START_TEST(what_is_newer_is_passed_on_and_said)
{
    char path[1024];
    struct ct_summary s;
    sprintf(path, "LD_LIBRARY_PATH=%s", BELOW("newer"));
    setenv("TOP", stage_path_of("."), 1);
    struct stage_scene scene = {
        .program = BELOW("finder"), .argv = {"newer"}, .env = {path, "CUTRACE_LOG=2"}};
    stage_compare(scene);
    struct stage_run run = play(&scene);
    ck_assert_ptr_nonnull(strstr(run.out, "same 1 1 1\n"));
    ck_assert_ptr_nonnull(strstr(run.out, "launch 692866941\n")); /* 1*1 + 2*20 + ... */
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(asked_for(&s, "cuLaunchKernelNext"), 2);
    ck_assert_uint_eq(asked_for(&s, "cuMemcpyNextAsync"), 1);
    ck_assert_uint_eq(asked_for(&s, "cuMemcpyNextAsync_v7"), 1);
    ck_assert_uint_eq(asked_for(&s, "cudaMemcpyNextAsync"), 1);
    ck_assert_uint_eq(asked_for(&s, "cuQuantumEntangle"), 0);
    ck_assert_uint_eq(asked_for(&s, "cuGetNextLaunchQuery"), 0);
    ck_assert_uint_eq(s.notes_count, 4);
    const char *said = strstr(run.err, "asked for, and not wrapped: cuLaunchKernelNext\n");
    ck_assert(said && !strstr(said + 30, "not wrapped: cuLaunchKernelNext\n"));
    ck_assert_int_eq(system(LOSSES), 0);
    char *report = report_of("summary.bin");
    ck_assert_ptr_nonnull(strstr(report, "Not wrapped: "));
    free(report);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

/* ---- other ways ---- */

START_TEST(versions_are_asked_for)
{
    struct stage_scene scene = {.program = BELOW("finder"), .argv = {"versioned"}};
    struct ct_summary s;
    stage_compare(scene);
    struct stage_run run = play(&scene);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_calls(&s, "cudaMemset"), 7);
    CHECK_TIMED(stage_rows(&s, CT_ROW_SET, NULL), 7);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

START_TEST(strangers_stay_strangers)
{
    struct stage_scene scene = {.program = BELOW("finder"),
                                .argv = {"strangers", BELOW("strangers.so")}};
    stage_compare(scene);
    struct stage_run run = play(&scene);
    ck_assert_ptr_nonnull(strstr(run.out, "cuLaunchKernel found"));
    ck_assert(!strstr(run.out, "another"));
    ck_assert(!stage_exists("summary.bin"));
    stage_drop(&run);
}
END_TEST

START_TEST(another_namespace_is_left_alone)
{
    struct stage_scene scene = {.program = BELOW("finder"), .argv = {"namespace"}};
    stage_compare(scene);
}
END_TEST

/* ---- NVIDIA's runtime ---- */

static bool have(const char *path, int mode)
{
    if (access(path, mode) == 0)
        return true;
    fprintf(stderr, "skipped: %s is not there\n", path);
    return false;
}

static void check_runtime(struct stage_scene scene)
{
    unsigned asked, ours, drivers, wrong;
    /* The runtime closes the driver again. Under ThreadSanitizer exit handlers outlive their
     * library, and without cutrace, which keeps it, the program ends in one that is gone. */
    if (!strstr(SUBMIT_SANITIZERS, "thread"))
        stage_compare(scene);
    scene.env[0] = preload(BELOW("asker.so"), stage_path_of(".libs/libcutrace.so"));
    struct stage_run run = play(&scene);
    const char *said = strstr(run.err, "asker: ");
    ck_assert_msg(said != NULL, "%s", run.err);
    ck_assert_msg(sscanf(said, "asker: %u asked, %u ours, %u the driver's, %u wrong", &asked, &ours,
                         &drivers, &wrong) == 4,
                  "%s", run.err);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_ge(asked, 400);
    ck_assert_uint_ge(ours, 300);
    stage_drop(&run);
}

START_TEST(real_runtime_shared)
{
    if (have(SUBMIT_CUDART_SHARED, R_OK))
        check_runtime((struct stage_scene){.program = BELOW("finder"),
                                           .argv = {"runtime", SUBMIT_CUDART_SHARED}});
}
END_TEST

START_TEST(real_runtime_static)
{
    if (have(BELOW("finder_static"), X_OK))
        check_runtime((struct stage_scene){.program = BELOW("finder_static"), .argv = {"runtime"}});
}
END_TEST

/* ---- other heaps ---- */

static const char *const heaps[] = {"libjemalloc.so.2", "libtcmalloc_minimal.so.4"};
#define HEAPS (sizeof(heaps) / sizeof(heaps[0]))

static bool is_installed(const char *heap)
{
    char variable[128];
    sprintf(variable, "LD_PRELOAD=%s", heap);
    struct stage_run run = PLAY(.program = "/bin/true", .bare = true, .env = {variable});
    bool found = !strstr(run.err, "cannot be preloaded");
    if (!found)
        fprintf(stderr, "skipped: %s is not installed\n", heap);
    stage_drop(&run);
    return found;
}

START_TEST(another_heap)
{
    const char *heap = heaps[_i / 2], *cutrace = stage_path_of(".libs/libcutrace.so");
    struct ct_summary s;
    ct_skip_if(!is_installed(heap), heap);
    struct stage_scene scene = each(0);
    scene.env[4] = _i % 2 ? preload(heap, cutrace) : preload(cutrace, heap);
    struct stage_run run = play(&scene);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_gt(stage_rows(&s, CT_ROW_COPY, NULL).timed, 40);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("submit");
    tcase_add_loop_test(tests, each_function_is_timed, 0, 2);
    tcase_add_loop_test(tests, each_time_is_the_truth, 0, 2);
    tcase_add_loop_test(tests, each_is_as_without, 0, 2);
    tcase_add_test(tests, records_follow_the_work);
    tcase_add_loop_test(tests, later_functions_do_their_kind, 0, 6);
    tcase_add_test(tests, later_functions_are_not_made_up);
    tcase_add_test(tests, what_is_newer_is_passed_on_and_said);
    tcase_add_test(tests, versions_are_asked_for);
    tcase_add_test(tests, strangers_stay_strangers);
    if (!*SUBMIT_SANITIZERS) { /* whose library is not in the other namespace; and have a heap */
        tcase_add_test(tests, another_namespace_is_left_alone);
        tcase_add_loop_test(tests, another_heap, 0, 2 * HEAPS);
    }
    tcase_add_test(tests, real_runtime_shared);
    tcase_add_test(tests, real_runtime_static);
    return stage_main("submit", tests);
}
