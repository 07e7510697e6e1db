/* SPDX-License-Identifier: MIT */
/*
 * The exec functions: if they succeed, the process with its CUDA is gone, and if they fail it goes
 * on. So a process that has used CUDA writes all that is complete before they are tried. The child
 * of a vfork, which has its parent's memory, is told apart by its number.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "preload/init.h"
#include "preload/real_dlsym.h"
#include "system/elf.h"

extern char **environ;

typedef int path_fn(const char *path, char *const argv[]);
typedef int path_env_fn(const char *path, char *const argv[], char *const envp[]);
typedef int fd_fn(int fd, char *const argv[], char *const envp[]);
typedef int at_fn(int fd, const char *path, char *const argv[], char *const envp[], int flags);

enum function { EXECV, EXECVE, EXECVP, EXECVPE, FEXECVE, EXECVEAT, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"execv",   "execve",  "execvp",
                                             "execvpe", "fexecve", "execveat"};
static void *real[FUNCTIONS];

/* Early: the caller of exec may be a child in which another thread's hold on the loader stays. */
__attribute__((constructor)) static void prepare(void)
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        __atomic_store_n(&real[i], ct_real_dlsym_next(names[i]), __ATOMIC_RELAXED);
}

/* Returns another interposer's function or the C library's; before our constructor the latter's. */
static void *flush_and_find(enum function f)
{
    void *p = __atomic_load_n(&real[f], __ATOMIC_RELAXED);
    ct_flush_before_exec();
    return p ? p : ct_libc_symbol(names[f]);
}

CT_EXPORT int execv(const char *path, char *const argv[])
{
    return ((path_fn *)(uintptr_t)flush_and_find(EXECV))(path, argv);
}

CT_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return ((path_env_fn *)(uintptr_t)flush_and_find(EXECVE))(path, argv, envp);
}

CT_EXPORT int execvp(const char *file, char *const argv[])
{
    return ((path_fn *)(uintptr_t)flush_and_find(EXECVP))(file, argv);
}

CT_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return ((path_env_fn *)(uintptr_t)flush_and_find(EXECVPE))(file, argv, envp);
}

CT_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    return ((fd_fn *)(uintptr_t)flush_and_find(FEXECVE))(fd, argv, envp);
}

int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);

/* glibc has execveat() from 2.34 on. */
CT_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    at_fn *next = (at_fn *)(uintptr_t)flush_and_find(EXECVEAT);
    return next ? next(fd, path, argv, envp, flags)
                : (int)syscall(SYS_execveat, fd, path, argv, envp, flags);
}

/* ---- with the arguments one by one ---- */

static size_t count(va_list arguments)
{
    size_t n = 1; /* with the first one, which has a name; NULL or not, as for the C library */
    while (va_arg(arguments, char *))
        n++;
    return n;
}

/*
 * Makes the list that begins with `first` a vector on the stack of the caller, as there may be no
 * heap to be had; `rest` is behind the NULL at its end then.
 */
#define VECTOR(argv, first, rest)                                                                  \
    char **argv;                                                                                   \
    do {                                                                                           \
        va_list all_;                                                                              \
        va_start(rest, first);                                                                     \
        va_copy(all_, rest);                                                                       \
        size_t n_ = count(all_);                                                                   \
        va_end(all_);                                                                              \
        argv = __builtin_alloca((n_ + 1) * sizeof(*argv));                                         \
        argv[0] = (char *)(uintptr_t)first;                                                        \
        for (size_t i_ = 1; i_ <= n_; i_++)                                                        \
            argv[i_] = va_arg(rest, char *);                                                       \
    } while (0)

CT_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list rest;
    VECTOR(argv, first, rest);
    va_end(rest);
    return execv(path, argv);
}

CT_EXPORT int execlp(const char *file, const char *first, ...)
{
    va_list rest;
    VECTOR(argv, first, rest);
    va_end(rest);
    return execvp(file, argv);
}

CT_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list rest;
    VECTOR(argv, first, rest);
    char **envp = va_arg(rest, char **);
    va_end(rest);
    return execve(path, argv, envp);
}
