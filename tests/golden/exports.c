/* SPDX-License-Identifier: MIT */
/*
 * What cutrace-report exports of traces, read by others' libraries: Trace Event JSON, Perfetto's
 * format, and a database on which queries run that people write for nsys's.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_main.h"
#include "config.h"
#include "traces.h"

#if CT_WITH_SQLITE
#include "report/exports/export_sqlite.h"
#endif
#if CT_WITH_PERFETTO
#include "track_event.pb-c.h"
#endif

#define TRACE "exports.trace"
#define EXPORT "exports.out"
#define WINDOW " --since 5us --until 10us" /* of the trace "ranges": two cross its borders */

/* Of one trace: its name, and options behind it. */
static void make(const char *trace, const char *format)
{
    char command[256];
    int name = (int)strcspn(trace, " ");
    snprintf(command, sizeof(command), "%.*s", name, trace);
    ck_assert(ct_golden_trace_write(command, TRACE));
    snprintf(command, sizeof(command), "./cutrace-report --format %s %s -o " EXPORT " " TRACE "%s",
             format, strcmp(format, "sqlite") ? "" : "--force-overwrite", trace + name);
    ck_assert_int_eq(system(command), 0);
}

static void clean(void)
{
    unlink(TRACE);
    unlink(EXPORT);
}

/* ---- Trace Event JSON ---- */

static const char *phase_of(const json_t *event)
{
    return json_string_value(json_object_get(event, "ph"));
}

static json_int_t number_of(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(event, key));
}

/* How many events have this phase and, if it is not NULL, this category. */
static int count_events(const json_t *events, const char *phase, const char *category)
{
    size_t i;
    json_t *event;
    int count = 0;
    json_array_foreach(events, i, event)
    {
        const char *own = json_string_value(json_object_get(event, "cat"));
        count += !strcmp(phase_of(event), phase) && (!category || (own && !strcmp(own, category)));
    }
    return count;
}

/* The other end of an arrow. */
static const json_t *end_of(const json_t *events, json_int_t id)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        if (!strcmp(phase_of(event), "f") && number_of(event, "id") == id)
            return event;
    }
    return NULL;
}

static json_t *load_chrome(const char *trace, json_t **document)
{
    json_error_t error;
    make(trace, "chrome");
    *document = json_load_file(EXPORT, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(*document != NULL, "%d: %s", error.line, error.text);
    return json_object_get(*document, "traceEvents");
}

START_TEST(chrome_has_lines_and_arrows)
{
    json_t *document, *events = load_chrome("pairs", &document), *event;
    size_t i;
    int arrows = 0;
    ck_assert_int_eq(
        count_events(events, "X", "cuda_runtime") + count_events(events, "X", "cuda_driver"), 4);
    ck_assert_int_eq(count_events(events, "X", "kernel"), 3);
    ck_assert_int_eq(count_events(events, "X", "gpu_memcpy"), 1);
    json_array_foreach(events, i, event)
    {
        if (strcmp(phase_of(event), "s"))
            continue;
        const json_t *end = end_of(events, number_of(event, "id"));
        ck_assert_ptr_nonnull(end);
        ck_assert_int_ne(number_of(event, "pid"), number_of(end, "pid"));
        arrows++;
    }
    ck_assert_int_eq(arrows, 3);
    ck_assert_int_eq(count_events(events, "M", NULL), 9); /* four lines, and the first */
    json_decref(document);
}
END_TEST

START_TEST(chrome_is_json_whatever_names_are)
{
    json_t *document, *events = load_chrome("hostile", &document);
    ck_assert_int_eq(count_events(events, "X", "kernel"), 8);
    const json_t *other = json_object_get(document, "otherData");
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(other, "notes")), "3 operations"));
    json_decref(document);
}
END_TEST

/* The event of metadata that gives a line this name, or NULL. */
static const json_t *line_called(const json_t *events, const char *name)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        const json_t *own = json_object_get(json_object_get(event, "args"), "name");
        if (!strcmp(phase_of(event), "M") && own && !strcmp(json_string_value(own), name))
            return event;
    }
    return NULL;
}

START_TEST(chrome_has_names_of_the_program)
{
    json_t *document, *events = load_chrome("named", &document);
    ck_assert_ptr_nonnull(line_called(events, "NVIDIA H200 (0), process 4711: trainer"));
    ck_assert_ptr_nonnull(line_called(events, "stream 7 (legacy default): compute \\x1b \"1\""));
    ck_assert_ptr_nonnull(line_called(events, "stream 8: copies"));
    json_decref(document);
}
END_TEST

/* The ranges of a line, inner ones first as they end, marks as they are; colours behind them. */
static void spell_ranges(const json_t *events, json_int_t line, char *text)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        const char *phase = phase_of(event),
                   *cat = json_string_value(json_object_get(event, "cat"));
        const char *color = json_string_value(json_object_get(event, "cname"));
        bool ended = !json_object_get(json_object_get(event, "args"), "unfinished");
        if (number_of(event, "tid") != line || !cat || strcmp(cat, "user_annotation"))
            continue;
        text += sprintf(text, "%s%s%s%s%s ", *phase == 'X' ? "" : "!",
                        json_string_value(json_object_get(event, "name")), color ? ":" : "",
                        color ? color : "", ended ? "" : "...");
    }
}

START_TEST(chrome_has_ranges_in_lines)
{
    static const struct {
        const char *trace, *line, *ranges;
    } lines[] = {
        {"ranges", "ranges of app", "for\\x1bward step:good step:good... "},
        {"ranges", "started ranges of app in io", "transfer "},
        {"ranges", "started ranges of app in io (2)", "transfer "},
        {"ranges", "ranges of app in io", "!checkpoint "},
        {"ranges" WINDOW, "ranges of app", "step:good "},
        {"ranges" WINDOW, "started ranges of app in io", "transfer "},
        {"ranges" WINDOW, "ranges of app in io", "!checkpoint "},
    };
    json_t *document, *events = load_chrome(lines[_i].trace, &document);
    char text[256] = "";
    const json_t *line = line_called(events, lines[_i].line);
    ck_assert_msg(line, "no line is called %s", lines[_i].line);
    spell_ranges(events, number_of(line, "tid"), text);
    ck_assert_str_eq(text, lines[_i].ranges);
    json_decref(document);
}
END_TEST

/* ---- Perfetto ---- */

#if CT_WITH_PERFETTO
#define PB(name) Perfetto__Protos__##name
#define MOST 256 /* tracks, names, flows */

struct seen {
    bool track[MOST];
    bool has_given_name;
    bool name[MOST];
    int open[MOST]; /* slices: only ranges are in each other */
    uint64_t last_ns[MOST];
    int flow[MOST];
    int slices, ranges, marks;
};

static void check_event(struct seen *s, const PB(TracePacket) * packet)
{
    const PB(TrackEvent) *e = packet->track_event;
    ck_assert(e->track_uuid < MOST && s->track[e->track_uuid]);
    ck_assert_uint_ge(packet->timestamp, s->last_ns[e->track_uuid]);
    s->last_ns[e->track_uuid] = packet->timestamp;
    bool begins = e->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
    bool is_mark = e->type == PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT;
    bool is_range = e->n_category_iids && e->category_iids[0] == 5;
    ck_assert(is_range || is_mark || !begins || !s->open[e->track_uuid]);
    s->open[e->track_uuid] += begins ? 1 : is_mark ? 0 : -1;
    ck_assert_int_ge(s->open[e->track_uuid], 0);
    s->marks += is_mark;
    s->ranges += begins && is_range;
    if (!begins || is_range)
        return;
    ck_assert(e->name_iid < MOST && s->name[e->name_iid]);
    s->slices++;
    for (size_t i = 0; i < e->n_flow_ids; i++)
        s->flow[e->flow_ids[i] % MOST]++;
}

static void check_packet(struct seen *s, const PB(TracePacket) * packet)
{
    ck_assert_uint_eq(packet->trusted_packet_sequence_id, 1);
    if (packet->interned_data)
        for (size_t i = 0; i < packet->interned_data->n_event_names; i++)
            s->name[packet->interned_data->event_names[i]->iid % MOST] = true;
    if (packet->track_descriptor) {
        const PB(TrackDescriptor) *track = packet->track_descriptor;
        ck_assert(!track->has_parent_uuid || s->track[track->parent_uuid % MOST]);
        ck_assert(track->name || track->process || track->thread);
        s->track[track->uuid % MOST] = true;
        s->has_given_name |= track->name && !strcmp(track->name, "stream 8: copies");
    }
    if (packet->track_event)
        check_event(s, packet);
}

/* What each packet refers to came before it, slices end before the next begins. */
static struct seen check_perfetto(const char *trace, int open)
{
    static uint8_t bytes[1 << 20];
    struct seen s = {.slices = 0};
    make(trace, "perfetto");
    FILE *f = fopen(EXPORT, "r");
    ck_assert_ptr_nonnull(f);
    size_t len = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    PB(Trace) *t = perfetto__protos__trace__unpack(NULL, len, bytes);
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_gt(t->n_packet, 2);
    ck_assert_uint_eq(t->packet[0]->sequence_flags, 1);
    for (size_t i = 0; i < t->n_packet; i++)
        check_packet(&s, t->packet[i]);
    perfetto__protos__trace__free_unpacked(t, NULL);
    for (int i = 0; i < MOST; i++)
        open -= s.open[i];
    ck_assert_int_eq(open, 0);
    return s;
}

START_TEST(perfetto_has_lines_and_arrows)
{
    struct seen s = check_perfetto("pairs", 0);
    ck_assert_int_eq(s.slices, 8);
    for (int id = 1; id <= 3; id++)
        ck_assert_int_eq(s.flow[id], 2);
    ck_assert_int_eq(s.flow[4], 0);
}
END_TEST

START_TEST(perfetto_has_ranges)
{
    struct seen s = check_perfetto("ranges", 1); /* that has no end */
    ck_assert_int_eq(s.slices, 8);
    ck_assert_int_eq(s.ranges, 5);
    ck_assert_int_eq(s.marks, 1);
    s = check_perfetto("ranges" WINDOW, 0);
    ck_assert_int_eq(s.ranges, 2);
    ck_assert_int_eq(s.marks, 1);
}
END_TEST

START_TEST(perfetto_has_names_of_the_program)
{
    ck_assert(check_perfetto("named", 0).has_given_name);
    ck_assert(!check_perfetto("pairs", 0).has_given_name);
}
END_TEST

START_TEST(perfetto_is_whole_whatever_names_are)
{
    ck_assert_int_eq(check_perfetto("hostile", 0).slices, 16);
}
END_TEST

START_TEST(perfetto_goes_with_what_the_trace_lacks)
{
    char line[256] = "";
    ck_assert(ct_golden_trace_write("hostile", TRACE));
    FILE *said = popen("./cutrace-report --format perfetto -o " EXPORT " " TRACE " 2>&1", "r");
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), said));
    ck_assert_str_eq(line, "cutrace-report: " TRACE ": 3 operations and 0 calls "
                           "found no room on their way to the trace\n");
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), said));
    ck_assert_str_eq(line,
                     "cutrace-report: " TRACE ": 1 operation without a duration is not there\n");
    ck_assert_ptr_null(fgets(line, sizeof(line), said));
    ck_assert_int_eq(pclose(said), 0);
}
END_TEST
#endif

/* ---- SQLite ---- */

#if CT_WITH_SQLITE
/* All values of all rows, columns divided by | and rows by line ends. */
static void query(const char *sql, char *text, size_t size)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    FILE *out = fmemopen(text, size, "w");
    ck_assert_int_eq(sqlite3_open_v2(EXPORT, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(!sqlite3_prepare_v2(db, sql, -1, &q, NULL), "%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(q) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            const unsigned char *value = sqlite3_column_text(q, i);
            fprintf(out, "%s%s", value ? (const char *)value : "NULL",
                    i + 1 < sqlite3_column_count(q) ? "|" : "\n");
        }
    sqlite3_finalize(q);
    sqlite3_close(db);
    fclose(out);
}

/* Questions as people ask them of nsys's exports, and the answers that the trace has. */
static const struct {
    const char *trace, *sql, *answer;
} queries[] = {
    /* kernels by total time, by the names that nsys has three of */
    {"basic",
     "SELECT s.value, COUNT(*), SUM(k.end - k.start) AS total, MIN(k.end - k.start),"
     " MAX(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k"
     " JOIN StringIds s ON k.shortName = s.id GROUP BY s.value ORDER BY total DESC",
     "vecAdd|3|1563813|521270|521272\nfoo1|1|999|999|999\n"},
    {"basic",
     "SELECT d.value, m.value, k.registersPerThread, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY,"
     " k.blockZ, k.staticSharedMemory, k.dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL k"
     " JOIN StringIds d ON k.demangledName = d.id JOIN StringIds m ON m.id = k.mangledName"
     " WHERE k.correlationId = 104",
     "void foo1<float, int=32>(float*, "
     "int)|_Z4foo1IfLi32EEvPT_i|255|65535|2|3|32|16|2|720|49152\n"},
    /* copies by direction, with the enumerations' names */
    {"basic",
     "SELECT e.label, COUNT(*), SUM(m.bytes), SUM(m.end - m.start)"
     " FROM CUPTI_ACTIVITY_KIND_MEMCPY m LEFT JOIN ENUM_CUDA_MEMCPY_OPER e ON m.copyKind = e.id"
     " GROUP BY e.label ORDER BY 3 DESC",
     "Device-to-Host|1|4194304|310117\nHost-to-Device|2|1768576|41000\n"
     "Device-to-Device|1|1044480|500\n"},
    {"basic",
     "SELECT m.bytes, s.name, d.label FROM CUPTI_ACTIVITY_KIND_MEMCPY m"
     " JOIN ENUM_CUDA_MEM_KIND s ON m.srcKind = s.id JOIN ENUM_CUDA_MEM_KIND d ON m.dstKind = d.id"
     " WHERE m.copyKind = 1 ORDER BY m.start",
     "720000|CUDA_MEMOPR_MEMORY_KIND_PAGEABLE|Device\n"
     "1048576|CUDA_MEMOPR_MEMORY_KIND_PINNED|Device\n"},
    {"basic",
     "SELECT COUNT(*), SUM(bytes), k.label FROM CUPTI_ACTIVITY_KIND_MEMSET"
     " JOIN ENUM_CUDA_MEM_KIND k ON k.id = memKind",
     "1|4096|Device\n"},
    /* calls by name */
    {"basic",
     "SELECT s.value, COUNT(*), SUM(r.end - r.start), r.eventClass"
     " FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON r.nameId = s.id"
     " WHERE s.value LIKE 'cudaM%' GROUP BY s.value ORDER BY 3 DESC",
     "cudaMemcpy_v3020|2|200001|1\ncudaMalloc_v3020|1|123456|1\n"},
    /* from call to kernel: how long it waited */
    {"pairs",
     "SELECT a.value, n.value, k.start - r.start, k.start - r.end"
     " FROM CUPTI_ACTIVITY_KIND_RUNTIME r"
     " JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON r.correlationId = k.correlationId"
     " AND (r.globalTid & ~0xffffff) = k.globalPid"
     " JOIN StringIds a ON r.nameId = a.id JOIN StringIds n ON k.shortName = n.id ORDER BY r.start",
     "cudaLaunchKernel_v7000|vecAdd|900|-100\ncudaLaunchKernel_v7000|vecAdd|1500|500\n"},
    /* gaps of a stream, by window functions */
    {"pairs",
     "WITH ops AS (SELECT start, end, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_KERNEL"
     " UNION ALL SELECT start, end, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_MEMCPY),"
     " gaps AS (SELECT streamId, start - LAG(end) OVER (PARTITION BY deviceId, streamId"
     " ORDER BY start) AS gap FROM ops) SELECT streamId, COUNT(*), SUM(gap) FROM gaps"
     " WHERE gap > 0 GROUP BY streamId",
     "7|3|2600\n"},
    /* process and thread out of the global numbers */
    {"pairs",
     "SELECT DISTINCT r.globalTid / 0x1000000 % 0x1000000, r.globalTid % 0x1000000, p.name, s.value"
     " FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN ThreadNames t ON t.globalTid = r.globalTid"
     " JOIN StringIds s ON t.nameId = s.id"
     " JOIN PROCESSES p ON p.globalPid = r.globalTid / 0x1000000 * 0x1000000",
     "4711|4712|./app arg|app\n"},
    /* devices, contexts, streams, the session */
    {"pairs",
     "SELECT g.name, c.cudaId, x.contextId, x.nullStreamId, e.label FROM TARGET_INFO_GPU g"
     " JOIN TARGET_INFO_CUDA_DEVICE c ON c.gpuId = g.id"
     " JOIN TARGET_INFO_CUDA_CONTEXT_INFO x ON x.processId = c.pid AND x.deviceId = c.cudaId"
     " JOIN TARGET_INFO_CUDA_STREAM s ON s.processId = c.pid AND s.contextId = x.contextId"
     " JOIN ENUM_CUPTI_STREAM_TYPE e ON e.id = s.flag",
     "NVIDIA H200|0|1|7|Null stream\n"},
    {"named",
     "SELECT totalMemory, smCount, clockRate, memoryBandwidth, busLocation, isDiscrete,"
     " computeMajor, computeMinor, threadsPerWarp, maxWarpsPerSm, maxGridDimX, l2CacheSize,"
     " numMultiprocessors FROM TARGET_INFO_GPU JOIN TARGET_INFO_CUDA_DEVICE ON gpuId = id",
     "150121545728|132|1980000000|4916736000000|0000:cb:00.0|1|9|0|32|64|2147483647|NULL|132\n"},
    {"pairs",
     "SELECT totalMemory, smCount, clockRate, memoryBandwidth, busLocation, isDiscrete,"
     " computeMajor, threadsPerWarp, maxWarpsPerSm, maxGridDimX, numMultiprocessors"
     " FROM TARGET_INFO_GPU JOIN TARGET_INFO_CUDA_DEVICE ON gpuId = id",
     "NULL|NULL|NULL|NULL|NULL|NULL|NULL|32|NULL|NULL|NULL\n"},
    {"pairs",
     "SELECT utcEpochNs, utcTime, duration FROM TARGET_INFO_SESSION_START_TIME, ANALYSIS_DETAILS",
     "1700000001000000000|2023-11-14 22:13:21|14000\n"},
    {"pairs", "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_NAME'", "cutrace\n"},
    {"pairs", "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'", "node1\n"},
    /* busy time by union of intervals */
    {"pairs",
     "WITH o AS (SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL"
     " SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY),"
     " m AS (SELECT start, end, MAX(end) OVER (ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING"
     " AND 1 PRECEDING) AS before FROM o)"
     " SELECT SUM(end - MAX(start, COALESCE(before, 0))) FROM m WHERE end > COALESCE(before, 0)",
     "8000\n"},
    /* names are data */
    {"hostile",
     "SELECT COUNT(*) FROM StringIds WHERE value IN ('''); DROP TABLE StringIds;--',"
     " '<script>alert(1)</script>', 'line\\x0abreak\\x09tab', 'bad \\xff\\xfe utf')",
     "4\n"},
    {"hostile", "SELECT severity, substr(text, 16) FROM DIAGNOSTIC_EVENT",
     "2|3 operations and 0 calls found no room on their way to the trace\n"
     "2|1 operation without a duration is not there\n"},
    /* what the program calls things */
    {"named",
     "SELECT d.name, c.name, s.name, s.streamId FROM TARGET_INFO_NVTX_CUDA_STREAM s"
     " JOIN TARGET_INFO_NVTX_CUDA_CONTEXT c ON c.contextId = s.contextId"
     " AND c.processId = s.processId JOIN TARGET_INFO_NVTX_CUDA_DEVICE d"
     " ON d.deviceId = s.deviceId ORDER BY s.streamId",
     "trainer|main|compute \\x1b \"1\"|7\ntrainer|main|copies|8\n"},
    {"pairs",
     "SELECT (SELECT COUNT(*) FROM TARGET_INFO_NVTX_CUDA_DEVICE),"
     " (SELECT COUNT(*) FROM TARGET_INFO_NVTX_CUDA_CONTEXT),"
     " (SELECT COUNT(*) FROM TARGET_INFO_NVTX_CUDA_STREAM)",
     "0|0|0\n"},
    /* ranges, by what scripts look for in them */
    {"ranges",
     "SELECT n.start, n.end, e.name, COALESCE(n.text, s.value), n.color, n.domainId, n.category,"
     " n.globalTid % 0x1000000 FROM NVTX_EVENTS n LEFT JOIN StringIds s ON n.textId = s.id"
     " JOIN ENUM_NSYS_EVENT_TYPE e ON e.id = n.eventType",
     "0|14500|NvtxPushPopRange|step|4278222592|0|NULL|4712\n"
     "0|NULL|NvtxCategory|model|NULL|0|7|4712\n"
     "0|4600|NvtxPushPopRange|for\\x1bward|NULL|0|7|4712\n"
     "3900|NULL|NvtxDomainCreate|io|NULL|2|NULL|4712\n"
     "3900|4900|NvtxStartEndRange|transfer|NULL|2|NULL|4712\n"
     "4700|14600|NvtxStartEndRange|transfer|NULL|2|NULL|4712\n"
     "5000|NULL|NvtxMark|checkpoint|NULL|2|7|4712\n"
     "15000|NULL|NvtxPushPopRange|step|4278222592|0|NULL|4712\n"},
    {"ranges",
     "SELECT n.text, COUNT(*), SUM(k.end - k.start) FROM NVTX_EVENTS n"
     " JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid AND r.start >= n.start"
     " AND r.end <= n.end JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId"
     " WHERE n.eventType = 59 GROUP BY n.text ORDER BY 1",
     "for\\x1bward|2|3500\nstep|2|3500\n"},
    {"ranges" WINDOW,
     "SELECT start, end, text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) ORDER BY start",
     "0|14500|step\n4700|14600|transfer\n5000|NULL|checkpoint\n"},
    {"ranges",
     "SELECT COUNT(*), COUNT(s.value = n.text) FROM NVTX_EVENTS n"
     " JOIN StringIds s ON n.textId = s.id",
     "8|8\n"},
    {"none", "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL", "0\n"},
};

START_TEST(nsys_queries_are_answered)
{
    char text[4096] = "";
    make(queries[_i].trace, "sqlite");
    query(queries[_i].sql, text, sizeof(text));
    ck_assert_str_eq(text, queries[_i].answer);
}
END_TEST

/* As the exporter's own documents have it: names become columns of the tables they belong to. */
START_TEST(an_export_may_be_added_to)
{
    char text[256] = "";
    sqlite3 *db;
    make("pairs", "sqlite");
    ck_assert_int_eq(sqlite3_open(EXPORT, &db), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(db,
                     "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN call TEXT;"
                     "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernel TEXT;"
                     "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET call ="
                     " (SELECT value FROM StringIds WHERE id = nameId);"
                     "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET kernel ="
                     " (SELECT value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k"
                     " ON k.shortName = StringIds.id AND"
                     " k.correlationId = CUPTI_ACTIVITY_KIND_RUNTIME.correlationId);",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    query("SELECT call, kernel FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE kernel IS NOT NULL"
          " ORDER BY start",
          text, sizeof(text));
    ck_assert_str_eq(text, "cudaLaunchKernel_v7000|vecAdd\ncudaLaunchKernel_v7000|vecAdd\n");
}
END_TEST

static int run(const char *command)
{
    return WEXITSTATUS(system(command));
}

/* As those of containers and of several hosts may be. */
START_TEST(processes_with_the_same_number_are_two)
{
    char text[64] = "";
    make("pairs", "sqlite");
    ck_assert_int_eq(run("./cutrace-report --format sqlite -o " EXPORT " " TRACE " " TRACE), 0);
    query("SELECT p.pid, COUNT(*) FROM PROCESSES p JOIN CUPTI_ACTIVITY_KIND_KERNEL k"
          " ON k.globalPid = p.globalPid GROUP BY p.globalPid",
          text, sizeof(text));
    ck_assert_str_eq(text, "4711|3\n4711|3\n");
}
END_TEST

/* The file may be gone between the two times that it is read; and what failed first is said. */
START_TEST(facts_of_what_could_be_read)
{
    char path[] = TRACE, *paths[] = {path};
    struct ct_timeline tl;
    struct ct_sqlite s = {.tl = &tl};
    make("pairs", "sqlite");
    ct_timeline_open(&tl, paths, 1, &(struct ct_timeline_options){.ops = true});
    ct_trace_close(tl.files[0].t);
    tl.files[0].t = NULL;
    ck_assert_int_eq(sqlite3_open(":memory:", &s.db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(s.db, ct_sqlite_schema, NULL, NULL, NULL), SQLITE_OK);
    ct_sqlite_facts(&s);
    ck_assert(!s.failed);
    ct_sqlite_put(&s, "INSERT INTO missing VALUES (?)", "i", (int64_t)1);
    ct_sqlite_put(&s, "INSERT INTO META_DATA_EXPORT VALUES (?, ?)", "ss", "a", "b");
    ck_assert(s.failed);
    ck_assert_str_eq(s.reason, "no such table: missing");
    sqlite3_close(s.db);
    ct_timeline_close(&tl);
}
END_TEST

static struct ct_sqlite_row row_of(int i)
{
    struct ct_sqlite_row row = {0};
    ct_sqlite_row_add(&row, (uint64_t)i);
    if (i % 7)
        ct_sqlite_row_add(&row, i % 3);
    else
        ct_sqlite_row_add_null(&row);
    return row;
}

/* In full statements, in which values stay bound, and in those that end it. */
START_TEST(rows_in_one_statement_are_in_their_order)
{
    static const char all[] = "SELECT count(*) FROM t WHERE rowid = a + 1 AND "
                              "b IS CASE WHEN a % 7 THEN a % 3 END";
    struct ct_sqlite_rows rows = {0};
    sqlite3 *db;
    sqlite3_stmt *q;
    int count = 3 * CT_SQLITE_ROWS + 5;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert(!ct_sqlite_rows_open(&rows, db, "INSERT INTO t", "(?, ?)"));
    sqlite3_exec(db, "CREATE TABLE t (a, b)", NULL, NULL, NULL);
    ck_assert(ct_sqlite_rows_open(&rows, db, "INSERT INTO t", "(?, ?)"));
    for (int i = 0; i < count; i++) {
        *ct_sqlite_rows_next(&rows) = row_of(i);
        ck_assert(ct_sqlite_rows_put(&rows));
    }
    ck_assert(ct_sqlite_rows_finish(&rows));
    ct_sqlite_rows_close(&rows);
    ck_assert_int_eq(sqlite3_prepare_v2(db, all, -1, &q, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(q), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(q, 0), count);
    sqlite3_finalize(q);
    sqlite3_close(db);
}
END_TEST

START_TEST(only_exports_are_overwritten)
{
    char kept[16] = "";
    make("pairs", "sqlite");
    ck_assert_int_eq(run("./cutrace-report --format sqlite -o " EXPORT " " TRACE), 0);
    FILE *f = fopen(EXPORT, "w");
    fputs("precious", f);
    fclose(f);
    ck_assert_int_eq(run("./cutrace-report --format sqlite -o " EXPORT " " TRACE " 2>/dev/null"),
                     1);
    f = fopen(EXPORT, "r");
    ck_assert_ptr_nonnull(fgets(kept, sizeof(kept), f));
    fclose(f);
    ck_assert_str_eq(kept, "precious");
}
END_TEST
#endif

int main(void)
{
    TCase *tests = tcase_create("exports");
    tcase_add_checked_fixture(tests, NULL, clean);
    tcase_add_test(tests, chrome_has_lines_and_arrows);
    tcase_add_test(tests, chrome_is_json_whatever_names_are);
    tcase_add_test(tests, chrome_has_names_of_the_program);
    tcase_add_loop_test(tests, chrome_has_ranges_in_lines, 0, 7);
#if CT_WITH_PERFETTO
    tcase_add_test(tests, perfetto_has_lines_and_arrows);
    tcase_add_test(tests, perfetto_has_names_of_the_program);
    tcase_add_test(tests, perfetto_has_ranges);
    tcase_add_test(tests, perfetto_is_whole_whatever_names_are);
    tcase_add_test(tests, perfetto_goes_with_what_the_trace_lacks);
#endif
#if CT_WITH_SQLITE
    tcase_add_loop_test(tests, nsys_queries_are_answered, 0, sizeof(queries) / sizeof(queries[0]));
    tcase_add_test(tests, an_export_may_be_added_to);
    tcase_add_test(tests, processes_with_the_same_number_are_two);
    tcase_add_test(tests, facts_of_what_could_be_read);
    tcase_add_test(tests, rows_in_one_statement_are_in_their_order);
    tcase_add_test(tests, only_exports_are_overwritten);
#endif
    return ct_case_main("exports", tests);
}
