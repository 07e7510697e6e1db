/* SPDX-License-Identifier: MIT */
#include "report/profile/files.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "format/payload.h"
#include "report/file_error.h"
#include "report/names.h"
#include "report/profile/encode.h"
#include "report/progress.h"

#define MOST_THREADS 16

struct failure {
    const char *path;
    struct ct_read_error error;
    bool fell_back; /* an older state of it was taken */
    bool is_empty;  /* which has nothing in it */
    uint64_t after_ns;
};

/* State that all threads share; the lock guards all but the files and the progress. */
struct crew {
    struct ct_merged *m;
    char *const *files;
    size_t count;
    size_t chunks;
    size_t next; /* chunk to be taken */
    size_t turn; /* chunk to be added to the result */
    bool failed;
    bool grouped; /* of the threads' own sums; the result gets groups that are made */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    struct ct_progress progress;
};

/* A thread's sum of its chunk, and the failures in it. */
struct hand {
    struct ct_merged m;
    struct ct_summary summary; /* its buffer is kept from file to file */
    struct failure failures[CT_FILES_CHUNK];
    size_t failed;
};

static void note_state(struct failure *f, const struct ct_summary *s)
{
    f->fell_back = s->fell_back;
    f->is_empty = !s->rows_count;
    f->after_ns = s->process->duration_ns;
}

static void read_chunk(struct crew *crew, struct hand *h, struct ct_merged *m, size_t chunk)
{
    size_t end = (chunk + 1) * CT_FILES_CHUNK;
    h->failed = 0;
    for (size_t i = chunk * CT_FILES_CHUNK; i < end && i < crew->count; i++) {
        struct failure *f = &h->failures[h->failed];
        *f = (struct failure){.path = crew->files[i]};
        bool good = !ct_summary_read(&h->summary, f->path, &f->error);
        if (good)
            note_state(f, &h->summary);
        h->failed += !good || f->fell_back;
        if (good)
            ct_merge_add(m, &h->summary);
        ct_progress_add(&crew->progress, 1);
    }
}

/* A state that has nothing in it leaves no table. */
static void complain_of(const struct failure *f)
{
    struct ct_string text = {0};
    ct_string_put(&text, f->error.text);
    if (f->fell_back)
        ct_string_printf(&text,
                         "; what came last is missing, taken is the state before, %.3f s after the "
                         "start%s",
                         (double)f->after_ns / 1e9, f->is_empty ? ", which has no operations" : "");
    ct_file_error(f->path, text.data);
    ct_string_free(&text);
}

static void complain(struct crew *crew, const struct hand *h)
{
    if (!h->failed)
        return;
    ct_progress_hide(&crew->progress);
    for (size_t i = 0; i < h->failed; i++) {
        complain_of(&h->failures[i]);
        crew->failed |= !h->failures[i].fell_back || h->failures[i].is_empty;
    }
}

/* Adds a chunk's sum, encoded as a summary like any other. */
static void add_chunk(struct ct_merged *m, struct ct_merged *chunk)
{
    struct ct_summary s = {.minor = CT_FILE_MINOR};
    struct ct_read_error error;
    size_t bytes;
    if (!chunk->process_count)
        return;
    s.payload = ct_encode(chunk, &bytes);
    if (!ct_payload_point(&s, bytes, &error))
        ct_merge_add_sum(m, &s, chunk);
    m->fell_back += chunk->fell_back;
    ct_summary_free(&s);
}

static void wait_for_turn(struct crew *crew, size_t chunk)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->turn != chunk)
        pthread_cond_wait(&crew->turned, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

static void pass_turn(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->turn++;
    pthread_cond_broadcast(&crew->turned);
    pthread_mutex_unlock(&crew->lock);
}

static bool take_chunk(struct crew *crew, size_t *chunk)
{
    pthread_mutex_lock(&crew->lock);
    *chunk = crew->next;
    crew->next += crew->next < crew->chunks;
    pthread_mutex_unlock(&crew->lock);
    return *chunk < crew->chunks;
}

static void *work(void *argument)
{
    struct crew *crew = argument;
    struct hand *h = ct_memory_array(1, sizeof(*h));
    for (size_t chunk; take_chunk(crew, &chunk);) {
        h->m = (struct ct_merged){.details = crew->m->details,
                                  .grouped = crew->grouped,
                                  .devices_as = crew->m->devices_as};
        read_chunk(crew, h, &h->m, chunk);
        wait_for_turn(crew, chunk);
        complain(crew, h);
        add_chunk(crew->m, &h->m);
        pass_turn(crew);
        ct_merge_free(&h->m);
    }
    ct_summary_free(&h->summary);
    free(h);
    return NULL;
}

/* A single chunk needs no threads, and keeps the details that a merged file loses. */
static void work_alone(struct crew *crew)
{
    struct hand *h = ct_memory_array(1, sizeof(*h));
    read_chunk(crew, h, crew->m, 0);
    complain(crew, h);
    ct_summary_free(&h->summary);
    free(h);
}

static unsigned processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
    return count < MOST_THREADS ? (unsigned)count : MOST_THREADS;
}

/* Threads that cannot be had are done without: this one works as well. */
static void work_together(struct crew *crew, unsigned threads)
{
    pthread_t others[MOST_THREADS];
    pthread_attr_t attr;
    unsigned started = 0;
    crew->grouped = crew->m->grouped;
    crew->m->grouped = false;
    threads = threads ? threads : processors();
    if (threads > crew->chunks)
        threads = (unsigned)crew->chunks;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, CT_NAME_STACK_BYTES);
    while (started + 1 < threads && started < MOST_THREADS &&
           !pthread_create(&others[started], &attr, work, crew))
        started++;
    pthread_attr_destroy(&attr);
    work(crew);
    while (started)
        pthread_join(others[--started], NULL);
    crew->m->grouped = crew->grouped;
}

/* A process is there twice when a merged file is named beside the files it was made of. */
static bool is_each_once(const struct ct_merged *m)
{
    struct ct_key_table keys = {0};
    size_t i = 0;
    for (; i < m->process_count && keys.count == i; i++)
        ct_merge_process_key(&keys, &m->processes[i], ct_merge_name(m, m->processes[i].host));
    bool once = keys.count == i;
    if (!once) {
        char process[64];
        snprintf(process, sizeof(process), "process %u", m->processes[i - 1].pid);
        ct_file_error(process, "is in more than one of the files, and counted each time");
    }
    ct_key_table_free(&keys);
    return once;
}

bool ct_files_merge(struct ct_merged *m, char *const *files, size_t count, unsigned threads)
{
    struct crew crew = {.m = m, .files = files, .count = count};
    crew.chunks = (count + CT_FILES_CHUNK - 1) / CT_FILES_CHUNK;
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.turned, NULL);
    ct_progress_start(&crew.progress, "Reading", "files", count);
    if (crew.chunks == 1)
        work_alone(&crew);
    else
        work_together(&crew, threads);
    ct_progress_end(&crew.progress);
    pthread_cond_destroy(&crew.turned);
    pthread_mutex_destroy(&crew.lock);
    return !crew.failed & is_each_once(m);
}
