/* SPDX-License-Identifier: MIT */
/* Report "info": processes, devices, the figures that correct their times, and notes. */
#include <string.h>
#include <time.h>

#include "report/names.h"
#include "report/reports.h"

static void spell(struct ct_string *text, const struct ct_merged *m, uint32_t name)
{
    ct_string_clear(text);
    ct_name_safe(text, ct_merge_name(m, name));
}

enum {
    PID,
    PARENT,
    RANK,
    HOST,
    START,
    DURATION,
    DRIVER,
    WRITES,
    OFF,
    END,
    COMMAND,
    PROCESS_COLUMNS
};

static const struct ct_column process_columns[PROCESS_COLUMNS] = {
    [PID] = {"pid", "PID", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [PARENT] = {"parent_pid", "Parent", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(4)},
    [RANK] = {"rank", "Rank", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    [HOST] = {"host", "Host", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    [START] = {"start", "Start", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    [DURATION] = {"duration_ns", "Duration", CT_CELL_TIME_NS, CT_FOLD_MOST, 0},
    [DRIVER] = {"driver", "Driver", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(3)},
    [WRITES] = {"writes", "Writes", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(5)},
    [OFF] = {"off_operations", "Off", CT_CELL_COUNT, CT_FOLD_SUM, CT_OPTIONAL(5) | CT_QUIET},
    [END] = {"end", "End", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    [COMMAND] = {"command", "Command", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation processes = {"processes", "Processes", process_columns,
                                             PROCESS_COLUMNS};

/* ISO 8601, UTC. */
static struct ct_cell date(char text[64], uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm tm;
    if (!unix_ns || !gmtime_r(&seconds, &tm))
        return ct_cell_none();
    strftime(text, 64, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return ct_cell_text(text);
}

static void put_process(struct ct_sink *sink, const struct ct_merged *m,
                        const struct ct_file_process *p)
{
    struct ct_string host = {0}, command = {0};
    char start[64], driver[32];
    spell(&host, m, p->host);
    spell(&command, m, p->command);
    snprintf(driver, sizeof(driver), "%u.%u", p->driver_version / 1000,
             p->driver_version % 1000 / 10);
    struct ct_cell cells[PROCESS_COLUMNS] = {
        [PID] = ct_cell_count(p->pid),
        [PARENT] = ct_cell_count(p->parent_pid),
        [RANK] = p->rank ? ct_cell_count(p->rank - 1) : ct_cell_none(),
        [HOST] = ct_cell_text(host.data),
        [START] = date(start, p->start_unix_ns),
        [DURATION] = ct_cell_count(p->duration_ns),
        [DRIVER] = p->driver_version ? ct_cell_text(driver) : ct_cell_none(),
        [WRITES] = ct_cell_count(p->written),
        [OFF] = ct_cell_count(p->off_operations),
        [END] = ct_cell_text(p->flags & CT_PROCESS_FINISHED ? "normal" : "open"),
        [COMMAND] = ct_cell_text(command.data),
    };
    ct_sink_row(sink, cells);
    ct_string_free(&host);
    ct_string_free(&command);
}

static const struct ct_column device_columns[] = {
    {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    {"memory_bytes", "Memory", CT_CELL_BYTES, CT_FOLD_SUM, 0},
    {"multiprocessors", "SMs", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    {"clock_mhz", "MHz", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    {"compute", "Compute", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(1)},
    {"uuid", "UUID", CT_CELL_TEXT, CT_FOLD_NONE, CT_OPTIONAL(2)},
    {"given_name", "Given name", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation devices = {"devices", "Devices", device_columns, 8};

/* 0, which no driver says, stands for a missing answer. */
static struct ct_cell known(uint64_t n)
{
    return n ? ct_cell_count(n) : ct_cell_none();
}

static void put_device(struct ct_sink *sink, const struct ct_merged *m,
                       const struct ct_merged_device *device)
{
    const struct ct_file_device *d = &device->sum;
    char compute[32];
    struct ct_string name = {0}, given = {0}, uuid = {0};
    spell(&name, m, d->name);
    ct_string_put(&uuid, "GPU-");
    ct_name_uuid(&uuid, d->uuid);
    snprintf(compute, sizeof(compute), "%u.%u", d->compute_major, d->compute_minor);
    struct ct_cell cells[] = {ct_cell_count(d->ordinal),
                              known(d->memory_bytes),
                              known(d->sm_count),
                              known(d->clock_khz / 1000),
                              d->compute_major ? ct_cell_text(compute) : ct_cell_none(),
                              ct_cell_text(uuid.data),
                              ct_cell_given(&given, m, d->given_name),
                              ct_cell_text(name.data)};
    ct_sink_row(sink, cells);
    ct_string_free(&given);
    ct_string_free(&uuid);
    ct_string_free(&name);
}

/* Headings as in doc/accuracy.md. */
static const struct ct_column calibration_columns[] = {
    {"gpu", "GPU", CT_CELL_COUNT, CT_FOLD_NONE, 0},
    {"calibration", "Calibration", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    {"record_ns", "Record", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(4)},
    {"bias_busy_ns", "Bias", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    {"gap_busy_ns", "Gap", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    {"submit_ns", "Submit", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    {"witnesses", "Witnesses", CT_CELL_COUNT, CT_FOLD_NONE, CT_OPTIONAL(5)},
    {"uncertainty_ns", "Uncertainty", CT_CELL_TIME_NS, CT_FOLD_NONE, 0},
    {"idle_uncertainty_ns", "Idle uncertainty", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(1)},
    {"copy_floor_ns", "Copy floor", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2)},
    {"set_floor_ns", "Set floor", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(2)},
    {"bias_ready_ns", "Ready bias", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    {"bias_copy_ns", "Copy bias", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    {"bias_wait_ns", "Wait bias", CT_CELL_TIME_NS, CT_FOLD_NONE, CT_OPTIONAL(3)},
    {"name", "Name", CT_CELL_NAME, CT_FOLD_NONE, 0},
};
#define CALIBRATION_COLUMNS (sizeof(calibration_columns) / sizeof(calibration_columns[0]))

/* Files from before 0.2.0 may have one figure more, in front of the name. */
static const struct ct_column beside_column = {"beside_ns", "Beside", CT_CELL_TIME_NS, CT_FOLD_NONE,
                                               CT_OPTIONAL(3)};

static bool has_beside(const struct ct_merged *m)
{
    bool has = false;
    for (uint32_t i = 0; i < m->device_keys.count; i++)
        has |= m->devices[i].sum.beside_ns > 0;
    return has;
}

static struct ct_cell figure(uint32_t ns, uint32_t unknown)
{
    return ns == unknown ? ct_cell_none() : ct_cell_count(ns);
}

/* The process's own witnesses decide, where there are any. */
static struct ct_cell submit(const struct ct_file_device *d)
{
    int64_t ns = (int64_t)d->submit_ns - d->witness_ns;
    if (!d->witnesses || d->submit_ns == UINT32_MAX)
        return figure(d->submit_ns, UINT32_MAX);
    return ct_cell_count(ns > 0 ? (uint64_t)ns : 0);
}

/* The figures of a device, and their source: measured, a table, or none. */
static void put_calibration(struct ct_sink *sink, const struct ct_merged *m,
                            const struct ct_merged_device *device)
{
    const struct ct_file_device *d = &device->sum;
    bool measured = d->calibration == CT_CALIBRATION_DEVICE;
    struct ct_string name = {0};
    spell(&name, m, d->name);
    struct ct_cell cells[CALIBRATION_COLUMNS + 1] = {ct_cell_count(d->ordinal),
                                                     ct_cell_text(device->raw ? "none"
                                                                  : measured  ? "device"
                                                                              : "table"),
                                                     figure(d->record_ns, 0),
                                                     ct_cell_count(d->bias_busy_ns),
                                                     figure(d->gap_busy_ns, UINT32_MAX),
                                                     submit(d),
                                                     figure(d->witnesses, 0),
                                                     ct_cell_count(d->uncertainty_ns),
                                                     figure(d->idle_uncertainty_ns, 0),
                                                     figure(d->copy_floor_ns, 0),
                                                     figure(d->set_floor_ns, 0),
                                                     figure(d->bias_ready_ns, 0),
                                                     figure(d->bias_copy_ns, 0),
                                                     figure(d->bias_wait_ns, 0),
                                                     ct_cell_text(name.data)};
    if (has_beside(m)) {
        cells[CALIBRATION_COLUMNS] = cells[CALIBRATION_COLUMNS - 1];
        cells[CALIBRATION_COLUMNS - 1] = figure(d->beside_ns, 0);
    }
    ct_sink_row(sink, cells);
    ct_string_free(&name);
}

/* The first line about memory; the report of that name has the others. */
static void note_memory(const struct ct_input *in, struct ct_sink *sink)
{
    const struct ct_merged_allocations *a = &in->m->allocated;
    for (uint32_t i = 0; i < a->memory_keys.count; i++) {
        const struct ct_file_memory *f = &a->memory[i];
        char text[160], peak[CT_UNITS_BYTES], held[CT_UNITS_BYTES];
        if (f->kind != CT_ALLOCATION_ON_DEVICE)
            continue;
        ct_units_size(peak, f->peak_bytes);
        ct_units_size(held, f->held_bytes);
        snprintf(text, sizeof(text),
                 "GPU %u: at most %s of its memory allocated by one process, %s at the end",
                 in->m->devices[f->device].sum.ordinal, peak, held);
        ct_sink_note(sink, text);
    }
}

static void put_devices(const struct ct_input *in, struct ct_sink *sink,
                        const struct ct_relation *relation,
                        void (*put)(struct ct_sink *, const struct ct_merged *,
                                    const struct ct_merged_device *))
{
    ct_sink_begin(sink, relation);
    for (uint32_t i = 0; i < in->m->device_keys.count; i++)
        put(sink, in->m, &in->m->devices[i]);
    if (relation == &devices)
        note_memory(in, sink);
    ct_sink_end(sink);
}

static const struct ct_column note_columns[] = {
    {"count", "Count", CT_CELL_COUNT, CT_FOLD_SUM, 0},
    {"kind", "Kind", CT_CELL_TEXT, CT_FOLD_NONE, 0},
    {"note", "Note", CT_CELL_NAME, CT_FOLD_NONE, 0},
};

static const struct ct_relation notes = {"notes", "Notes", note_columns, 3};

static void put_notes(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_string text = {0};
    ct_sink_begin(sink, &notes);
    for (uint32_t i = 0; i < in->m->note_keys.count; i++) {
        const struct ct_file_note *n = &in->m->notes[i];
        spell(&text, in->m, n->text);
        struct ct_cell cells[] = {
            ct_cell_count(n->count),
            ct_cell_text(n->kind == CT_NOTE_NOT_WRAPPED ? "not wrapped" : "warning"),
            ct_cell_text(text.data)};
        ct_sink_row(sink, cells);
    }
    ct_sink_end(sink);
    ct_string_free(&text);
}

static void put_calibrations(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_column columns[CALIBRATION_COLUMNS + 1];
    size_t count = CALIBRATION_COLUMNS;
    memcpy(columns, calibration_columns, sizeof(calibration_columns));
    if (has_beside(in->m)) {
        columns[count] = columns[count - 1];
        columns[count++ - 1] = beside_column;
    }
    put_devices(in, sink,
                &(struct ct_relation){"calibration", "What is taken off brackets", columns, count},
                put_calibration);
}

int ct_report_info(const struct ct_input *in, struct ct_sink *sink)
{
    ct_sink_begin(sink, &processes);
    for (size_t i = 0; i < in->m->process_count; i++)
        put_process(sink, in->m, &in->m->processes[i]);
    ct_sink_end(sink);
    put_devices(in, sink, &devices, put_device);
    put_calibrations(in, sink);
    put_notes(in, sink);
    return 0;
}
