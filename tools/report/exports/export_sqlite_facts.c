/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "config.h"
#include "report/exports/export_sqlite.h"
#include "report/names.h"

#define ISO_BYTES 32

/* ---- processes ---- */

static void put_process(struct ct_sqlite *s, const struct ct_timeline_file *f)
{
    const struct ct_trace_process *p = &f->t->process;
    struct ct_string command = {0}, host = {0}, key = {0};
    ct_name_safe(&command, p->command);
    ct_name_safe(&host, p->host);
    ct_string_printf(&key, "PROCESS_%u:COMMAND", f->index);
    ct_sqlite_put(s, "INSERT INTO PROCESSES VALUES (?, ?, ?)", "iis", ct_sqlite_global(f, 0),
                  (int64_t)p->pid, command.data);
    ct_sqlite_put(s, "INSERT INTO META_DATA_CAPTURE VALUES (?, ?)", "ss", key.data, command.data);
    ct_sqlite_put(s,
                  "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?, 'SystemInfo', 'Hostname', 0, ?)",
                  "is", ct_sqlite_global(f, 0), host.data);
    ct_string_free(&key);
    ct_string_free(&host);
    ct_string_free(&command);
}

static void put_threads(struct ct_sqlite *s, const struct ct_timeline_file *f)
{
    for (uint32_t i = 0; i < f->t->threads.count; i++) {
        const struct ct_trace_thread *thread = &f->t->threads.at[i];
        struct ct_string name = {0};
        ct_name_safe(&name, thread->name);
        ct_sqlite_put(s, "INSERT INTO ThreadNames VALUES (?, NULL, ?)", "ii",
                      (int64_t)ct_sqlite_string(s, name.data), ct_sqlite_global(f, thread->tid));
        ct_string_free(&name);
    }
}

/* ---- devices ---- */

/* GPUs that have been seen in any process; numbers are those of TARGET_INFO_GPU. */
struct gpus {
    struct gpu {
        uint8_t uuid[16];
        int64_t number;
    } * at;
    size_t count;
    size_t size;
};

static bool is_taken(const struct gpus *g, int64_t number)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->at[i].number == number)
            return true;
    return false;
}

/*
 * The number of a device's GPU. Scripts that do not know TARGET_INFO_GPU's numbers take the
 * device's ordinal for one, so the first GPU that is seen under an ordinal has that number, and
 * another one a free number.
 */
static int64_t gpu_of(struct gpus *g, const struct ct_trace_device *d, bool *is_new)
{
    static const uint8_t unknown[16];
    *is_new = false;
    for (size_t i = 0; i < g->count; i++) {
        bool same = !memcmp(g->at[i].uuid, d->uuid, sizeof(d->uuid));
        if (same && (memcmp(d->uuid, unknown, sizeof(unknown)) || g->at[i].number == d->ordinal))
            return g->at[i].number;
    }
    *is_new = true;
    int64_t number = d->ordinal;
    for (int64_t i = 0; is_taken(g, number); i++)
        number = i;
    g->at = ct_memory_grow(g->at, &g->size, g->count + 1, sizeof(*g->at));
    g->at[g->count].number = number;
    memcpy(g->at[g->count++].uuid, d->uuid, sizeof(d->uuid));
    return number;
}

static void put_devices(struct ct_sqlite *s, const struct ct_timeline_file *f, struct gpus *gpus)
{
    for (uint32_t i = 0; i < f->t->devices.count; i++) {
        const struct ct_trace_device *d = &f->t->devices.at[i];
        struct ct_string name = {0}, uuid = {0};
        bool is_new;
        int64_t number = gpu_of(gpus, d, &is_new);
        ct_name_safe(&name, d->name);
        ct_name_uuid(&uuid, d->uuid);
        if (is_new)
            ct_sqlite_put(s,
                          "INSERT INTO TARGET_INFO_GPU (vmId, id, name, uuid, cuDevice,"
                          " threadsPerWarp) VALUES (0, ?, ?, ?, ?, 32)",
                          "issi", number, name.data, uuid.data, (int64_t)d->ordinal);
        ct_sqlite_gpu(s, number, d);
        ct_sqlite_put(s,
                      "INSERT INTO TARGET_INFO_CUDA_DEVICE SELECT id, ?, ?, ?, smCount"
                      " FROM TARGET_INFO_GPU WHERE id = ?",
                      "iisi", (int64_t)d->ordinal, (int64_t)f->t->process.pid, uuid.data, number);
        ct_string_clear(&name);
        ct_name_safe(&name, d->given_name);
        if (*name.data)
            ct_sqlite_put(s, "INSERT INTO TARGET_INFO_NVTX_CUDA_DEVICE VALUES (?, 0, 0, ?)", "si",
                          name.data, (int64_t)d->ordinal);
        ct_string_free(&uuid);
        ct_string_free(&name);
    }
}

/* ---- streams ---- */

/* CUpti_ActivityStreamFlag */
static int64_t stream_type(const struct ct_trace_stream *stream)
{
    if (stream->special)
        return stream->special == 1 ? 3 : 1;
    return stream->flags == UINT32_MAX ? 0 : stream->flags & 1 ? 2 : 1;
}

static void put_stream(struct ct_sqlite *s, const struct ct_timeline_file *f,
                       const struct ct_trace_stream *stream)
{
    ct_sqlite_put(s, "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (?, 0, 0, ?, ?, ?, ?)", "iiiii",
                  (int64_t)stream->id, (int64_t)f->t->process.pid, (int64_t)stream->context,
                  (int64_t)stream->priority, stream_type(stream));
}

/* The name that the program gave, if it gave one. */
static void put_stream_name(struct ct_sqlite *s, const struct ct_timeline_file *f,
                            const struct ct_trace_stream *stream)
{
    struct ct_string name = {0};
    ct_name_safe(&name, stream->name);
    if (*name.data)
        ct_sqlite_put(s, "INSERT INTO TARGET_INFO_NVTX_CUDA_STREAM VALUES (?, 0, 0, ?, ?, ?, ?)",
                      "siiii", name.data, (int64_t)f->t->process.pid,
                      (int64_t)f->t->devices.at[stream->device].ordinal, (int64_t)stream->context,
                      (int64_t)stream->id);
    ct_string_free(&name);
}

static void put_context(struct ct_sqlite *s, const struct ct_timeline_file *f,
                        const struct ct_trace_stream *stream)
{
    struct ct_string name = {0};
    int64_t pid = f->t->process.pid, device = f->t->devices.at[stream->device].ordinal;
    ct_sqlite_put(s,
                  "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (NULL, 0, 0, ?, ?, ?, NULL, 0)",
                  "iii", pid, device, (int64_t)stream->context);
    ct_name_safe(&name, stream->context_name);
    if (*name.data)
        ct_sqlite_put(s, "INSERT INTO TARGET_INFO_NVTX_CUDA_CONTEXT VALUES (?, 0, 0, ?, ?, ?)",
                      "siii", name.data, pid, device, (int64_t)stream->context);
    ct_string_free(&name);
}

/* Contexts are known by their streams; that of the legacy default stream is told when it is seen.
 */
static void put_streams(struct ct_sqlite *s, const struct ct_timeline_file *f)
{
    struct ct_key_table contexts = {0};
    for (uint32_t i = 0; i < f->t->streams.count; i++) {
        const struct ct_trace_stream *stream = &f->t->streams.at[i];
        uint32_t before = contexts.count;
        put_stream(s, f, stream);
        put_stream_name(s, f, stream);
        ct_key_table_add(&contexts, &stream->context, sizeof(stream->context));
        if (contexts.count > before)
            put_context(s, f, stream);
        if (stream->special == 1)
            ct_sqlite_put(s,
                          "UPDATE TARGET_INFO_CUDA_CONTEXT_INFO SET nullStreamId = ?"
                          " WHERE processId = ? AND contextId = ?",
                          "iii", (int64_t)stream->id, (int64_t)f->t->process.pid,
                          (int64_t)stream->context);
    }
    ct_key_table_free(&contexts);
}

/* ---- the session ---- */

static void put_start(struct ct_sqlite *s)
{
    char utc[ISO_BYTES], local[ISO_BYTES];
    time_t seconds = (time_t)(s->tl->zero_unix_ns / 1000000000);
    struct tm tm;
    strftime(utc, sizeof(utc), "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &tm));
    strftime(local, sizeof(local), "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &tm));
    ct_sqlite_put(s, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, ?, ?)", "iss",
                  (int64_t)s->tl->zero_unix_ns, utc, local);
    ct_sqlite_put(s, "INSERT INTO ANALYSIS_DETAILS VALUES (0, ?, 0, ?)", "ii",
                  (int64_t)s->tl->facts.end_ns, (int64_t)s->tl->facts.end_ns);
    static const char *const meta[][2] = {{"EXPORT_PRODUCT_NAME", "cutrace"},
                                          {"EXPORT_PRODUCT_VERSION", PACKAGE_VERSION},
                                          {"EXPORT_SCHEMA_VERSION", "3.16.1"}};
    for (size_t i = 0; i < ct_countof(meta); i++)
        ct_sqlite_put(s, "INSERT INTO META_DATA_EXPORT VALUES (?, ?)", "ss", meta[i][0],
                      meta[i][1]);
}

static void put_notes(struct ct_sqlite *s)
{
    struct ct_string lines = {0};
    ct_timeline_notes(s->tl, "", &lines);
    char *rest = lines.data;
    for (char *line; lines.len && (line = strsep(&rest, "\n")) && *line;)
        ct_sqlite_put(s, "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 1, 2, ?, NULL)", "s", line);
    ct_string_free(&lines);
}

void ct_sqlite_facts(struct ct_sqlite *s)
{
    struct gpus gpus = {0};
    for (uint32_t i = 0; i < s->tl->file_count; i++) {
        const struct ct_timeline_file *f = &s->tl->files[i];
        if (!f->t) /* gone since it was first read, which has been said */
            continue;
        put_process(s, f);
        put_threads(s, f);
        put_devices(s, f, &gpus);
        put_streams(s, f);
    }
    put_start(s);
    put_notes(s);
    free(gpus.at);
}
