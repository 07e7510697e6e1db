/* SPDX-License-Identifier: MIT */
/*
 * Runs a program with or without cutrace in an empty directory, and reads what was left behind.
 * Every function ends the test when it cannot do its work.
 */
#ifndef STAGE_H
#define STAGE_H

#include <check.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "case_main.h"
#include "format/read.h"

/*
 * Whether calls take the host so long that how long things take tells little: with a sanitizer, or
 * in a guest whose host does the kernel's work.
 */
bool stage_is_slow(void);

#define STAGE_ENV 16
#define STAGE_ARGS 12

struct stage_scene {
    const char *program;               /* NULL: the actor */
    const char *argv[STAGE_ARGS];      /* without the program's name */
    const char *env[STAGE_ENV];        /* NAME=value, over the standard ones */
    bool bare;                         /* without cutrace */
    unsigned timeout_s;                /* 0: 30; thrice that where it is slow, then it is killed */
    unsigned kill_after_ms;            /* SIGKILL after that time; 0: never */
    const _Atomic uint64_t *kill_when; /* the time is from when this is not 0; NULL: the start */
};

struct stage_run {
    pid_t pid;
    int status; /* as of waitpid */
    double seconds;
    uint64_t killed_ns; /* CLOCK_MONOTONIC just before SIGKILL */
    char *out, *err;    /* all that came on stdout and stderr */
};

/* A fixture: makes the directory, makes it the working one, and removes it. */
void stage_open(void);
void stage_close(void);

struct stage_run stage_play(const struct stage_scene *scene);
#define PLAY(...) stage_play(&(const struct stage_scene){__VA_ARGS__})
void stage_drop(struct stage_run *r);

/* exit status as the shell would say it */
int stage_exit(const struct stage_run *r);
/* Lines of cutrace's own on stderr (==pid== cutrace: ...). */
unsigned stage_said(const struct stage_run *r);
/* Takes the lines of cutrace's own out of a text, in place. */
void stage_remove_ours(char *text);
char *stage_read(const char *path);
bool stage_exists(const char *path);
/* How many there are in the working directory. */
unsigned stage_profiles(void);
const char *stage_path_of(const char *below_build_tree);
/* gcc's sanitizers want to be preloaded first: their library and a colon, or nothing. */
void stage_sanitizer(char *out, size_t size);

/* The same scene with and without cutrace: output, exit status and stderr but for our lines. */
void stage_compare(struct stage_scene scene);

/* ---- profiles ---- */

/* Reads it, and checks what holds of every profile. */
void stage_profile(struct ct_summary *s, const char *path);
/* Launches of kernels and graphs: timed, captured, sampled out and lost are all that were seen. */
void stage_check_sums(const struct ct_summary *s);

struct stage_sum {
    uint64_t timed, lost, captured, errors;
    uint64_t by_loss[CT_LOSS_COUNT];
};
/* Over the rows of a kind; name NULL: all. lost: without captured. */
struct stage_sum stage_rows(const struct ct_summary *s, uint32_t kind, const char *name);
/* Those on one device. */
struct stage_sum stage_rows_on(const struct ct_summary *s, uint32_t kind, const char *name,
                               uint32_t ordinal);
static inline struct stage_sum stage_kernel(const struct ct_summary *s, const char *name)
{
    return stage_rows(s, CT_ROW_KERNEL, name);
}
/* Calls of an API; 0: no row. */
uint64_t stage_calls(const struct ct_summary *s, const char *name);

/* timed and lost add up to `ran`, of which `timed` have a duration */
#define CHECK_TIMED(sum, ran)                                                                      \
    do {                                                                                           \
        const struct stage_sum sum_ = (sum);                                                       \
        ck_assert_uint_eq(sum_.timed, (ran));                                                      \
        ck_assert_uint_eq(sum_.lost, 0);                                                           \
    } while (0)
#define CHECK_SUM(sum, ran)                                                                        \
    do {                                                                                           \
        const struct stage_sum sum_ = (sum);                                                       \
        ck_assert_uint_eq(sum_.timed + sum_.lost, (ran));                                          \
    } while (0)

/* Plays again where a machine that was busy with others left the drain thread too little time. */
#define STAGE_TRIES 5
#define STAGE_UNTIL(condition, r, play)                                                            \
    for (unsigned tries = 1;                                                                       \
         (r) = (play), !(condition) && stage_again(__FILE__, __LINE__, #condition, tries);         \
         tries++)                                                                                  \
    stage_drop(&(r))
/* Names a condition that did not hold in the log (tests/notes.test); whether there is another try.
 */
bool stage_again(const char *file, int line, const char *condition, unsigned tries);

/* A number of the environment, to make tests longer or shorter. */
long stage_number(const char *variable, long otherwise);
int stage_main(const char *name, TCase *tests);

#endif
