/* SPDX-License-Identifier: MIT */
/*
 * memcpy(), memmove(), memset() and memcmp() of this library alone, for its own calls and those that a
 * compiler makes of assignments. A sanitizer or another preloaded library has functions of these
 * names; ThreadSanitizer would see the accesses in them, but not the atomic ones that order them, which
 * it did not compile, and end a program for races that are none.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Eight bytes of anything, anywhere. */
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

static void copy_up(char *to, const char *from, size_t bytes)
{
    for (; bytes >= sizeof(word); bytes -= sizeof(word), to += sizeof(word), from += sizeof(word))
        *(word *)to = *(const word *)from;
    while (bytes--)
        *to++ = *from++;
}

static void copy_down(char *to, const char *from, size_t bytes)
{
    for (; bytes >= sizeof(word); bytes -= sizeof(word))
        *(word *)(to + bytes - sizeof(word)) = *(const word *)(from + bytes - sizeof(word));
    while (bytes--)
        to[bytes] = from[bytes];
}

HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    copy_up(to, from, bytes);
    return to;
}

HIDDEN void *memmove(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to - (uintptr_t)from >= bytes)
        copy_up(to, from, bytes);
    else
        copy_down(to, from, bytes);
    return to;
}

HIDDEN void *memset(void *to, int value, size_t bytes)
{
    const uint64_t each_byte = 0x0101010101010101;
    char *at = to;
    for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word))
        *(word *)at = each_byte * (unsigned char)value;
    while (bytes--)
        *at++ = (char)value;
    return to;
}

HIDDEN int memcmp(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;
    for (; bytes; bytes--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}
