/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "report/details.h"
#include "report/names.h"
#include "report/table.h"
#include "report/truth.h"
#include "report/view.h"

struct report {
    FILE *out;
    const struct ct_merged *m;
    const struct ct_options *o;
    struct ct_view_options view;
    char prefix[24]; /* "======== ", or with the process id at the end of a program */
};

static void print_heading(const struct report *r)
{
    if (r->o->live && r->m->process_count) {
        const struct ct_file_process *p = &r->m->processes[0];
        struct ct_string command = {0};
        ct_name_safe(&command, ct_merge_name(r->m, p->command));
        fprintf(r->out, "%sCUTRACE is profiling process %u, command: %s\n", r->prefix, p->pid,
                command.data);
        fprintf(r->out, "%sProfiling application: %s\n", r->prefix, command.data);
        ct_string_free(&command);
    }
    fprintf(r->out, "%sProfiling result:\n", r->prefix);
}

static void print_table(const struct report *r, const struct ct_table_sections *s)
{
    if (r->o->csv)
        ct_csv_print(r->out, s, r->o->unit);
    else
        ct_table_print(r->out, s, r->o->unit);
}

static int by_ordinal(const void *a, const void *b, void *merged)
{
    const struct ct_merged *m = merged;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t ox = m->devices[x].sum.ordinal, oy = m->devices[y].sum.ordinal;
    if (ox != oy)
        return ox < oy ? -1 : 1;
    return (x > y) - (x < y);
}

static void print_device(const struct report *r, uint32_t device)
{
    const struct ct_file_device *d = &r->m->devices[device].sum;
    struct ct_view gpu;
    struct ct_string name = {0};
    ct_view_gpu(&gpu, r->m, device, &r->view);
    ct_name_safe(&name, ct_merge_name(r->m, d->name));
    if (gpu.count) {
        fprintf(r->out, "\n%sDevice \"%s (%u)\"\n", r->prefix, name.data, d->ordinal);
        print_table(r, &(struct ct_table_sections){.prefix = r->prefix, .gpu = &gpu});
    }
    ct_string_free(&name);
    ct_view_free(&gpu);
}

static void print_devices(const struct report *r)
{
    size_t none = 0, count = r->m->device_keys.count;
    uint32_t *order = ct_memory_grow(NULL, &none, count, sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (count)
        qsort_r(order, count, sizeof(*order), by_ordinal, (void *)r->m);
    for (size_t i = 0; i < count; i++)
        print_device(r, order[i]);
    free(order);
}

static void print_all(const struct report *r, const struct ct_view *gpu)
{
    struct ct_view apis;
    ct_view_apis(&apis, r->m);
    print_table(r, &(struct ct_table_sections){r->prefix, gpu, &apis});
    ct_view_free(&apis);
}

/* Where the profile is, at the end of a program. One that was never a file has no such place. */
static void print_file(const struct report *r)
{
    char *path = realpath(r->o->files[0], NULL);
    if (path && strncmp(path, "/memfd:", 7) && strncmp(path, "/proc/", 6)) {
        struct ct_string name = {0};
        ct_name_safe(&name, path);
        fprintf(r->out, "%sGenerated result file: %s\n", r->prefix, name.data);
        ct_string_free(&name);
    }
    free(path);
}

void ct_report_print(FILE *out, const struct ct_merged *m, const struct ct_options *o)
{
    struct report r = {.out = out, .m = m, .o = o, .prefix = "======== "};
    struct ct_view gpu;
    r.view = (struct ct_view_options){.demangle = !o->mangled, .raw = o->raw};
    if (o->live && m->process_count)
        snprintf(r.prefix, sizeof(r.prefix), "==%u== ", m->processes[0].pid);
    ct_view_gpu(&gpu, m, CT_VIEW_ALL_DEVICES, &r.view);
    print_heading(&r);
    if (o->per_gpu && gpu.count)
        print_devices(&r);
    else
        print_all(&r, &gpu);
    if (!o->csv)
        putc('\n', out);
    ct_truth_print(out, r.prefix, m, &gpu, &r.view);
    if (!o->csv)
        ct_truth_graphs(out, r.prefix, m, &gpu, &r.view);
    if (o->details)
        ct_details_print(out, r.prefix, m, &r.view);
    if (o->live && o->file_count)
        print_file(&r);
    ct_view_free(&gpu);
}
