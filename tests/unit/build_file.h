/* SPDX-License-Identifier: MIT */
/*
 * Writes summary files for tests and benchmarks from the format's structures. It knows the
 * format by its header alone, so that a mistake of the library's writer is not repeated here.
 */
#ifndef CT_BUILD_FILE_H
#define CT_BUILD_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cutrace/format.h"

#define CT_BUILD_SECTIONS (CT_SECTION_SENSORS + 1)

struct ct_build_part {
    char *data;
    size_t bytes;
    uint32_t element_bytes; /* as it is said in the file */
    uint64_t count;
};

/* Start with ct_build_start; elements are added in any order. */
struct ct_build {
    struct ct_build_part parts[CT_BUILD_SECTIONS]; /* by section type */
};

void ct_build_start(struct ct_build *b);

/* Offset of a string, which is stored anew each time. */
uint32_t ct_build_text(struct ct_build *b, const char *text);

/* Index of an element, which is copied. The section is made from the type's size. */
#define ct_build_add(b, section, element) ct_build_put(b, section, element, sizeof(*(element)))
uint32_t ct_build_put(struct ct_build *b, enum ct_section_type section, const void *element,
                      size_t element_bytes);

/* Shorthands: a process that ended normally, a device, a row and an API function of equal calls. */
void ct_build_process(struct ct_build *b, uint32_t pid, const char *command);
uint32_t ct_build_device(struct ct_build *b, uint32_t ordinal, const char *name);
struct ct_file_row ct_build_row(uint32_t kind, uint32_t detail, uint32_t device, uint32_t name);

/* What a raw bracket is longer than the duration. */
#define CT_BUILD_BIAS_NS 1000

/* One timed operation more, with everything that follows from it but the histograms. */
void ct_build_time(struct ct_file_row *row, uint64_t ns);
void ct_build_api(struct ct_build *b, const char *name, const uint64_t *ns, size_t calls);

/* The payload alone, and a whole file with it in both commits; the caller frees. */
char *ct_build_payload(const struct ct_build *b, size_t *bytes);
char *ct_build_image(const struct ct_build *b, size_t *bytes);

/* Sets the checksums of a file's image that was changed; the payloads named are within it. */
void ct_build_seal(char *image);

bool ct_build_write(const char *path, const void *data, size_t bytes);
bool ct_build_save(const struct ct_build *b, const char *path);
void ct_build_free(struct ct_build *b);

#endif
