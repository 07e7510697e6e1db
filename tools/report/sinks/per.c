/* SPDX-License-Identifier: MIT */
#include "report/sinks/per.h"

#include <stdlib.h>
#include <string.h>

#include "report/complain.h"
#include "report/names.h"
#include "report/profile/files.h"
#include "report/sinks/group.h"

static int by_ordinal(const void *a, const void *b, void *merged)
{
    const struct ct_merged *m = merged;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t ox = m->devices[x].sum.ordinal, oy = m->devices[y].sum.ordinal;
    if (ox != oy)
        return ox < oy ? -1 : 1;
    return (x > y) - (x < y);
}

uint32_t *ct_per_devices(const struct ct_merged *m)
{
    size_t none = 0, count = m->device_keys.count;
    uint32_t *order = ct_memory_grow(NULL, &none, count + 1, sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof(*order), by_ordinal, (void *)m);
    return order;
}

int ct_per_gpu(const struct ct_input *in, struct ct_sink *sink)
{
    static const struct ct_column column = {"device", "Device", CT_CELL_TEXT, CT_FOLD_GROUP, 0};
    struct ct_sink *group = ct_group_open(sink, &column, 1);
    uint32_t *order = ct_per_devices(in->m);
    struct ct_string name = {0};
    int status = 0;
    for (uint32_t i = 0; i < in->m->device_keys.count; i++) {
        const struct ct_file_device *d = &in->m->devices[order[i]].sum;
        struct ct_input one = *in;
        one.device = order[i];
        ct_string_clear(&name);
        ct_name_safe(&name, ct_merge_name(in->m, d->name));
        ct_string_printf(&name, " (%u)", d->ordinal);
        struct ct_cell cell = ct_cell_text(name.data);
        ct_group_enter(group, &cell);
        status |= in->report->rows(&one, group);
    }
    ct_sink_close(group);
    ct_string_free(&name);
    free(order);
    return status;
}

/* What a file says of its process. */
struct origin {
    char *file;
    char *host;
    uint32_t pid;
    uint32_t rank; /* plus one */
    size_t at;     /* in the order given */
};

struct origins {
    struct origin *of;
    size_t count;
    size_t size;
    enum ct_per per;
};

/* NULL, or why the file of so many processes is of no group. */
static const char *refusal(const struct ct_file_process *p, size_t count, enum ct_per per)
{
    if (count > 1)
        return "is a merged file, which cannot be split: see the report ranks";
    return per == CT_PER_RANK && !p->rank ? "does not say which rank it is of" : NULL;
}

/* s: its buffer is used again. */
static bool add_origin(struct origins *all, char *file, struct ct_summary *s)
{
    struct ct_read_error error;
    struct ct_string host = {0};
    const char *wrong = ct_summary_read(s, file, &error) ? error.text : NULL;
    const struct ct_file_process *p = s->processes_count ? s->processes : s->process;
    if (!wrong)
        wrong = refusal(p, s->processes_count, all->per);
    if (wrong) {
        ct_complain(file, wrong);
        return false;
    }
    all->of = ct_memory_grow(all->of, &all->size, all->count + 1, sizeof(*all->of));
    ct_name_safe(&host, ct_summary_text(s, p->host));
    all->of[all->count] = (struct origin){
        .file = file, .host = host.data, .pid = p->pid, .rank = p->rank, .at = all->count};
    all->count++;
    return true;
}

/* 0: of one group. */
static int compare(const struct origin *x, const struct origin *y, enum ct_per per)
{
    if (per == CT_PER_RANK)
        return (x->rank > y->rank) - (x->rank < y->rank);
    if (per == CT_PER_HOST)
        return strcmp(x->host, y->host);
    return (x->at > y->at) - (x->at < y->at);
}

static int by_group(const void *a, const void *b, void *per)
{
    const struct origin *x = a, *y = b;
    int order = compare(x, y, *(enum ct_per *)per);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static const struct ct_column columns[] = {
    {"host", "Host", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
    {"pid", "PID", CT_CELL_COUNT, CT_FOLD_GROUP, 0},
    {"rank", "Rank", CT_CELL_COUNT, CT_FOLD_GROUP, 0},
};

/* The columns that name a group: the first of them, and how many. */
static const struct ct_column *columns_of(enum ct_per per, size_t *count)
{
    *count = per == CT_PER_PROCESS ? 2 : 1;
    return per == CT_PER_RANK ? &columns[2] : columns;
}

static void enter(struct ct_sink *group, const struct origin *o, enum ct_per per)
{
    struct ct_cell cells[] = {ct_cell_text(o->host), ct_cell_count(o->pid)};
    if (per == CT_PER_RANK)
        cells[0] = ct_cell_count(o->rank - 1);
    ct_group_enter(group, cells);
}

static void print_heading(FILE *out, const struct origin *o, enum ct_per per)
{
    if (per == CT_PER_RANK)
        fprintf(out, "======== Rank %u\n", o->rank - 1);
    else if (per == CT_PER_HOST)
        fprintf(out, "======== Host \"%s\"\n", o->host);
}

/* The files of one group. */
static int report_group(const struct ct_input *in, const struct origins *all, size_t from,
                        size_t to, struct ct_sink *group, FILE *out)
{
    struct ct_merged m = {.details = in->report->needs == CT_NEEDS_DETAILS || in->o->details,
                          .grouped = in->o->grouped};
    struct ct_input one = *in;
    size_t none = 0;
    char **files = ct_memory_grow(NULL, &none, to - from, sizeof(*files));
    for (size_t i = from; i < to; i++)
        files[i - from] = all->of[i].file;
    int status = !ct_files_merge(&m, files, to - from, 0);
    one.m = &m;
    if (group) {
        enter(group, &all->of[from], all->per);
        status |= in->report->rows(&one, group);
    } else {
        if (from)
            putc('\n', out);
        print_heading(out, &all->of[from], all->per);
        status |= in->report->nvprof(&one, out);
    }
    ct_merge_free(&m);
    free(files);
    return status;
}

int ct_per_files(const struct ct_input *in, struct ct_sink *sink, FILE *out)
{
    struct origins all = {.per = (enum ct_per)in->o->per};
    struct ct_summary summary = {0};
    size_t count;
    const struct ct_column *first = columns_of(all.per, &count);
    struct ct_sink *group = sink ? ct_group_open(sink, first, count) : NULL;
    int status = 0;
    for (int i = 0; i < in->o->file_count; i++)
        status |= !add_origin(&all, in->o->files[i], &summary);
    ct_summary_free(&summary);
    if (all.count)
        qsort_r(all.of, all.count, sizeof(*all.of), by_group, &all.per);
    for (size_t from = 0, to; from < all.count; from = to) {
        for (to = from + 1; to < all.count && !compare(&all.of[from], &all.of[to], all.per); to++)
            ;
        status |= report_group(in, &all, from, to, group, out);
    }
    if (group)
        ct_sink_close(group);
    for (size_t i = 0; i < all.count; i++)
        free(all.of[i].host);
    free(all.of);
    return status;
}
