/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAULTS 20000
#define BREACH 99 /* status of a program that the simulated driver has ended */

const char *sweep_preload;

bool sweep_whole(void)
{
    const char *text = getenv("CUTRACE_TEST_FAULTS");
    return text && !strcmp(text, "all");
}

/* ---- a list of faults, played in one go ---- */

static struct {
    char *line[FAULTS];
    int status[FAULTS];
    unsigned long came[FAULTS]; /* how often */
    unsigned count;
} list;

void sweep_add(const char *format, ...)
{
    va_list arguments;
    ck_assert_uint_lt(list.count, FAULTS);
    va_start(arguments, format);
    ck_assert_int_gt(vasprintf(&list.line[list.count++], format, arguments), 0);
    va_end(arguments);
}

unsigned sweep_count(void)
{
    return list.count;
}

const char *sweep_line(unsigned i)
{
    return list.line[i];
}

bool sweep_came(unsigned i)
{
    return list.came[i] != 0;
}

static void write_list(void)
{
    FILE *f = fopen("list", "w");
    for (unsigned i = 0; i < list.count; i++)
        fprintf(f, "CUTRACE_CALIBRATE=on CUTRACE_EXIT_TIMEOUT=1 %s\n", list.line[i]);
    fclose(f);
}

static void read_results(void)
{
    unsigned number, n = 0;
    unsigned long came, ms;
    int status;
    FILE *f = fopen("results", "r");
    for (; fscanf(f, "%u %d %lu %lu", &number, &status, &came, &ms) == 4; n++) {
        list.status[number] = status;
        list.came[number] = came;
    }
    fclose(f);
    ck_assert_uint_eq(n, list.count);
}

static void preload(char *out, size_t size)
{
    char runtime[4096];
    stage_sanitizer(runtime, sizeof(runtime));
    snprintf(out, size, "LD_PRELOAD=%s%s:%s", runtime, stage_path_of(".libs/libcutrace.so"),
             stage_path_of(sweep_preload));
}

/* In the directory `name`, each fault has one of its own. */
static void play_list(const char *name, bool bare, const char *jobs)
{
    char beside[9000];
    struct stage_scene scene = {.argv = {"faults", "list", jobs, "tour"},
                                .env = {"CUTRACE_GRAPH_NODES=1"},
                                .bare = bare,
                                .timeout_s = 3000};
    ck_assert(mkdir(name, 0777) == 0 && chdir(name) == 0);
    write_list();
    if (sweep_preload && !bare) {
        preload(beside, sizeof(beside));
        scene.env[1] = beside;
    }
    struct stage_run r = stage_play(&scene);
    ck_assert_msg(r.status == 0, "%.900s", r.err);
    stage_drop(&r);
    read_results();
    ck_assert_int_eq(chdir(".."), 0);
}

static void drop_list(void)
{
    while (list.count)
        free(list.line[--list.count]);
    ck_assert_int_eq(system("rm -rf with bare"), 0);
}

static char *read_in(const char *directory, unsigned number, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%u/%s", directory, number, name);
    return stage_read(path);
}

/* ---- what is wrong with one ---- */

static uint64_t told(const char *out, const char *kind)
{
    char start[32];
    snprintf(start, sizeof(start), "\nran %s ", kind);
    const char *p = strstr(out, start);
    return p ? strtoull(p + strlen(start), NULL, 10) : UINT64_MAX;
}

/* Some calls could not be counted in their thread. */
static bool has_said(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->notes_count; i++)
        if (strstr(ct_summary_text(s, s->notes[i].text), "no memory"))
            return true;
    return false;
}

static const char *judge_counts(const struct ct_summary *s, const char *out)
{
    static const struct {
        uint32_t row;
        const char *name;
    } kinds[] = {{CT_ROW_KERNEL, "kernel"},
                 {CT_ROW_COPY, "copy"},
                 {CT_ROW_SET, "set"},
                 {CT_ROW_GRAPH, "graph"}};
    if (!(s->process->flags & CT_PROCESS_FINISHED))
        return "the profile is not finished";
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct stage_sum sum = stage_rows(s, kinds[i].row, NULL);
        if (sum.timed + sum.lost + sum.captured != told(out, kinds[i].name))
            return kinds[i].name;
    }
    return NULL;
}

static bool has_commit(const char *path)
{
    struct ct_file_header h = {0};
    FILE *f = fopen(path, "r");
    bool has =
        f && fread(&h, sizeof(h), 1, f) == 1 && (h.commit[0].sequence || h.commit[1].sequence);
    if (f)
        fclose(f);
    return has;
}

/* Where the driver itself ended the program there may be none, and a part of the counts. */
static const char *judge_profile(unsigned number, const char *out)
{
    char path[64];
    struct ct_summary s = {0};
    struct ct_read_error error;
    if (WEXITSTATUS(list.status[number]) == BREACH)
        return NULL;
    snprintf(path, sizeof(path), "with/%u/summary.bin", number);
    if (!told(out, "kernel") && !stage_exists(path))
        return NULL; /* CUDA has not started */
    if (sweep_preload && (!stage_exists(path) || !has_commit(path)))
        return NULL;
    if (ct_summary_read(&s, path, &error))
        return "the profile cannot be read";
    const char *why = judge_counts(&s, out);
    if (sweep_preload && (has_said(&s) || !(s.process->flags & CT_PROCESS_FINISHED)))
        why = NULL;
    ct_summary_free(&s);
    if (!why && !sweep_preload)
        stage_profile(&s, path);
    ct_summary_free(&s);
    return why;
}

struct expected {
    char *out, *err;
    int status;
};

static const char *judge(unsigned number, const struct expected *e)
{
    char *out = read_in("with", number, "out"), *err = read_in("with", number, "err");
    stage_remove_ours(err);
    const char *why = list.status[number] == -1          ? "it did not end"
                      : list.status[number] != e->status ? "exit status"
                      : strcmp(out, e->out)              ? "output"
                      : strcmp(err, e->err)              ? "standard error"
                                                         : judge_profile(number, out);
    free(out);
    free(err);
    return why;
}

/* The runs without cutrace: one for each, or the first for all. */
static struct {
    struct expected run[FAULTS];
    unsigned count;
} bare;

static void keep_bare(void)
{
    for (; bare.count < list.count; bare.count++)
        bare.run[bare.count] =
            (struct expected){read_in("bare", bare.count, "out"),
                              read_in("bare", bare.count, "err"), list.status[bare.count]};
}

void sweep_drop_bare(void)
{
    for (; bare.count; bare.count--) {
        free(bare.run[bare.count - 1].out);
        free(bare.run[bare.count - 1].err);
    }
}

/* All of them; the first ones that are wrong are named. */
static void judge_list(void)
{
    unsigned wrong = 0;
    char text[4000] = "";
    size_t length = 0;
    for (unsigned i = 0; i < list.count; i++) {
        const char *why = judge(i, &bare.run[i < bare.count ? i : 0]);
        if (why && ++wrong <= 20)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "\n%s: %s",
                                       list.line[i], why);
    }
    ck_assert_msg(!wrong, "%u of %u:%s", wrong, list.count, text);
}

/* ---- playing ---- */

void sweep_play_bare_each(const char *jobs)
{
    play_list("bare", true, jobs);
    keep_bare();
}

void sweep_play_bare(void)
{
    sweep_add("CUTRACE_PRINT=off");
    sweep_play_bare_each("1");
    drop_list();
}

void sweep_play(const char *jobs)
{
    play_list("with", false, jobs);
    judge_list();
}

unsigned long sweep_end(const char *what)
{
    unsigned long n = 0;
    for (unsigned i = 0; i < list.count; i++)
        n += sweep_came(i);
    printf("# %lu %s\n", n, what);
    drop_list();
    return n;
}
