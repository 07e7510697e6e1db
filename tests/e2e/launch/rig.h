/* SPDX-License-Identifier: MIT */
/* Runs the launcher, to the end as on a stage, or beside the test, which talks with it. */
#ifndef RIG_H
#define RIG_H

#include "life/stage.h"

/* The launcher, and the program that tells what it is given. */
const char *rig_launcher(void);
const char *rig_inner(void);
const char *rig_actor(void);

/* cutrace ARGUMENT..., in the scene's environment; there is no library in it beforehand. */
#define LAUNCH(...) rig_launch(&(const struct stage_scene){__VA_ARGS__})
struct stage_run rig_launch(const struct stage_scene *scene);

/* Runs beside the test, in a process group of its own, what it prints coming through a pipe. */
struct rig {
    pid_t pid;
    int out;
};
struct rig rig_start(const char *const *argv);
/* The next line, without its end; the test fails when none comes. */
const char *rig_line(struct rig *r);
/* As of waitpid, with WUNTRACED; fails after half a minute. */
int rig_wait(struct rig *r);
void rig_pause(unsigned ms);
unsigned rig_lines(const char *text);

#endif
