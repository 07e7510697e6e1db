/* SPDX-License-Identifier: MIT */
#include "report/sinks/per.h"

#include <stdlib.h>
#include <string.h>

#include "report/file_error.h"
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
    size_t count = m->device_keys.count;
    uint32_t *order = ct_memory_array(count, sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof(*order), by_ordinal, (void *)m);
    return order;
}

static void spell_device(struct ct_string *name, const struct ct_merged *m,
                         const struct ct_file_device *d)
{
    ct_string_clear(name);
    ct_name_safe(name, ct_merge_name(m, d->name));
    ct_string_printf(name, " (%u)", d->ordinal);
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
        spell_device(&name, in->m, d);
        struct ct_cell cell = ct_cell_text(name.data);
        ct_group_enter(group, &cell);
        status |= in->report->rows(&one, group);
    }
    ct_sink_close(group);
    ct_string_free(&name);
    free(order);
    return status;
}

/* The process of a file, or of a profile that was made of one. */
struct origin {
    char *file;                 /* NULL: it is of that profile */
    const struct ct_part *part; /* NULL: it is of a file */
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

static struct origin *add_origin(struct origins *all, const struct ct_summary *s)
{
    const struct ct_file_process *p = s->processes_count ? s->processes : s->process;
    struct ct_string host = {0};
    all->of = ct_memory_grow(all->of, &all->size, all->count + 1, sizeof(*all->of));
    ct_name_safe(&host, ct_summary_text(s, p->host));
    struct origin *o = &all->of[all->count];
    *o = (struct origin){.host = host.data, .pid = p->pid, .rank = p->rank, .at = all->count};
    all->count++;
    return o;
}

/* s: its buffer is used again. */
static bool add_file(struct origins *all, char *file, struct ct_summary *s)
{
    struct ct_read_error error;
    const char *wrong =
        ct_summary_read(s, file, &error)
            ? error.text
            : refusal(s->processes_count ? s->processes : s->process, s->processes_count, all->per);
    if (wrong)
        ct_file_error(file, wrong);
    else
        add_origin(all, s)->file = file;
    return !wrong;
}

/* 0: of one group. */
static int compare(const struct origin *x, const struct origin *y, enum ct_per per)
{
    if (per == CT_PER_NONE || per == CT_PER_GPU)
        return 0;
    if (per == CT_PER_RANK)
        return (x->rank > y->rank) - (x->rank < y->rank);
    if (per == CT_PER_HOST)
        return strcmp(x->host, y->host);
    if (per == CT_PER_RANGE)
        return (x->part->range_number > y->part->range_number) -
               (x->part->range_number < y->part->range_number);
    return (x->at > y->at) - (x->at < y->at);
}

static int by_group(const void *a, const void *b, void *per)
{
    const struct origin *x = a, *y = b;
    int order = compare(x, y, *(enum ct_per *)per);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* A group's columns, from the host down to the stream; a rank or a range is told by one alone. */
enum { HOST, PID, DEVICE, STREAM, CONTEXT_NAME, STREAM_NAME, RANK, RANGE, COLUMNS };

static const struct ct_column columns[COLUMNS] = {
    [HOST] = {"host", "Host", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
    [PID] = {"pid", "PID", CT_CELL_COUNT, CT_FOLD_GROUP, 0},
    [DEVICE] = {"device", "Device", CT_CELL_TEXT, CT_FOLD_GROUP, CT_OPTIONAL(10)},
    [STREAM] = {"stream", "Stream", CT_CELL_COUNT, CT_FOLD_GROUP, 0},
    [CONTEXT_NAME] = {"context_name", "Context", CT_CELL_TEXT, CT_FOLD_GROUP, CT_OPTIONAL(11)},
    [STREAM_NAME] = {"stream_name", "Stream name", CT_CELL_TEXT, CT_FOLD_GROUP, CT_OPTIONAL(10)},
    [RANK] = {"rank", "Rank", CT_CELL_COUNT, CT_FOLD_GROUP, 0},
    [RANGE] = {"range", "Range", CT_CELL_TEXT, CT_FOLD_GROUP, 0},
};

/* The first of the columns that name a group, and their number. */
static const struct ct_column *columns_of(enum ct_per per, size_t *count)
{
    *count = per == CT_PER_STREAM                        ? RANK
             : per == CT_PER_PROCESS                     ? PID + 1
             : per == CT_PER_RANGE || per & CT_PER_FILES ? 1
                                                         : 0;
    return per == CT_PER_RANK ? &columns[RANK] : per == CT_PER_RANGE ? &columns[RANGE] : columns;
}

/* A group that is of one stream has no other. */
static void enter(struct ct_sink *group, const struct origin *o, enum ct_per per,
                  const struct ct_merged *m)
{
    struct ct_string device = {0}, context = {0}, name = {0};
    struct ct_cell cells[COLUMNS] = {[HOST] = ct_cell_text(o->host), [PID] = ct_cell_count(o->pid)};
    if (per == CT_PER_RANK)
        cells[0] = ct_cell_count(o->rank - 1);
    if (per == CT_PER_RANGE)
        cells[0] = o->part->range ? ct_cell_text(o->part->range) : ct_cell_none();
    if (per == CT_PER_STREAM && m->stream_count) {
        const struct ct_file_stream *s = m->streams;
        spell_device(&device, m, &m->devices[s->device].sum);
        cells[DEVICE] = ct_cell_text(device.data);
        cells[STREAM] = ct_cell_count(s->id);
        cells[CONTEXT_NAME] = ct_cell_given(&context, m, s->context_name);
        cells[STREAM_NAME] = ct_cell_given(&name, m, s->name);
    }
    ct_group_enter(group, cells);
    ct_string_free(&device);
    ct_string_free(&context);
    ct_string_free(&name);
}

static void print_heading(FILE *out, const struct origin *o, enum ct_per per)
{
    if (per == CT_PER_RANK)
        fprintf(out, "======== Rank %u\n", o->rank - 1);
    else if (per == CT_PER_HOST)
        fprintf(out, "======== Host \"%s\"\n", o->host);
}

/* Adds up the files and profiles of a group. False: one could not be read, which was said. */
static bool merge(struct ct_merged *m, const struct origin *of, size_t count)
{
    bool good = true;
    if (of->file) {
        char **files = ct_memory_array(count, sizeof(*files));
        for (size_t i = 0; i < count; i++)
            files[i] = of[i].file;
        good = ct_files_merge(m, files, count, 0);
        free(files);
    }
    for (size_t i = 0; i < count; i++)
        if (of[i].part) {
            ct_merge_add(m, &of[i].part->summary);
            ct_merge_add_sizes(m, of[i].part->sizes, of[i].part->summary.rows_count);
        }
    return good;
}

/* The report of one group. */
static int report_group(const struct ct_input *in, const struct origins *all, size_t from,
                        size_t to, struct ct_sink *group, FILE *out)
{
    struct ct_merged m = {.details = in->report->needs == CT_NEEDS_DETAILS || in->o->details ||
                                     all->per == CT_PER_STREAM,
                          .grouped = in->o->grouped};
    struct ct_input one = *in;
    int status = !merge(&m, &all->of[from], to - from);
    one.m = &m;
    if (group) {
        enter(group, &all->of[from], all->per, &m);
        status |= all->per == CT_PER_GPU ? ct_per_gpu(&one, group) : in->report->rows(&one, group);
    } else {
        if (from)
            putc('\n', out);
        print_heading(out, &all->of[from], all->per);
        status |= in->report->nvprof(&one, out);
    }
    ct_merge_free(&m);
    return status;
}

/* Reports group by group; frees the origins. */
static int report_groups(const struct ct_input *in, struct origins *all, struct ct_sink *group,
                         FILE *out)
{
    int status = 0;
    if (all->count)
        qsort_r(all->of, all->count, sizeof(*all->of), by_group, &all->per);
    for (size_t from = 0, to; from < all->count; from = to) {
        for (to = from + 1; to < all->count && !compare(&all->of[from], &all->of[to], all->per);
             to++)
            ;
        status |= report_group(in, all, from, to, group, out);
    }
    for (size_t i = 0; i < all->count; i++)
        free(all->of[i].host);
    free(all->of);
    return status;
}

static struct ct_sink *open_group(struct ct_sink *sink, enum ct_per per)
{
    size_t count;
    const struct ct_column *first = columns_of(per, &count);
    return ct_group_open(sink, first, count);
}

int ct_per_files(const struct ct_input *in, struct ct_sink *sink, FILE *out)
{
    struct origins all = {.per = (enum ct_per)in->o->per};
    struct ct_summary summary = {0};
    struct ct_sink *group = sink ? open_group(sink, all.per) : NULL;
    int status = 0;
    for (int i = 0; i < in->o->file_count; i++)
        status |= !add_file(&all, in->o->files[i], &summary);
    ct_summary_free(&summary);
    status |= report_groups(in, &all, group, out);
    if (group)
        ct_sink_close(group);
    return status;
}

int ct_per_parts(const struct ct_input *in, struct ct_sink *sink, const struct ct_parts *parts,
                 FILE *out)
{
    struct origins all = {.per = (enum ct_per)in->o->per};
    struct ct_sink *group = sink ? open_group(sink, all.per) : NULL;
    int status = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const char *wrong = refusal(parts->at[i].summary.process, 0, all.per);
        if (wrong)
            ct_file_error(parts->at[i].file, wrong);
        else
            add_origin(&all, &parts->at[i].summary)->part = &parts->at[i];
        status |= wrong != NULL;
    }
    bool any = all.count;
    status |= report_groups(in, &all, group, out);
    if (any && sink)
        ct_sink_notes(sink, parts->notes);
    else if (any && parts->notes)
        fputs(parts->notes, out);
    if (group)
        ct_sink_close(group);
    return status;
}
