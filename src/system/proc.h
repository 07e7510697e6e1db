/* SPDX-License-Identifier: MIT */
/* This process and others, as the kernel describes them in /proc. */
#ifndef CT_PROC_H
#define CT_PROC_H

#include "base/base.h"

struct ct_proc {
    char state; /* the main thread's */
    uint32_t threads;
    uint32_t filters; /* seccomp filters; an old kernel has no number: 2 for any */
    bool locks;       /* has locked memory */
};

/* False: it could not be read. */
bool ct_proc_read(struct ct_proc *p);

/*
 * Keeps the status file open, so that it can be read where there is no /proc or no descriptor left,
 * and remembers the number of filters now. Does not keep it where descriptors are few.
 */
void ct_proc_hold(void);
/* Whether the file is open: reading it then needs nothing that the program could forbid. */
bool ct_proc_is_held(void);
/* For the child of a fork: the file that is open is the parent's. */
void ct_proc_forget(void);

/*
 * Looks whether the calling thread has more filters than process 1: a service manager's or its own,
 * which as a rule end the process; then the library is spare (system/spare.h) from then on. Filters
 * that process 1 has as well are a container's, and let calls fail. To be called before anything
 * else is done.
 */
void ct_proc_look_for_filters(void);

/* Whether a thread may be started: in a spare process only if the program has some itself. */
bool ct_proc_may_start_thread(void);

/*
 * Whether the main thread has more filters than were remembered: a call that the program has no
 * need of may end it now.
 */
bool ct_proc_is_confined(void);

/*
 * Whether a thread of the process, by its kernel number, has more filters than were remembered.
 * Opens a file, which they may forbid: another thread is to ask. An unknown thread has none.
 */
bool ct_proc_is_thread_confined(uint32_t thread);

/*
 * Whether memory is locked (mlock, mlockall), so that the program may make munlock's calls, and no
 * filter has come since that might end it there.
 */
bool ct_proc_may_unlock(void);

/* The working directory; empty: not known, or not to be reached from the root directory. */
void ct_proc_directory(char *path, size_t size);

/* Notes the time; to be called when the library is loaded. Later calls change nothing. */
void ct_proc_loaded(void);

/*
 * Start of the process's family, ns since 1970: its oldest ancestor in a row of parents that were
 * each started with `library` in LD_PRELOAD, or the process itself. Where processes cannot be read
 * (no /proc, another user's), the time at which the library was loaded before any fork counts if it
 * is earlier. To within 10 ms by the realtime clock of now; exec does not change it otherwise.
 */
uint64_t ct_proc_family_start_unix_ns(const char *library);

/* The parent's number; 0: there is no such process. */
uint64_t ct_proc_parent(uint64_t pid);
uint64_t ct_proc_own_parent(void);

/* Whether the parent was started with `library` in LD_PRELOAD. */
bool ct_proc_parent_has_preloaded(const char *library);

#endif
