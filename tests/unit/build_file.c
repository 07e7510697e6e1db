/* SPDX-License-Identifier: MIT */
#include "build_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/crc32.h"

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

static char *grow(struct ct_build_part *part, size_t bytes)
{
    part->data = must(realloc(part->data, part->bytes + bytes));
    part->bytes += bytes;
    return part->data + part->bytes - bytes;
}

uint32_t ct_build_text(struct ct_build *b, const char *text)
{
    struct ct_build_part *strings = &b->parts[CT_SECTION_STRINGS];
    size_t len = strlen(text) + 1, offset = strings->bytes;
    memcpy(grow(strings, len), text, len);
    strings->count = strings->bytes;
    return (uint32_t)offset;
}

uint32_t ct_build_put(struct ct_build *b, enum ct_section_type section, const void *element,
                      size_t element_bytes)
{
    struct ct_build_part *part = &b->parts[section];
    part->element_bytes = (uint32_t)element_bytes;
    memcpy(grow(part, element_bytes), element, element_bytes);
    return (uint32_t)part->count++;
}

void ct_build_start(struct ct_build *b)
{
    memset(b, 0, sizeof(*b));
    b->parts[CT_SECTION_STRINGS].element_bytes = 1;
    ct_build_text(b, "");
}

void ct_build_process(struct ct_build *b, uint32_t pid, const char *command)
{
    struct ct_file_process p = {.pid = pid,
                                .parent_pid = 1,
                                .start_unix_ns = 1700000000u * (uint64_t)1000000000,
                                .duration_ns = 1234567890,
                                .flags = CT_PROCESS_FINISHED,
                                .driver_version = 13000,
                                .written = 1};
    p.command = ct_build_text(b, command);
    p.host = ct_build_text(b, "host");
    ct_build_add(b, CT_SECTION_PROCESS, &p);
}

uint32_t ct_build_device(struct ct_build *b, uint32_t ordinal, const char *name)
{
    struct ct_file_device d = {.ordinal = ordinal,
                               .name = ct_build_text(b, name),
                               .uuid = {0xc0, (uint8_t)ordinal},
                               .memory_bytes = (uint64_t)16 << 30,
                               .sm_count = 80,
                               .clock_khz = 1380000,
                               .compute_major = 7,
                               .calibration = CT_CALIBRATION_TABLE,
                               .bias_busy_ns = CT_BUILD_BIAS_NS,
                               .gap_busy_ns = 500,
                               .submit_ns = 2000};
    return ct_build_add(b, CT_SECTION_DEVICES, &d);
}

struct ct_file_row ct_build_row(uint32_t kind, uint32_t detail, uint32_t device, uint32_t name)
{
    return (struct ct_file_row){.kind = kind, .detail = detail, .device = device, .name = name};
}

void ct_build_time(struct ct_file_row *row, uint64_t ns)
{
    uint64_t raw_ns = ns + CT_BUILD_BIAS_NS;
    row->min_ns = row->timed && row->min_ns < ns ? row->min_ns : ns;
    row->max_ns = row->max_ns > ns ? row->max_ns : ns;
    row->raw_min_ns = row->timed && row->raw_min_ns < raw_ns ? row->raw_min_ns : raw_ns;
    row->raw_max_ns = row->raw_max_ns > raw_ns ? row->raw_max_ns : raw_ns;
    row->timed++;
    row->total_ns += ns;
    row->raw_total_ns += raw_ns;
    row->square_ns2 += (double)ns * (double)ns;
    row->raw_square_ns2 += (double)raw_ns * (double)raw_ns;
}

void ct_build_api(struct ct_build *b, const char *name, const uint64_t *ns, size_t calls)
{
    struct ct_file_api a = {.name = ct_build_text(b, name),
                            .flags = strncmp(name, "cud", 3) == 0 ? CT_API_RUNTIME : 0,
                            .min_ns = UINT64_MAX};
    for (size_t i = 0; i < calls; i++) {
        a.calls++;
        a.sampled++;
        a.total_ns += ns[i];
        a.min_ns = a.min_ns < ns[i] ? a.min_ns : ns[i];
        a.max_ns = a.max_ns > ns[i] ? a.max_ns : ns[i];
        a.square_ns2 += (double)ns[i] * (double)ns[i];
    }
    ct_build_add(b, CT_SECTION_APIS, &a);
}

static size_t aligned(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

char *ct_build_payload(const struct ct_build *b, size_t *bytes)
{
    struct ct_file_payload start = {.section_bytes = sizeof(struct ct_file_section)};
    size_t at;
    for (int i = 0; i < CT_BUILD_SECTIONS; i++)
        start.sections += b->parts[i].data != NULL;
    at = *bytes = sizeof(start) + start.sections * sizeof(struct ct_file_section);
    for (int i = 0; i < CT_BUILD_SECTIONS; i++)
        *bytes += aligned(b->parts[i].bytes);
    char *payload = must(calloc(1, *bytes));
    struct ct_file_section *section = (struct ct_file_section *)(payload + sizeof(start));
    memcpy(payload, &start, sizeof(start));
    for (int i = 0; i < CT_BUILD_SECTIONS; i++) {
        const struct ct_build_part *part = &b->parts[i];
        if (!part->data)
            continue;
        *section++ = (struct ct_file_section){(uint32_t)i, part->element_bytes, part->count, at};
        memcpy(payload + at, part->data, part->bytes);
        at += aligned(part->bytes);
    }
    return payload;
}

void ct_build_seal(char *image)
{
    struct ct_file_header *h = (struct ct_file_header *)image;
    for (int i = 0; i < 2; i++) {
        struct ct_file_commit *c = &h->commit[i];
        if (!c->sequence)
            continue;
        c->payload_crc = ct_crc32(0, image + c->offset, c->bytes);
        c->crc = ct_crc32(0, c, offsetof(struct ct_file_commit, crc));
    }
}

char *ct_build_image(const struct ct_build *b, size_t *bytes)
{
    size_t len;
    char *payload = ct_build_payload(b, &len);
    *bytes = CT_FILE_HEADER_BYTES + 2 * len;
    char *image = must(calloc(1, *bytes));
    struct ct_file_header *h = (struct ct_file_header *)image;
    memcpy(h->magic, CT_FILE_MAGIC, CT_FILE_MAGIC_BYTES);
    h->endian = CT_FILE_ENDIAN;
    h->major = CT_FILE_MAJOR;
    h->minor = CT_FILE_MINOR;
    for (unsigned i = 0; i < 2; i++) {
        h->commit[i].sequence = 2 - i; /* slot by sequence & 1 */
        h->commit[i].offset = CT_FILE_HEADER_BYTES + i * len;
        h->commit[i].bytes = len;
        memcpy(image + h->commit[i].offset, payload, len);
    }
    ct_build_seal(image);
    free(payload);
    return image;
}

bool ct_build_write(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(data, 1, bytes, f) == bytes;
    return f && !fclose(f) && good;
}

bool ct_build_save(const struct ct_build *b, const char *path)
{
    size_t bytes;
    char *image = ct_build_image(b, &bytes);
    bool good = ct_build_write(path, image, bytes);
    free(image);
    return good;
}

void ct_build_free(struct ct_build *b)
{
    for (int i = 0; i < CT_BUILD_SECTIONS; i++)
        free(b->parts[i].data);
    memset(b, 0, sizeof(*b));
}
