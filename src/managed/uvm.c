/* SPDX-License-Identifier: MIT */
#include "managed/uvm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "system/mem.h"

/* 8 MiB that a GPU faults on are 1,400 events: so many come in 10 ms at 25 GB/s. */
#define ENTRIES 65536
#define CONTROL_BYTES 4096
_Static_assert(sizeof(struct ct_uvm_control) <= CONTROL_BYTES, "it has a page of its own");

#define VERSION 1

/* The driver's command numbers are used as they are, without the parts that _IOC adds. */
enum {
    INIT_EVENT_TRACKER = 56,
    ENABLE_EVENTS = 58,
    GET_UUID_TABLE = 64, /* for /dev/nvidia-uvm, as is the next */
    FLUSH_EVENTS = 67,
};

#define EVENTS                                                                                     \
    (1u << CT_UVM_CPU_FAULT | 1u << CT_UVM_MIGRATION | 1u << CT_UVM_GPU_FAULT | 1u << CT_UVM_REPLAY)

struct init_parameters {
    uint64_t queue, entries, control;
    uint8_t processor[CT_UVM_UUID_BYTES];
    uint32_t all_processors;
    uint32_t space; /* descriptor */
    uint32_t status;
    uint32_t requested; /* version; drivers that know only the first ignore these two */
    uint32_t granted;
};

struct enable_parameters {
    uint64_t types;
    uint32_t status;
};

/* `count` is the status where only the first version exists: 0 is good and asks for that. */
struct table_parameters {
    uint64_t table;
    uint32_t count;
    uint32_t status;
    uint32_t version;
};

#define STATUS_NONE UINT32_MAX /* the driver has not answered */

/* ---- the queue ---- */

/*
 * The driver reserves nothing: all entries before put are whole. Counting with our own get,
 * whatever else writes into that memory, no more is read than there can be.
 */
uint32_t ct_uvm_queue_take(struct ct_uvm_queue *q,
                           void (*each)(const union ct_uvm_entry *entry, void *arg), void *arg)
{
    uint32_t mask = q->entries - 1;
    uint32_t put = atomic_load_explicit(&q->control->put_behind, memory_order_acquire) & mask;
    uint32_t taken = (put - q->get) & mask;
    for (uint32_t i = 0; i < taken; i++) {
        union ct_uvm_entry entry = q->entry[(q->get + i) & mask];
        each(&entry, arg);
    }
    q->get = put;
    if (taken) {
        atomic_store_explicit(&q->control->get_ahead, put, memory_order_relaxed);
        atomic_store_explicit(&q->control->get_behind, put, memory_order_release);
    }
    return taken;
}

static size_t queue_bytes(void)
{
    return ENTRIES * sizeof(union ct_uvm_entry);
}

static void free_queue(struct ct_uvm_queue *q)
{
    ct_unmap(q->entry, queue_bytes());
    ct_unmap(q->control, CONTROL_BYTES);
    *q = (struct ct_uvm_queue){.entries = 0};
}

/* The driver holds the pages: a child of fork goes without them, as it would get copies of them. */
static bool make_queue(struct ct_uvm_queue *q)
{
    *q = (struct ct_uvm_queue){
        .entry = ct_map(queue_bytes()), .control = ct_map(CONTROL_BYTES), .entries = ENTRIES};
    if (q->entry && q->control && !madvise(q->entry, queue_bytes(), MADV_DONTFORK) &&
        !madvise(q->control, CONTROL_BYTES, MADV_DONTFORK))
        return true;
    free_queue(q);
    return false;
}

/* ---- the program's descriptor ---- */

struct entry64 {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static bool is_space(const char *name)
{
    char path[64], target[64];
    struct ct_text t = ct_text_in(path, sizeof(path));
    ct_text_add(&t, "/proc/self/fd/");
    ct_text_add(&t, name);
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    return ct_streq(target, "/dev/nvidia-uvm");
}

static enum ct_uvm_result start(struct ct_uvm *u, int space)
{
    struct init_parameters p = {
        .queue = (uint64_t)(uintptr_t)u->queue.entry,
        .entries = u->queue.entries,
        .control = (uint64_t)(uintptr_t)u->queue.control,
        .all_processors = 1,
        .space = (uint32_t)space,
        .status = STATUS_NONE,
        .requested = VERSION,
    };
    struct enable_parameters e = {.types = EVENTS, .status = STATUS_NONE};
    if (ioctl(u->tools.number, INIT_EVENT_TRACKER, &p) || p.status)
        return CT_UVM_NOT_YET;
    if (p.granted > VERSION || ioctl(u->tools.number, ENABLE_EVENTS, &e) || e.status)
        return CT_UVM_REFUSED;
    return ct_fd_keep(&u->space, fcntl(space, F_DUPFD_CLOEXEC, 0)) ? CT_UVM_OPEN : CT_UVM_REFUSED;
}

/* Some of the program's descriptors are without an address space, and the driver refuses these. */
static enum ct_uvm_result try_each(struct ct_uvm *u, int directory)
{
    _Alignas(uint64_t) char names[2048];
    enum ct_uvm_result result = CT_UVM_NOT_YET;
    long n;
    while (result == CT_UVM_NOT_YET &&
           (n = syscall(SYS_getdents64, directory, names, sizeof(names))) > 0)
        for (long at = 0; result == CT_UVM_NOT_YET && at < n;) {
            const struct entry64 *e = (const struct entry64 *)(names + at);
            uint64_t space;
            if (is_space(e->name) && ct_parse_u64(e->name, &space))
                result = start(u, (int)space);
            at += e->bytes;
        }
    return result;
}

/* ---- the device ---- */

static enum ct_uvm_result open_device(struct ct_uvm *u)
{
    *u = (struct ct_uvm){.tools = CT_FD_NONE, .space = CT_FD_NONE};
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return CT_UVM_REFUSED;
    enum ct_uvm_result result = CT_UVM_REFUSED;
    if (ct_fd_keep(&u->tools, open("/dev/nvidia-uvm-tools", O_RDWR | O_CLOEXEC)) &&
        make_queue(&u->queue))
        result = try_each(u, directory);
    close(directory);
    return result;
}

enum ct_uvm_result ct_uvm_open(struct ct_uvm *u)
{
    int saved_errno = errno;
    enum ct_uvm_result result = open_device(u);
    if (result != CT_UVM_OPEN) {
        ct_uvm_close(u);
        free_queue(&u->queue);
    }
    errno = saved_errno;
    return result;
}

/* Once closed the device has let go of the queue, which stays mapped for its reader. */
void ct_uvm_close(struct ct_uvm *u)
{
    ct_fd_close(&u->tools);
    ct_fd_close(&u->space);
}

bool ct_uvm_flush(struct ct_uvm *u)
{
    int saved_errno = errno;
    uint32_t status = STATUS_NONE;
    bool ours = ct_fd_is_ours(&u->tools) && ct_fd_is_ours(&u->space);
    if (ours)
        ioctl(u->space.number, FLUSH_EVENTS, &status);
    errno = saved_errno;
    return ours;
}

bool ct_uvm_uuids(const struct ct_uvm *u, uint8_t uuids[CT_UVM_PROCESSORS][CT_UVM_UUID_BYTES])
{
    int saved_errno = errno;
    struct table_parameters p = {.table = (uint64_t)(uintptr_t)uuids};
    __builtin_memset(uuids, 0, CT_UVM_PROCESSORS * CT_UVM_UUID_BYTES);
    bool told = ct_fd_is_ours(&u->space) && !ioctl(u->space.number, GET_UUID_TABLE, &p) &&
                uuids[0][0]; /* the host's UUID */
    errno = saved_errno;
    return told;
}
