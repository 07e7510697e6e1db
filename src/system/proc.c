/* SPDX-License-Identifier: MIT */
#include "system/proc.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "system/fd.h"
#include "system/mem.h"
#include "system/spare.h"

#define MANY_DESCRIPTORS 512
#define START_TICKS 22 /* the field's number in the line, see proc(5) */
#define ENVIRONMENT_BYTES (256 * 1024)
#define OLDEST_ANCESTOR 64
#define PRELOAD "LD_PRELOAD="

static struct ct_fd held = CT_FD_NONE; /* the main thread's status */
static uint32_t filters_before;
static _Atomic uint32_t filters_of_looker;

/* ---- /proc/self/status ---- */

static int open_status(void)
{
    return open("/proc/self/status", O_RDONLY | O_CLOEXEC);
}

static void read_status(char *text, size_t size)
{
    if (!ct_fd_is_ours(&held)) {
        ct_fd_take_text(open_status(), text, size);
        return;
    }
    ssize_t n = pread(held.number, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
}

static uint64_t number(const char *p)
{
    uint64_t n = 0;
    while (*p >= '0' && *p <= '9')
        n = n * 10 + (uint64_t)(*p++ - '0');
    return n;
}

/* The value behind the key, a tab and blanks at the begin of a line. */
static const char *find(const char *text, const char *key)
{
    const char *p = text;
    while (*p && !((p == text || p[-1] == '\n') && ct_starts_with(p, key)))
        p++;
    if (!*p)
        return NULL;
    for (p += ct_strlen(key) + 1; *p == ' '; p++)
        ;
    return p;
}

static bool parse(const char *text, struct ct_proc *p)
{
    const char *state = find(text, "State:"), *threads = find(text, "Threads:");
    const char *filters = find(text, "Seccomp_filters:"), *locked = find(text, "VmLck:");
    filters = filters ? filters : find(text, "Seccomp:");
    *p = (struct ct_proc){
        .state = state ? *state : '\0',
        .threads = threads ? (uint32_t)number(threads) : 0,
        .filters = filters ? (uint32_t)number(filters) : 0,
        .locks = locked && number(locked),
    };
    return state && threads;
}

bool ct_proc_read(struct ct_proc *p)
{
    char text[4096];
    read_status(text, sizeof(text));
    return parse(text, p);
}

/* ---- filters ---- */

static bool read_other(const char *path, struct ct_proc *p)
{
    char text[4096];
    ct_fd_take_text(open(path, O_RDONLY | O_CLOEXEC), text, sizeof(text));
    return parse(text, p);
}

void ct_proc_look_for_filters(void)
{
    struct ct_proc own, first;
    bool known = read_other("/proc/thread-self/status", &own) || ct_proc_read(&own);
    if (!known || !own.filters)
        return;
    atomic_store(&filters_of_looker, own.filters);
    filters_before = own.filters;
    if (!read_other("/proc/1/status", &first) || first.filters < own.filters)
        atomic_store(&ct_spare_is_on, true);
}

/* A thread may have put filters on itself alone; a thread that it starts has them, too. */
bool ct_proc_may_start_thread(void)
{
    struct ct_proc p;
    return !ct_spare() ||
           (ct_proc_read(&p) && p.threads > 1 && p.filters >= atomic_load(&filters_of_looker));
}

/* Where descriptors are few, the program may need each of them. */
void ct_proc_hold(void)
{
    struct rlimit limit;
    struct ct_proc p;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur >= MANY_DESCRIPTORS)
        ct_fd_keep(&held, open_status());
    filters_before = ct_proc_read(&p) ? p.filters : 0;
}

bool ct_proc_is_held(void)
{
    return ct_fd_is_ours(&held);
}

void ct_proc_forget(void)
{
    ct_fd_close(&held);
}

bool ct_proc_is_confined(void)
{
    struct ct_proc p;
    return ct_proc_read(&p) && p.filters > filters_before;
}

bool ct_proc_is_thread_confined(uint32_t thread)
{
    char path[64];
    struct ct_proc p;
    struct ct_text t = ct_text_in(path, sizeof(path));
    ct_text_add(&t, "/proc/self/task/");
    ct_text_add_u64(&t, thread);
    ct_text_add(&t, "/status");
    return read_other(path, &p) && p.filters > filters_before;
}

bool ct_proc_may_unlock(void)
{
    struct ct_proc p;
    return !ct_spare() && ct_proc_read(&p) && p.locks && p.filters <= filters_before;
}

void ct_proc_directory(char *path, size_t size)
{
    if (!ct_spare()) {
        if (!getcwd(path, size) || *path != '/')
            *path = '\0';
        return;
    }
    ssize_t n = readlink("/proc/self/cwd", path, size);
    path[n > 0 && (size_t)n < size ? n : 0] = '\0';
}

/* ---- other processes ---- */

struct process {
    uint64_t parent, start_ticks;
};

/* The field behind the program's name, which may hold blanks and brackets. */
static const char *third_field(const char *line, const char *end)
{
    while (end > line && *end != ')')
        end--;
    return end > line ? end + 2 : NULL;
}

static const char *skip_fields(const char *p, unsigned fields)
{
    while (fields-- && p) {
        while (*p && *p != ' ')
            p++;
        p += *p == ' ';
    }
    return p;
}

static int open_of(uint64_t pid, const char *file)
{
    char path[64];
    struct ct_text t = ct_text_in(path, sizeof(path));
    ct_text_add(&t, "/proc/");
    ct_text_add_u64(&t, pid);
    ct_text_add(&t, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool describe(uint64_t pid, struct process *p)
{
    char line[1024];
    size_t n = ct_fd_take_text(open_of(pid, "/stat"), line, sizeof(line));
    const char *third = n ? third_field(line, line + n - 1) : NULL;
    if (!third)
        return false;
    p->parent = number(skip_fields(third, 1));
    p->start_ticks = number(skip_fields(third, START_TICKS - 3));
    return true;
}

uint64_t ct_proc_parent(uint64_t pid)
{
    struct process p;
    return describe(pid, &p) ? p.parent : 0;
}

uint64_t ct_proc_own_parent(void)
{
    return ct_spare() ? ct_proc_parent((uint64_t)getpid()) : (uint64_t)getppid();
}

/* Whether an entry of LD_PRELOAD's list is the library. Cuts the list into entries. */
static bool lists(char *list, const char *library)
{
    for (bool more = true; more;) {
        char *end = list;
        while (*end && *end != ':' && *end != ' ')
            end++;
        more = *end != '\0';
        *end = '\0';
        if (ct_is_library(list, library))
            return true;
        list = end + 1;
    }
    return false;
}

/* Sees the variables as they were when the process was started, not changes since. */
static bool has_preloaded(uint64_t pid, const char *library, char *text, size_t size)
{
    size_t n = ct_fd_take_text(open_of(pid, "/environ"), text, size);
    for (char *p = text; p < text + n; p += ct_strlen(p) + 1)
        if (ct_starts_with(p, PRELOAD))
            return lists(p + sizeof(PRELOAD) - 1, library);
    return false;
}

bool ct_proc_parent_has_preloaded(const char *library)
{
    char *text = ct_map(ENVIRONMENT_BYTES);
    bool has = text && has_preloaded(ct_proc_own_parent(), library, text, ENVIRONMENT_BYTES);
    ct_unmap(text, ENVIRONMENT_BYTES);
    return has;
}

static uint64_t family_start_ticks(const char *library)
{
    struct process p, ancestor;
    char *text = ct_map(ENVIRONMENT_BYTES);
    if (!text || !describe((uint64_t)getpid(), &p))
        p = (struct process){0};
    for (unsigned i = 0; i < OLDEST_ANCESTOR && p.parent > 1; i++) {
        if (!has_preloaded(p.parent, library, text, ENVIRONMENT_BYTES) ||
            !describe(p.parent, &ancestor))
            break;
        p = ancestor;
    }
    ct_unmap(text, ENVIRONMENT_BYTES);
    return p.start_ticks;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t loaded_ns; /* since the machine started; the child of a fork has its parent's */

void ct_proc_loaded(void)
{
    if (!loaded_ns)
        loaded_ns = now_ns(CLOCK_BOOTTIME);
}

uint64_t ct_proc_family_start_unix_ns(const char *library)
{
    uint64_t ticks = family_start_ticks(library), start_ns = (uint64_t)loaded_ns;
    long hertz = sysconf(_SC_CLK_TCK);
    int64_t boot_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
    if (ticks && hertz > 0)
        start_ns = ct_min(start_ns, ticks * (1000000000u / (uint64_t)hertz));
    return (uint64_t)boot_ns + start_ns;
}
