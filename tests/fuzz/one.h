/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_ONE_H
#define FUZZ_ONE_H

#include <stddef.h>
#include <stdint.h>

/* What the bytes behind the first two are: by the lowest four bits of the first byte. */
enum fuzz_kind {
    FUZZ_FILE,    /* a file as it is */
    FUZZ_PAYLOAD, /* a payload, in a file whose checksums are right */
    FUZZ_TWO,     /* the length of a payload in four bytes, and two payloads: two files, added up */
    FUZZ_OLDER,   /* a payload; a newer one behind it is damaged */
    FUZZ_NAME,    /* a name as it is in a file, and as the demangler might give it */
    FUZZ_KINDS,
};

/*
 * Bytes before those. The upper bits of the first one say how often the last file is added up, and
 * whether it is of a newer minor version; the second one in which form it is printed.
 */
#define FUZZ_START 2

static inline enum fuzz_kind fuzz_kind_of(const uint8_t *data)
{
    return (enum fuzz_kind)(data[0] % 16 % FUZZ_KINDS);
}

/*
 * Reads the files and prints them in one form. Aborts when a failure has no reason, or when
 * something is printed that must not be (oracle.h).
 */
void fuzz_one(const uint8_t *data, size_t bytes);

#endif
