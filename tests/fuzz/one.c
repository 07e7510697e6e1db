/* SPDX-License-Identifier: MIT */
#include "one.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/crc32.h"
#include "format/payload.h"
#include "format/read.h"
#include "oracle.h"
#include "report/names.h"
#include "report/nvprof_names.h"
#include "report/profile/encode.h"
#include "report/profile/merge.h"
#include "report/profile/pairs.h"
#include "report/reports.h"
#include "report/reports/summary.h"
#include "report/sinks/stage.h"

#define PAYLOAD_MOST ((size_t)1 << 20)

/* A file in memory, which is filled anew each time, and its content. */
static struct {
    int fd;
    size_t bytes;
    char path[64];
    struct {
        struct ct_file_header h;
        uint8_t payload[PAYLOAD_MOST];
    } image;
} file = {.fd = -1};

static void open_file(void)
{
    file.fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (file.fd < 0)
        abort();
    snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
}

static void put_file(const void *data, size_t bytes)
{
    if (bytes && pwrite(file.fd, data, bytes, 0) != (ssize_t)bytes)
        abort();
    if (bytes < file.bytes && ftruncate(file.fd, (off_t)bytes))
        abort();
    file.bytes = bytes;
}

/* With `damaged`, a newer commit whose checksum is that of nothing. */
static void put_payload(const uint8_t *payload, size_t bytes, bool damaged)
{
    struct ct_file_header *h = &file.image.h;
    uint32_t crc = ct_crc32(0, payload, bytes);
    memcpy(h->magic, CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES);
    h->endian = CT_FILE_ENDIAN;
    h->major = CT_FILE_MAJOR;
    for (unsigned i = 0; i < 2; i++) {
        struct ct_file_commit *c = &h->commit[1 - i];
        *c = (struct ct_file_commit){.sequence = i + 1, .offset = sizeof(*h), .bytes = bytes};
        c->payload_crc = crc + i;
        c->crc = ct_crc32(0, c, offsetof(struct ct_file_commit, crc));
    }
    if (!damaged)
        h->commit[0] = (struct ct_file_commit){0};
    memcpy(file.image.payload, payload, bytes);
    put_file(&file.image, sizeof(*h) + bytes);
}

/* Adds the file, if it can be read, as many times: processes with the same names. */
static void merge(struct ct_merged *m, int times)
{
    static struct ct_summary s; /* its buffer is kept from file to file, as the tool does */
    struct ct_read_error error = {""};
    if (ct_summary_read_open(&s, file.fd, &error)) {
        if (!memchr(error.text, 0, sizeof(error.text)) || !error.text[0])
            abort();
        times = 0;
    }
    while (times--)
        ct_merge_add(m, &s);
}

static void merge_files(struct ct_merged *m, const uint8_t *data, size_t bytes)
{
    enum fuzz_kind kind = fuzz_kind_of(data);
    int times = 1 + 2 * (data[0] >> 4 & 7);
    file.image.h.minor = (uint16_t)(CT_FILE_MINOR + (data[0] >> 7));
    data += FUZZ_START;
    bytes -= FUZZ_START;
    if (kind == FUZZ_FILE) {
        put_file(data, bytes);
        merge(m, times);
        return;
    }
    uint32_t first = 0;
    if (kind == FUZZ_TWO && bytes >= sizeof(first)) {
        memcpy(&first, data, sizeof(first));
        data += sizeof(first);
        bytes -= sizeof(first);
        first = first < bytes ? first : (uint32_t)bytes;
        put_payload(data, first, false);
        merge(m, 1);
    }
    put_payload(data + first, bytes - first, kind == FUZZ_OLDER);
    merge(m, times);
}

static struct ct_options options_of(uint8_t byte)
{
    static char *files[] = {file.path, NULL};
    return (struct ct_options){.csv = byte % 4 == 1,
                               .details = byte % 4 == 2,
                               .per = byte % 4 == 3 ? CT_PER_GPU : CT_PER_NONE,
                               .raw = byte & 4,
                               .mangled = byte & 8,
                               .live = byte & 16,
                               .unit = (enum ct_unit)((byte >> 5) % 6),
                               .files = files,
                               .file_count = 1};
}

static void check(const char *text, size_t len, bool csv)
{
    const char *wrong = oracle_complaint(text, len, csv);
    if (!wrong)
        return;
    fprintf(stderr, "%s in:\n%s", wrong, text);
    abort();
}

static void print(const struct ct_merged *m, const struct ct_options *o)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        abort();
    ct_report_print(out, m, o);
    if (fclose(out))
        abort();
    check(text, len, o->csv);
    free(text);
}

/* What a browser is given: JSON, and nothing in it that could end its element. */
static void check_page(const char *page)
{
    static const char begin[] = "id=\"profile\">";
    const char *json = strstr(page, begin), *end = json ? strstr(json, "</script>") : NULL;
    if (!end)
        abort();
    json += strlen(begin);
    json_t *profile = json_loadb(json, (size_t)(end - json), 0, NULL);
    if (!profile || memchr(json, '<', (size_t)(end - json)))
        abort();
    json_decref(profile);
}

static void print_page(const struct ct_merged *m, const struct ct_options *o)
{
    struct ct_input in = {.o = o, .m = m, .device = CT_VIEW_ALL_DEVICES};
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out || ct_format_html(&in, out) || fclose(out))
        abort();
    check_page(text);
    free(text);
}

static void check_json(const char *text, size_t len)
{
    json_t *parsed = json_loadb(text, len, 0, NULL);
    if (!parsed) {
        fprintf(stderr, "no JSON:\n%s", text);
        abort();
    }
    json_decref(parsed);
}

/* One of the reports of a profile as a table or as JSON, narrow or not, cut and sorted or not. */
static void print_rows(const struct ct_merged *m, const struct ct_options *plain, uint8_t byte)
{
    struct ct_options o = *plain;
    o.report = &ct_reports[byte % CT_REPORT_COUNT];
    o.format = &ct_formats[byte & 32 ? CT_FORMAT_JSON : CT_FORMAT_TABLE];
    o.top = byte >> 6;
    o.sort = o.report == &ct_reports[CT_REPORT_KERNELS] ? "name,-calls" : NULL;
    if (o.report->needs != CT_NEEDS_SUMMARY && o.report->needs != CT_NEEDS_DETAILS)
        return;
    struct ct_input in = {.o = &o,
                          .report = o.report,
                          .m = m,
                          .device = CT_VIEW_ALL_DEVICES,
                          .width = byte & 16 ? 70 : 0};
    char *text;
    size_t len;
    int status = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        abort();
    struct ct_look look = {.in = &in, .prefix = ""};
    struct ct_sink *sink = ct_stage_open(o.format->sink(out, &look), &o, &status);
    o.report->rows(&in, sink);
    ct_sink_close(sink);
    if (fclose(out))
        abort();
    check(text, len, false);
    if (byte & 32)
        check_json(text, len);
    free(text);
}

/* The profile compared with itself. */
static void compare(const struct ct_merged *m, const struct ct_options *o)
{
    struct ct_pairs pairs;
    ct_pairs_make(&pairs, m, m, o->raw, !o->mangled);
    for (size_t i = 0; i < pairs.count; i++)
        ct_pair_verdict(&pairs.pairs[i]);
    ct_pairs_free(&pairs);
}

/*
 * What would be written of it is a file that can be read and adds up to the same, unless sums have
 * become infinite, or texts that many elements share are so long that a small file is refused.
 */
static void merge_again(const struct ct_merged *m)
{
    struct ct_summary s = {.minor = CT_FILE_MINOR + 1}; /* unknown kinds are kept */
    struct ct_merged again = {.details = true, .devices_as = CT_DEVICES_BY_MODEL};
    struct ct_read_error error = {""};
    size_t bytes;
    s.payload = ct_encode(m, &bytes);
    if (!ct_payload_parse(&s, bytes, &error)) {
        ct_merge_add(&again, &s);
        if (again.process_count != m->process_count || again.api_keys.count != m->api_keys.count)
            abort();
    } else if (!strstr(error.text, "not a number") && !strstr(error.text, "repeat too often")) {
        fprintf(stderr, "what was written %s\n", error.text);
        abort();
    }
    ct_summary_free(&s);
    ct_merge_free(&again);
}

static void print_name(const uint8_t *data, size_t bytes)
{
    struct ct_string name = {0}, shown = {0};
    ct_string_add(&name, data, bytes);
    ct_name_kernel(&shown, name.data, true);
    ct_string_put(&shown, "\n");
    struct ct_string respelled = {0};
    ct_edg_respell(&respelled, name.data);
    ct_name_safe(&shown, respelled.data ? respelled.data : "");
    ct_string_put(&shown, "\n");
    check(shown.data, shown.len, false);
    ct_string_free(&respelled);
    ct_string_free(&shown);
    ct_string_free(&name);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    if (bytes < FUZZ_START || bytes > PAYLOAD_MOST)
        return;
    if (fuzz_kind_of(data) == FUZZ_NAME) {
        print_name(data + FUZZ_START, bytes - FUZZ_START);
        return;
    }
    if (file.fd < 0)
        open_file();
    struct ct_options o = options_of(data[1]);
    struct ct_merged m = {.details = true};
    merge_files(&m, data, bytes);
    if (m.process_count && o.details && o.unit == CT_UNIT_S) {
        print_page(&m, &o);
    } else if (m.process_count) {
        print(&m, &o);
        print_rows(&m, &o, data[bytes / 2]);
    }
    if (m.process_count && o.details) {
        compare(&m, &o);
        merge_again(&m);
    }
    ct_merge_free(&m);
}
