/* SPDX-License-Identifier: MIT */
#include "uvm_tools.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "managed/uvm.h"

#define LATE 256
#define STATUS_ILLEGAL_ACTION 0x16 /* a descriptor without the address space */

struct uvm_tools uvm_tools;

static struct {
    _Atomic ino_t tools, space, other; /* of the files that stand for devices; 0: not made */
    union ct_uvm_entry *entry;
    struct ct_uvm_control *control;
    uint32_t entries;
    uint64_t types;
    uint8_t late[LATE][64];
    unsigned late_count;
} sim;

/* The program's threads and the profiler's come here, as into the driver. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By name: of a descriptor that is closed beside this the thread sanitizer would speak of a race. */
static ino_t inode_of(int fd)
{
    char name[32];
    struct stat st;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return stat(name, &st) ? 0 : st.st_ino;
}

static int make(_Atomic ino_t *inode)
{
    int fd = memfd_create("device", MFD_CLOEXEC);
    *inode = fd < 0 ? 0 : inode_of(fd);
    return fd;
}

/* The one without comes first, as in a process of CUDA. */
bool uvm_tools_start(void)
{
    return make(&sim.other) >= 0 && (uvm_tools.silent || make(&sim.space) >= 0);
}

bool uvm_tools_is_open(void)
{
    pthread_mutex_lock(&lock);
    bool is_open = sim.types;
    pthread_mutex_unlock(&lock);
    return is_open;
}

unsigned uvm_tools_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++) {
        ino_t inode = inode_of(fd);
        n += inode && (inode == sim.tools || inode == sim.space);
    }
    return n;
}

bool uvm_tools_is_read(void)
{
    return sim.types &&
           atomic_load(&sim.control->get_behind) == atomic_load(&sim.control->put_behind);
}

/* One entry stays free, and what finds no room is counted. */
static void put(const void *entry)
{
    uint8_t type = *(const uint8_t *)entry;
    if (!(sim.types >> type & 1))
        return;
    uint32_t put = atomic_load(&sim.control->put_behind), next = (put + 1) % sim.entries;
    if (next == atomic_load(&sim.control->get_behind)) {
        atomic_fetch_add(&sim.control->dropped[type], 1);
        return;
    }
    memcpy(&sim.entry[put], entry, 64);
    atomic_store(&sim.control->put_ahead, next);
    atomic_store(&sim.control->put_behind, next);
}

void uvm_tools_put(const void *entry)
{
    pthread_mutex_lock(&lock);
    put(entry);
    pthread_mutex_unlock(&lock);
}

void uvm_tools_put_late(const void *entry)
{
    pthread_mutex_lock(&lock);
    if (sim.late_count < LATE)
        memcpy(sim.late[sim.late_count++], entry, 64);
    pthread_mutex_unlock(&lock);
}

static void *address(uint64_t value)
{
    return (void *)(uintptr_t)value;
}

static uint32_t begin(uint64_t *p)
{
    uint32_t *words = (uint32_t *)p;
    uvm_tools.inits++;
    if (inode_of((int)words[11]) != sim.space || !sim.space)
        return STATUS_ILLEGAL_ACTION;
    sim.entry = address(p[0]);
    sim.entries = (uint32_t)p[1];
    sim.control = address(p[2]);
    if (uvm_tools.granted)
        words[14] = uvm_tools.granted;
    return 0;
}

static void flush(void)
{
    uvm_tools.flushes++;
    for (unsigned i = 0; i < sim.late_count; i++)
        put(sim.late[i]);
    sim.late_count = 0;
}

static int answer_tools_locked(unsigned long request, uint64_t *p)
{
    uint32_t *words = (uint32_t *)p;
    if (request == 56) {
        words[12] = begin(p);
    } else if (request == 58) {
        sim.types = p[0];
        words[2] = 0;
    } else {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

static int answer_space_locked(unsigned long request, uint64_t *p)
{
    if (request == 64) {
        memcpy(address(p[0]), uvm_tools.uuids, sizeof(uvm_tools.uuids));
    } else if (request == 67) {
        *(uint32_t *)p = 0;
        flush();
    } else {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

static int answer(int (*locked)(unsigned long, uint64_t *), unsigned long request, void *p)
{
    pthread_mutex_lock(&lock);
    int result = locked(request, p);
    pthread_mutex_unlock(&lock);
    return result;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *p = va_arg(args, void *);
    va_end(args);
    ino_t inode = sim.other ? inode_of(fd) : 0;
    if (inode && inode == sim.tools)
        return answer(answer_tools_locked, request, p);
    if (inode && inode == sim.space)
        return answer(answer_space_locked, request, p);
    int (*real)(int, unsigned long, ...) =
        (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    return real(fd, request, p);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (sim.other && !strcmp(path, "/dev/nvidia-uvm-tools")) {
        errno = ENOENT;
        uvm_tools.opened++;
        return uvm_tools.absent ? -1 : make(&sim.tools);
    }
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

ssize_t readlink(const char *restrict path, char *restrict target, size_t size)
{
    static const char name[] = "/dev/nvidia-uvm";
    int fd;
    if (sim.other && sscanf(path, "/proc/self/fd/%d", &fd) == 1 &&
        (inode_of(fd) == sim.space || inode_of(fd) == sim.other) && size >= sizeof(name)) {
        memcpy(target, name, sizeof(name) - 1);
        return sizeof(name) - 1;
    }
    ssize_t (*real)(const char *, char *, size_t) =
        (ssize_t(*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
    return real(path, target, size);
}
