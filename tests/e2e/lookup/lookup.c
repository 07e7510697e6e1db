/* SPDX-License-Identifier: MIT */
/* dlsym as others use it: callers, versions, other interposers, heaps, locks, names of no concern.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life/stage.h"

#define BELOW(name) stage_path_of("tests/e2e/lookup/" name)
#define PROBER BELOW("prober")

static char *variable(const char *name, const char *first, const char *second)
{
    char *text = malloc(2048);
    snprintf(text, 2048, "%s=%s%s%s", name, first, second ? ":" : "", second ? second : "");
    return text;
}

/* The prober with and without cutrace, in the order it is preloaded with another library. */
static void same(const char *what, const char *file)
{
    stage_compare(
        (struct stage_scene){.program = PROBER, .argv = {what, file}, .env = {"LD_LIBRARY_PATH="}});
}

START_TEST(the_caller_stays_the_caller)
{
    struct stage_run run = PLAY(.program = PROBER, .argv = {"chain"});
    ck_assert_str_eq(run.out, "A\nB\nC\n"); /* -O0, -O2, -O0 */
    stage_drop(&run);
    same("chain", NULL);
    same("plugin", BELOW("plugin.so"));
}
END_TEST

START_TEST(a_library_can_be_unloaded)
{
    struct stage_run run = PLAY(.program = PROBER, .argv = {"unloads", BELOW("plugin.so")},
                                .env = {"LD_LIBRARY_PATH="});
    ck_assert_msg(strstr(run.out, "\nunloaded\n") != NULL, "%s", run.out);
    stage_drop(&run);
    same("unloads", BELOW("plugin.so"));
}
END_TEST

/* The driver's functions are found behind us, whoever is asked first. */
START_TEST(a_driver_behind_us_is_found)
{
    const char *names[] = {"cuInit", "cuLaunchKernel", "cuGetProcAddress", "cuMemcpyHtoD_v2"};
    char line[64], *preload = variable("LD_PRELOAD", stage_path_of(".libs/libcutrace.so"),
                                       stage_path_of("tests/sim/lib/libcuda.so.1"));
    struct stage_run run =
        PLAY(.program = PROBER, .argv = {"strangers"}, .env = {preload, "CUTRACE_PRINT=off"});
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(line, sizeof(line), "%s: found found\n", names[i]);
        ck_assert_msg(strstr(run.out, line) != NULL, "%s", run.out);
    }
    ck_assert_ptr_nonnull(strstr(run.out, "strangers: 0\n"));
    stage_drop(&run);
    free(preload);
}
END_TEST

START_TEST(versions_of_dlsym)
{
    char command[1024];
    same("versions", NULL);
    sprintf(command, "readelf --dyn-syms -W %s | grep -E ' dlv?sym$' >found",
            stage_path_of(".libs/libcutrace.so"));
    ck_assert_int_eq(system(command), 0); /* both without a version */
    char *found = stage_read("found");
    ck_assert_ptr_nonnull(strstr(found, " dlsym\n"));
    ck_assert_ptr_nonnull(strstr(found, " dlvsym\n"));
    free(found);
}
END_TEST

/* Both tools see what is looked up, and the profile is whole. */
START_TEST(another_interposer)
{
    const char *cutrace = stage_path_of(".libs/libcutrace.so"), *spy = BELOW("spy.so");
    char *preload =
        _i ? variable("LD_PRELOAD", cutrace, spy) : variable("LD_PRELOAD", spy, cutrace);
    struct ct_summary s;
    struct stage_run run = PLAY(.program = stage_path_of("tests/e2e/routes/client_found"),
                                .argv = {"dlsym"}, .env = {preload, "CUTRACE_PRINT=off"});
    ck_assert_msg(stage_exit(&run) == 0, "%s", run.err);
    ck_assert_ptr_nonnull(strstr(run.err, "spy: saw look-ups"));
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "beta"), 31);
    ct_summary_free(&s);
    stage_drop(&run);
    free(preload);
}
END_TEST

START_TEST(a_heap_that_uses_dlsym)
{
    const char *cutrace = stage_path_of(".libs/libcutrace.so"), *heap = BELOW("lazy_malloc.so");
    char *preload =
        _i ? variable("LD_PRELOAD", cutrace, heap) : variable("LD_PRELOAD", heap, cutrace);
    struct ct_summary s;
    struct stage_run run = PLAY(.program = stage_path_of("tests/e2e/routes/client_shared13"),
                                .env = {preload, "CUTRACE_PRINT=off"});
    ck_assert_msg(stage_exit(&run) == 0, "%s", run.err);
    stage_profile(&s, "summary.bin");
    ct_summary_free(&s);
    stage_drop(&run);
    free(preload);
}
END_TEST

/* ---- the library more than once ---- */

static const struct {
    const char *client;
    const char *argument;
} routes[] = {
    {"client_linked", NULL},   {"client_found", "dlsym"}, {"client_found", "second"},
    {"client_shared13", NULL}, {"client_static", NULL},
};

/* `preload` and `loads` with the paths of the library and of copies of it: %1$s, %2$s, %3$s. */
static const struct {
    const char *preload, *loads;
    unsigned copies;
} copies[] = {
    {"LD_PRELOAD=%1$s:%2$s", "OPENER_LOADS=%1$s", 1},
    {"LD_PRELOAD=%2$s:%1$s", "OPENER_LOADS=%1$s", 1},
    {"LD_PRELOAD=%1$s:%2$s:%3$s", "OPENER_LOADS=%1$s", 2},
    {"LD_PRELOAD=%4$s:%1$s", "OPENER_LOADS=%2$s", 1},
    {"LD_PRELOAD=%1$s:%1$s", "OPENER_LOADS=%1$s", 0},
};

static unsigned lines_with(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

static struct stage_run play_route(int route, const char *preload, const char *loads)
{
    char client[1024], command[2048];
    snprintf(client, sizeof(client), "%s/%s", stage_path_of("tests/e2e/routes"),
             routes[route].client);
    snprintf(command, sizeof(command), "%s %s; exit $?", client,
             routes[route].argument ? routes[route].argument : "");
    struct stage_run r = PLAY(.program = "/bin/sh", .argv = {"-c", command},
                              .env = {preload, loads, "CUTRACE_PRINT=off"});
    ck_assert_msg(stage_exit(&r) == 0, "%s", r.err);
    return r;
}

/* Each row and call of one run is in the other, as often, and kernels take as long. */
static void same_profiles(const char *one, const char *other)
{
    struct ct_summary a, b;
    stage_profile(&a, one);
    stage_profile(&b, other);
    ck_assert_uint_gt(a.rows_count, 0);
    ck_assert_uint_eq(a.rows_count, b.rows_count);
    ck_assert_uint_eq(a.apis_count, b.apis_count);
    for (size_t i = 0; i < a.rows_count; i++) {
        ck_assert_uint_eq(a.rows[i].timed, b.rows[i].timed);
        ck_assert_uint_eq(a.rows[i].total_ns, b.rows[i].total_ns);
    }
    for (size_t i = 0; i < a.apis_count; i++)
        ck_assert_uint_eq(a.apis[i].calls, b.apis[i].calls);
    ct_summary_free(&a);
    ct_summary_free(&b);
}

START_TEST(other_copies_stand_aside)
{
    const int route = _i % 5, how = _i / 5;
    const char *library = stage_path_of(".libs/libcutrace.so");
    char command[2048], preload[4096], loads[2048];
    snprintf(command, sizeof(command), "cp %s copy.so && cp %s libcutrace.so", library, library);
    ck_assert_int_eq(system(command), 0);
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
    struct stage_run alone = play_route(route, preload, "OPENER_LOADS=");
    ck_assert_int_eq(rename("summary.bin", "alone.bin"), 0);
    char *directory = getcwd(NULL, 0), first[1024], second[1024];
    snprintf(first, sizeof(first), "%s/copy.so", directory);
    snprintf(second, sizeof(second), "%s/libcutrace.so", directory);
    snprintf(preload, sizeof(preload), copies[how].preload, library, first, second,
             BELOW("opener.so"));
    snprintf(loads, sizeof(loads), copies[how].loads, library, first);
    struct stage_run r = play_route(route, preload, loads);
    ck_assert_msg(lines_with(r.err, "stands aside") == copies[how].copies, "%s", r.err);
    ck_assert_uint_eq(stage_said(&r), stage_said(&alone) + copies[how].copies);
    same_profiles("alone.bin", "summary.bin");
    free(directory);
    stage_drop(&alone);
    stage_drop(&r);
}
END_TEST

START_TEST(locks_of_the_loader)
{
    struct stage_run run = PLAY(.program = PROBER, .argv = {"threads", BELOW("slow_plugin.so")});
    ck_assert_str_eq(run.out, "done\n");
    stage_drop(&run);
}
END_TEST

START_TEST(names_of_no_concern)
{
    same("strangers", NULL);
}
END_TEST

/* A loader that calls its pointers as CUDA does, in an executable whose names are all exported. */
START_TEST(names_of_the_program)
{
    same("own", stage_path_of("tests/sim/lib/libcuda.so.1"));
}
END_TEST

START_TEST(a_runtime_that_comes_and_goes)
{
    struct stage_run run = PLAY(.program = PROBER, .argv = {"again", BELOW("runtime_plugin.so")});
    ck_assert_int_eq(run.status, 0);
    ck_assert_str_eq(run.out, "12 devices\n");
    stage_drop(&run);
}
END_TEST

/*
 * Which runtime a page of code calls is found out once for its object: the loader is asked about
 * one object for each page, for whether any has gone since.
 */
START_TEST(calls_from_many_pages)
{
    unsigned pages, first, second;
    struct ct_summary s;
    struct stage_run run = PLAY(.program = BELOW("pages"), .env = {"CUTRACE_PRINT=off"});
    ck_assert_int_eq(sscanf(run.out, "%u calls, asked about %u, then %u", &pages, &first, &second),
                     3);
    ck_assert_uint_lt(first, 2 * pages);
    ck_assert_uint_eq(second, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_calls(&s, "cudaGetDevice"), 2 * pages);
    ct_summary_free(&s);
    stage_drop(&run);
}
END_TEST

START_TEST(what_is_not_seen_is_said)
{
    struct stage_run run = PLAY(.program = PROBER, .argv = {"deepbind", BELOW("deep_plugin.so")});
    ck_assert_str_eq(run.out, "1 devices\n");
    ck_assert_ptr_nonnull(strstr(run.err, "none of its calls came by here"));
    ck_assert(!stage_exists("summary.bin"));
    stage_drop(&run);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("lookup");
    tcase_add_test(tests, the_caller_stays_the_caller);
    tcase_add_test(tests, a_library_can_be_unloaded);
    tcase_add_test(tests, versions_of_dlsym);
    if (!*LOOKUP_SANITIZERS) { /* whose runtime must come first */
        tcase_add_test(tests, a_driver_behind_us_is_found);
        tcase_add_loop_test(tests, another_interposer, 0, 2);
    }
    if (!*LOOKUP_SANITIZERS) /* which bring a heap of their own */
        tcase_add_loop_test(tests, a_heap_that_uses_dlsym, 0, 2);
    if (!*LOOKUP_SANITIZERS)
        tcase_add_loop_test(tests, other_copies_stand_aside, 0, 25);
    tcase_add_test(tests, locks_of_the_loader);
    tcase_add_test(tests, names_of_no_concern);
    tcase_add_test(tests, names_of_the_program);
    tcase_add_test(tests, a_runtime_that_comes_and_goes);
    if (!*LOOKUP_SANITIZERS) /* which ask the loader as well */
        tcase_add_test(tests, calls_from_many_pages);
    if (!*LOOKUP_SANITIZERS) /* ASan refuses RTLD_DEEPBIND */
        tcase_add_test(tests, what_is_not_seen_is_said);
    return stage_main("lookup", tests);
}
