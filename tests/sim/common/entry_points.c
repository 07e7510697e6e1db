/* SPDX-License-Identifier: MIT */
#include "common/entry_points.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Addresses only: every symbol of the table is a function of this library. */
#define SIM_ONE(name, symbol, since) extern void symbol(void);
#define SIM_TWIN(name, symbol, since, twin, twin_since)                                            \
    extern void symbol(void);                                                                      \
    extern void twin(void);
#include "common/versions.def"

struct entry {
    const char *name;
    int since;
    int twin_since; /* 0: no twin */
    void (*symbol)(void);
    void (*twin)(void);
};

static const struct entry entries[] = {
#define SIM_ONE(name, symbol, since) {#name, since, 0, symbol, NULL},
#define SIM_TWIN(name, symbol, since, twin, twin_since) {#name, since, twin_since, symbol, twin},
#include "common/versions.def"
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static int compare(const void *name, const void *entry)
{
    return strcmp(name, ((const struct entry *)entry)->name);
}

/* The first of the rows with that name. */
static const struct entry *find(const char *name)
{
    const struct entry *e = bsearch(name, entries, ENTRIES, sizeof(entries[0]), compare);
    while (e && e > entries && !strcmp(e[-1].name, name))
        e--;
    return e;
}

void *sim_entry_point(const char *name, int version, uint64_t flags, int driver_version,
                      int *status)
{
    const struct entry *e = find(name);
    void (*best)(void) = NULL, (*best_twin)(void) = NULL;
    int limit = version < driver_version ? version : driver_version;

    *status = e && e->since <= driver_version ? SIM_TOO_OLD : SIM_SYMBOL_NOT_FOUND;
    for (; e && e < entries + ENTRIES && !strcmp(e->name, name); e++) {
        if (e->since <= limit)
            best = e->symbol;
        if (e->twin_since && e->twin_since <= limit)
            best_twin = e->twin;
    }
    if (best)
        *status = SIM_FOUND;
    return (void *)(uintptr_t)(best_twin && flags == SIM_PER_THREAD ? best_twin : best);
}
