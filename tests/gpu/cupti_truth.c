/* SPDX-License-Identifier: MIT */
/*
 * The reference that cutrace is compared with: counts what CUPTI's activity records say.
 *
 * Loaded by the driver itself (CUDA_INJECTION64_PATH). CUPTI_TRUTH chooses the records, a list of
 * kernels, copies, runtime, driver, unified (default: kernels,copies); CUPTI_TRUTH_OUT names the
 * output, to which the pid is added. Its lines, separated by tabs:
 *
 *     kind  name  count  total_ns  min_ns  max_ns  bytes
 *
 * kind is kernel, copy, set, or one of them with the prefix graph_ (the record is a graph's node),
 * runtime or driver, unified (bytes of migrations; of groups of page faults, the faults in them),
 * and lost (name says what). Records arrive on CUPTI's own thread and, at the end, on the exiting
 * one; one lock guards the table.
 */
#include <cupti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel_record;
typedef CUpti_ActivityMemcpy6 copy_record;
typedef CUpti_ActivityUnifiedMemoryCounter3 unified_record;
#define COPIES_IN(record) ((record)->copyCount ? (record)->copyCount : 1)
#else
typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityUnifiedMemoryCounter2 unified_record;
#define COPIES_IN(record) 1
#endif
typedef CUpti_ActivityMemcpyPtoP4 peer_record;
typedef CUpti_ActivityMemset4 set_record;

#define BUFFER_BYTES ((size_t)8 << 20)
#define TABLE_SIZE 16384 /* power of two, well above the names any program here has */

struct entry {
    const char *kind;
    char *name;
    uint64_t count, total_ns, min_ns, max_ns, bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry table[TABLE_SIZE];
static uint64_t lost_table_full;

static uint64_t hash(const char *kind, const char *name)
{
    uint64_t h = 14695981039346656037ull;

    for (; *kind; kind++)
        h = (h ^ (unsigned char)*kind) * 1099511628211ull;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211ull;
    return h;
}

/* The entry of that kind and name, made if need be; NULL when the table is full. */
static struct entry *entry_of(const char *kind, const char *name)
{
    uint64_t slot = hash(kind, name);

    for (unsigned int tries = 0; tries < TABLE_SIZE; tries++, slot++) {
        struct entry *e = &table[slot % TABLE_SIZE];

        if (!e->name) {
            e->kind = kind;
            e->name = strdup(name);
            e->min_ns = UINT64_MAX;
            return e->name ? e : NULL;
        }
        if (!strcmp(e->kind, kind) && !strcmp(e->name, name))
            return e;
    }
    return NULL;
}

static void count(const char *kind, const char *name, uint64_t times, uint64_t start_ns,
                  uint64_t end_ns, uint64_t bytes)
{
    struct entry *e = entry_of(kind, name);
    uint64_t ns = end_ns - start_ns;

    if (!e) {
        lost_table_full++;
        return;
    }
    e->count += times;
    e->bytes += bytes;
    if (!start_ns || !end_ns) { /* counted; CUPTI has no time for it */
        struct entry *untimed = entry_of("lost", "untimed");

        if (untimed)
            untimed->count++;
        return;
    }
    e->total_ns += ns;
    e->min_ns = ns < e->min_ns ? ns : e->min_ns;
    e->max_ns = ns > e->max_ns ? ns : e->max_ns;
}

static const char *copy_name(unsigned int kind)
{
    static const char *const names[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                        "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};

    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

static void count_copy(const copy_record *r)
{
    count(r->graphNodeId ? "graph_copy" : "copy", copy_name(r->copyKind), COPIES_IN(r), r->start,
          r->end, r->bytes);
}

static void count_api(const CUpti_ActivityAPI *r)
{
    int runtime = r->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    const char *name = NULL;

    cuptiGetCallbackName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                         r->cbid, &name);
    count(runtime ? "runtime" : "driver", name ? name : "unknown", 1, r->start, r->end, 0);
}

static void count_unified(const unified_record *r)
{
    switch (r->counterKind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
        count("unified", "Host To Device", 1, r->start, r->end, r->value);
        break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
        count("unified", "Device To Host", 1, r->start, r->end, r->value);
        break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
        count("unified", "Gpu page fault groups", 1, r->start, r->end, r->value);
        break;
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
        count("unified", "CPU page faults", 1, 1, 1, 0);
        break;
    default:
        count("lost", "unified memory of an unexpected kind", 1, 1, 1, 0);
    }
}

static void count_record(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const kernel_record *r = (const kernel_record *)record;

        count(r->graphNodeId ? "graph_kernel" : "kernel", r->name ? r->name : "unknown", 1,
              r->start, r->end, 0);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        count_copy((const copy_record *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        const peer_record *r = (const peer_record *)record;

        count(r->graphNodeId ? "graph_copy" : "copy", copy_name(r->copyKind), 1, r->start, r->end,
              r->bytes);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const set_record *r = (const set_record *)record;

        count(r->graphNodeId ? "graph_set" : "set", "memset", 1, r->start, r->end, r->bytes);
        break;
    }
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
        count_unified((const unified_record *)record);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        count_api((const CUpti_ActivityAPI *)record);
        break;
    default:
        count("lost", "record of an unexpected kind", 1, 1, 1, 0);
    }
}

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                      size_t bytes, size_t valid_bytes)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;

    (void)bytes;
    pthread_mutex_lock(&lock);
    while (valid_bytes && cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
        count_record(record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped)
        count("lost", "dropped by CUPTI", dropped, 1, 1, 0);
    pthread_mutex_unlock(&lock);
    free(buffer);
}

static void write_table(FILE *out)
{
    for (unsigned int i = 0; i < TABLE_SIZE; i++) {
        const struct entry *e = &table[i];

        if (e->name)
            fprintf(out, "%s\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\n", e->kind, e->name,
                    (unsigned long long)e->count, (unsigned long long)e->total_ns,
                    (unsigned long long)(e->min_ns == UINT64_MAX ? 0 : e->min_ns),
                    (unsigned long long)e->max_ns, (unsigned long long)e->bytes);
    }
    if (lost_table_full)
        fprintf(out, "lost\ttable full\t%llu\t0\t0\t0\t0\n", (unsigned long long)lost_table_full);
}

static void finish(void)
{
    const char *path = getenv("CUPTI_TRUTH_OUT");
    char name[4096];
    FILE *out;

    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    snprintf(name, sizeof(name), "%s.%ld", path ? path : "cupti.tsv", (long)getpid());
    out = fopen(name, "w");
    if (!out) {
        perror(name);
        return;
    }
    pthread_mutex_lock(&lock);
    write_table(out);
    pthread_mutex_unlock(&lock);
    fclose(out);
}

static const struct {
    const char *wanted_by;
    CUpti_ActivityKind kind;
} RECORDS[] = {
    {"kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
    {"copies", CUPTI_ACTIVITY_KIND_MEMCPY},
    {"copies", CUPTI_ACTIVITY_KIND_MEMCPY2},
    {"copies", CUPTI_ACTIVITY_KIND_MEMSET},
    {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
    {"driver", CUPTI_ACTIVITY_KIND_DRIVER},
};

static const char *wanted_records(void)
{
    const char *wanted = getenv("CUPTI_TRUTH");

    return wanted ? wanted : "kernels,copies";
}

static int enable(const char *what, CUpti_ActivityKind kind)
{
    CUptiResult result = cuptiActivityEnable(kind);

    if (result == CUPTI_SUCCESS)
        return 1;
    fprintf(stderr, "cupti_truth: %s records cannot be had (CUPTI error %d)\n", what, (int)result);
    return 0;
}

/* For a program that compares its steps while records are made and while none are. */
void cupti_truth_record(int on);
void cupti_truth_record(int on)
{
    for (size_t i = 0; i < sizeof(RECORDS) / sizeof(RECORDS[0]); i++) {
        if (!strstr(wanted_records(), RECORDS[i].wanted_by))
            continue;
        if (on)
            enable(RECORDS[i].wanted_by, RECORDS[i].kind);
        else
            cuptiActivityDisable(RECORDS[i].kind);
    }
}

/* Only with a context can CUPTI be told which counters of managed memory are wanted. */
static void CUPTIAPI context_made(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void *data)
{
    CUpti_ActivityUnifiedMemoryCounterConfig config[4] = {
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT},
        {.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT},
    };
    static int done;
    CUptiResult result;

    (void)unused;
    (void)data;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_CONTEXT_CREATED || done)
        return;
    done = 1;
    for (int i = 0; i < 4; i++) {
        config[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
        config[i].enable = 1;
    }
    result = cuptiActivityConfigureUnifiedMemoryCounter(config, 4);
    if (result != CUPTI_SUCCESS)
        fprintf(stderr, "cupti_truth: no counters of managed memory (CUPTI error %d)\n",
                (int)result);
    enable("unified", CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

static int enable_unified(void)
{
    CUpti_SubscriberHandle subscriber;

    if (!strstr(wanted_records(), "unified"))
        return 1;
    return cuptiSubscribe(&subscriber, context_made, NULL) == CUPTI_SUCCESS &&
           cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE) == CUPTI_SUCCESS;
}

/* Called by the driver in cuInit. Returns 1 when all is well. */
int InitializeInjection(void);
int InitializeInjection(void)
{
    int good = 1;

    atexit(finish);
    if (cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) != CUPTI_SUCCESS) {
        fprintf(stderr, "cupti_truth: another CUPTI client is at work\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof(RECORDS) / sizeof(RECORDS[0]); i++) {
        if (strstr(wanted_records(), RECORDS[i].wanted_by))
            good &= enable(RECORDS[i].wanted_by, RECORDS[i].kind);
    }
    return good & enable_unified();
}
