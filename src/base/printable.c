/* SPDX-License-Identifier: MIT */
#include "base/printable.h"

#include "base/base.h"

/* Length of the UTF-8 character at p, and its number in *character; 0: there is none. */
static size_t decode(const unsigned char *p, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    if (!len)
        return 0;
    uint32_t c = len == 1 ? *p : *p & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    *character = c;
    return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

/* Unicode's control and format characters, separators of lines, and letters that have no width. */
static const struct {
    uint32_t first, last;
} harmful[] = {
    {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

size_t ct_printable(const char *p)
{
    uint32_t c;
    size_t len = decode((const unsigned char *)p, &c);
    if (len && c >= 0x20 && c < 0x7f)
        return len;
    for (size_t i = 0; len && i < ct_countof(harmful); i++)
        if (c >= harmful[i].first && c <= harmful[i].last)
            return 0;
    return len;
}
