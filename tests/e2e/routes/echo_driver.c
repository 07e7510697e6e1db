/* SPDX-License-Identifier: MIT */
/*
 * Calls each symbol of the driver, in each version and by each way of looking it up, and compares
 * what arrived bit by bit. Prints what is wrong and counts; argument: the way.
 *
 *   linked    the program's own references
 *   dlsym     dlsym with libcuda.so.1's handle
 *   second    cuGetProcAddress_v2 for every name, version and default stream
 *   first     cuGetProcAddress, the same
 */
#include "cuda/newer_api.h"

#include "routes/echo_call.h"

static cudasim_echo_find_fn *find;
static cudasim_echo_forget_fn *forget;

struct caller {
    const char *symbol;
    void (*call)(const char *name, void *function);
    void *linked;
    bool wrapped; /* false: cutrace leaves it alone */
};

static void judge(const char *name, const struct cudasim_echo *e, int result, unsigned count)
{
    echo_checks++;
    if (e->count != count)
        echo_fail(name, "another number of arguments");
    if (result != e->result)
        echo_fail(name, "another result");
}

/* clang-format off */
#define CALLER(symbol, type_of, ...) \
    static void call_##symbol(const char *name, void *function) \
    { \
        echo_about(#symbol); \
        EACH(ECHO_ARGUMENT, __VA_ARGS__) \
        forget(); \
        int result = (int)((__typeof__(type_of) *)function)(CT_ARGS(__VA_ARGS__)); \
        const struct cudasim_echo *e = find(#symbol); \
        if (!e) { \
            echo_fail(name, "did not arrive as " #symbol); \
            return; \
        } \
        EACH(ECHO_COMPARE, __VA_ARGS__) \
        judge(name, e, result, ECHO_COUNT(__VA_ARGS__)); \
    }
/* The twins are not in the headers as such. */
#define TWIN(symbol, type_of, ...) extern __typeof__(type_of) symbol; CALLER(symbol, type_of, __VA_ARGS__)
#define ROW(fn, ...) CALLER(fn, fn, __VA_ARGS__)
#define ROW_TWIN(suffix, fn, ...) CALLER(fn, fn, __VA_ARGS__) TWIN(fn##suffix, fn, __VA_ARGS__)
#include "common/each_row.h"

static const struct caller callers[] = {
#define ENTRY(symbol, is_wrapped) {#symbol, call_##symbol, (void *)symbol, is_wrapped},
#define CT_API(fn, kind, ...) ENTRY(fn, true)
#define CT_PTSZ(fn, kind, ...) ENTRY(fn, true) ENTRY(fn##_ptsz, true)
#define CT_PTDS(fn, kind, ...) ENTRY(fn, true) ENTRY(fn##_ptds, true)
#include "cuda/driver_api.def"
#define CT_API(fn, kind, ...) ENTRY(fn, false)
#define CT_PTSZ(fn, kind, ...) ENTRY(fn, false) ENTRY(fn##_ptsz, false)
#define CT_PTDS(fn, kind, ...) ENTRY(fn, false) ENTRY(fn##_ptds, false)
#include "common/extra.def"
};

/* Left alone, but for who asks cuGetProcAddress. */
static const char *const handed[] = {
#define CT_API(fn, ...) #fn,
#define CT_PTSZ(fn, ...) #fn, #fn "_ptsz",
#define CT_PTDS(fn, ...) #fn, #fn "_ptds",
#include "cuda/handed_api.def"
};

struct version {
    const char *name;
    int since;
    bool per_thread;
    const char *symbol;
};

static const struct version versions[] = {
#define SIM_ONE(name, symbol, since) {#name, since, false, #symbol},
#define SIM_TWIN(name, symbol, since, twin, twin_since) {#name, since, false, #symbol}, {#name, twin_since, true, #twin},
#include "common/versions.def"
};
/* clang-format on */

/* These the echo answers itself; they are tested as ways. */
static bool is_answered(const char *symbol)
{
    return !strcmp(symbol, "cuGetProcAddress") || !strcmp(symbol, "cuGetProcAddress_v2") ||
           !strcmp(symbol, "cuDriverGetVersion");
}

static const struct caller *caller_of(const char *symbol)
{
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        if (!strcmp(callers[i].symbol, symbol))
            return &callers[i];
    return NULL;
}

static bool is_handed(const char *symbol)
{
    for (size_t i = 0; i < sizeof(handed) / sizeof(handed[0]); i++)
        if (!strcmp(handed[i], symbol))
            return true;
    return false;
}

/* With cutrace, a wrapped function's address is cutrace's, and no other's is. */
static void check_owner(const char *name, const struct caller *c, const void *address, bool asked)
{
    bool wrapped = c->wrapped || (asked && is_handed(c->symbol));
    const char *expected = getenv("LD_PRELOAD") && wrapped ? "libcutrace.so" : "libcuda.so.1";
    if (strcmp(echo_owner(address), expected))
        echo_fail(name, echo_owner(address));
}

static void check(const char *name, const struct caller *c, void *address, bool asked)
{
    if (!address) {
        echo_fail(name, "was not found");
        return;
    }
    check_owner(name, c, address, asked);
    if (!is_answered(c->symbol))
        c->call(name, address);
}

static void by_symbol(void *library)
{
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        check(callers[i].symbol, &callers[i],
              library ? dlsym(library, callers[i].symbol) : callers[i].linked, false);
}

static void by_version(bool with_status)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct version *v = &versions[i];
        const struct caller *c = caller_of(v->symbol);
        cuuint64_t flags = v->per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                         : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
        void *p = NULL;
        char name[128];
        snprintf(name, sizeof(name), "%s of %d", v->name, v->since);
        if (with_status)
            cuGetProcAddress_v2(v->name, &p, v->since, flags, NULL);
        else
            cuGetProcAddress(v->name, &p, v->since, flags);
        if (c)
            check(name, c, p, true);
        else
            echo_fail(name, "has a symbol of no row");
    }
}

int main(int argc, char **argv)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (argc != 2 || !library)
        return 2;
    find = (cudasim_echo_find_fn *)dlsym(library, "cudasim_echo_find");
    forget = (cudasim_echo_forget_fn *)dlsym(library, "cudasim_echo_forget");
    cuInit(0);
    if (!strcmp(argv[1], "linked"))
        by_symbol(NULL);
    else if (!strcmp(argv[1], "dlsym"))
        by_symbol(library);
    else
        by_version(!strcmp(argv[1], "second"));
    printf("%u calls, %u wrong\n", echo_checks, echo_failures);
    return echo_failures != 0;
}
