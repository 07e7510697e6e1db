/* SPDX-License-Identifier: MIT */
/* nvprof's table of managed memory, byte for byte: a table a device, in wider cells for the sums.
 */
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/reports/unified_report.h"
#include "report/sinks/csv_text.h"
#include "report/sinks/per.h"
#include "report/units.h"

#define CELL 8
#define WIDE_CELL 10

enum { AVG, LEAST, MOST, SUM, TIME, CELLS };

struct printer {
    FILE *out;
    const struct ct_input *in;
    bool csv;
};

/* Numbers in CSV have six decimals, as everywhere in nvprof's. */
static void spell_csv(char text[CELLS][CT_UNITS_BYTES], const struct ct_file_unified *u)
{
    const uint64_t sizes[] = {[AVG] = u->count ? u->bytes / u->count : 0,
                              [LEAST] = u->min_bytes,
                              [MOST] = u->max_bytes,
                              [SUM] = u->bytes};
    for (int i = AVG; i <= SUM && u->count && u->bytes; i++) {
        enum ct_byte_unit unit = ct_byte_unit_of((double)sizes[i]);
        strcpy(ct_units_size_csv(text[i], sizes[i], unit), ct_byte_unit_name(unit));
    }
    if (u->timed) {
        enum ct_unit unit = ct_unit_of(u->total_ns);
        strcpy(ct_units_csv(text[TIME], u->total_ns, unit), ct_unit_name(unit));
    }
}

/* nvprof has "-" where there is no value, and in CSV nothing. */
static void spell(char text[CELLS][CT_UNITS_BYTES], const struct ct_file_unified *u, bool csv)
{
    for (int i = 0; i < CELLS; i++)
        snprintf(text[i], CT_UNITS_BYTES, "%s", csv ? "" : "-");
    if (csv) {
        spell_csv(text, u);
        return;
    }
    if (u->count && u->bytes) {
        ct_units_size_in(text[AVG], u->bytes / u->count, CELL);
        ct_units_size_in(text[LEAST], u->min_bytes, CELL);
        ct_units_size_in(text[MOST], u->max_bytes, CELL);
        ct_units_size_in(text[SUM], u->bytes, WIDE_CELL);
    }
    if (u->timed)
        ct_units_time(text[TIME], u->total_ns, WIDE_CELL);
}

static void print_line(const struct printer *p, const char *device, const struct ct_file_unified *u)
{
    char text[CELLS][CT_UNITS_BYTES];
    unsigned long long count = u->count;
    spell(text, u, p->csv);
    if (p->csv)
        fprintf(p->out, "%s,%llu,%s,%s,%s,%s,%s,\"%s\"\n", device, count, text[AVG], text[LEAST],
                text[MOST], text[SUM], text[TIME], ct_unified_name(u->kind));
    else
        fprintf(p->out, "%8llu  %8s  %8s  %8s  %10s  %10s  %s\n", count, text[AVG], text[LEAST],
                text[MOST], text[SUM], text[TIME], ct_unified_name(u->kind));
}

/* Heading of a device, before its first line. */
static void print_heading(const struct printer *p, const char *device)
{
    if (!p->csv)
        fprintf(p->out,
                "Device %s\n   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name\n",
                device);
}

static void print_device(const struct printer *p, uint32_t device)
{
    const struct ct_file_device *d = &p->in->m->devices[device].sum;
    struct ct_string name = {0}, quoted = {0};
    bool begun = false;
    ct_name_safe(&name, ct_merge_name(p->in->m, d->name));
    ct_string_printf(&name, " (%u)", d->ordinal);
    if (p->csv)
        ct_csv_name(&quoted, name.data);
    else
        ct_string_printf(&quoted, "\"%s\"", name.data);
    for (int kind = 0; kind < CT_UNIFIED_CPU_FAULTS; kind++) {
        const struct ct_file_unified *u = ct_managed_memory_find(&p->in->m->managed, device, kind);
        if (!u)
            continue;
        if (!begun)
            print_heading(p, quoted.data);
        begun = true;
        print_line(p, quoted.data, u);
    }
    ct_string_free(&name);
    ct_string_free(&quoted);
}

static void print_faults(FILE *out, const struct ct_file_unified *cpu)
{
    fprintf(out, "Total CPU Page faults: %llu\n", (unsigned long long)cpu->count);
}

void ct_unified_print(FILE *out, const char *prefix, const struct ct_input *in)
{
    struct printer p = {.out = out, .in = in, .csv = in->o->csv};
    const struct ct_file_unified *cpu =
        ct_managed_memory_find(&in->m->managed, 0, CT_UNIFIED_CPU_FAULTS);
    if (!in->m->managed.keys.count)
        return;
    fprintf(out, "\n%sUnified Memory profiling result:\n", prefix);
    if (cpu && p.csv) /* nothing is to follow the last row */
        print_faults(out, cpu);
    if (p.csv)
        fputs("\"Device\",\"Count\",\"Avg Size\",\"Min Size\",\"Max Size\",\"Total Size\","
              "\"Total Time\",\"\"\n",
              out);
    uint32_t *order = ct_per_devices(in->m);
    for (uint32_t i = 0; i < in->m->device_keys.count; i++)
        print_device(&p, order[i]);
    free(order);
    if (cpu && !p.csv)
        print_faults(out, cpu);
}
