/* SPDX-License-Identifier: MIT */
/* The environment variables of README.md. */
#include "driver/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudasim.h"
#include "driver/caller.h"
#include "driver/entry.h"

#define RULES 32
#define KERNELS 64
#define NAME 128

enum action { FAIL, SLOW, LATE, HANG };

struct rule {
    enum action action;
    uint32_t id;
    enum sim_caller caller; /* of whose calls the rule is */
    long nth, last;         /* which calls, from 1 */
    long us;                /* SLOW, LATE */
    int code;
    bool sticky;
    atomic_long calls;
};

struct timing {
    char name[NAME];
    int64_t ns;
};

struct sim_settings sim_settings;

/* Calls go through one that is whole, without a lock; a new one takes its place. */
struct rules {
    struct rule rule[RULES];
    unsigned count;
    struct rules *before;
};

static struct rules *_Atomic rules;
static struct timing timings[KERNELS];
static unsigned timing_count;
static atomic_int sticky_code;
static atomic_ullong faults;
static int log_file = -1;

cudasim_set_fn cudasim_set;
cudasim_count_fn cudasim_faults;

static void complain(const char *what, const char *item)
{
    fprintf(stderr, "simulated device: %s: %s\n", what, item);
}

/* A twin counts as its function. */
static bool find_id(const char *name, uint32_t *id)
{
    size_t length = strlen(name);
    if (length > 5 && (!strcmp(name + length - 5, "_ptsz") || !strcmp(name + length - 5, "_ptds")))
        length -= 5;
    for (*id = 0; *id < SIM_ID_COUNT; ++*id)
        if (strlen(sim_names[*id]) == length && !strncmp(sim_names[*id], name, length))
            return true;
    return false;
}

/* n or n-m; none given: all */
static void read_range(struct rule *r, const char *text)
{
    const char *dash = text ? strchr(text, '-') : NULL;
    r->nth = text ? atol(text) : 1;
    r->last = !text ? LONG_MAX : dash ? atol(dash + 1) : r->nth;
}

/* program/ cutrace/ drain/; returns what comes behind */
static char *read_caller(struct rule *r, char *name)
{
    char *slash = name ? strchr(name, '/') : NULL;
    if (!slash)
        return name;
    *slash = '\0';
    return sim_caller_named(name, &r->caller) ? slash + 1 : NULL;
}

/* [caller/]function:n[-m][:code[:sticky]], or function:us[:n[-m]] */
static void add_rule(struct rules *to, enum action action, char *item)
{
    struct rule r = {.action = action};
    char *save = NULL, *name = read_caller(&r, strtok_r(item, ":", &save));
    char *n = strtok_r(NULL, ":", &save), *code = strtok_r(NULL, ":", &save);
    char *sticky = strtok_r(NULL, ":", &save);
    if (!name || !n || to->count == RULES || !find_id(name, &r.id)) {
        complain("not understood", item);
        return;
    }
    bool takes_time = action == SLOW || action == LATE;
    read_range(&r, takes_time ? code : n);
    r.us = takes_time ? atol(n) : 0;
    r.code = action == FAIL && code ? atoi(code) : CUDA_ERROR_UNKNOWN;
    r.sticky = sticky && !strcmp(sticky, "sticky");
    to->rule[to->count++] = r;
}

static void add_timing(struct rules *unused, enum action action, char *item)
{
    (void)unused;
    (void)action;
    char *equals = strrchr(item, '=');
    if (!equals || equals - item >= NAME || timing_count == KERNELS) {
        complain("not understood", item);
        return;
    }
    *equals = 0;
    strcpy(timings[timing_count].name, item);
    timings[timing_count++].ns = atoll(equals + 1);
}

static void each_item(const char *list, void (*add)(struct rules *, enum action, char *),
                      struct rules *to, enum action action)
{
    char *copy = strdup(list ? list : ""), *save = NULL;
    for (char *i = strtok_r(copy, ",", &save); i; i = strtok_r(NULL, ",", &save))
        add(to, action, i);
    free(copy);
}

static long number(const char *variable, long otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? atol(text) : otherwise;
}

/* %p is the process id, for programs that make children. */
static const char *path(const char *variable)
{
    const char *text = getenv(variable), *mark = text ? strstr(text, "%p") : NULL;
    char *whole;
    if (!mark)
        return text && *text ? strdup(text) : NULL;
    if (asprintf(&whole, "%.*s%d%s", (int)(mark - text), text, (int)getpid(), mark + 2) < 0)
        return NULL;
    return whole;
}

/* A thread may still be at the one before: it is kept. */
static void read_rules(void)
{
    struct rules *now = calloc(1, sizeof(*now));
    if (!now)
        abort();
    each_item(getenv("CUDASIM_FAIL"), add_rule, now, FAIL);
    each_item(getenv("CUDASIM_SLOW"), add_rule, now, SLOW);
    each_item(getenv("CUDASIM_LATE"), add_rule, now, LATE);
    each_item(getenv("CUDASIM_HANG"), add_rule, now, HANG);
    now->before = atomic_load(&rules);
    atomic_store(&rules, now);
    atomic_store(&sticky_code, 0);
}

static bool is_of_rules(const char *variable)
{
    return !strcmp(variable, "CUDASIM_FAIL") || !strcmp(variable, "CUDASIM_SLOW") ||
           !strcmp(variable, "CUDASIM_LATE") || !strcmp(variable, "CUDASIM_HANG");
}

static void read_settings(void)
{
    free((char *)(uintptr_t)sim_settings.name);
    free((char *)(uintptr_t)sim_settings.truth_path);
    free((char *)(uintptr_t)sim_settings.spans_path);
    free((char *)(uintptr_t)sim_settings.log_path);
    sim_settings = (struct sim_settings){
        .devices = (int)number("CUDASIM_DEVICES", 1),
        .driver_version = (int)number("CUDASIM_DRIVER_VERSION", sim_form_version),
        .strict = number("CUDASIM_STRICT", 1) != 0,
        .latency_ns = 1000u * (uint64_t)number("CUDASIM_LATENCY_US", 0),
        .real_time = number("CUDASIM_REAL_TIME", 0) != 0,
        .event_ns = number("CUDASIM_EVENT_NS", SIM_EVENT_NS),
        .link_rate = number("CUDASIM_LINK_RATE", SIM_LINK_RATE),
        .graph_event_ns = number("CUDASIM_GRAPH_EVENT_NS", 0),
        .host_ns = (uint64_t)number("CUDASIM_HOST_NS", 0),
        .host_clock = number("CUDASIM_HOST_CLOCK", 0) != 0,
        .slice_ns = 1000 * number("CUDASIM_SLICE_US", 0),
        .copy_engines = number("CUDASIM_COPY_ENGINES", 0) != 0,
        .name = strdup(getenv("CUDASIM_NAME") ? getenv("CUDASIM_NAME") : "Simulated H200"),
        .truth_path = path("CUDASIM_TRUTH"),
        .spans_path = path("CUDASIM_SPANS"),
        .log_path = path("CUDASIM_LOG"),
    };
    if (sim_settings.link_rate < 1)
        sim_settings.link_rate = SIM_LINK_RATE;
    if (sim_settings.devices < 0 || sim_settings.devices > SIM_DEVICES)
        sim_settings.devices = 1;
    timing_count = 0;
    each_item(getenv("CUDASIM_KERNELS"), add_timing, NULL, FAIL);
    if (log_file >= 0)
        close(log_file);
    log_file = -1;
    if (sim_settings.log_path)
        log_file = open(sim_settings.log_path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
}

__attribute__((constructor)) static void start(void)
{
    read_settings();
    read_rules();
}

/* Rules change while other threads call; other settings, while none does. */
void cudasim_set(const char *variable, const char *value)
{
    sim_lock();
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
    if (!is_of_rules(variable))
        read_settings();
    read_rules();
    sim_unlock();
}

static void hang(void)
{
    for (;;)
        pause();
}

static bool applies(struct rule *r, uint32_t id)
{
    if (r->id != id || !sim_caller_is(r->caller, sim_self.caller, sim_names[id]))
        return false;
    long call = atomic_fetch_add(&r->calls, 1) + 1;
    return call >= r->nth && call <= r->last;
}

static bool act(const struct rule *r, CUresult *result)
{
    atomic_fetch_add(&faults, 1);
    if (r->action == HANG)
        hang();
    if (r->action == SLOW) {
        sim_self.slow_us = r->us;
        return false;
    }
    if (r->action == LATE) {
        usleep((useconds_t)r->us);
        return false;
    }
    *result = (CUresult)r->code;
    if (r->sticky)
        sticky_code = r->code;
    return true;
}

uint64_t cudasim_faults(void)
{
    return faults;
}

bool sim_control_intercept(uint32_t id, const char *name, CUresult *result)
{
    (void)name;
    int sticky = atomic_load_explicit(&sticky_code, memory_order_relaxed);
    if (sticky && !sim_survives_error(id)) {
        *result = (CUresult)sticky;
        return true;
    }
    struct rules *now = atomic_load_explicit(&rules, memory_order_acquire);
    for (unsigned i = 0; now && i < now->count; i++)
        if (applies(&now->rule[i], id) && act(&now->rule[i], result))
            return true;
    return false;
}

int64_t sim_control_kernel_ns(const char *name)
{
    for (unsigned i = 0; i < timing_count; i++)
        if (!strcmp(timings[i].name, name))
            return timings[i].ns;
    return -1;
}

bool sim_log_on(void)
{
    return log_file >= 0;
}

void sim_log(const char *format, ...)
{
    char line[512];
    va_list arguments;
    int saved = errno;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof(line) - 2)
        length = (int)sizeof(line) - 2;
    line[length++] = '\n';
    if (log_file >= 0 && write(log_file, line, (size_t)length) < 0)
        log_file = -1;
    errno = saved;
}
