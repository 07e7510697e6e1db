/* SPDX-License-Identifier: MIT */
/* What comes of a run: one table and one file of all its processes, with exact counts. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

/* Of a file that several processes may have written to by now. */
static struct stage_sum sum_of(const char *path, const char *kernel, size_t *processes)
{
    struct ct_summary s = {0};
    struct ct_read_error error;
    ck_assert_msg(ct_summary_read(&s, path, &error) == 0, "%s %s", path, error.text);
    struct stage_sum sum = stage_kernel(&s, kernel);
    *processes = s.processes_count ? s.processes_count : s.process_count;
    ct_summary_free(&s);
    return sum;
}

static void check_file(const char *path, const char *kernel, uint64_t launches, size_t processes)
{
    size_t merged;
    CHECK_TIMED(sum_of(path, kernel, &merged), launches);
    ck_assert_uint_eq(merged, processes);
}

static unsigned count_text(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* Of nvprof's table as CSV: type, percent, time, calls, three times, name. */
static unsigned long count_calls(const char *table, const char *kernel)
{
    char end[64];
    unsigned long calls;
    snprintf(end, sizeof(end), ",\"%s\"\n", kernel);
    const char *row = strstr(table, end);
    ck_assert_msg(row != NULL, "%s", table);
    while (row > table && row[-1] != '\n')
        row--;
    ck_assert_msg(sscanf(row, "%*[^,],%*[^,],%*[^,],%lu", &calls) == 1, "%s", row);
    return calls;
}

/* One table, one file, and the last line names it. */
static void check_end(const struct stage_run *r, const char *path)
{
    char last[600];
    snprintf(last, sizeof(last), "cutrace-report %s\n", path);
    ck_assert_uint_eq(count_text(r->err, "GPU activities:"), 1);
    ck_assert_uint_eq(count_text(r->err, "Generated result file: "), 1);
    size_t all = strlen(r->err), len = strlen(last);
    ck_assert_msg(all > len && !strcmp(r->err + all - len, last), "%s", r->err);
}

START_TEST(one_process)
{
    struct stage_run r = LAUNCH(.argv = {rig_actor(), "small", "100"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "small: 100 launches, last byte 9\n");
    ck_assert_ptr_nonnull(strstr(r.err, "CUTRACE is profiling process"));
    check_end(&r, "summary.bin");
    check_file("summary.bin", "alpha", 100, 1);
    stage_drop(&r);
}
END_TEST

/* ---- descendants ---- */

static const struct {
    const char *script; /* $A: the actor */
    const char *kernel;
    uint64_t launches;
    size_t processes;
} families[] = {
    {"$A small 10; $A small 20; $A small 30", "alpha", 60, 3},
    {"$A small 10 & $A small 20 & $A small 30 & wait", "alpha", 60, 3},
    {"for i in $(seq 16); do $A small 10 & done; wait", "alpha", 160, 16},
    {"cd /; $A small 10; (cd /tmp; $A small 5)", "alpha", 15, 2},
    {"sh -c '$A small 7; sh -c \"$A small 8\"; true'; $A small 9", "alpha", 24, 3},
    {"$A end fork-first", "worked", 120, 2},
    {"$A end fork-before", "worked", 120, 2},
    {"$A end vfork", "worked", 100, 2},
    {"$A end spawn", "worked", 100, 2},
    {"$A end exec", "worked", 100, 2},
    {"$A end kill; $A small 10", "worked", 100, 2},
    {"exec $A small 40", "alpha", 40, 1},
};

START_TEST(family)
{
    char actor[1100];
    struct stage_run r;
    snprintf(actor, sizeof(actor), "A=%s", rig_actor());
    r = LAUNCH(.argv = {"sh", "-c", families[_i].script}, .env = {actor});
    check_end(&r, "summary.bin");
    check_file("summary.bin", families[_i].kernel, families[_i].launches, families[_i].processes);
    ck_assert_uint_eq(stage_profiles(), 1);
    ck_assert_uint_eq(count_text(r.err, "CUTRACE is profiling process"), families[_i].processes);
    stage_drop(&r);
}
END_TEST

/* Each process has a table and a file of its own; eight of them are named in the last line. */
START_TEST(each_of_several)
{
    char actor[1100], last[64];
    unsigned count = 8 + (unsigned)_i;
    snprintf(actor, sizeof(actor), "A=%s", rig_actor());
    snprintf(last, sizeof(last), "for i in $(seq %u); do $A small 1; done", count);
    struct stage_run r =
        LAUNCH(.argv = {"--profile-child-processes", "sh", "-c", last}, .env = {actor});
    const char *next = strstr(r.err, "Look at it again, or closer: ");
    ck_assert_msg(stage_exit(&r) == 0 && next, "%s", r.err);
    ck_assert_uint_eq(count_text(next, ".bin"), 8);
    ck_assert_int_eq(strstr(next, ".bin ...\n") != NULL, count > 8);
    ck_assert_uint_eq(stage_profiles(), count);
    ck_assert_msg(!strstr(r.err, "is not possible"), "%s", r.err); /* the option has a value */
    stage_drop(&r);
}
END_TEST

/* One process, three images: each has its kernels in the file. */
START_TEST(images_of_one_process)
{
    static char script[4000];
    snprintf(script, sizeof(script), "exec %s end exec", rig_actor());
    struct stage_run r = LAUNCH(.argv = {"sh", "-c", script});
    check_file("summary.bin", "worked", 100, 2);
    check_file("summary.bin", "alpha", 30, 2);
    stage_drop(&r);
}
END_TEST

START_TEST(table_for_each)
{
    static char script[4000];
    snprintf(script, sizeof(script), "%s small 10; %s small 20", rig_actor(), rig_actor());
    struct stage_run r = LAUNCH(.argv = {"--profile-child-processes", "sh", "-c", script});
    ck_assert_uint_eq(count_text(r.err, "GPU activities:"), 2);
    ck_assert_uint_eq(stage_profiles(), 2);
    stage_drop(&r);
    ck_assert_int_eq(system("rm *.bin"), 0);
    r = LAUNCH(.argv = {"--profile-child-processes=on", "sh", "-c", script});
    check_end(&r, "summary.bin");
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_drop(&r);
}
END_TEST

/* Above the trace, too, there is what tells one process from another. */
START_TEST(trace_for_each)
{
    static char script[4000];
    static const char *const how[] = {"--demangling=on", "--csv"};
    snprintf(script, sizeof(script), "%s small 10; %s small 20", rig_actor(), rig_actor());
    for (unsigned i = 0; i < 2; i++) {
        struct stage_run r = LAUNCH(.argv = {"--profile-child-processes", "--print-gpu-trace",
                                             how[i], "sh", "-c", script});
        ck_assert_uint_eq(count_text(r.err, "== Profiling application: "), 2);
        ck_assert_uint_eq(count_text(r.err, "== Profiling result:\n"), 2);
        ck_assert_ptr_null(strstr(r.err, "======== "));
        stage_drop(&r);
    }
}
END_TEST

START_TEST(without_children)
{
    static char script[4000];
    snprintf(script, sizeof(script), "%s small 10; exec %s small 20", rig_actor(), rig_actor());
    struct stage_run r = LAUNCH(.argv = {"--profile-child-processes=off", "sh", "-c", script});
    check_file("summary.bin", "alpha", 20, 1);
    ck_assert_uint_eq(stage_profiles(), 1);
    stage_drop(&r);
}
END_TEST

/* It goes on; the launcher does not wait for it, but names it, with what there is of it. */
START_TEST(orphan)
{
    static char script[4000];
    snprintf(script, sizeof(script),
             "setsid %s endless >/dev/null 2>&1 & echo $! >pid; %s small 10; "
             "until [ $(ls *.bin | wc -l) = 2 ]; do sleep 0.01; done",
             rig_actor(), rig_actor());
    struct stage_run r = LAUNCH(.argv = {"sh", "-c", script});
    ck_assert_int_eq(r.status, 0);
    char line[100], *pid = stage_read("pid");
    snprintf(line, sizeof(line), "Process %d still runs and goes on writing summary.", atoi(pid));
    ck_assert_msg(strstr(r.err, line) != NULL, "%s", r.err);
    ck_assert_uint_eq(stage_profiles(), 2);
    ck_assert_int_eq(kill(atoi(pid), SIGKILL), 0);
    free(pid);
    stage_drop(&r);
}
END_TEST

/* ---- outputs ---- */

START_TEST(output_is_not_overwritten)
{
    struct stage_run r = LAUNCH(.argv = {"-o", "x.bin", rig_actor(), "small", "10"});
    ck_assert_int_eq(r.status, 0);
    stage_drop(&r);
    r = LAUNCH(.argv = {"-o", "x.bin", rig_actor(), "small", "20"});
    ck_assert_int_eq(stage_exit(&r), 125);
    ck_assert_ptr_nonnull(strstr(r.err, "-f overwrites it"));
    check_file("x.bin", "alpha", 10, 1);
    stage_drop(&r);
    r = LAUNCH(.argv = {"-f", "-o", "x.bin", rig_actor(), "small", "20"});
    ck_assert_int_eq(r.status, 0);
    check_file("x.bin", "alpha", 20, 1);
    stage_drop(&r);
}
END_TEST

/* Each process evaluates the name: those that have the same are one file. */
START_TEST(output_patterns)
{
    static char script[5000];
    snprintf(script, sizeof(script), "R=0 %s small 10; R=1 %s small 20; R=1 %s small 30",
             rig_actor(), rig_actor(), rig_actor());
    struct stage_run r = LAUNCH(.argv = {"-o", "rank-%q{R}-%%.bin", "sh", "-c", script});
    check_file("rank-0-%.bin", "alpha", 10, 1);
    check_file("rank-1-%.bin", "alpha", 50, 2);
    ck_assert_uint_eq(stage_profiles(), 2);
    stage_drop(&r);
}
END_TEST

/* Names that a shell would take apart are quoted in the line that is to be typed. */
START_TEST(hostile_names)
{
    static const char *const names[] = {"two words.bin", "it's.bin", "-dash.bin", "$(x).bin"};
    const char *name = names[_i];
    ck_assert_int_eq(mkdir("100% so", 0777), 0);
    ck_assert_int_eq(chdir("100% so"), 0);
    struct stage_run r = LAUNCH(.argv = {"-o", name, rig_actor(), "small", "10"});
    check_file(name, "alpha", 10, 1);
    char *command = strstr(r.err, "closer: ");
    char line[4000];
    ck_assert_ptr_nonnull(command);
    snprintf(line, sizeof(line), "PATH=%s:$PATH; %s", stage_path_of("."), command + 8);
    struct stage_run again = LAUNCH(.program = "/bin/sh", .argv = {"-c", line});
    ck_assert_msg(strstr(again.out, "alpha") != NULL, "%s%s", line, again.err);
    stage_drop(&again);
    stage_drop(&r);
    ck_assert_int_eq(chdir(".."), 0);
}
END_TEST

/* The table is what is left where there is no file. */
START_TEST(unwritable_directory)
{
    struct stage_run r =
        LAUNCH(.argv = {rig_actor(), "small", "10"}, .env = {"CUTRACE_OUTPUT=/proc/x.bin"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_msg(strstr(r.err, "cannot write ") && strstr(r.err, "alpha"), "%s", r.err);
    ck_assert_ptr_nonnull(strstr(r.err, "The process that started CUDA left no profile"));
    stage_drop(&r);
}
END_TEST

START_TEST(profile_that_is_removed)
{
    static char script[4000];
    snprintf(script, sizeof(script), "%s small 10; %s small 10; rm *.bin; %s small 20", rig_actor(),
             rig_actor(), rig_actor());
    struct stage_run r = LAUNCH(.argv = {"sh", "-c", script});
    check_file("summary.bin", "alpha", 20, 1);
    ck_assert_msg(strstr(r.err, "Of 3 processes that started CUDA 2 left no profile"), "%s", r.err);
    stage_drop(&r);
}
END_TEST

/* One that was killed before it had anything to write leaves a header: nothing is counted twice. */
START_TEST(profile_that_cannot_be_read)
{
    static char script[4000];
    size_t processes;
    snprintf(script, sizeof(script),
             "%s small 10; %s small 20; truncate -s 4096 *.*.bin; %s small 30", rig_actor(),
             rig_actor(), rig_actor());
    struct stage_run r = LAUNCH(.argv = {"--csv", "sh", "-c", script});
    ck_assert_uint_eq(stage_profiles(), 3);
    ck_assert_uint_eq(sum_of("summary.bin", "alpha", &processes).timed, 10);
    ck_assert_uint_eq(processes, 1);
    ck_assert_uint_eq(count_calls(r.err, "alpha"), 40);
    stage_drop(&r);
}
END_TEST

/* No file in memory can be had any more. */
static void refuse_memory_files(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

START_TEST(no_list)
{
    refuse_memory_files();
    struct stage_run r = LAUNCH(.argv = {rig_actor(), "small", "10"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.err, "what processes write cannot be found out"));
    ck_assert_ptr_null(strstr(r.err, "there is no profile"));
    check_file("summary.bin", "alpha", 10, 1);
    stage_drop(&r);
}
END_TEST

/* No file may become any larger, not even one in memory: the program needs none. */
START_TEST(no_file_size)
{
    bool ran = false, said = false;
    struct rig r = rig_start((const char *const[]){"/bin/sh", "-c",
                                                   "ulimit -f 0; exec \"$0\" \"$1\" small 10 2>&1",
                                                   rig_launcher(), rig_actor(), NULL});
    for (const char *line; *(line = rig_line(&r));) {
        ran |= !strcmp(line, "small: 10 launches, last byte 9");
        said |= strstr(line, "what processes write cannot be found out") != NULL;
        ck_assert_ptr_null(strstr(line, "there is no profile"));
    }
    ck_assert_int_eq(rig_wait(&r), 0);
    ck_assert(ran && said);
}
END_TEST

START_TEST(log_file)
{
    char host[256], name[600];
    gethostname(host, sizeof(host));
    struct stage_run r = LAUNCH(.argv = {"--log-file", "log-%h-%q{WHERE}-%%", "--csv", "-u", "us",
                                         rig_actor(), "small", "10"},
                                .env = {"WHERE=there"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace-report summary.bin"));
    snprintf(name, sizeof(name), "log-%s-there-%%", host);
    char *log = stage_read(name), *heading = strstr(log, "\"Type\",\"Time(%)\"");
    ck_assert_msg(heading && !strstr(heading, "\n=="), "%s", log);
    free(log);
    stage_drop(&r);
}
END_TEST

/* The table is lost, but not silently: the profile has it all. */
START_TEST(full_log)
{
    struct stage_run r = LAUNCH(.argv = {"--log-file", "/dev/full", rig_actor(), "small", "10"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(count_text(r.err, "the log cannot be written: No space left on device\n"), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace-report summary.bin\n"));
    stage_drop(&r);
}
END_TEST

START_TEST(log_of_import)
{
    struct stage_run r = LAUNCH(.argv = {"-q", rig_actor(), "small", "10"});
    stage_drop(&r);
    r = LAUNCH(.argv = {"-i", "summary.bin", "--log-file", "log-%q{WHERE}-%%"},
               .env = {"WHERE=there"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_str_eq(r.out, "");
    char *log = stage_read("log-there-%");
    ck_assert_msg(strstr(log, "alpha") != NULL, "%s", log);
    free(log);
    stage_drop(&r);
}
END_TEST

START_TEST(quiet)
{
    struct stage_run r = LAUNCH(.argv = {"-q", rig_actor(), "small", "10"});
    ck_assert_str_eq(r.err, "");
    check_file("summary.bin", "alpha", 10, 1);
    stage_drop(&r);
    r = LAUNCH(.argv = {"--import-profile", "summary.bin", "--csv"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_ptr_nonnull(strstr(r.out, "\"alpha\""));
    stage_drop(&r);
}
END_TEST

/* ---- every option of the table once ---- */

static const char *const given[][3] = {
    {"--sample", "2"},
    {"--budget", "2%"},
    {"--profile-from-start", "on"},
    {"--nvtx-capture", "none"},
    {"--kernels", "alpha"},
    {"--devices", "0,3"},
    {"--trace", "gpu"},
    {"--log-level", "2"},
    {"--exit-timeout", "0"},
    {"--events-in-use", "512"},
    {"--calibrate", "off"},
    {"--trace-file", "t.trace"},
    {"--max-size", "4M"},
    {"--print-gpu-trace"},
    {"--print-gpu-trace", "--print-api-trace"},
    {"-s"},
    {"--print-summary-per-gpu"},
    {"--csv"},
    {"-u", "ms"},
    {"--demangling", "off"},
    {"--raw"},
    {"--details"},
    {"-f"},
};

START_TEST(option)
{
    struct stage_scene scene = {.argv = {given[_i][0]}};
    unsigned n = 1;
    if (given[_i][1])
        scene.argv[n++] = given[_i][1];
    scene.argv[n++] = rig_actor();
    scene.argv[n++] = "small";
    scene.argv[n] = "100";
    struct stage_run r = rig_launch(&scene);
    ck_assert_msg(r.status == 0, "%s", r.err);
    ck_assert_str_eq(r.out, "small: 100 launches, last byte 9\n");
    ck_assert_ptr_nonnull(strstr(r.err, "alpha"));
    ck_assert(stage_exists("summary.bin"));
    stage_drop(&r);
}
END_TEST

/* Under the launcher, too, it is no name but says that one is wanted. */
START_TEST(trace_on)
{
    static const char *const how[] = {"on", "1"};
    for (unsigned i = 0; i < 2; i++) {
        struct stage_run r = LAUNCH(.argv = {"--trace-file", how[i], rig_actor(), "small", "10"});
        ck_assert_int_eq(r.status, 0);
        ck_assert(stage_exists("summary.trace") && !stage_exists(how[i]));
        ck_assert_int_eq(remove("summary.trace"), 0);
        stage_drop(&r);
    }
    static const char *const off[] = {"off", "0", ""};
    for (unsigned i = 0; i < 3; i++) { /* to be printed there has to be one all the same */
        char variable[32];
        snprintf(variable, sizeof(variable), "CUTRACE_TRACE=%s", off[i]);
        struct stage_run r =
            LAUNCH(.argv = {"--print-gpu-trace", rig_actor(), "small", "10"}, .env = {variable});
        ck_assert_msg(r.status == 0 && strstr(r.err, "alpha"), "%s", r.err);
        ck_assert(stage_exists("summary.trace"));
        ck_assert_int_eq(remove("summary.trace"), 0);
        stage_drop(&r);
    }
}
END_TEST

START_TEST(activities_and_devices)
{
    size_t processes;
    struct stage_run r = LAUNCH(.argv = {"--trace=api", rig_actor(), "small", "10"});
    ck_assert_ptr_nonnull(strstr(r.err, "No kernels were profiled."));
    ck_assert_ptr_nonnull(strstr(r.err, "cuLaunchKernel"));
    ck_assert_uint_eq(sum_of("summary.bin", "alpha", &processes).by_loss[CT_LOSS_EXCLUDED], 10);
    stage_drop(&r);
    r = LAUNCH(.argv = {"--trace=gpu", rig_actor(), "small", "10"});
    ck_assert_ptr_null(strstr(r.err, "cuLaunchKernel"));
    ck_assert_uint_eq(sum_of("summary.bin", "alpha", &processes).timed, 10);
    stage_drop(&r);
    r = LAUNCH(.argv = {"--devices=1", rig_actor(), "small", "10"});
    ck_assert_uint_eq(sum_of("summary.bin", "alpha", &processes).by_loss[CT_LOSS_EXCLUDED], 10);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    if (CT_CHECKS_THREADS)
        return 77; /* shells crash at a fork with ThreadSanitizer's library, without us, too */
    TCase *t = tcase_create("runs");
    tcase_add_test(t, one_process);
    tcase_add_loop_test(t, family, 0, sizeof(families) / sizeof(families[0]));
    tcase_add_loop_test(t, each_of_several, 0, 2);
    tcase_add_test(t, images_of_one_process);
    tcase_add_test(t, table_for_each);
    tcase_add_test(t, trace_for_each);
    tcase_add_test(t, without_children);
    tcase_add_test(t, orphan);
    tcase_add_test(t, output_is_not_overwritten);
    tcase_add_test(t, output_patterns);
    tcase_add_loop_test(t, hostile_names, 0, 4);
    tcase_add_test(t, unwritable_directory);
    tcase_add_test(t, profile_that_is_removed);
    tcase_add_test(t, profile_that_cannot_be_read);
    tcase_add_test(t, no_list);
    tcase_add_test(t, no_file_size);
    tcase_add_test(t, log_file);
    tcase_add_test(t, full_log);
    tcase_add_test(t, log_of_import);
    tcase_add_test(t, quiet);
    tcase_add_loop_test(t, option, 0, sizeof(given) / sizeof(given[0]));
    tcase_add_test(t, trace_on);
    tcase_add_test(t, activities_and_devices);
    return stage_main("launch_runs", t);
}
