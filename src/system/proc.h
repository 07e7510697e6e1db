/* SPDX-License-Identifier: MIT */
/* What the kernel says of this process in /proc/self, and of others. */
#ifndef CT_PROC_H
#define CT_PROC_H

#include "base/base.h"

struct ct_proc {
    char state; /* of the main thread */
    uint32_t threads;
    uint32_t filters; /* of system calls (seccomp); of an old kernel, 2 for any number of them */
    bool locks;       /* has locked memory */
};

/* False: it could not be read. */
bool ct_proc_read(struct ct_proc *p);

/*
 * Keeps the file open, so that it can be read where there is no /proc, or no descriptor left, and
 * remembers what it says now.
 */
void ct_proc_hold(void);
/* Whether it is open: where it is, nothing that the program could forbid is needed to read it. */
bool ct_proc_is_held(void);
/* In the child of a fork: it is the parent's. */
void ct_proc_forget(void);

/*
 * Whether the calling thread has more filters than process 1, which a service manager has given the
 * process, and which end it as a rule, or which it has put on itself: then the library is spare
 * (system/spare.h) from then on. Those that process 1 has as well are a container's, and let calls
 * fail. To be called before anything else is done.
 */
void ct_proc_look_for_filters(void);

/* Whether the program has threads, so that one more needs no call that it has not made itself. */
bool ct_proc_may_start_thread(void);

/*
 * Whether filters have come since, for all threads or the main one: what the program has no need of
 * may end it now.
 */
bool ct_proc_is_confined(void);

/*
 * Whether that thread of the process has some that have come since, for itself alone, say. Opens a
 * file, which may be what they forbid: to be asked by another thread. Of one that is not known no.
 */
bool ct_proc_is_thread_confined(uint32_t thread);

/*
 * Whether memory is locked (mlock, mlockall), so that the program may make the calls that go with
 * it, and no filter has come since that might end it there.
 */
bool ct_proc_may_unlock(void);

/* The working directory; empty: it is not known, or cannot be reached from the root directory. */
void ct_proc_directory(char *path, size_t size);

/* To be called when the library is loaded; later calls are of no account. */
void ct_proc_loaded(void);

/*
 * When the oldest of the process's ancestors began that have, each and in a row, been started with
 * a variable LD_PRELOAD in which `library` occurs, or the process itself if its parent has not. Of
 * those that cannot be read, as where there is no /proc or they are another user's, the children
 * that did not call exec since know when they loaded the library. As time(2) counts, to within 10
 * ms; exec does not change it otherwise.
 */
uint64_t ct_proc_family_start_unix_ns(const char *library);

/* 0: there is no such process. */
uint64_t ct_proc_parent(uint64_t pid);
uint64_t ct_proc_own_parent(void);

/* Whether the parent has been started with it, as above. */
bool ct_proc_parent_has_preloaded(const char *library);

#endif
