/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hist.h"

#define BUILD_TREE LIFE_BUILD_TREE /* of the build, absolute */

static char directory[CT_CASE_PATH];

/* What is left at the end of these short programs is no leak that anyone wants to hear of. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* ---- the machine ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if !CT_CHECKS_THREADS && !defined(__SANITIZE_ADDRESS__)
#define READINGS 20
#define CALLS 50
#define MOST_NS 600u /* where the processor switches to the kernel by itself: 60 to 300 */

/* The shortest of a few readings: others have the processors at times. */
static uint64_t system_call_ns(void)
{
    uint64_t least_ns = UINT64_MAX;
    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t begin_ns = now_ns();
        for (unsigned k = 0; k < CALLS; k++)
            syscall(SYS_getppid);
        uint64_t ns = (now_ns() - begin_ns) / CALLS;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns;
}

bool stage_is_slow(void)
{
    static uint64_t known_ns;
    if (!known_ns && (known_ns = system_call_ns()) > MOST_NS)
        puts("SKIP system calls take long here: how long others take is not judged");
    return known_ns > MOST_NS;
}
#else
bool stage_is_slow(void)
{
    return true;
}
#endif

/* ---- the directory ---- */

void stage_open(void)
{
    ct_case_template(directory);
    ck_assert(mkdtemp(directory) != NULL);
    ck_assert_int_eq(chdir(directory), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void stage_close(void)
{
    if (chdir("/") == 0)
        nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *stage_path_of(const char *below)
{
    static char paths[64][1024]; /* outlive the runs of one scene */
    static unsigned next;
    char *p = paths[next++ % 64];
    snprintf(p, sizeof(paths[0]), "%s/%s", BUILD_TREE, below);
    return p;
}

bool stage_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

unsigned stage_profiles(void)
{
    unsigned n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        n += strstr(e->d_name, ".bin") != NULL;
    if (d)
        closedir(d);
    return n;
}

char *stage_read(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_msg(fd >= 0 && fstat(fd, &st) == 0, "%s: %s", path, strerror(errno));
    char *text = calloc(1, (size_t)st.st_size + 1);
    ck_assert(text && read(fd, text, (size_t)st.st_size) == st.st_size);
    close(fd);
    return text;
}

/* ---- running ---- */

void stage_sanitizer(char *out, size_t size)
{
    char line[4096];
    FILE *f = fopen("/proc/self/maps", "r");
    *out = '\0';
    while (f && fgets(line, sizeof(line), f)) {
        char *path = strchr(line, '/');
        if (!path || *out || !(strstr(path, "/libasan.so") || strstr(path, "/libtsan.so")))
            continue;
        path[strcspn(path, "\n")] = '\0';
        snprintf(out, size, "%s:", path);
    }
    if (f)
        fclose(f);
}

struct environment {
    char *text[512];
    unsigned count;
};

static void put(struct environment *e, const char *assignment)
{
    size_t name = strcspn(assignment, "=") + 1;
    unsigned i = 0;
    while (i < e->count && strncmp(e->text[i], assignment, name))
        i++;
    ck_assert_uint_lt(i, 510);
    e->text[i] = strdup(assignment);
    if (i == e->count)
        e->count++;
}

static void putf(struct environment *e, const char *format, const char *a, const char *b)
{
    char text[9000];
    snprintf(text, sizeof(text), format, a, b);
    put(e, text);
}

static bool is_ours(const char *assignment)
{
    return !strncmp(assignment, "CUTRACE_", 8) || !strncmp(assignment, "CUDASIM_", 8) ||
           !strncmp(assignment, "LD_PRELOAD=", 11);
}

static void make_environment(struct environment *e, const struct stage_scene *scene)
{
    extern char **environ;
    char runtime[4096];
    for (char **p = environ; *p; p++)
        if (!is_ours(*p))
            put(e, *p);
    putf(e, "LD_LIBRARY_PATH=%s%s", stage_path_of("tests/sim/lib"), "");
    putf(e, "CUTRACE_REPORT=%s%s", stage_path_of("cutrace-report"), "");
    put(e, "CUTRACE_PRINT=off");
    put(e, "CUTRACE_EXIT_TIMEOUT=25");     /* of no account, unless a test says so */
    put(e, "ASAN_OPTIONS=detect_leaks=0"); /* of programs that have no such function */
    put(e, "TSAN_OPTIONS=die_after_fork=0");
    stage_sanitizer(runtime, sizeof(runtime));
    if (!scene->bare)
        putf(e, "LD_PRELOAD=%s%s", runtime, stage_path_of(".libs/libcutrace.so"));
    for (unsigned i = 0; i < STAGE_ENV && scene->env[i]; i++)
        put(e, scene->env[i]);
}

static void redirect(int to, const char *path)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    if (fd < 0 || dup2(fd, to) != to)
        _exit(126);
    close(fd);
}

static pid_t start(const struct stage_scene *scene)
{
    struct environment e = {0};
    char *argv[STAGE_ARGS + 2] = {0};
    const char *program = scene->program ? scene->program : stage_path_of("tests/e2e/actor/actor");
    make_environment(&e, scene);
    argv[0] = (char *)(uintptr_t)program;
    for (unsigned i = 0; i < STAGE_ARGS && scene->argv[i]; i++)
        argv[i + 1] = (char *)(uintptr_t)scene->argv[i];
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        setpgid(0, 0);
        redirect(1, ".out");
        redirect(2, ".err");
        execve(program, argv, e.text);
        _exit(127);
    }
    for (unsigned i = 0; i < e.count; i++)
        free(e.text[i]);
    return pid;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void wait_for(const struct stage_scene *scene, struct stage_run *r)
{
    uint64_t begin_ns = now_ns(), kill_ns = (uint64_t)scene->kill_after_ms * 1000000u;
    uint64_t count_ns = begin_ns;
    uint64_t limit_s = (scene->timeout_s ? scene->timeout_s : 30) * (stage_is_slow() ? 3 : 1);
    uint64_t limit_ns = limit_s * 1000000000u;
    while (waitpid(r->pid, &r->status, WNOHANG) != r->pid) {
        uint64_t passed_ns = now_ns() - begin_ns;
        if (scene->kill_when && !atomic_load(scene->kill_when))
            count_ns = now_ns();
        if (kill_ns && !r->killed_ns && now_ns() - count_ns >= kill_ns) {
            r->killed_ns = now_ns();
            kill(r->pid, SIGKILL);
        }
        if (passed_ns > limit_ns) {
            kill(-r->pid, SIGKILL);
            waitpid(r->pid, &r->status, 0);
            ck_abort_msg("%s %s %s: still runs after %llu s", scene->argv[0],
                         scene->argv[1] ? scene->argv[1] : "", scene->bare ? "(bare)" : "",
                         (unsigned long long)(limit_ns / 1000000000u));
        }
        nap();
    }
    r->seconds = (double)(now_ns() - begin_ns) / 1e9;
}

struct stage_run stage_play(const struct stage_scene *scene)
{
    struct stage_run r = {.pid = start(scene)};
    wait_for(scene, &r);
    r.out = stage_read(".out");
    r.err = stage_read(".err");
    return r;
}

void stage_drop(struct stage_run *r)
{
    free(r->out);
    free(r->err);
    r->out = r->err = NULL;
}

bool stage_again(const char *file, int line, const char *condition, unsigned tries)
{
    printf("AGAIN %s:%d: try %u: %s\n", file, line, tries, condition);
    fflush(stdout);
    return tries < STAGE_TRIES;
}

int stage_exit(const struct stage_run *r)
{
    return WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128 + WTERMSIG(r->status);
}

unsigned stage_said(const struct stage_run *r)
{
    unsigned n = 0;
    for (const char *p = r->err; (p = strstr(p, "== cutrace: ")); p++)
        n++;
    return n;
}

/* ---- comparing ---- */

void stage_remove_ours(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        if (strncmp(line, "==", 2)) {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    *to = '\0';
}

void stage_compare(struct stage_scene scene)
{
    scene.bare = true;
    struct stage_run without = stage_play(&scene);
    scene.bare = false;
    struct stage_run with = stage_play(&scene);
    stage_remove_ours(with.err);
    ck_assert_str_eq(with.out, without.out);
    ck_assert_str_eq(with.err, without.err);
    ck_assert_int_eq(with.status, without.status);
    stage_drop(&with);
    stage_drop(&without);
}

/* ---- profiles ---- */

/* All in the buckets of a histogram, which are within the shortest and the longest. */
static uint64_t count_buckets(const struct ct_summary *s, uint32_t first, uint32_t count,
                              uint64_t min_ns, uint64_t max_ns)
{
    uint64_t all = 0;
    for (uint32_t i = first; i < first + count; i++) {
        ct_assert(s->buckets[i].bucket >= ct_hist_bucket(min_ns));
        ct_assert(s->buckets[i].bucket <= ct_hist_bucket(max_ns));
        all += s->buckets[i].count;
    }
    return all;
}

/* Mean squares are at least squared means. A batch's copies have its mean, without the fraction. */
static void check_square(double square_ns2, uint64_t total_ns, uint64_t timed)
{
    double whole = total_ns > timed ? (double)(total_ns - timed) : 0;
    ct_assert(square_ns2 * (double)timed >= whole * whole);
}

static uint64_t sampled_out(const struct ct_file_row *r)
{
    return r->lost[CT_LOSS_SAMPLED] + r->lost[CT_LOSS_PROGRAMMATIC];
}

/* Those that stand for others stand for as many as there are, and not for less than themselves. */
static void check_estimate(const struct ct_file_row *r)
{
    ct_assert_uint(r->estimated, <=, r->timed + sampled_out(r));
    ct_assert_uint(r->estimated, >=, r->timed);
    ct_assert(r->estimated_ns >= (double)r->total_ns);
    if (r->estimated == r->timed) {
        ct_assert(r->estimated_ns == (double)r->total_ns);
        ct_assert(r->variance_ns2 == 0);
    }
}

/* What holds of the figures of a row whatever was run. A histogram is of what the drawn stand for.
 */
static void check_row(const struct ct_summary *s, const struct ct_file_row *r, bool sampled)
{
    uint64_t time = count_buckets(s, r->bucket_first, r->bucket_count, r->min_ns, r->max_ns);
    uint64_t raw =
        count_buckets(s, r->raw_bucket_first, r->raw_bucket_count, r->raw_min_ns, r->raw_max_ns);
    ct_assert_uint(time, ==, raw);
    ct_assert_uint(time, >=, r->timed);
    if (!sampled)
        ct_assert_uint(time, ==, r->timed);
    check_estimate(r);
    check_square(r->square_ns2, r->total_ns, r->timed);
    check_square(r->raw_square_ns2, r->raw_total_ns, r->timed);
    ct_assert_uint(r->total_ns, <=, r->raw_total_ns);
    ct_assert_uint(r->marked, <=, r->timed);
    ct_assert_uint(r->overlapped + r->legacy_waits, <=, r->marked);
}

void stage_profile(struct ct_summary *s, const char *path)
{
    struct ct_read_error error;
    memset(s, 0, sizeof(*s));
    ck_assert_msg(ct_summary_read(s, path, &error) == 0, "%s %s", path, error.text);
    ck_assert_uint_eq(s->process_count, 1);
    bool sampled = false;
    for (size_t i = 0; i < s->rows_count; i++)
        sampled |= sampled_out(&s->rows[i]) != 0;
    for (size_t i = 0; i < s->rows_count; i++)
        check_row(s, &s->rows[i], sampled);
    stage_check_sums(s);
}

static void add_row(struct stage_sum *sum, const struct ct_file_row *r)
{
    sum->timed += r->timed;
    sum->errors += r->errors;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++) {
        sum->by_loss[i] += r->lost[i];
        if (i == CT_LOSS_CAPTURED)
            sum->captured += r->lost[i];
        else
            sum->lost += r->lost[i];
    }
}

struct stage_sum stage_rows_on(const struct ct_summary *s, uint32_t kind, const char *name,
                               uint32_t ordinal)
{
    struct stage_sum sum = {0};
    for (size_t i = 0; i < s->rows_count; i++) {
        const struct ct_file_row *r = &s->rows[i];
        if (r->kind != kind || (name && strcmp(ct_summary_text(s, r->name), name)))
            continue;
        if (ordinal != UINT32_MAX && s->devices[r->device].ordinal != ordinal)
            continue;
        add_row(&sum, r);
    }
    return sum;
}

struct stage_sum stage_rows(const struct ct_summary *s, uint32_t kind, const char *name)
{
    return stage_rows_on(s, kind, name, UINT32_MAX);
}

uint64_t stage_calls(const struct ct_summary *s, const char *name)
{
    for (size_t i = 0; i < s->apis_count; i++)
        if (!strcmp(ct_summary_text(s, s->apis[i].name), name))
            return s->apis[i].calls;
    return 0;
}

/* ---- the program ---- */

long stage_number(const char *variable, long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? atol(text) : otherwise;
}

int stage_main(const char *name, TCase *tests)
{
    setenv("CK_MAX_MSG_SIZE", "65536", 0); /* a sanitizer has much to say */
    tcase_add_checked_fixture(tests, stage_open, stage_close);
    return ct_case_main(name, tests);
}
