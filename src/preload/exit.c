/* SPDX-License-Identifier: MIT */
/*
 * _exit, _Exit and quick_exit: workers that were forked end so, and no exit handler runs. The
 * caller may be a signal handler, or a child of vfork in its parent's memory: the functions behind
 * ours are looked up early, and nothing is done in a process that has not started CUDA.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "preload/init.h"
#include "preload/real_dlsym.h"
#include "system/elf.h"

typedef void exit_fn(int status);

static exit_fn *_Atomic real__exit, *_Atomic real__Exit, *_Atomic real_quick_exit;

static exit_fn *look_behind(const char *name)
{
    return (exit_fn *)(uintptr_t)ct_real_dlsym_next(name);
}

/*
 * quick_exit ends with a function of the C library's own: we come in as a handler of it, and as the
 * first that was registered, which runs last. Other handlers may launch work.
 */
__attribute__((constructor)) static void prepare(void)
{
    atomic_store(&real__exit, look_behind("_exit"));
    atomic_store(&real__Exit, look_behind("_Exit"));
    atomic_store(&real_quick_exit, look_behind("quick_exit"));
    at_quick_exit(ct_end_at_once);
}

/* Before our constructor only the C library's function is known. */
_Noreturn static void end_by(exit_fn *real, const char *name, int status)
{
    real = real ? real : (exit_fn *)(uintptr_t)ct_libc_symbol(name);
    if (real)
        real(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

CT_EXPORT void _exit(int status)
{
    ct_end_at_once();
    end_by(atomic_load(&real__exit), "_exit", status);
}

CT_EXPORT void _Exit(int status)
{
    ct_end_at_once();
    end_by(atomic_load(&real__Exit), "_Exit", status);
}

/* A second thread finds the handlers taken, ours as well, and ends the process beside them. */
CT_EXPORT void quick_exit(int status)
{
    static atomic_bool begun;
    if (atomic_exchange(&begun, true))
        ct_end_at_once();
    end_by(atomic_load(&real_quick_exit), "quick_exit", status);
}
