/* SPDX-License-Identifier: MIT */
/* Children of every sort, daemons, jails, other users: the program is as without cutrace. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"

static bool is_profile(const char *name)
{
    return strstr(name, ".bin") != NULL;
}

/* The sums of a kernel over all profiles in the directory. */
static uint64_t timed_in_all(const char *kernel)
{
    uint64_t n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct ct_summary s;
        if (!is_profile(e->d_name))
            continue;
        stage_profile(&s, e->d_name);
        n += stage_kernel(&s, kernel).timed;
        ct_summary_free(&s);
    }
    if (d)
        closedir(d);
    return n;
}

/* The same with and without cutrace, but for what we say; the run with us is handed over. */
static struct stage_run play_both(struct stage_scene scene, const char *variable)
{
    unsigned n = 0;
    scene.bare = true;
    struct stage_run bare = stage_play(&scene);
    scene.bare = false;
    while (scene.env[n])
        n++;
    scene.env[n] = variable;
    struct stage_run r = stage_play(&scene);
    ck_assert_str_eq(r.out, bare.out);
    ck_assert_msg(r.status == bare.status, "%x: %.900s", (unsigned)r.status, r.err);
    ck_assert_str_eq(bare.err, "");
    stage_drop(&bare);
    return r;
}

/* ---- fork ---- */

#ifndef __SANITIZE_THREAD__ /* which loses count of the simulated driver's lock in a child */
START_TEST(forks_beside_work)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"storm", "60", "3000"}, .timeout_s = 60};
    struct stage_run r = play_both(scene, NULL);
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(s.process->pid, (uint32_t)r.pid);
    ck_assert_uint_eq(s.process->flags, CT_PROCESS_FINISHED);
    CHECK_SUM(stage_kernel(&s, "stormy"), 9000);
    ck_assert_uint_eq(stage_calls(&s, "cuLaunchKernel"), 9010);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST
#endif

/* It waits for no thread that it has not got, and says nothing in its parent's name. */
START_TEST(child_without_handlers)
{
    struct ct_summary s;
    struct stage_scene scene = {
        .argv = {"process", "fork-raw"}, .env = {"CUTRACE_EXIT_TIMEOUT=20"}, .timeout_s = 15};
    struct stage_run r = play_both(scene, "CUTRACE_PRINT=on");
    const char *table = strstr(r.err, "GPU activities:");
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_null(strstr(table + 1, "GPU activities:"));
    ck_assert_msg(stage_said(&r) == 0, "%.900s", r.err);
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "worked"), 50);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* No child sees a descriptor of ours, whatever the profile is written to. */
static const char *const listings[] = {"fds-forked", "fds-spawned", "fds-exec", "fds-own"};
static const char *const outputs[] = {"CUTRACE_OUTPUT=summary.bin", "CUTRACE_OUTPUT=/dev/null",
                                      "CUTRACE_BRACKETS=journal", "CUTRACE_TRACE=1"};

START_TEST(descriptors_of_children)
{
    unsigned n = sizeof(listings) / sizeof(listings[0]);
    stage_compare((struct stage_scene){.argv = {"process", listings[(unsigned)_i % n]},
                                       .env = {outputs[(unsigned)_i / n]}});
}
END_TEST

START_TEST(daemon_that_closed_everything)
{
    struct ct_summary s;
    char variable[1024], cwd[512];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
    snprintf(variable, sizeof(variable), "CUTRACE_OUTPUT=%s/daemon.bin", cwd);
    struct stage_scene scene = {.argv = {"process", "daemon"}, .env = {variable}};
    struct stage_run r = play_both(scene, "CUTRACE_PRINT=on");
    ck_assert_str_eq(r.err, "");
    stage_profile(&s, "daemon.bin");
    CHECK_TIMED(stage_kernel(&s, "worked"), 100);
    ck_assert_uint_eq(s.process->flags, CT_PROCESS_FINISHED);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- another user, another root ---- */

static const struct {
    const char *act;
    const char *path; /* of the profile; NULL: it is in memory */
    uint64_t launches;
    const char *word; /* in what is said */
} losses[] = {
    {"drop", "summary.bin", 100, "than at its start; the profile is in /"},
    {"drop-saved", "summary.bin", 100, "than at its start; the profile is in /"},
    {"drop-first", NULL, 50, ": permission denied"},
    {"chroot", "summary.bin", 100, "than at its start; the profile is in /"},
    {"chroot-first", "jail/summary.bin", 50, "than at its start; the profile is in /summary"},
#ifndef __SANITIZE_THREAD__ /* whose own thread keeps such a process alive */
    {"chroot-thread", "summary.bin", 100, "than at its start; the profile is in /"},
#endif
};

static void check_loss(const struct stage_run *r, unsigned i)
{
    struct ct_summary s;
    ck_assert_msg(r->status == 0, "%.400s%.900s", r->out, r->err);
    ck_assert_msg(stage_said(r) == (losses[i].path ? 1 : 2), "%.900s", r->err);
    ck_assert_msg(strstr(r->err, losses[i].word) != NULL, "%.900s", r->err);
    ck_assert_msg(strstr(r->err, "no table, as the program has another user") != NULL, "%s",
                  r->err);
    ck_assert_uint_eq(stage_profiles(), losses[i].path && !strchr(losses[i].path, '/'));
    if (!losses[i].path)
        return;
    stage_profile(&s, losses[i].path);
    CHECK_TIMED(stage_kernel(&s, "worked"), losses[i].launches);
    ct_summary_free(&s);
}

/* The report is somewhere below the build tree. */
static bool can_all_reach_the_report(void)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s", stage_path_of("cutrace-report"));
    for (char *slash; (slash = strrchr(path, '/')) && slash != path; *slash = '\0') {
        struct stat st;
        if (stat(path, &st) || !(st.st_mode & S_IXOTH))
            return false;
    }
    return true;
}

START_TEST(things_given_up)
{
    struct stage_scene scene = {.argv = {"process", losses[_i].act}, .timeout_s = 15};
    ct_skip_if(geteuid(), "only root can give that up");
    ct_skip_if(!can_all_reach_the_report(), "others cannot reach the build tree");
    ck_assert_int_eq(chmod(".", 0755), 0);
    struct stage_run r = play_both(scene, "CUTRACE_PRINT=on");
    check_loss(&r, (unsigned)_i);
    stage_drop(&r);
}
END_TEST

/* Workers that may not look at who started them, or have no /proc: each keeps its profile. */
START_TEST(workers_of_another_user)
{
    static const char *const acts[] = {"drop-workers", "chroot-workers"};
    struct stage_scene scene = {.argv = {"process", acts[_i]}};
    ct_skip_if(geteuid(), "only root can become another user");
    ct_skip_if(!can_all_reach_the_report(), "others cannot reach the build tree");
    umask(0);
    ck_assert_int_eq(chmod(".", 0777), 0);
    struct stage_run r = play_both(scene, NULL);
    ck_assert_int_eq(r.status, 0);
    ck_assert_int_eq(chdir(_i ? "jail" : "."), 0);
    ck_assert_uint_eq(stage_profiles(), 3);
    ck_assert_uint_eq(timed_in_all("worked"), 150);
    ck_assert_int_eq(chdir(_i ? ".." : "."), 0);
    stage_drop(&r);
}
END_TEST

/* A program that may do more than who started it: nothing is done there, whatever he says. */
START_TEST(privileged_program)
{
    static char script[3000];
    struct stage_scene scene = {
        .program = "/bin/sh", .argv = {"-c", script}, .env = {"CUTRACE_PRINT=on", "CUTRACE_LOG=2"}};
    snprintf(script, sizeof(script), "cp %s own; chmod 4755 own; chmod 0755 .; %s as-nobody ./own",
             stage_path_of("tests/e2e/life/bound"), stage_path_of("tests/e2e/actor/actor"));
    struct stage_run r = PLAY(.program = stage_path_of("tests/e2e/life/bound"));
    ck_assert_str_eq(r.out, "20 launches, 0, secure 0\n");
    ck_assert_uint_eq(timed_in_all("bound"), 20);
    ck_assert_int_eq(unlink("summary.bin"), 0);
    stage_drop(&r);
    r = stage_play(&scene);
    if (r.status == 0 && strstr(r.out, "secure 1")) { /* else there is no root, or no suid here */
        ck_assert_str_eq(r.out, "20 launches, 0, secure 1\n");
        ck_assert_str_eq(r.err, "");
        ck_assert_uint_eq(stage_profiles(), 0);
    }
    stage_drop(&r);
}
END_TEST

/* ---- Python ---- */

/* A plain Python cannot load a simulated driver that is checked. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Children end by os._exit, as soon as their work is done. */
static const char python_program[] =
    "import ctypes, multiprocessing, os, sys\n"
    "\n"
    "def cuda():\n"
    "    cu = ctypes.CDLL('libcuda.so.1')\n"
    "    c, m, f, s = (ctypes.c_void_p() for _ in range(4))\n"
    "    r = cu.cuInit(0)\n"
    "    if r:\n"
    "        return r\n"
    "    cu.cuDevicePrimaryCtxRetain(ctypes.byref(c), 0)\n"
    "    cu.cuCtxSetCurrent(c)\n"
    "    cu.cuModuleLoadData(ctypes.byref(m), b'image')\n"
    "    cu.cuModuleGetFunction(ctypes.byref(f), m, b'snake')\n"
    "    cu.cuStreamCreate(ctypes.byref(s), 1)\n"
    "    for i in range(25):\n"
    "        r = r or cu.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, None, None)\n"
    "    r = r or cu.cuStreamSynchronize(s)\n"
    "    return r\n"
    "\n"
    "def square(n):\n"
    "    return n * n\n"
    "\n"
    "def with_cuda(n):\n"
    "    return n, cuda()\n"
    "\n"
    "if __name__ == '__main__':\n"
    "    how, after = sys.argv[1:]\n"
    "    if after == 'after':\n"
    "        print('cuda', cuda())\n"
    "    pool = multiprocessing.get_context(how)\n"
    "    with pool.Pool(3) as p:\n"
    "        print(p.map(square, range(50)))\n"
    "    children = [pool.Process(target=with_cuda, args=(i,)) for i in range(2)]\n"
    "    for c in children:\n"
    "        c.start()\n"
    "    for c in children:\n"
    "        c.join()\n"
    "    with pool.Pool(1) as p:\n"
    "        print(p.map(with_cuda, range(2)))\n"
    "        p.close()\n"
    "        p.join()\n"
    "    print('cuda', cuda(), os.system('exit 3'), [c.exitcode for c in children])\n";

/* profiles: of the parent, two children and a worker, or of the parent alone */
static const struct {
    const char *how, *after;
    unsigned profiles;
    uint64_t launches;
} pythons[] = {
    {"fork", "before", 4, 125}, /* the worker is asked twice */
    {"fork", "after", 1, 50},   {"spawn", "before", 4, 125},
    {"spawn", "after", 4, 150}, {"forkserver", "after", 4, 150},
};

START_TEST(multiprocessing)
{
    struct stage_scene scene = {.program = "/usr/bin/python3",
                                .argv = {"program.py", pythons[_i].how, pythons[_i].after},
                                .timeout_s = 60};
    ct_skip_if(access(scene.program, X_OK), "there is no /usr/bin/python3");
    FILE *f = fopen("program.py", "w");
    ck_assert(f && fputs(python_program, f) >= 0 && fclose(f) == 0);
    struct stage_run r = play_both(scene, NULL);
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_str_eq(r.err, "");
    ck_assert_uint_eq(stage_profiles(), pythons[_i].profiles);
    ck_assert_uint_eq(timed_in_all("snake"), pythons[_i].launches);
    stage_drop(&r);
}
END_TEST
#endif

/* ---- first calls ---- */

/* Of threads that begin at once none passes by unseen. */
START_TEST(first_calls_at_once)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"process", "first-calls"});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_calls(&s, "cuInit"), 8);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

START_TEST(fork_beside_the_first_call)
{
    struct stage_run r = PLAY(.argv = {"process", "first-fork"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_null(strstr(r.out, "waited: 0"));
    stage_drop(&r);
}
END_TEST

START_TEST(fork_beside_the_loader)
{
    struct stage_run r = PLAY(.argv = {"process", "loader-fork"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "waited: 1, status 0\n");
    stage_drop(&r);
}
END_TEST

/* It ends where it would without us, and whoever ends the program beside that does so. */
START_TEST(cancelled_thread)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"process", _i ? "cancelled-exit" : "cancelled"}};
    struct stage_run r = play_both(scene, "CUTRACE_PRINT=on");
    ck_assert_int_eq(stage_exit(&r), _i ? 5 : 0);
    ck_assert_ptr_nonnull(strstr(r.err, "GPU activities:"));
    stage_profile(&s, "summary.bin");
    CHECK_TIMED(stage_kernel(&s, "worked"), 50);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("children, daemons, other users");
    unsigned scenes = sizeof(listings) / sizeof(listings[0]) * sizeof(outputs) / sizeof(outputs[0]);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(t, forks_beside_work);
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_loop_test(t, multiprocessing, 0, sizeof(pythons) / sizeof(pythons[0]));
#endif
    tcase_add_test(t, child_without_handlers);
    tcase_add_loop_test(t, descriptors_of_children, 0, (int)scenes);
    tcase_add_test(t, daemon_that_closed_everything);
    tcase_add_loop_test(t, things_given_up, 0, sizeof(losses) / sizeof(losses[0]));
    tcase_add_loop_test(t, workers_of_another_user, 0, 2);
    tcase_add_test(t, privileged_program);
    tcase_add_loop_test(t, first_calls_at_once, 0, 10);
    tcase_add_loop_test(t, fork_beside_the_first_call, 0, 10);
    tcase_add_test(t, fork_beside_the_loader);
    tcase_add_loop_test(t, cancelled_thread, 0, 2);
    return stage_main("life_process", t);
}
