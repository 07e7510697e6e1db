/* SPDX-License-Identifier: MIT */
/*
 * The program that the tests of process life run with and without cutrace. It speaks the driver's
 * API, is linked with the simulated driver as a program of its own would be, and plays one part:
 *
 *     actor PART [ARGUMENT...]
 *
 * What it prints on stdout is the same with and without cutrace.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include <cuda.h>
#include <cudaProfiler.h>
#include <stdbool.h>
#include <stdint.h>

typedef int actor_fn(int argc, char **argv);

/* One row a part: its name and the function that plays it. */
#define ACTOR_PARTS(X)                                                                             \
    X("ask", ask)                                                                                  \
    X("served", served)                                                                            \
    X("small", small)                                                                              \
    X("renames", renames)                                                                          \
    X("serve", serve)                                                                              \
    X("tasks", tasks)                                                                              \
    X("profiler", profiler)                                                                        \
    X("mixture", mixture)                                                                          \
    X("dependent", dependent)                                                                      \
    X("capture-beside", capture_beside)                                                            \
    X("capture-only", capture_only)                                                                \
    X("capture-legacy", capture_legacy)                                                            \
    X("capture-fork", capture_fork)                                                                \
    X("capture-matrix", capture_matrix)                                                            \
    X("capture-first", capture_first)                                                              \
    X("capture-race", capture_race)                                                                \
    X("conditions", conditions)                                                                    \
    X("updates", updates)                                                                          \
    X("updates-many", updates_many)                                                                \
    X("graph-kinds", graph_kinds)                                                                  \
    X("graph-changes", graph_changes)                                                              \
    X("graph-sizes", graph_sizes)                                                                  \
    X("graph-loop", graph_loop)                                                                    \
    X("graph-memory", graph_memory)                                                                \
    X("replica", replica)                                                                          \
    X("inside", inside)                                                                            \
    X("devices", devices)                                                                          \
    X("green", green)                                                                              \
    X("depth", depth)                                                                              \
    X("ahead", ahead)                                                                              \
    X("reset", reset)                                                                              \
    X("recreate", recreate)                                                                        \
    X("turns", turns)                                                                              \
    X("unload", unload)                                                                            \
    X("stream-gone", stream_gone)                                                                  \
    X("events-gone", events_gone)                                                                  \
    X("end", end)                                                                                  \
    X("leave", leave)                                                                              \
    X("child", child)                                                                              \
    X("sticky", sticky)                                                                            \
    X("errors", errors)                                                                            \
    X("busy", busy)                                                                                \
    X("hammer", hammer)                                                                            \
    X("many", many)                                                                                \
    X("bursts", bursts)                                                                            \
    X("idle", idle)                                                                                \
    X("reaper", reaper)                                                                            \
    X("files", files)                                                                              \
    X("crowd", crowd)                                                                              \
    X("endless", endless)                                                                          \
    X("streams", streams)                                                                          \
    X("names", names)                                                                              \
    X("writes", writes)                                                                            \
    X("odd-names", odd_names)                                                                      \
    X("tour", tour)                                                                                \
    X("faults", faults)                                                                            \
    X("one-by-one", one_by_one)                                                                    \
    X("many-idle", many_idle)                                                                      \
    X("many-contexts", many_contexts)                                                              \
    X("beyond-room", beyond_room)                                                                  \
    X("churn", churn)                                                                              \
    X("reset-beside", reset_beside)                                                                \
    X("refused", refused)                                                                          \
    X("retained", retained)                                                                        \
    X("released", released)                                                                        \
    X("released-together", released_together)                                                      \
    X("greens", greens)                                                                            \
    X("green-last", green_last)                                                                    \
    X("peers", peers)                                                                              \
    X("libraries", libraries)                                                                      \
    X("streams-change", streams_change)                                                            \
    X("storm", storm)                                                                              \
    X("list-fds", list_fds)                                                                        \
    X("process", process)                                                                          \
    X("as-filtered", as_filtered)                                                                  \
    X("as-nobody", as_nobody)                                                                      \
    X("scarce", scarce)                                                                            \
    X("waits", waits)                                                                              \
    X("overlap", overlap)                                                                          \
    X("pace", pace)                                                                                \
    X("shared", shared)                                                                            \
    X("order", order)                                                                              \
    X("memories", memories)                                                                        \
    X("physical", physical)

#define X(name, fn) actor_fn actor_##fn;
ACTOR_PARTS(X)
#undef X

/* Plays the part that the first argument names. */
int actor_play(int argc, char **argv);

/* Ends the process with status 3 and a line on stderr when the call failed. */
#define MUST(call) actor_must(call, #call, __FILE__, __LINE__)
void actor_must(CUresult r, const char *call, const char *file, int line);

/* Prints "what = result" and passes the result on. */
CUresult actor_say(const char *what, CUresult r);

/* cuInit, and the primary context of device 0 made current. */
CUcontext actor_begin(void);
/* A function of a module of the current context, loaded at first use. */
CUfunction actor_function(const char *name);
/* The same of a context that need not be current, in a module of its own. */
CUfunction actor_function_in(CUcontext c, const char *name);
CUresult actor_launch(CUfunction f, CUstream s);
CUresult actor_launch_with(CUfunction f, CUstream s, uint64_t argument);
/* Has a node of an executable graph run another kernel from now on, and says what that returns. */
void actor_set_kernel(CUgraphExec exec, CUgraphNode node, const char *kernel);
CUstream actor_stream(void); /* non-blocking */
/* "legacy", "thread": a default stream; otherwise one as above. */
CUstream actor_stream_of(const char *kind);
void actor_sleep_ms(unsigned ms);
/* Long enough for what is complete to be in the profile, if there is to be one. */
void actor_settle(void);
/* Waits until all that is complete is in summary.bin, if cutrace is there. */
void actor_wait_for_profile(void);
/* Lowers a limit of the process (RLIMIT_...), for itself and what it starts. */
void actor_limit(int which, unsigned long n);
uint64_t actor_now_ns(void);
/* A number the simulated driver knows, 0 where it is not the simulated one. */
uint64_t actor_sim(const char *function);
long actor_number(int argc, char **argv, int i, long otherwise);
const char *actor_word(int argc, char **argv, int i, const char *otherwise);

#endif
