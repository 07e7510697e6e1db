/* SPDX-License-Identifier: MIT */
/*
 * Preloaded beside cutrace: what it asks of the C library fails now and then, as if memory, or
 * threads, or keys, were out. FAULTY=function:n[-m],... the nth to the mth call from libcutrace.so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum function { MMAP, MPROTECT, THREAD, KEY, AT_EXIT, AT_FORK, FUNCTIONS };

static const char *const names[FUNCTIONS] = {
    "mmap:",         "mprotect:",         "pthread_create:", "pthread_key_create:",
    "__cxa_atexit:", "__register_atfork:"};
static atomic_long calls[FUNCTIONS];
static atomic_ullong faults;

EXPORT uint64_t faulty_count(void);
EXPORT int __cxa_atexit(void (*f)(void *), void *arg, void *object);
EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void *object);

/* How many calls were made to fail. */
uint64_t faulty_count(void)
{
    return faults;
}

static int is_cutrace(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "/libcutrace.so");
}

/* Whether this call is to fail. */
static int fails(enum function f, const void *caller)
{
    const char *list = getenv("FAULTY"), *p = list ? strstr(list, names[f]) : NULL;
    if (!p || !is_cutrace(caller))
        return 0;
    char *end;
    long first = strtol(p + strlen(names[f]), &end, 10), last = first;
    if (*end == '-')
        last = strtol(end + 1, NULL, 10);
    long call = atomic_fetch_add(&calls[f], 1) + 1;
    if (call < first || call > last)
        return 0;
    atomic_fetch_add(&faults, 1);
    return 1;
}

#define CALLER __builtin_return_address(0)
#define NEXT(function) ((__typeof__(function) *)(uintptr_t)dlsym(RTLD_NEXT, #function))

EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (fails(MMAP, CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

EXPORT int mprotect(void *at, size_t bytes, int protection)
{
    if (fails(MPROTECT, CALLER)) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_mprotect, at, bytes, protection);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    return fails(THREAD, CALLER) ? EAGAIN : NEXT(pthread_create)(thread, attributes, run, arg);
}

EXPORT int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    return fails(KEY, CALLER) ? EAGAIN : NEXT(pthread_key_create)(key, end);
}

int __cxa_atexit(void (*f)(void *), void *arg, void *object)
{
    return fails(AT_EXIT, CALLER) ? -1 : NEXT(__cxa_atexit)(f, arg, object);
}

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                      void *object)
{
    return fails(AT_FORK, CALLER) ? ENOMEM
                                  : NEXT(__register_atfork)(prepare, parent, child, object);
}
