/* SPDX-License-Identifier: MIT */
/* What really ran, by kind and name: the numbers a profiler should find. */
#include "driver/sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim.h"

struct row {
    struct row *next;
    const char *kind;
    const char *name;
    struct cudasim_truth truth;
};

struct text {
    struct text *next;
    char text[];
};

#define SLOTS 4096

static struct row *rows[SLOTS];
static struct text *texts[SLOTS];

cudasim_truth_fn cudasim_truth;

static uint32_t hash(uint32_t h, const char *s)
{
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

const char *sim_intern(const char *s)
{
    struct text **slot = &texts[hash(2166136261u, s) % SLOTS], *t;
    for (t = *slot; t; t = t->next)
        if (!strcmp(t->text, s))
            return t->text;
    t = malloc(sizeof(*t) + strlen(s) + 1);
    strcpy(t->text, s);
    t->next = *slot;
    *slot = t;
    return t->text;
}

static struct row *row_of(const char *kind, const char *name)
{
    struct row **slot = &rows[hash(hash(2166136261u, kind), name) % SLOTS], *r;
    for (r = *slot; r; r = r->next)
        if (!strcmp(r->kind, kind) && !strcmp(r->name, name))
            return r;
    r = calloc(1, sizeof(*r));
    r->kind = kind;
    r->name = name;
    r->next = *slot;
    *slot = r;
    return r;
}

static void merge(struct cudasim_truth *into, const struct cudasim_truth *t)
{
    if (!into->count || t->min_ns < into->min_ns)
        into->min_ns = t->min_ns;
    if (t->max_ns > into->max_ns)
        into->max_ns = t->max_ns;
    into->count += t->count;
    into->total_ns += t->total_ns;
    into->bytes += t->bytes;
}

void sim_truth_add(const char *kind, const char *name, int64_t duration_ns, uint64_t bytes)
{
    uint64_t ns = (uint64_t)duration_ns;
    merge(&row_of(kind, name)->truth, &(struct cudasim_truth){1, ns, ns, ns, bytes});
}

/* In the order of submission; at once, as the program may end in any way. */
void sim_truth_span(const struct sim_work *w, uint64_t stream_id, int64_t end_ns)
{
    static const char *const kinds[] = {
        [SIM_WORK_KERNEL] = "kernel", [SIM_WORK_COPY] = "copy",   [SIM_WORK_SET] = "set",
        [SIM_WORK_GRAPH] = "graph",   [SIM_WORK_BATCH] = "batch", [SIM_WORK_PREFETCH] = "prefetch",
    };
    static FILE *f;
    bool is_known = (size_t)w->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[w->kind];
    if (!sim_settings.spans_path || !is_known || w->is_profilers)
        return;
    if (!f && !(f = fopen(sim_settings.spans_path, "we")))
        return;
    fprintf(f, "%s\t%s\t%llu\t%lld\t%lld\n", kinds[w->kind], w->name ? w->name : "",
            (unsigned long long)stream_id, (long long)(end_ns - w->duration_ns), (long long)end_ns);
    fflush(f);
}

int cudasim_truth(const char *kind, const char *name, struct cudasim_truth *out)
{
    *out = (struct cudasim_truth){0};
    sim_lock();
    for (size_t i = 0; i < SLOTS; i++)
        for (struct row *r = rows[i]; r; r = r->next)
            if (!strcmp(r->kind, kind) && (!name || !strcmp(r->name, name)))
                merge(out, &r->truth);
    sim_unlock();
    return out->count != 0;
}

static int compare(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
    int kinds = strcmp(x->kind, y->kind);
    return kinds ? kinds : strcmp(x->name, y->name);
}

static size_t collect(struct row **out)
{
    size_t count = 0;
    for (size_t i = 0; i < SLOTS; i++)
        for (struct row *r = rows[i]; r; r = r->next, count++)
            if (out)
                out[count] = r;
    return count;
}

void sim_truth_write(const char *path)
{
    size_t count = collect(NULL);
    struct row **sorted = calloc(count + 1, sizeof(struct row *));
    FILE *f = fopen(path, "w");
    collect(sorted);
    qsort(sorted, count, sizeof(struct row *), compare);
    for (size_t i = 0; f && i < count; i++) {
        const struct cudasim_truth *t = &sorted[i]->truth;
        fprintf(f, "%s\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\n", sorted[i]->kind, sorted[i]->name,
                (unsigned long long)t->count, (unsigned long long)t->total_ns,
                (unsigned long long)t->min_ns, (unsigned long long)t->max_ns,
                (unsigned long long)t->bytes);
    }
    if (!f)
        perror(path);
    else
        fclose(f);
    free(sorted);
}
